# Growth and coarsening of precipitates that start in the finest two classes.
#
#   matlaw-run examples/drivers/precipitate_growth.i growth --plot t:volume_fraction t:concentration

!include ../models/precipitate_growth.i

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 100.0, 51))'
  []
  [start]
    type = Python
    expr = 'Scalar([1e-4, 5e-5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], sub_batch_ndim=1)'
  []
[]

[Drivers]
  [growth]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    ic_Scalar_names = 'number_density'
    ic_Scalar_values = 'start'
  []
[]
