# One cycle of simple shear of the rate-independent law of examples/models, read from a CSV file, and a check of the
# stress at its first turning point.
#
#   matlaw-run examples/drivers/shear_cycle.i cycle -o cycle.csv --plot strain_xy:stress_xy
#   matlaw-run examples/drivers/shear_cycle.i turning_point

!include ../models/j2_plastic.i

[Tensors]
  [times]
    type = CSVScalar
    csv_file = 'shear_cycle.csv'
    variable = 'time'
  []
  [strains]
    type = CSVSR2
    csv_file = 'shear_cycle.csv'
    variable = 'strain'
  []
  # Until it turns, loading is proportional and the implicit Euler rule is exact: the stress solves
  # sqrt(3/2) s = 250 + 100 (1 - exp(-20 p)), p = sqrt(2/3) (0.02 - s / 2G).
  [turning_stress]
    type = Python
    expr = 'SR2(torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, 225.447451572]))'
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
  [turning_point]
    type = Verification
    driver = 'cycle'
    time_steps = '10'
    SR2_names = 'output.stress'
    SR2_values = 'turning_stress'
    rtol = 1e-8
  []
[]
