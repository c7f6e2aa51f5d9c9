"""Compiled against eager: native kernels of a model of every family, with values and all derivatives.

A family is a module of ``matlaw.models``. Besides, of every recorded model of sites and slip systems, and of models
whose parameters are tensors, variables or other models.
"""

import re
import textwrap

import pytest
import torch
from recorded_models import RECORDS

from matlaw.artifact import compile_model
from matlaw.eager import EagerModel
from matlaw.models import registered
from matlaw.runtime import load_model

#: Families without a law of their own that could be compiled: what puts models together or solves, and batch
#: reductions, which mix rows.
WITHOUT = {"aoti", "batch_reductions", "composed", "implicit_update", "torch_module"}
#: The end of [Models] of a law with the stiffness `C`.
ELASTICITY = """
  [elasticity]
    type = GeneralElasticity
    elastic_stiffness_tensor = 'C'
  []
  [model]
    type = ComposedModel
    models = 'elasticity'
  []
[]
"""
#: Families without recorded inputs: constants, and rotations, of which the recording program has others.
CASES = {
    "isotropic_tensor": """
        [Models]
          [C]
            type = IsotropicElasticityTensor
            coefficients = 'E 0.3'
            coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
          []
        {elasticity}
    """,
    "cubic_tensor": """
        [Models]
          [C]
            type = CubicElasticityTensor
            coefficients = 'E 0.3 80.0'
            coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO SHEAR_MODULUS'
          []
        {elasticity}
    """,
    "rotation_integration": """
        [Models]
          [explicit]
            type = WR2ExplicitExponentialTimeIntegration
            variable = 'r'
          []
          [implicit]
            type = WR2ImplicitExponentialTimeIntegration
            variable = 'q'
            rate = 'r_rate'
          []
          [model]
            type = ComposedModel
            models = 'explicit implicit'
          []
        []
    """,
}


def kind(record):
    """The model type of a recorded case."""
    return registered("Models")[re.search(r"type *= *(\w+)", record["text"].split("[model]")[1])[1]]


def family(record):
    return kind(record).__module__.removeprefix("matlaw.models.")


def sub_batched(record):
    return any("sub_batch" in v for v in record["inputs"].values())


def representatives():
    """The case with the most inputs of every family, and all whose variables have sub-batch axes."""
    cases = {}
    for record in sorted(RECORDS, key=lambda r: len(r["inputs"])):
        if record["inputs"]:
            cases[family(record)] = record
    chosen = [*cases.values(), *(r for r in RECORDS if sub_batched(r) and r not in cases.values())]
    return [pytest.param(r, id=f"{family(r)}-{r['name']}") for r in chosen if family(r).split(".")[-1] not in WITHOUT]


def test_every_family_has_a_representative():
    modules = {cls.__module__ for cls in registered("Models").values() if cls.__module__.startswith("matlaw.models.")}
    covered = {kind(p.values[0]).__module__ for p in representatives()}
    assert {m.split(".")[-1] for m in modules - covered} == WITHOUT | set(CASES)


def with_sub_batch(text, inputs):
    """The input file with the sub-batch axes of the recorded inputs."""
    shapes = {name: v["sub_batch"] for name, v in inputs.items() if "sub_batch" in v}
    if not shapes:
        return text
    lines = "".join(f"{name} = '(; {', '.join(map(str, shape))})'\n" for name, shape in shapes.items())
    return f"[Settings]\n[example_batch_shape]\n{lines}[]\n[]\n{text}"


def assert_agreement(path, name, inputs):
    """Outputs and derivative blocks of both, to rounding, in batches of several shapes."""
    compile_model(path, name, path.parent / "aoti", [":"], backend="native")
    compiled, eager = load_model(path.parent / "aoti" / f"{name}_aoti.i", name), EagerModel(path, name)
    inputs = {n: torch.as_tensor(v, dtype=torch.float64) for n, v in inputs.items()}
    pairs = list(compiled.derivative_pairs)
    assert set(pairs) == {(o, i) for o in eager.output_names for i in eager.input_names}
    expected = eager.evaluate(inputs, jacobian=True, pairs=pairs)
    found = compiled.evaluate(inputs, jacobian=True)
    assert not expected.failed_rows and not found.failed_rows
    for output, value in expected.outputs.items():
        assert_close(found.outputs[output], value)
        for given in eager.input_names:
            assert_close(found.jacobian[output][given], expected.jacobian[output][given])
    shape = tuple(expected.status.shape)
    first = {n: v[(0,) * (v.ndim - len(trailing(eager, n)))] for n, v in inputs.items()}
    spread = {n: v.expand(3, *v.shape) for n, v in inputs.items()}
    for law in (compiled, eager):
        alone, several = law.forward(first), law.forward(spread)
        for output, value in expected.outputs.items():
            own = value.shape[len(shape) :]
            # One row that a parameter with an axis of its own adds is none of the inputs'.
            assert_close(alone[output].reshape(own), value[(0,) * len(shape)])
            assert several[output].shape == (3, *shape, *own)
            assert_close(several[output], value.expand(3, *shape, *own))
    return expected


