"""The eager runtime: calls, errors, verdicts and derivatives."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from matlaw.eager import EagerModel, load_model
from matlaw.errors import ConvergenceError, FatalError, InputError, InputFileError
from matlaw.evaluation import Status

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"
LAWS = ("linear_elastic", "j2_viscoplastic", "j2_plastic")


@pytest.fixture(scope="module")
def laws():
    return {law: EagerModel(EXAMPLES / f"{law}.i", "model") for law in LAWS}


@pytest.fixture
def viscoplastic():
    return EagerModel(EXAMPLES / "j2_viscoplastic.i", "model")


def inputs_for(model, rows=5, scale=0.5, dtype=torch.float64):
    """Strains of about a tenth of a percent, from a state that has flowed a little, over one second."""
    generator = torch.Generator().manual_seed(3)
    inputs = {}
    for name, base in zip(model.input_names, model.input_base_shapes, strict=True):
        if name == "t":
            inputs[name] = torch.tensor(1.0, dtype=dtype)
        elif name == "strain":
            inputs[name] = (scale * 2e-3 * torch.randn(rows, *base, generator=generator, dtype=torch.float64)).to(dtype)
        elif name == "plastic_strain~1":
            deviatoric = torch.tensor([1e-4, -5e-5, -5e-5, 2e-5, 0, 0], dtype=dtype)
            inputs[name] = deviatoric.expand(rows, 6).clone()
        elif name == "equivalent_plastic_strain~1":
            inputs[name] = torch.full((rows,), 1.2e-4, dtype=dtype)
        else:
            inputs[name] = torch.zeros(base, dtype=dtype)
    return inputs


def test_metadata(laws):
    law = laws["j2_plastic"]
    assert law.name == "model"
    assert law.input_names == [
        "strain", "plastic_strain~1", "t", "t~1", "equivalent_plastic_strain~1", "flow_rate~1"
    ]  # fmt: skip
    assert law.output_names == ["equivalent_plastic_strain", "flow_rate", "stress", "plastic_strain"]
    assert law.input_types == ["SR2", "SR2", "Scalar", "Scalar", "Scalar", "Scalar"]
    assert law.output_base_shapes == [(), (), (6,), (6,)]
    assert law.input_sub_batch_shapes == [()] * 6
    assert law.dtype == torch.float64
    assert law.device == torch.device("cpu")
    assert len(law.derivative_pairs) == 24
    assert ("stress", "strain") in law.derivative_pairs
    pairs = {(p.current, p.old, p.role, len(p.initial)) for p in law.state_pairs}
    assert pairs == {
        ("plastic_strain", "plastic_strain~1", "state", 6),
        ("equivalent_plastic_strain", "equivalent_plastic_strain~1", "state", 1),
        ("flow_rate", "flow_rate~1", "state", 1),
        ("t", "t~1", "force", 1),
    }
    elastic = laws["linear_elastic"]
    assert set(elastic.named_parameters()) == {"model.E", "model.nu"}
    assert elastic.state_pairs == []


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 4), (0,), (0, 3)])
def test_batch_shapes(laws, law, batch):
    model = laws[law]
    inputs = {n: v[0] if v.ndim and v.shape[0] == 5 else v for n, v in inputs_for(model).items()}
    reference = model.forward(inputs)
    inputs["strain"] = inputs["strain"].expand(*batch, 6)
    result = model.evaluate(inputs, jacobian=True)
    assert result.ok
    assert tuple(result.status.shape) == tuple(result.iterations.shape) == tuple(result.dt_factor.shape) == batch
    assert (result.status.dtype, result.iterations.dtype, result.dt_factor.dtype) == (
        torch.int8, torch.int32, torch.float64
    )  # fmt: skip
    for name, base in zip(model.output_names, model.output_base_shapes, strict=True):
        value = result.outputs[name]
        assert tuple(value.shape) == (*batch, *base)
        assert value.is_contiguous()
        torch.testing.assert_close(value, reference[name].expand((*batch, *base)), rtol=1e-12, atol=1e-14)
        for given, given_base in zip(model.input_names, model.input_base_shapes, strict=True):
            assert tuple(result.jacobian[name][given].shape) == (*batch, *base, *given_base)


@pytest.mark.parametrize("law", LAWS)
def test_inputs_may_be_transposed_and_expanded(laws, law):
    model = laws[law]
    inputs = inputs_for(model)
    reference = model.forward(inputs)
    inputs["strain"] = inputs["strain"].T.contiguous().T
    if "t" in inputs:
        inputs["t"] = inputs["t"].expand(5)
    for name, value in model.forward(inputs).items():
        torch.testing.assert_close(value, reference[name], rtol=0, atol=0)


def rebuilt(model, flat):
    return {n: x for n, x in zip(model.input_names, flat, strict=True)}


@pytest.mark.parametrize("law", LAWS)
def test_jacobian_against_finite_differences(laws, law):
    model = laws[law]
    inputs = inputs_for(model)
    tight = EagerModel(EXAMPLES / f"{law}.i", "model", overrides=_tight(law))
    _, blocks = tight.jacobian(inputs)
    flowing = 0
    for name, value in inputs.items():
        h = 1e-6 if name in ("t", "t~1") else 1e-8
        for k in range(6 if name in ("strain", "plastic_strain~1") else 1):
            tensor = name in ("strain", "plastic_strain~1")
            step = torch.full_like(value, 0.0 if tensor else h)
            if tensor:
                step[..., k] = h
            plus = tight.forward({**inputs, name: value + step})
            minus = tight.forward({**inputs, name: value - step})
            for out in model.output_names:
                numeric = (plus[out] - minus[out]) / (2 * h)
                block = blocks[out][name]
                exact = block[..., k] if tensor else block
                scale = 2e5 if out == "stress" else 1.0
                torch.testing.assert_close(exact / scale, numeric / scale, rtol=2e-5, atol=2e-6)
                flowing += int((exact.abs() > 1e-3 * scale).any())
    assert flowing >= (6 if law == "linear_elastic" else 30)


def _tight(law):
    return [] if law == "linear_elastic" else ["Solvers/newton/abs_tol:=1e-12", "Solvers/newton/rel_tol:=0",
                                               "Solvers/newton/max_its:=40"]  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_jvp_is_the_jacobian_along_a_direction(laws, law):
    model = laws[law]
    inputs = inputs_for(model)
    torch.manual_seed(0)
    tangents = {
        n: torch.randn(5, *b, dtype=torch.float64)
        for n, b in zip(model.input_names, model.input_base_shapes, strict=True)
    }
    out, blocks = model.jacobian(inputs)
    same, found = model.jvp(inputs, tangents)
    for name in model.output_names:
        torch.testing.assert_close(same[name], out[name], rtol=0, atol=0)
        expected = torch.zeros_like(out[name])
        for given, tangent in tangents.items():
            block = blocks[name][given]
            expected = expected + (
                torch.einsum("b...i,bi->b...", block, tangent) if tangent.ndim == 2
                else block * tangent.reshape(5, *[1] * (block.ndim - 1))
            )  # fmt: skip
        torch.testing.assert_close(found[name], expected, rtol=1e-9, atol=1e-9)
    # A missing tangent is zero.
    only = model.jvp(inputs, {"strain": tangents["strain"]})[1]["stress"]
    torch.testing.assert_close(only, torch.einsum("bij,bj->bi", blocks["stress"]["strain"], tangents["strain"]))
    assert (model.jvp(inputs, {})[1]["stress"] == 0).all()


@pytest.mark.parametrize("law", LAWS)
def test_parameter_derivatives(law):
    model = EagerModel(EXAMPLES / f"{law}.i", "model", overrides=_tight(law))
    inputs = inputs_for(model)
    blocks = model.param_jacobian(inputs)
    torch.manual_seed(0)
    cotangents = {"stress": torch.randn(5, 6, dtype=torch.float64)}
    gradient = model.param_vjp(inputs, cotangents)
    for name, value in model.named_parameters().items():
        h = 1e-6 * max(1.0, abs(value.item()))
        model.set_parameter(name, value + h)
        plus = model.forward(inputs)
        model.set_parameter(name, value - h)
        minus = model.forward(inputs)
        model.set_parameter(name, value)
        for out in model.output_names:
            numeric = (plus[out] - minus[out]) / (2 * h)
            torch.testing.assert_close(blocks[out][name], numeric, rtol=1e-4, atol=1e-5 * (1 + numeric.abs().max()))
        expected = (cotangents["stress"] * blocks["stress"][name]).sum()
        torch.testing.assert_close(gradient[name], expected, rtol=1e-10, atol=1e-10)


def test_batched_parameters(viscoplastic):
    model = viscoplastic
    inputs = inputs_for(model)
    sy = "update.system.normality.flow.yield.sy"
    values = torch.tensor([150.0, 200.0, 250.0, 300.0, 350.0], dtype=torch.float64)
    model.set_parameter(sy, values)
    torch.testing.assert_close(model.named_parameters()[sy], values)
    out = model.forward(inputs)["stress"]
    single = EagerModel(EXAMPLES / "j2_viscoplastic.i", "model")
    for row, value in enumerate(values):
        single.set_parameter(sy, value)
        torch.testing.assert_close(out[row], single.forward(inputs)["stress"][row], rtol=1e-10, atol=1e-10)
    cotangent = torch.ones(5, 6, dtype=torch.float64)
    gradient = model.param_vjp(inputs, {"stress": cotangent})
    block = model.param_jacobian(inputs)["stress"][sy]
    torch.testing.assert_close(gradient[sy], block.sum(-1))
    assert gradient["update.system.hardening.R"].shape == ()
    with pytest.raises(FatalError, match=r"do not broadcast: strain \(4,\).*sy \(5,\)"):
        model.forward({n: v[:4] if v.ndim and v.shape[0] == 5 else v for n, v in inputs.items()})


def test_a_parameter_that_is_not_finite_is_refused():
    model = EagerModel(EXAMPLES / "linear_elastic.i", "model")
    inputs = {"strain": torch.full((5, 6), 1e-3, dtype=torch.float64)}
    before = model.forward(inputs)["stress"]
    for value in ([1e5, torch.nan, 1e5, torch.inf, 1e5], torch.nan):
        with pytest.raises(InputError, match=r"parameter 'model\.E' of model 'model' cannot be NaN") as raised:
            model.set_parameter("model.E", torch.tensor(value, dtype=torch.float64))
        assert raised.value.variable == "model.E"
    torch.testing.assert_close(model.forward(inputs)["stress"], before)
    # Written in place, it is a bad input of its rows.
    model.set_parameter("model.E", torch.full((5,), 1e5, dtype=torch.float64))
    model.named_parameters()["model.E"][3] = torch.nan
    assert model.evaluate(inputs).failed_rows == [3]
    with pytest.raises(InputError, match=r"parameter 'model\.E' .* \(rows that have such a value: 3\)"):
        model.forward(inputs)


def test_setting_parameters(laws):
    model = EagerModel(EXAMPLES / "linear_elastic.i", "model")
    with pytest.raises(FatalError, match=r"unknown parameter 'model\.e'; did you mean 'model\.E'\?"):
        model.set_parameter("model.e", torch.tensor(1.0, dtype=torch.float64))
    with pytest.raises(FatalError, match=r"parameter 'model\.E': expected torch\.float64, got torch\.float32"):
        model.set_parameter("model.E", torch.tensor(1.0))
    value = torch.tensor(100.0, dtype=torch.float64)
    model.set_parameter("model.E", value)
    value += 1.0  # the model keeps a copy
    assert model.named_parameters()["model.E"].item() == 100.0


def impossible(model, rows=64):
    inputs = inputs_for(model, rows)
    inputs["strain"][7] = torch.tensor([0.3, -0.1, 0.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    inputs["strain"][40] = torch.tensor([-0.2, 0.1, 0.0, 0.4, 0.0, 0.0], dtype=torch.float64)
    return inputs


def test_impossible_rows_are_named_and_change_no_other(viscoplastic):
    model = viscoplastic
    inputs = impossible(model)
    result = model.evaluate(inputs, jacobian=True)
    assert result.failed_rows == [7, 40]
    assert not result.ok
    others = [i for i in range(64) if i not in (7, 40)]
    assert (result.status[others] == Status.CONVERGED).all()
    assert (result.status[[7, 40]] == Status.NOT_CONVERGED).all()
    assert (result.dt_factor[[7, 40]] < 1).all()
    without = model.evaluate({n: v[others] if v.ndim and v.shape[0] == 64 else v for n, v in inputs.items()}, True)
    for name in model.output_names:
        assert torch.isnan(result.outputs[name][[7, 40]]).all()
        torch.testing.assert_close(result.outputs[name][others], without.outputs[name], rtol=1e-13, atol=1e-13)
        for given in model.input_names:
            block = result.jacobian[name][given]
            assert torch.isnan(block[[7, 40]]).all()
            torch.testing.assert_close(block[others], without.jacobian[name][given], rtol=1e-11, atol=1e-11)
    assert (result.iterations[others] == without.iterations).all()
    for call in (model.forward, model.jacobian, lambda x: model.jvp(x, {}), model.param_jacobian):
        with pytest.raises(ConvergenceError, match=r"did not converge in 2 of 64 rows \(7, 40\)") as error:
            call(inputs)
        assert error.value.failed_rows == [7, 40]
        assert error.value.recoverable


def test_non_finite_rows(viscoplastic):
    model = viscoplastic
    inputs = impossible(model)
    inputs["strain"][5, 2] = torch.nan
    inputs["plastic_strain~1"][50, 0] = torch.inf
    result = model.evaluate(inputs, jacobian=True)
    assert result.failed_rows == [5, 7, 40, 50]
    assert result.status[[5, 50]].tolist() == [Status.BAD_INPUT] * 2
    assert torch.isnan(result.outputs["stress"][[5, 50]]).all()
    assert torch.isnan(result.jacobian["stress"]["strain"][[5, 50]]).all()
    assert torch.isfinite(result.outputs["stress"][6]).all()
    with pytest.raises(
        InputError, match=r"input 'strain' of model 'model' is NaN or infinite in row 5 .*5, 50"
    ) as error:
        model.forward(inputs)
    assert (error.value.variable, error.value.row, error.value.recoverable) == ("strain", 5, False)
    inputs["t"] = torch.tensor(torch.nan, dtype=torch.float64)
    assert model.evaluate(inputs).failed_rows == list(range(64))
    with pytest.raises(InputError, match=r"input 'strain'|input 't'"):
        model.forward(inputs)


def test_wrong_calls(viscoplastic):
    model = viscoplastic
    good = inputs_for(model)

    def refused(message, **changes):
        inputs = {**good, **changes}
        inputs = {n: v for n, v in inputs.items() if v is not None}
        for call in (model.evaluate, model.forward, model.jacobian):
            with pytest.raises(FatalError, match=message):
                call(inputs)

    refused(r"missing input 'strain', 't'; expected: strain, plastic_strain~1", strain=None, t=None)
    refused(r"unknown input 'strian'; did you mean 'strain'\?", strian=good["strain"])
    refused(r"input 'strain': expected torch\.float64, got torch\.float32", strain=good["strain"].float())
    refused(r"input 'strain': expected shape \(\*B, 6\), got \(5, 5\)", strain=good["strain"][:, :5])
    refused(r"input 'strain': expected shape \(\*B, 6\), got \(\)", strain=torch.tensor(1.0, dtype=torch.float64))
    refused(r"input 'strain': expected shape \(\*B, 6\), got \(6, 5\)", strain=good["strain"].T)
    refused(r"batch shapes of the inputs do not broadcast: strain \(4,\)", strain=good["strain"][:4])
    refused(r"input 't': expected a torch tensor, got float", t=1.0)
    refused(r"input 'strain': expected a tensor on cpu, got one on meta", strain=good["strain"].to("meta"))
    with pytest.raises(FatalError, match=r"unknown tangent 'strian'"):
        model.jvp(good, {"strian": good["strain"]})
    with pytest.raises(FatalError, match=r"do not broadcast: inputs \(5,\), tangent 'strain' \(7,\)"):
        model.jvp(good, {"strain": torch.zeros(7, 6, dtype=torch.float64)})
    with pytest.raises(FatalError, match=r"unknown output 'strain'"):
        model.param_vjp(good, {"strain": good["strain"]})


@pytest.mark.parametrize("law", LAWS)
def test_float32(law, laws):
    # The residual of the rate-independent law is in MPa, that of the viscoplastic one a strain.
    tolerances = {"linear_elastic": None, "j2_viscoplastic": (1e-7, 1e-7), "j2_plastic": (1e-3, 1e-6)}[law]
    overrides = [
        f"Solvers/newton/{o}_tol:={v}" for o, v in zip(("abs", "rel"), tolerances or (), strict=bool(tolerances))
    ]
    model = EagerModel(EXAMPLES / f"{law}.i", "model", dtype="float32", overrides=overrides)
    inputs = inputs_for(model, dtype=torch.float32)
    out, blocks = model.jacobian(inputs)
    exact, exact_blocks = laws[law].jacobian(inputs_for(laws[law]))
    assert out["stress"].dtype == torch.float32
    torch.testing.assert_close(out["stress"].double(), exact["stress"], rtol=1e-2, atol=2.0)
    assert blocks["stress"]["strain"].dtype == torch.float32
    torch.testing.assert_close(
        blocks["stress"]["strain"].double(), exact_blocks["stress"]["strain"], rtol=5e-2, atol=5e3
    )


def test_loading_errors():
    with pytest.raises(FatalError, match="dtype must be one of float64, float32, got 'float16'"):
        EagerModel(EXAMPLES / "linear_elastic.i", "model", dtype="float16")
    with pytest.raises(FatalError, match="device 'nowhere' is not available"):
        EagerModel(EXAMPLES / "linear_elastic.i", "model", device="nowhere")
    with pytest.raises(InputFileError, match=r"did you mean 'model'\?"):
        load_model(EXAMPLES / "linear_elastic.i", "modle")


def test_zero_strain_from_a_virgin_state(laws):
    for law in LAWS:
        model = laws[law]
        inputs = {n: torch.zeros(2, *b, dtype=torch.float64)
                  for n, b in zip(model.input_names, model.input_base_shapes, strict=True)}  # fmt: skip
        for t in (0.0, 1.0):
            if "t" in inputs:
                inputs["t"] = torch.full((2,), t, dtype=torch.float64)
            out, blocks = model.jacobian(inputs)
            assert (out["stress"] == 0).all()
            elastic = laws["linear_elastic"].jacobian({"strain": inputs["strain"]})[1]["stress"]["strain"]
            torch.testing.assert_close(blocks["stress"]["strain"], elastic, rtol=1e-12, atol=1e-9)
            assert all(torch.isfinite(b).all() for by in blocks.values() for b in by.values())


def test_convergence_of_the_viscoplastic_law(viscoplastic):
    """Small increments converge, large ones run out of iterations; where the limit is belongs to the example."""
    rows = torch.tensor([1e-3, 2e-3, 3e-3, 1e-2, 5e-2, 2e-1], dtype=torch.float64)
    strain = torch.zeros(6, 6, dtype=torch.float64)
    strain[:, 0], strain[:, 1], strain[:, 2] = rows, -0.4 * rows, -0.4 * rows
    zero = torch.zeros((), dtype=torch.float64)
    inputs = {"strain": strain, "plastic_strain~1": torch.zeros(6, dtype=torch.float64), "t": zero + 1, "t~1": zero,
              "equivalent_plastic_strain~1": zero}  # fmt: skip
    result = viscoplastic.evaluate(inputs)
    assert result.status.tolist() == [0, 0, 0, 1, 1, 1]
    assert result.iterations.tolist()[3:] == [16, 16, 16]


def test_importing_matlaw_is_light():
    code = "import sys, json, matlaw; print(json.dumps(['torch' in sys.modules, sorted(matlaw.__all__)]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy, names = json.loads(done.stdout)
    assert not heavy
    assert {"load_model", "EagerModel", "Status", "InputFileError"} <= set(names)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        __import__("matlaw").nothing  # noqa: B018
