# Delamination of a composite: bilinear cohesive law with mixed-mode onset and failure.
#
# Units: N, mm (stress in MPa, stiffness in N/mm^3, energy in N/mm).
# Values and law: AS4/PEEK, P. P. Camanho, C. G. Davila, NASA/TM-2002-211737.
#
# Inputs: jump (normal and two tangential components) and the old value damage~1.
# Outputs: traction, damage.

[Models]
  [components]
    type = VecComponents
    from = 'jump'
    to = 'jump_n jump_s1 jump_s2'
  []
  [contact]
    type = MacaulaySplit
    from = 'jump_n'
    to_positive = 'normal_separation'
    to_negative = 'normal_penetration'
  []
  [tangential_separation]
    type = ScalarPNorm
    from = 'jump_s1 jump_s2'
    to = 'tangential_separation'
    exponent = 2
  []
  [effective_separation]
    type = ScalarPNorm
    from = 'normal_separation jump_s1 jump_s2'
    to = 'effective_separation'
    exponent = 2
  []
  [mode_mixity]
    type = ModeMixity
  []
  [critical_separation]
    type = CamanhoDavilaCriticalSeparation
    mode_mixity = 'mode_mixity'
    penalty_stiffness = 1e6
    normal_strength = 80
    shear_strength = 100
  []
  [full_separation]
    type = BenzeggaghKenaneFullSeparation
    mode_mixity = 'mode_mixity'
    critical_separation = 'critical_separation'
    penalty_stiffness = 1e6
    mode_I_fracture_toughness = 0.969
    mode_II_fracture_toughness = 1.719
    shear_strength = 100
    eta = 2.284
  []
  [traction]
    type = BilinearTraction
    normal_penetration = 'normal_penetration'
    tangential_separation_1 = 'jump_s1'
    tangential_separation_2 = 'jump_s2'
    penalty_stiffness = 1e6
    critical_separation = 'critical_separation'
    full_separation = 'full_separation'
  []
  [model]
    type = ComposedModel
    models = 'components contact tangential_separation effective_separation mode_mixity critical_separation
              full_separation traction'
  []
[]