def trailing(law, name):
    """``(*sub_batch, *base)`` of an input."""
    k = law.input_names.index(name)
    return (*law.input_sub_batch_shapes[k], *law.input_base_shapes[k])


def assert_close(found, expected):
    assert bool(torch.isfinite(expected).all())
    shape = torch.broadcast_shapes(found.shape, expected.shape)
    scale = float(expected.abs().max()) if expected.numel() else 0.0
    torch.testing.assert_close(found.expand(shape), expected.expand(shape), rtol=1e-12, atol=max(1e-12 * scale, 1e-15))


@pytest.mark.parametrize("record", representatives())
def test_of_every_family(record, write):
    path = write(with_sub_batch(record["text"], record["inputs"]))
    assert_agreement(path, "model", {name: v["value"] for name, v in record["inputs"].items()})


@pytest.mark.parametrize("family", CASES)
def test_of_families_without_recorded_inputs(family, write):
    path = write(textwrap.dedent(CASES[family]).replace("{elasticity}", ELASTICITY))
    generator = torch.Generator().manual_seed(2)
    model = EagerModel(path, "model")
    shapes = dict(zip(model.input_names, model.input_base_shapes, strict=True))
    inputs = {n: 0.1 + 0.2 * torch.rand(5, *s, generator=generator, dtype=torch.float64) for n, s in shapes.items()}
    assert_agreement(path, "model", inputs)


MODULI = """
[Tensors]
  {tensors}
[]
[Models]
  {models}
  [model]
    type = LinearIsotropicElasticity
    strain = 'e'
    stress = 's'
    coefficients = '{coefficients}'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [whole]
    type = ComposedModel
    models = 'model'
  []
[]
"""
STRAIN = [[1e-3, -4e-4, 0.0, 2e-4, 3e-4, -1e-4], [2e-3, 1e-3, -5e-4, 0.0, 1e-4, 4e-4], [0.0] * 6]
HEAT = [300.0, 450.0, 600.0]
#: Where the moduli come from: [Tensors], [Models], coefficients, and the inputs that this adds.
PARAMETERS = {
    "numbers": ("", "", "2e5 0.3", {}),
    "variables": ("", "", "E nu", {"E": [2e5, 1.9e5, 1.5e5], "nu": [0.3, 0.31, 0.25]}),
    "Python tensor": ("[E]\ntype = Python\nexpr = 'Scalar(2e5) * 0.9'\n[]", "", "E 0.3", {}),
    "csv tensor": ("[E]\ntype = CSVScalar\ncsv_file = 'moduli.csv'\ncolumn_names = 'E'\n[]", "", "E 0.3", {}),
    "models": (
        "[T]\ntype = Python\nexpr = 'Scalar([200.0, 400.0, 700.0], sub_batch_ndim=1)'\n[]\n"
        "[values]\ntype = Python\nexpr = 'Scalar([2e5, 1.8e5, 1.4e5], sub_batch_ndim=1)'\n[]",
        "[E]\ntype = ScalarLinearInterpolation\nargument = 'temperature'\nabscissa = 'T'\nordinate = 'values'\n[]\n"
        "[nu]\ntype = ScalarConstantParameter\nvalue = 0.3\n[]",
        "E nu",
        {"temperature": HEAT},
    ),
}


@pytest.mark.parametrize("source", PARAMETERS)
def test_whatever_a_parameter_is(source, write):
    tensors, models, coefficients, more = PARAMETERS[source]
    write("E\n180000\n", "moduli.csv")
    path = write(MODULI.format(tensors=tensors, models=models, coefficients=coefficients))
    expected = assert_agreement(path, "whole", {"e": STRAIN, **more})
    assert expected.outputs["s"].shape == (3, 6)
