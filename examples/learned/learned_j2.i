# J2 plasticity whose flow stress is a network, trained by train.py to reproduce ../models/j2_plastic.i. Units: MPa.

[Models]
  [model]
    type = TorchModule
    module = 'network.py:RadialReturn'
    weights = 'weights.safetensors'
    arguments = 'separate'
    inputs = 'strain plastic_strain~1 equivalent_plastic_strain~1'
    input_types = 'SR2 SR2 Scalar'
    outputs = 'stress plastic_strain equivalent_plastic_strain'
    output_types = 'SR2 SR2 Scalar'
  []
[]
