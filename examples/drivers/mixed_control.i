# A uniaxial tensile test: the strain along x is prescribed and so is that all other stresses are zero, at three rates.
#
#   matlaw-run examples/drivers/mixed_control.i tension --plot strain_xx:stress_xx strain_xx:strain_yy

!include ../models/mixed_control.i

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 1.0, 41).reshape(41, 1) * torch.tensor([1.0, 10.0, 100.0]))'
  []
  [prescribed] # the strain xx, and five stresses
    type = Python
    expr = 'SR2(torch.linspace(0.0, 0.02, 41).reshape(41, 1, 1) * torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))'
  []
  [control]
    type = Python
    expr = 'SR2(torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])).dynamic_batch.expand(41)'
  []
[]

[Drivers]
  [tension]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'prescribed control'
    prescribed_SR2_values = 'prescribed control'
  []
[]
