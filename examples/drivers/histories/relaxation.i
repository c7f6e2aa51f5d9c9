# Relaxation: a strain of 1 % along x at constant volume, reached within 0.1 s and held for 1000 s.

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.cat([torch.tensor([0.0]), torch.logspace(-1.0, 3.0, 81)]))'
  []
  [strains]
    type = Python
    expr = '
      direction = torch.tensor([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
      held = torch.cat([torch.zeros(1), torch.ones(81)])
      result = SR2(0.01 * held.reshape(82, 1) * direction)
    '
  []
[]

[Drivers]
  [relaxation]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
  []
[]
