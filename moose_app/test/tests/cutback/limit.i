# With jump.i: a law that struggles limits the next step, so that fewer steps fail.

[Postprocessors]
  [limit]
    type = MatlawTimeStepLimit
    laws = 'steel'
    outputs = none
  []
[]

[Executioner]
  [TimeStepper]
    timestep_limiting_postprocessor = limit
  []
[]
