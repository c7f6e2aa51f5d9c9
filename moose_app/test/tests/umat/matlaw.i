# The material of bar.i as a law of [Matlaw].

[Matlaw]
  [steel]
    input = '../../../../examples/models/linear_isotropic_hardening.i'
  []
[]
