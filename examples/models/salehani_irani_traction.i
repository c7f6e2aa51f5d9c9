# Coupled exponential cohesive law of an interface.
#
# Units: N, mm (stress in MPa, stiffness in N/mm^3). Values: for illustration.
# Source of the law: M. Khajeh Salehani, N. Irani, arXiv:1801.03430 (2018).
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
  [traction]
    type = SalehaniIraniTraction
    normal_penetration = 'normal_penetration'
    tangential_separation_1 = 'jump_s1'
    tangential_separation_2 = 'jump_s2'
    normal_characteristic_length = 1e-3
    tangential_characteristic_length = 1e-3
    normal_strength = 80
    shear_strength = 100
    penalty_stiffness = 1e6
  []
  [model]
    type = ComposedModel
    models = 'components contact traction'
  []
[]
