# Tension along z at constant volume to 10 % within 100 s.

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 100.0, 101))'
  []
  [rates]
    type = Python
    expr = 'SR2(torch.tensor([-5e-4, -5e-4, 1e-3, 0.0, 0.0, 0.0])).dynamic_batch.expand(101)'
  []
  [spins]
    type = Python
    expr = 'WR2.zeros(101)'
  []
[]

[Drivers]
  [tension]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'deformation_rate'
    prescribed_SR2_values = 'rates'
    prescribed_WR2_names = 'vorticity'
    prescribed_WR2_values = 'spins'
    ic_MRP_names = 'orientation'
    ic_MRP_values = 'orientations'
  []
[]
