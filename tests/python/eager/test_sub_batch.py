"""Laws with sub-batch axes: what an input file declares, what follows, and what callers hand over."""

import pytest
import torch

import matlaw
from matlaw.artifact.compile import compile_model
from matlaw.eager import EagerModel
from matlaw.errors import FatalError, InputFileError

#: Each grain relaxes towards the strain of the whole: implicit, with one unknown for each.
GRAINS = """
[Models]
  [difference]
    type = SR2LinearCombination
    from = 'strain creep'
    to = 'creep_rate'
    weights = '1 -1'
  []
  [integrate]
    type = SR2BackwardEulerTimeIntegration
    variable = 'creep'
  []
  [system]
    type = ComposedModel
    models = 'difference integrate'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
  []
  [mean]
    type = SR2IntermediateMean
    from = 'creep'
    to = 'mean_creep'
    reduces = 'grain'
  []
  [model]
    type = ComposedModel
    models = 'update mean'
    additional_outputs = 'creep'
  []
[]
[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'creep'
  []
[]
[Solvers]
  [newton]
    type = Newton
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
"""
SUM = """
[Models]
  [model]
    type = SR2LinearCombination
    from = 'a b'
    to = 'c'
    weights = '2 3'
  []
[]
"""


def by_name(**shapes):
    lines = "".join(f"    {name.replace('_1', '~1')} = '{shape}'\n" for name, shape in shapes.items())
    return f"[Settings]\n  [example_batch_shape]\n{lines}  []\n[]\n"


def uniform(shape):
    return f"[Settings]\n  example_batch_shape = '{shape}'\n[]\n"


@pytest.fixture
def law(tmp_path):
    def build(text, **options):
        path = tmp_path / "law.i"
        path.write_text(text)
        return EagerModel(path, "model", **options)

    return build


def rand(*shape):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def grain_inputs(rows=3, grains=5):
    return {
        "strain": rand(rows, 6),
        "creep~1": rand(rows, grains, 6),
        "t": torch.full((rows,), 1.5, dtype=torch.float64),
        "t~1": torch.full((rows,), 1.0, dtype=torch.float64),
    }


def test_old_values_inherit_and_outputs_follow(law):
    model = law(by_name(creep="(2; 5)") + GRAINS)
    inputs = dict(zip(model.input_names, model.input_sub_batch_shapes, strict=True))
    assert inputs == {"strain": (), "creep~1": (5,), "t": (), "t~1": ()}
    assert dict(zip(model.output_names, model.output_sub_batch_shapes, strict=True)) == {
        "mean_creep": (),
        "creep": (5,),
    }
    [pair] = [p for p in model.state_pairs if p.role == "state"]
    assert len(pair.initial) == 30


