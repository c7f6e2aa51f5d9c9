# An interface is opened by 2 micrometres, closed, and opened by 40; one row for pure opening, one for shear, one for both.

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 1.0, 441))'
  []
  [jumps]
    type = Python
    expr = '
      closing = torch.linspace(0.002, 0.0, 21)[1:]
      size = torch.cat([torch.linspace(0.0, 0.002, 21), closing, torch.linspace(0.0, 0.04, 401)[1:]])
      modes = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
      result = Vec(size.reshape(441, 1, 1) * modes)
    '
  []
[]

[Drivers]
  [opening]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_Vec_names = 'jump'
    prescribed_Vec_values = 'jumps'
  []
[]
