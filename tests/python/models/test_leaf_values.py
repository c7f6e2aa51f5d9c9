"""Each leaf against a case worked out by hand, and its derivatives against finite differences."""

import math

import pytest
import torch

from matlaw.tensors import SR2, Scalar

STRAIN = [1e-3, 2e-3, -1e-3, 5e-4, 2e-4, -7e-4]

#: text of the block, inputs, expected outputs
CASES = {
    "elasticity": (
        "type = LinearIsotropicElasticity\ncoefficients = '200 0.25'\n"
        "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'",
        # lambda = G = 80
        {"strain": STRAIN},
        {"stress": [0.16 + 0.16, 0.16 + 0.32, 0.16 - 0.16, 0.08, 0.032, -0.112]},
    ),
    "compliance": (
        "type = LinearIsotropicElasticity\ncoefficients = '200 0.25'\ncompliance = true\nstrain = e\nstress = s\n"
        "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'",
        {"s": [2.0, 0.0, 0.0, 4.0, 0.0, 0.0]},
        {"e": [0.01, -0.0025, -0.0025, 0.025, 0.0, 0.0]},
    ),
    "rate form": (
        "type = LinearIsotropicElasticity\ncoefficients = '200 0.25'\nrate_form = true\n"
        "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'",
        {"strain_rate": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]},
        {"stress_rate": [0.0, 0.0, 0.0, 160.0, 0.0, 0.0]},
    ),
    "combination": (
        "type = SR2LinearCombination\nfrom = 'A B'\nto = 'C'\nweights = '2 -1'\noffset = 0.5",
        {"A": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "B": [1.0] * 6},
        {"C": [1.5, 3.5, 5.5, 7.5, 9.5, 11.5]},
    ),
    "scalar combination with one weight": (
        "type = ScalarLinearCombination\nfrom = 'a b c'\nto = 'd'\nweights = '3'",
        {"a": 1.0, "b": 2.0, "c": 4.0},
        {"d": 21.0},
    ),
    "I1": ("type = SR2Invariant\ninvariant_type = I1\ntensor = A", {"A": STRAIN}, {"invariant": 2e-3}),
    "I2": (
        "type = SR2Invariant\ninvariant_type = I2\ntensor = A",
        {"A": [1.0, 2.0, 3.0, 0.0, 0.0, 2.0**0.5]},
        # 1*2 + 2*3 + 3*1 - xy^2
        {"invariant": 10.0},
    ),
    "VONMISES": (
        "type = SR2Invariant\ninvariant_type = VONMISES\ntensor = s",
        # pure shear of 3 on top of a pressure: sqrt(3) * 3
        {"s": [5.0, 5.0, 5.0, 0.0, 0.0, 3.0 * 2.0**0.5]},
        {"invariant": 3.0 * 3.0**0.5},
    ),
    "EFFECTIVE_STRAIN": (
        "type = SR2Invariant\ninvariant_type = EFFECTIVE_STRAIN\ntensor = e",
        # isochoric uniaxial stretch
        {"e": [0.02, -0.01, -0.01, 0.0, 0.0, 0.0]},
        {"invariant": 0.02},
    ),
    "yield function": (
        "type = YieldFunction\nyield_stress = 5\nisotropic_hardening = k",
        {"effective_stress": 9.0, "k": 1.0},
        {"yield_function": 3.0 * math.sqrt(2.0 / 3.0)},
    ),
    "yield function without hardening": (
        "type = YieldFunction\nyield_stress = 5",
        {"effective_stress": 3.0},
        {"yield_function": -2.0 * math.sqrt(2.0 / 3.0)},
    ),
    "linear hardening": (
        "type = LinearIsotropicHardening\nhardening_modulus = 100",
        {"equivalent_plastic_strain": 0.02},
        {"isotropic_hardening": 2.0},
    ),
    "Voce hardening": (
        "type = VoceIsotropicHardening\nsaturated_hardening = 100\nsaturation_rate = 5",
        {"equivalent_plastic_strain": 0.2},
        {"isotropic_hardening": 100.0 * (1.0 - math.exp(-1.0))},
    ),
    "flow": (
        "type = AssociativePlasticFlow",
        {"flow_rate": 2.0, "flow_direction": STRAIN},
        {"plastic_strain_rate": [2.0 * x for x in STRAIN]},
    ),
    "hardening rate": (
        "type = AssociativeIsotropicPlasticHardening",
        {"flow_rate": 2.0, "isotropic_hardening_direction": -0.5},
        {"equivalent_plastic_strain_rate": 1.0},
    ),
    "Perzyna": (
        "type = PerzynaPlasticFlowRate\nreference_stress = 100\nexponent = 5",
        {"yield_function": 50.0},
        {"flow_rate": 0.03125},
    ),
    "Perzyna below yield": (
        "type = PerzynaPlasticFlowRate\nreference_stress = 100\nexponent = 5",
        {"yield_function": -50.0},
        {"flow_rate": 0.0},
    ),
    "complementarity": ("type = FBComplementarity", {"a": -3.0, "b": 4.0}, {"complementarity": 2.0}),
    "complementarity, other directions": (
        "type = FBComplementarity\na_inequality = GE\nb_inequality = LE",
        {"a": 3.0, "b": 4.0},
        {"complementarity": 3.0 - 4.0 - 5.0},
    ),
    "rate": (
        "type = ScalarVariableRate\nvariable = x",
        {"x": 3.0, "x~1": 1.0, "t": 2.0, "t~1": 1.5},
        {"x_rate": 4.0},
    ),
    "tensor rate": (
        "type = SR2VariableRate\nvariable = E\ntime = tau\nvariable_rate = D",
        {"E": STRAIN, "E~1": [0.0] * 6, "tau": 2.0, "tau~1": 1.5},
        {"D": [2.0 * x for x in STRAIN]},
    ),
    "rate of a step without length": (
        "type = ScalarVariableRate\nvariable = x",
        {"x": 3.0, "x~1": 1.0, "t": 2.0, "t~1": 2.0},
        {"x_rate": 0.0},
    ),
    "implicit Euler": (
        "type = ScalarBackwardEulerTimeIntegration\nvariable = x",
        {"x": 3.0, "x~1": 1.0, "t": 2.0, "t~1": 1.5, "x_rate": 7.0},
        {"x_residual": -1.5},
    ),
    "implicit Euler of a tensor": (
        "type = SR2BackwardEulerTimeIntegration\nvariable = E\nrate = D\nvariable_residual = r",
        {"E": [1.0] * 6, "E~1": [0.5] * 6, "t": 2.0, "t~1": 1.0, "D": [0.1] * 6},
        {"r": [0.4] * 6},
    ),
    "Mandel stress": ("type = IsotropicMandelStress", {"cauchy_stress": STRAIN}, {"mandel_stress": STRAIN}),
}


