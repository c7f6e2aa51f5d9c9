# A porous metal in a cycle of tension and compression along x: voids grow in tension and shrink in compression.
#
#   matlaw-run examples/drivers/gurson.i cycle --plot strain_xx:stress_xx strain_xx:void_fraction

!include ../models/gurson.i

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 1.0, 101))'
  []
  [strains] # 0 to 1 % in 20 steps, to -1 % in 40, to 1 % in 40; not at constant volume
    type = Python
    expr = '
      up = torch.linspace(0.0, 1.0, 21)
      down = torch.linspace(1.0, -1.0, 41)[1:]
      direction = torch.tensor([1.0, -0.45, -0.45, 0.0, 0.0, 0.0])
      result = SR2(0.01 * torch.cat([up, down, -down]).reshape(101, 1) * direction)
    '
  []
[]

[Drivers]
  [cycle]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
    ic_Scalar_names = 'void_fraction'
    ic_Scalar_values = '0.01'
  []
[]
