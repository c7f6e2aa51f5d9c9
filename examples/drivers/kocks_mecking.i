# A metal at three temperatures in a cycle of tension and compression: rate independent when cold, weak when hot.
#
#   matlaw-run examples/drivers/kocks_mecking.i cycle --plot strain_xx:stress_xx

!include ../models/kocks_mecking.i

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 100.0, 101))'
  []
  [strains] # 0 to 1 % in 20 steps, to -1 % in 40, to 1 % in 40
    type = Python
    expr = '
      up = torch.linspace(0.0, 1.0, 21)
      down = torch.linspace(1.0, -1.0, 41)[1:]
      direction = torch.tensor([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
      result = SR2(0.01 * torch.cat([up, down, -down]).reshape(101, 1, 1) * direction)
    '
  []
  [temperatures] # in K, one for each row
    type = Python
    expr = 'Scalar([300.0, 900.0, 1200.0]).dynamic_batch.expand(101, 3)'
  []
[]

[Drivers]
  [cycle]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
    prescribed_Scalar_names = 'temperature'
    prescribed_Scalar_values = 'temperatures'
  []
[]
