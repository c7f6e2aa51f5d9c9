"""A parameter is a number, a tensor of the file, another model's output, or a variable."""

import pytest
import torch

from matlaw.errors import FatalError, InputFileError
from matlaw.tensors import Scalar

YIELD = "[{name}]\ntype = YieldFunction\nyield_stress = {sy}\n[]"
HARDENING = """[h]
  type = LinearIsotropicHardening
  hardening_modulus = 3
  equivalent_plastic_strain = ep
  isotropic_hardening = kk
[]"""
SCALE = (2.0 / 3.0) ** 0.5


def value(m, **inputs):
    return m.evaluate({k: Scalar.constant(v) for k, v in inputs.items()})["yield_function"].data.item()


def test_number(model):
    m = model(YIELD.format(name="m", sy="2.5e0"))
    assert {k: v.data.item() for k, v in m.named_parameters().items()} == {"m.sy": 2.5}
    assert value(m, effective_stress=4.5) == pytest.approx(2 * SCALE)


def test_tensor(model):
    limit = "[limit]\ntype = Python\nexpr = 'Scalar(2.0) + other'\n[]"
    rest = f"[Tensors]\n{limit}\n[other]\ntype = Python\nexpr = 'Scalar(0.5)'\n[]\n[]"
    m = model(YIELD.format(name="m", sy="limit"), rest=rest)
    assert {k: v.data.item() for k, v in m.named_parameters().items()} == {"m.sy": 2.5}
    assert list(m.inputs) == ["effective_stress"]


def test_variable(model):
    m = model(YIELD.format(name="m", sy="limit"))
    assert list(m.inputs) == ["effective_stress", "limit"]
    assert m.named_parameters() == {}
    assert value(m, effective_stress=4.5, limit=2.5) == pytest.approx(2 * SCALE)


def test_other_model(model):
    m = model(YIELD.format(name="m", sy="h") + HARDENING)
    assert list(m.inputs) == ["effective_stress", "kk"]
    # Composed, the model that gives the parameter comes along.
    c = model(YIELD.format(name="y", sy="h") + HARDENING + "\n[m]\ntype = ComposedModel\nmodels = 'y'\n[]")
    assert [child.name for child in c.children] == ["h", "y"]
    assert set(c.named_parameters()) == {"h.K"}
    assert value(c, ep=0.5, effective_stress=3.5) == pytest.approx(2 * SCALE)


def test_overrides_are_pure(model):
    m = model(YIELD.format(name="m", sy="2"))
    inputs = {"effective_stress": Scalar.constant(4.0)}
    batch = Scalar(torch.tensor([1.0, 3.0], dtype=torch.float64))
    assert m.evaluate(inputs, {"m.sy": batch})["yield_function"].data.tolist() == pytest.approx([3 * SCALE, SCALE])
    assert value(m, effective_stress=4.0) == pytest.approx(2 * SCALE)
    with pytest.raises(FatalError, match=r"no parameter m\.x; it has: m\.sy"):
        m.evaluate(inputs, {"m.x": batch})
    with pytest.raises(FatalError, match="missing input effective_stress"):
        m.evaluate({})


def test_weights_and_coefficients_may_be_variables(model):
    m = model("[m]\ntype = SR2LinearCombination\nfrom = 'A B'\nto = C\nweights = 'w 2'\n[]")
    assert list(m.inputs) == ["A", "B", "w"]
    assert list(m.named_parameters()) == ["m.weight_1", "m.offset"]
    m = model("[m]\ntype = LinearIsotropicElasticity\ncoefficients = 'E 0.3'\n"
              "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'\n[]")  # fmt: skip
    assert list(m.inputs) == ["strain", "E"]
    assert list(m.named_parameters()) == ["m.nu"]


@pytest.mark.parametrize(
    ("sy", "rest", "message"),
    [
        ("t", "expr = 'SR2(torch.zeros(6))'", r"option 'yield_stress': expected Scalar, but \[Tensors\]/\[t\] is SR2"),
        ("'1 2'", "expr = 'Scalar(1.0)'", "expected one name or number"),
        ("''", "expr = 'Scalar(1.0)'", "expected a number or the name"),
    ],
)
def test_refused(model, sy, rest, message):
    with pytest.raises(InputFileError, match=message):
        model(YIELD.format(name="m", sy=sy), rest=f"[Tensors]\n[t]\ntype = Python\n{rest}\n[]\n[]")


def test_a_parameter_may_have_a_value_per_row(model):
    m = model(
        YIELD.format(name="m", sy="t"), rest="[Tensors]\n[t]\ntype = Python\nexpr = 'Scalar([1.0, 2.0, 3.0])'\n[]\n[]"
    )
    [slot] = m.parameter_slots().values()
    assert slot.batch_shape == (3,) and slot.first().data.tolist() == [1.0]
    inputs = {name: Scalar.constant(5.0) for name in m.inputs}
    [found] = m.evaluate(inputs).values()
    changes = found.data.diff() / found.data.diff()[0]
    assert found.batch_size == 3 and changes.tolist() == pytest.approx([1.0, 1.0])


def test_a_model_with_several_outputs_cannot_be_a_parameter(model):
    text = HARDENING + "[f]\ntype = AssociativePlasticFlow\n[]\n[c]\ntype = ComposedModel\nmodels = 'h f'\n[]"
    with pytest.raises(InputFileError, match=r"has 2 outputs \(kk, plastic_strain_rate\)"):
        model(text + YIELD.format(name="m", sy="c"))
