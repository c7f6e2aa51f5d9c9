"""Every recorded leaf: at several sites at once, with parameters of each site, and with variables for parameters."""

import re

import pytest
import torch
from recorded_models import RECORDS, build, typed

from matlaw.input import InputFile
from matlaw.models import registered
from matlaw.models.declaration import Parameter, declarations
from matlaw.models.model import Leaf
from matlaw.tensors import Scalar

SITES = 3
ROWS = 2


def at_sites(value, factor):
    """A value that differs from site to site."""
    data = value.data.unsqueeze(value.base_ndim).expand(*value.base_shape, SITES, -1)
    return type(value)(data * factor.reshape(SITES, 1), 1)


def site(value, k):
    return type(value)(value.data.select(value.base_ndim, k), 0) if value.sub_batch_ndim else value


#: Orientations, whose models know rotations of a length only.
FACTORS = torch.tensor([1.0, 0.97, 0.94], dtype=torch.float64)


def pointwise():
    """Cases whose variables have no sites of their own and whose rows do not depend on each other."""
    cases = []
    for record in RECORDS:
        sites = [v for v in {**record["inputs"], **record["outputs"]}.values() if v.get("sub_batch")]
        if record["inputs"] and not sites and not record["name"].startswith("SR2Dynamic"):
            cases.append(pytest.param(record, id=record["name"]))
    return cases


@pytest.mark.parametrize("record", pointwise())
def test_sites_are_rows(record, write):
    """Sub-batch axes: what a model gives for several sites is what it gives for each."""
    model = build(record, write)
    try:
        inputs = {name: at_sites(v, FACTORS) for name, v in typed(record["inputs"]).items()}
        found = model.evaluate(inputs)
    except ValueError as error:
        assert "sub-batch" in str(error) or "axes" in str(error)
        pytest.skip("reduces or needs a sub-batch axis of its own")
    for k in range(SITES):
        expected = model.evaluate({name: site(v, k) for name, v in inputs.items()})
        for name, value in expected.items():
            if found[name].sub_batch_shape == (SITES,):
                got = site(found[name], k).data
            else:
                got = found[name].data
            torch.testing.assert_close(got, value.data, rtol=1e-12, atol=1e-14, equal_nan=True)


_NUMBER = re.compile(r"(?P<option>\w+)\s*=\s*'?(?P<value>[\d.eE+-]+)'?\n")


def scalar_parameters():
    """Cases with Scalar parameters that are numbers in the text: these by option, and the rest of the text."""
    cases = []
    for record in RECORDS:
        head, text = record["text"].split("[model]")
        kind = registered("Models")[re.search(r"type = (\w+)", text)[1]]
        names = {d.option for d in declarations(kind) if isinstance(d, Parameter) and d.type is Scalar}
        numbers = {m["option"]: float(m["value"]) for m in _NUMBER.finditer(text) if m["option"] in names}
        if numbers and issubclass(kind, Leaf) and "sub_batch" not in str(record["inputs"]):
            named = _NUMBER.sub(lambda m, n=numbers: f"{m[1]} = p_{m[1]}\n" if m[1] in n else m[0], text)
            cases.append(pytest.param(record, f"{head}[model]{named}", numbers, id=record["name"]))
    return cases


@pytest.mark.parametrize(("record", "text", "numbers"), scalar_parameters())
def test_a_parameter_may_be_a_variable_or_a_model(record, text, numbers, write):
    """The same values come out, whichever form the parameters have."""
    expected = build(record, write).evaluate(typed(record["inputs"]))
    variables = {
        f"p_{name}": Scalar(torch.full((ROWS,), number, dtype=torch.float64)) for name, number in numbers.items()
    }
    by_variable = InputFile(write(text)).model("model")
    assert set(variables) <= set(by_variable.inputs)
    providers = "".join(
        f"[p_{name}]\ntype = ScalarConstantParameter\nvalue = {number!r}\n[]\n" for name, number in numbers.items()
    )
    whole = "[whole]\ntype = ComposedModel\nmodels = model\n[]\n"
    by_model = InputFile(write(text.replace("[Models]", f"[Models]\n{providers}{whole}", 1))).model("whole")
    assert {f"p_{name}.value" for name in numbers} <= set(by_model.named_parameters())
    for found in (
        by_variable.evaluate({**typed(record["inputs"]), **variables}),
        by_model.evaluate(typed(record["inputs"])),
    ):
        for name, value in expected.items():
            shape = torch.broadcast_shapes(found[name].data.shape, value.data.shape)
            torch.testing.assert_close(
                found[name].data.expand(shape), value.data.expand(shape), rtol=1e-13, atol=1e-15, equal_nan=True
            )