def test_unknowns_with_sub_batch_axes_are_solved(law):
    model = law(by_name(creep="(2; 5)") + GRAINS)
    values = grain_inputs()
    out = model.forward(values)
    expected = (values["creep~1"] + 0.5 * values["strain"][:, None]) / 1.5
    torch.testing.assert_close(out["creep"], expected, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(out["mean_creep"], expected.mean(1), rtol=1e-12, atol=1e-14)


def test_derivatives_hold_sub_batched_inputs(law):
    model = law(by_name(creep="(2; 5)") + GRAINS)
    values = grain_inputs()
    _, blocks = model.jacobian(values)
    assert set(blocks["creep"]) == set(blocks["mean_creep"]) == {"strain", "t", "t~1"}
    unit = torch.eye(6, dtype=torch.float64) / 3.0
    torch.testing.assert_close(blocks["mean_creep"]["strain"], unit.expand(3, 6, 6), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(blocks["creep"]["strain"], unit.expand(3, 5, 6, 6), rtol=1e-12, atol=1e-14)
    direction = rand(3, 6)
    _, tangent = model.jvp(values, {"strain": direction})
    torch.testing.assert_close(tangent["creep"], (direction / 3.0)[:, None].expand(3, 5, 6), rtol=1e-12, atol=1e-14)
    assert set(model.derivative_pairs) == {(o, i) for o in model.output_names for i in ("strain", "t", "t~1")}
    with pytest.raises(FatalError, match=r"tangent 'creep~1': the input has sub-batch axes and is held fixed"):
        model.jvp(values, {"creep~1": values["creep~1"]})
    asked = model.evaluate(values, jacobian=True, pairs=[("creep", "creep~1")]).jacobian
    unit = torch.eye(30, dtype=torch.float64).reshape(5, 6, 5, 6) / 1.5
    torch.testing.assert_close(asked["creep"]["creep~1"], unit.expand(3, 5, 6, 5, 6), rtol=1e-12, atol=1e-14)


def test_an_extent_of_one_is_repeated_and_others_are_refused(law):
    model = law(by_name(creep="(2; 5)") + GRAINS)
    values = grain_inputs()
    one = values["creep~1"][:, :1]
    expected = model.forward({**values, "creep~1": one.expand(3, 5, 6)})
    torch.testing.assert_close(model.forward({**values, "creep~1": one})["creep"], expected["creep"])
    for wrong in (rand(3, 4, 6), rand(6), rand(3, 5, 5)):
        with pytest.raises(
            FatalError,
            match=r"input 'creep~1': expected shape \(\*B, 5, 6\), of which the first 1 after \*B are the sub-batch",
        ):
            model.forward({**values, "creep~1": wrong})


def test_one_declaration_for_all_inputs(law):
    model = law(uniform("(2; 4, 3)") + SUM)
    assert model.input_sub_batch_shapes == [(4, 3), (4, 3)]
    assert model.output_sub_batch_shapes == [(4, 3)]
    a, b = rand(2, 4, 3, 6), rand(2, 4, 3, 6)
    torch.testing.assert_close(model.forward({"a": a, "b": b})["c"], 2.0 * a + 3.0 * b)
    assert law(uniform("(2,)") + SUM).output_sub_batch_shapes == [()]


def test_sub_batch_axes_meet_from_the_right(law):
    model = law(by_name(a="(; 4, 3)", b="(; 3)") + SUM)
    a, b = rand(2, 4, 3, 6), rand(2, 3, 6)
    torch.testing.assert_close(model.forward({"a": a, "b": b})["c"], 2.0 * a + 3.0 * b[:, None])


def test_batch_ndim_makes_the_rest_sub_batch(law):
    model = law(SUM)
    assert model.output_sub_batch_shapes == [()]
    a, b = rand(2, 3, 6), rand(2, 6)
    out = model.forward({"a": a, "b": b}, batch_ndim=1)["c"]
    torch.testing.assert_close(out, 2.0 * a + 3.0 * b[:, None])
    _, blocks = model.jacobian({"a": a, "b": b}, batch_ndim=1)
    assert set(blocks["c"]) == {"b"}
    assert blocks["c"]["b"].shape == (2, 3, 6, 6)
    _, tangent = model.jvp({"a": a, "b": b}, {"b": b}, batch_ndim=1)
    torch.testing.assert_close(tangent["c"], (3.0 * b)[:, None].expand(2, 3, 6))
    with pytest.raises(FatalError, match="do not broadcast"):
        model.forward({"a": a, "b": b})
    with pytest.raises(FatalError, match="batch_ndim is a number of axes, 0 or more; got -1"):
        model.forward({"a": a, "b": b}, batch_ndim=-1)


def test_batch_ndim_checks_declared_extents(law):
    model = law(by_name(a="(; 4)") + SUM)
    with pytest.raises(FatalError, match=r"input 'a': expected shape \(\*B, 4, 6\)"):
        model.forward({"a": rand(2, 3, 6), "b": rand(2, 6)}, batch_ndim=1)


def test_rows_with_bad_input_are_told_apart(law):
    model = law(by_name(creep="(2; 5)") + GRAINS)
    values = grain_inputs()
    values["creep~1"][1, 2, 3] = torch.nan
    result = model.evaluate(values)
    assert result.failed_rows == [1]
    assert bool(torch.isnan(result.outputs["creep"][1]).all())
    assert bool(torch.isfinite(result.outputs["creep"][[0, 2]]).all())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (by_name(creeep="(2; 5)") + GRAINS, r"names 'creeep', which is no variable of model 'model'"),
        (GRAINS, r"\[Models\]/\[mean\]: cannot be evaluated .*'creep' has no sub-batch axis; declare its extent"),
        (by_name(a="(; 4)", b="(; 3)") + SUM, r"cannot be evaluated with the sub-batch shapes a \(4,\), b \(3,\)"),
        (by_name(a="(; 4)", c="(; 3)") + SUM, r"output 'c' has sub-batch shape \(4,\), but .* declares \(3,\)"),
    ],
)
def test_declarations_that_do_not_fit(law, text, message):
    with pytest.raises(InputFileError, match=message):
        law(text)


