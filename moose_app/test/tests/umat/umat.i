# The material of bar.i: a plugin that matlaw-umat wrote, or any other UMAT.

[Materials]
  [umat]
    type = AbaqusUMATStress
    plugin = './steel'
    num_state_vars = 8
    constant_properties = '0'
    use_one_based_indexing = true
  []
[]