def typed(value):
    return SR2.constant(value) if isinstance(value, list) else Scalar.constant(value)


@pytest.mark.parametrize("case", CASES)
def test_value(model, case):
    block, inputs, expected = CASES[case]
    m = model(f"[m]\n{block}\n[]")
    assert list(m.inputs) == list(inputs)
    assert list(m.outputs) == list(expected)
    got = m.evaluate({name: typed(v) for name, v in inputs.items()})
    for name, value in expected.items():
        torch.testing.assert_close(got[name].data, typed(value).data, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_by_inputs_and_parameters(model, case):
    block, inputs, _ = CASES[case]
    m = model(f"[m]\n{block}\n[]")
    torch.manual_seed(1)
    parameters = m.named_parameters()
    kinds = [type(typed(v)) for v in inputs.values()] + [type(p) for p in parameters.values()]
    names = list(inputs)

    def function(*flat):
        wrapped = [kind(x) for kind, x in zip(kinds, flat, strict=True)]
        given = dict(zip(names, wrapped, strict=False))
        overridden = dict(zip(parameters, wrapped[len(names) :], strict=True))
        return tuple(o.data for o in m.evaluate(given, overridden).values())

    flat = [typed(v).data.expand(-1, 3) if isinstance(v, list) else typed(v).data.expand(3) for v in inputs.values()]
    flat += [p.data.expand(*p.base_shape, 3) for p in parameters.values()]
    points = [(x * (1.0 + 0.1 * torch.rand(3, dtype=torch.float64))).clone().requires_grad_() for x in flat]
    if case == "rate of a step without length":  # differentiable by the variable only
        points = [points[0], *(x.detach() for x in flat[1:])]
    assert torch.autograd.gradcheck(function, points, eps=1e-7, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["VONMISES", "EFFECTIVE_STRAIN"])
def test_invariants_at_zero_are_finite(model, kind):
    m = model(f"[m]\ntype = SR2Invariant\ninvariant_type = {kind}\ntensor = A\ninvariant = q\n[]")
    for point in (torch.zeros(6, 1, dtype=torch.float64), torch.tensor([[7.0]] * 3 + [[0.0]] * 3, dtype=torch.float64)):
        value, back = torch.func.vjp(lambda x: m.evaluate({"A": SR2(x)})["q"].data, point)
        assert value.item() == 0.0
        assert torch.isfinite(back(torch.ones_like(value))[0]).all()


def test_complementarity_at_zero_is_finite(model):
    m = model("[m]\ntype = FBComplementarity\n[]")
    zero = torch.zeros(1, dtype=torch.float64)
    value, back = torch.func.vjp(
        lambda a, b: m.evaluate({"a": Scalar(a), "b": Scalar(b)})["complementarity"].data, zero, zero
    )
    assert value.item() == 0.0
    assert [g.item() for g in back(torch.ones_like(value))] == [-1.0, 1.0]