def test_older_values_follow_old_ones(law):
    text = GRAINS.replace(
        "[Models]\n", "[Models]\n  [guess]\n    type = LinearExtrapolationPredictor\n    unknowns_SR2 = 'creep'\n  []\n"
    )
    model = law(
        by_name(creep="(2; 5)") + text.replace("solver = 'newton'", "solver = 'newton'\n    predictor = 'guess'")
    )
    pairs = {p.old: (p.current, p.role) for p in model.state_pairs}
    assert pairs == {
        "creep~1": ("creep", "state"),
        "creep~2": ("creep~1", "force"),
        "t~1": ("t", "force"),
        "t~2": ("t~1", "force"),
    }
    values = grain_inputs() | {"creep~2": rand(3, 5, 6), "t~2": torch.zeros(3, dtype=torch.float64)}
    expected = (values["creep~1"] + 0.5 * values["strain"][:, None]) / 1.5
    torch.testing.assert_close(model.forward(values)["creep"], expected, rtol=1e-12, atol=1e-14)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "law.i"
    found.write_text(by_name(creep="(2; 5)") + GRAINS)
    return found


def test_compiled_and_eager_agree(path, tmp_path):
    compile_model(path, "model", tmp_path / "aoti", ["mean_creep:strain"], backend="native")
    compiled, eager = matlaw.load_model(str(tmp_path / "aoti" / "model_aoti.i"), "model"), EagerModel(path, "model")
    assert compiled.input_sub_batch_shapes == eager.input_sub_batch_shapes
    assert compiled.output_sub_batch_shapes == eager.output_sub_batch_shapes
    values = grain_inputs(rows=11)
    out, blocks = compiled.jacobian(values)
    expected, expected_blocks = eager.jacobian(values)
    for name, value in expected.items():
        torch.testing.assert_close(torch.as_tensor(out[name]), value, rtol=1e-13, atol=1e-15)
    torch.testing.assert_close(
        torch.as_tensor(blocks["mean_creep"]["strain"]).expand(11, 6, 6),
        expected_blocks["mean_creep"]["strain"],
        rtol=1e-13,
        atol=1e-15,
    )


@pytest.mark.parametrize("structure", ["dense", "block", ""])
def test_the_structure_of_a_system_changes_nothing(law, structure):
    text = GRAINS.replace("unknowns = 'creep'", f"unknowns = 'creep'\n    structure = '{structure}'")
    values = grain_inputs()
    expected = law(by_name(creep="(2; 5)") + GRAINS).forward(values)
    found = law(by_name(creep="(2; 5)") + text).forward(values)
    torch.testing.assert_close(found["creep"], expected["creep"], rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("structure = 'dense block'", "expected 1 entries, one for each group of unknowns, got 2"),
        ("structure = 'blok'", "unknown structure 'blok'; did you mean 'block'"),
    ],
)
def test_groups_and_structures_that_do_not_fit(law, options, message):
    with pytest.raises(InputFileError, match=message):
        law(GRAINS.replace("unknowns = 'creep'", f"unknowns = 'creep'\n    {options}"))
