# A cycle of tension and compression along x at constant volume, one row of the batch for each of three rates: loading to
# 1 %, reversal to -1 %, and back to 1 %, within 1, 10 and 100 s.

[Tensors]
  [amplitude] # 0 to 1 in 20 steps, to -1 in 40, to 1 in 40
    type = Python
    expr = '
      up = torch.linspace(0.0, 1.0, 21)
      down = torch.linspace(1.0, -1.0, 41)[1:]
      result = Scalar(torch.cat([up, down, -down]))
    '
  []
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 1.0, 101).reshape(101, 1) * torch.tensor([1.0, 10.0, 100.0]))'
  []
  [strains]
    type = Python
    expr = '
      direction = torch.tensor([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
      result = SR2(0.01 * amplitude.data.reshape(101, 1, 1) * direction)
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
  []
[]
