# Two plugins in bar.i, one on each of its blocks.

[Materials]
  [first]
    type = AbaqusUMATStress
    plugin = './first'
    block = 0
    num_state_vars = 8
    constant_properties = '0'
    use_one_based_indexing = true
  []
  [second]
    type = AbaqusUMATStress
    plugin = './second'
    block = 1
    num_state_vars = 8
    constant_properties = '0'
    use_one_based_indexing = true
  []
[]
