"""Models cut at their implicit updates."""

from pathlib import Path

import pytest
import torch
from chain_of_updates import CHAIN

from matlaw.input import load_model
from matlaw.tensors import SR2, Scalar
from matlaw.trace import ForwardSegment, ImplicitSegment, partition
from matlaw.trace.forward import trace
from matlaw.trace.graphs import forward_of_segment, residual_of_segment

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"


def summary(program):
    return [(type(s).__name__[:3], list(s.inputs), list(s.outputs), s.parameters) for s in program.segments]


def test_a_forward_model_is_one_segment():
    program = partition(load_model(EXAMPLES / "linear_elastic.i", "model"))
    assert summary(program) == [("For", ["strain"], ["stress"], ["model.E", "model.nu"])]
    assert program.state_pairs == []
    assert {n: p.data.item() for n, p in program.parameters.items()} == {"model.E": 200000.0, "model.nu": 0.3}


def test_segments_of_the_viscoplastic_law():
    program = partition(load_model(EXAMPLES / "j2_viscoplastic.i", "model"))
    implicit, forward = program.segments
    assert isinstance(implicit, ImplicitSegment)
    assert isinstance(forward, ForwardSegment)
    assert list(implicit.unknowns) == ["plastic_strain", "equivalent_plastic_strain"]
    assert set(implicit.givens) == set(program.inputs)
    assert list(forward.inputs) == ["strain", "plastic_strain"]
    assert list(forward.outputs) == ["stress"]
    assert "update.system.elasticity.E" in forward.parameters
    assert (implicit.solver.rel_tol, implicit.solver.max_its) == (1e-12, 16)
    assert implicit.predictor is not None


def test_several_implicit_updates(write):
    program = partition(load_model(write(CHAIN), "m"))
    assert [s[:3] for s in summary(program)] == [
        ("For", ["a"], ["u_rate"]),
        ("Imp", ["u~1", "t", "t~1", "u_rate"], ["u"]),
        ("For", ["a", "u"], ["s", "v_rate"]),
        ("Imp", ["v~1", "t", "t~1", "v_rate"], ["v"]),
        ("For", ["v", "s"], ["w"]),
    ]
    assert {(p.current, p.role) for p in program.state_pairs} == {("u", "state"), ("v", "state"), ("t", "force")}


def test_a_chain_of_implicit_updates_runs_and_differentiates(write):
    from matlaw.eager import EagerModel

    model = EagerModel(write(CHAIN), "m")
    a, u, v, t = (torch.tensor([x, 2 * x], dtype=torch.float64) for x in (1.0, 0.5, 0.25, 2.0))
    zero = torch.zeros((), dtype=torch.float64)
    out, blocks = model.jacobian({"a": a, "u~1": u, "v~1": v, "t": t, "t~1": zero})
    new_u = u + 2 * a * t
    new_v = v + (new_u + 5 * a) * t
    torch.testing.assert_close(out["u"], new_u)
    torch.testing.assert_close(out["v"], new_v)
    torch.testing.assert_close(out["w"], new_v + 5 * a)
    torch.testing.assert_close(blocks["w"]["a"], (2 * t + 5) * t + 5)
    torch.testing.assert_close(blocks["w"]["u~1"], t)
    torch.testing.assert_close(blocks["w"]["t"], 2 * a * t + new_u + 5 * a)
    torch.testing.assert_close(blocks["u"]["v~1"], torch.zeros(2, dtype=torch.float64))
    derivative = model.param_jacobian({"a": a, "u~1": u, "v~1": v, "t": t, "t~1": zero})
    torch.testing.assert_close(derivative["w"]["pre.weight_0"], a * t * t)


def test_initial_guesses(write):
    with_predictor = partition(load_model(EXAMPLES / "j2_viscoplastic.i", "model")).segments[0]
    values = {n: v.type.zeros() + 0.5 for n, v in with_predictor.inputs.items()}
    guess = with_predictor.predict(values)
    assert list(guess) == ["plastic_strain", "equivalent_plastic_strain"]
    assert (guess["plastic_strain"].data == 0.5).all()
    # Without a predictor: the old value where it is an input, else zero.
    old = partition(load_model(write(CHAIN), "update")).segments[0]
    values = {n: Scalar.constant(0.25) for n in old.inputs}
    assert old.predict(values)["u"].data.item() == 0.25
    text = CHAIN.replace("model = 'euler'", "model = 'pre'\n    residuals = 'u_rate'").replace(
        "unknowns = 'u'", "unknowns = 'a'"
    )
    zero = partition(load_model(write(text), "update")).segments[0]
    assert zero.predict({})["a"].data.item() == 0.0


def test_parameters_override_by_name():
    program = partition(load_model(EXAMPLES / "j2_viscoplastic.i", "model"))
    forward = program.segments[1]
    values = {"strain": SR2.constant([1e-3, 0, 0, 0, 0, 0]), "plastic_strain": SR2.zeros()}
    half = {"update.system.elasticity.E": Scalar.constant(100000.0), "update.system.hardening.R": Scalar.constant(1.0)}
    torch.testing.assert_close(forward.value(values, half)["stress"].data, 0.5 * forward.value(values)["stress"].data)


@pytest.mark.parametrize("law", ["linear_elastic", "j2_viscoplastic", "j2_plastic"])
def test_every_segment_records_with_a_symbolic_batch(law):
    program = partition(load_model(EXAMPLES / f"{law}.i", "model"))
    torch.manual_seed(0)
    for segment in program.segments:
        promoted = {n: program.parameters[n] for n in segment.parameters}
        make = residual_of_segment if isinstance(segment, ImplicitSegment) else forward_of_segment
        for parameters in ({}, promoted):
            forward = make(segment, parameters, law)
            traced = trace(forward.function, forward.inputs, forward.outputs, law)
            for rows in (1, 2, 7):
                flat = [1e-3 * torch.randn(*s.shape, rows, dtype=torch.float64) for s in forward.inputs]
                for i, p in enumerate(parameters.values()):
                    flat[len(flat) - len(parameters) + i] = p.data.expand(*p.base_shape, rows).contiguous()
                for got, expected in zip(traced.module(*flat), forward.function(*flat), strict=True):
                    torch.testing.assert_close(got, expected)
