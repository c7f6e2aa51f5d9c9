# Tension along one axis of the viscoplastic law of examples/models at three strain rates, one row of the batch each.
#
#   matlaw-run examples/drivers/uniaxial_viscoplastic.i tension --plot strain_xx:stress_xx
#
# The lateral strain is prescribed as if the material were incompressible, so the law sees no free surface.

!include ../models/j2_viscoplastic.i

[Tensors]
  [times] # each row reaches 2 % strain, at 1e-4, 1e-3 and 1e-2 per second
    type = Python
    expr = '
      fraction = torch.linspace(0.0, 1.0, 41).reshape(41, 1)
      result = Scalar(fraction * 0.02 / torch.logspace(-4.0, -2.0, 3))
    '
  []
  [strains]
    type = Python
    expr = '
      direction = torch.tensor([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
      result = SR2(torch.linspace(0.0, 0.02, 41).reshape(41, 1, 1) * direction)
    '
  []
[]

[Drivers]
  [tension]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
  []
[]
