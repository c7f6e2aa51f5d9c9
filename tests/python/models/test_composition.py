"""Composed models, normality and implicit systems."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from matlaw.errors import InputFileError
from matlaw.tensors import SR2, Scalar
from matlaw.trace import partition
from matlaw.trace.graphs import predictor_of_segment

HARDENING = """[h]
  type = LinearIsotropicHardening
  hardening_modulus = 3
  equivalent_plastic_strain = ep
  isotropic_hardening = k
[]"""
YIELD = (
    "[y]\ntype = YieldFunction\nyield_stress = 5\nisotropic_hardening = k\neffective_stress = q\nyield_function = f\n[]"
)
MISES = "[v]\ntype = SR2Invariant\ninvariant_type = VONMISES\ntensor = s\ninvariant = q\n[]"
FLOW = "[flow]\ntype = ComposedModel\nmodels = 'y v'\n[]"
NORMALITY = "[n]\ntype = Normality\nmodel = flow\nfunction = f\nfrom = 's k'\nto = 'N Nk'\n[]"


def composed(models, extra=""):
    return f"[m]\ntype = ComposedModel\nmodels = '{models}'\nadditional_outputs = '{extra}'\n[]"


def test_order_follows_from_the_variables(model):
    m = model(HARDENING + YIELD + MISES + composed("y v h"))
    assert [c.name for c in m.children] == ["v", "h", "y"]
    assert list(m.inputs) == ["s", "ep"]
    assert list(m.outputs) == ["f"]
    stress = SR2.constant([0.0, 0.0, 0.0, 0.0, 0.0, 10.0 * 2**0.5])
    f = m.evaluate({"s": stress, "ep": Scalar.constant(0.5)})["f"].data.item()
    assert f == pytest.approx((2 / 3) ** 0.5 * (10 * 3**0.5 - 5 - 1.5))


def test_additional_outputs(model):
    m = model(HARDENING + YIELD + MISES + composed("y v h", "q k"))
    assert list(m.outputs) == ["f", "q", "k"]


def test_nested_models_are_flattened_and_keep_their_paths(model):
    m = model(HARDENING + YIELD + MISES + FLOW + composed("flow h", "q"))
    assert [c.name for c in m.children] == ["v", "h", "y"]
    assert list(m.named_parameters()) == ["h.K", "flow.y.sy"]
    assert list(m.outputs) == ["f", "q"]


def test_additional_outputs_of_a_nested_model_stay_visible(model):
    inner = "[inner]\ntype = ComposedModel\nmodels = 'y v'\nadditional_outputs = q\n[]"
    m = model(HARDENING + YIELD + MISES + inner + composed("inner h"))
    assert list(m.outputs) == ["f", "q"]


def test_a_shared_leaf_is_one_object_with_its_first_name(model):
    m = model(HARDENING + YIELD + MISES + FLOW + NORMALITY + composed("h v y n"))
    assert [c.name for c in m.children] == ["h", "v", "y", "n"]
    assert list(m.named_parameters()) == ["h.K", "y.sy"]
    values = {"s": SR2.constant([9.0, 0, 0, 0, 0, 0]), "ep": Scalar.constant(0.0)}
    f = m.evaluate(values, {"y.sy": Scalar.constant(9.0)})["f"].data.item()
    assert f == pytest.approx(0.0, abs=1e-14)


def test_names_that_a_nested_model_neither_takes_nor_gives_are_its_own(model):
    """The same law in two places: of a trial strain and of the strain, both called e."""
    text = (
        "[trial_e]\ntype = ScalarLinearCombination\nfrom = 'E p0'\nto = 'e'\nweights = '1 -1'\n[]\n"
        "[e]\ntype = ScalarLinearCombination\nfrom = 'E p'\nto = 'e'\nweights = '1 -1'\n[]\n"
        "[law]\ntype = ScalarLinearCombination\nfrom = 'e'\nto = 's'\nweights = '10'\n[]\n"
        "[step]\ntype = ScalarLinearCombination\nfrom = 's'\nto = 'p'\nweights = '0.01'\n[]\n"
        "[trial]\ntype = ComposedModel\nmodels = 'trial_e law step'\n[]\n"
        "[inner]\ntype = ComposedModel\nmodels = 'trial'\nadditional_outputs = 'p'\n[]\n"
    )
    m = model(text + composed("inner e law", "p"))
    assert list(m.inputs) == ["E", "p0"] and list(m.outputs) == ["s", "p"]
    assert [c.name for c in m.children] == ["inner", "e", "law"]
    values = {"E": Scalar.constant(3.0), "p0": Scalar.constant(1.0)}
    found = m.evaluate(values)
    assert found["p"].data.item() == pytest.approx(0.2)
    assert found["s"].data.item() == pytest.approx(28.0)
    # One law, one parameter, under its first path.
    names = [name for name in m.named_parameters() if name.endswith("law.weight_0")]
    assert names == ["inner.trial.law.weight_0"]
    changed = m.evaluate(values, {names[0]: Scalar.constant(20.0)})
    assert changed["p"].data.item() == pytest.approx(0.4)
    assert changed["s"].data.item() == pytest.approx(52.0)


def test_cycles_are_named(model):
    a = "[a]\ntype = ScalarLinearCombination\nfrom = 'x'\nto = 'y'\n[]\n"
    b = "[b]\ntype = ScalarLinearCombination\nfrom = 'y'\nto = 'z'\n[]\n"
    c = "[c]\ntype = ScalarLinearCombination\nfrom = 'z'\nto = 'x'\n[]\n"
    with pytest.raises(
        InputFileError, match=r"law\.i:\d+: \[Models\]/\[m\]: option 'models': cyclic dependency: '\w' -> "
    ):
        model(a + b + c + composed("a b c"))
    with pytest.raises(InputFileError, match="model 'a' takes its own output 'x'"):
        model("[a]\ntype = ScalarLinearCombination\nfrom = 'x'\nto = 'x'\n[]\n" + composed("a"))


def test_two_producers_are_named(model):
    a = "[a]\ntype = ScalarLinearCombination\nfrom = 'x'\nto = 'y'\n[]\n"
    b = "[b]\ntype = ScalarLinearCombination\nfrom = 'z'\nto = 'y'\n[]\n"
    with pytest.raises(InputFileError, match=r"variable 'y' has two producers: model 'a' .* and model 'b'"):
        model(a + b + composed("a b"))


def test_types_of_a_variable_must_agree(model):
    flow = "[f]\ntype = AssociativePlasticFlow\nplastic_strain_rate = 'q'\n[]"
    with pytest.raises(InputFileError, match="variable 'q' is SR2 in model 'f' and Scalar in model 'y'"):
        model(YIELD + flow + composed("f y"))
    with pytest.raises(InputFileError, match="variable 'x' is used as Scalar and as SR2"):
        model("[m]\ntype = AssociativePlasticFlow\nflow_rate = x\nflow_direction = x\n[]")


def test_unknown_members_and_outputs(model):
    with pytest.raises(InputFileError, match=r"unknown block of \[Models\] 'yy'; did you mean 'y'\?"):
        model(YIELD + composed("yy"))
    with pytest.raises(InputFileError, match="unknown output of a member 'g'"):
        model(YIELD + composed("y", "g"))
    with pytest.raises(InputFileError, match="expected at least one model"):
        model(composed(""))
    with pytest.raises(InputFileError, match=r"cyclic dependency: \[Models\]/\[m\] -> \[Models\]/\[m\]"):
        model(composed("m"))


def gradient(n, stress, k):
    out = n.evaluate({"s": SR2(stress), "k": Scalar(k)})
    return out["N"].data, out["Nk"].data


def test_normality(model):
    n = model(YIELD + MISES + FLOW + NORMALITY, "n")
    assert {name: v.type.__name__ for name, v in n.inputs.items()} == {"s": "SR2", "k": "Scalar"}
    assert list(n.named_parameters()) == ["flow.y.sy"]
    torch.manual_seed(0)
    stress, k = torch.randn(6, 4, dtype=torch.float64), torch.rand(4, dtype=torch.float64)
    N, Nk = gradient(n, stress, k)
    deviator = SR2(stress).deviator()
    torch.testing.assert_close(N, (deviator / deviator.norm()).data)  # unit norm: the point of the factor sqrt(2/3)
    torch.testing.assert_close(Nk, torch.full((4,), -((2 / 3) ** 0.5), dtype=torch.float64))
    # A batch-independent argument must not collect the sum over the rows.
    N1, Nk1 = gradient(n, stress, k[:1])
    torch.testing.assert_close(N1, N)
    torch.testing.assert_close(Nk1, Nk)
    N0, _ = gradient(n, torch.zeros(6, 2, dtype=torch.float64), k[:2])
    assert torch.isfinite(N0).all()


def test_normality_traces_and_differentiates_again(model):
    n = model(YIELD + MISES + FLOW + NORMALITY, "n")
    torch.manual_seed(0)
    args = torch.randn(6, 4, dtype=torch.float64), torch.rand(4, dtype=torch.float64)
    points = tuple(a.clone().requires_grad_() for a in args)
    assert torch.autograd.gradcheck(lambda s, k: gradient(n, s, k)[0], points)

    def second(s, k):
        value, back = torch.func.vjp(lambda x: gradient(n, x, k)[0], s)
        return value, back(torch.ones_like(value))[0]

    graph = make_fx(second, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*args)
    other = torch.randn(6, 9, dtype=torch.float64), torch.rand(9, dtype=torch.float64)
    for got, expected in zip(graph(*other), second(*other), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("function = f", "function = g"), r"unknown output of model 'flow' 'g'"),
        (("from = 's k'", "from = 's kk'"), r"unknown input of model 'flow' 'kk'; did you mean 'k'\?"),
        (("to = 'N Nk'", "to = 'N'"), "'from' has 2 names, 'to' has 1"),
        (("model = flow", "model = flaw"), r"did you mean 'flow'\?"),
    ],
)
def test_normality_refuses(model, change, message):
    with pytest.raises(InputFileError, match=message):
        model(YIELD + MISES + FLOW + NORMALITY.replace(*change), "n")


IMPLICIT = """[decay]
  type = ScalarLinearCombination
  from = 'x'
  to = 'x_rate'
  weights = '-2'
[]
[step]
  type = ScalarBackwardEulerTimeIntegration
  variable = 'x'
[]
[system]
  type = ComposedModel
  models = 'decay step'
[]
[guess]
  type = ConstantExtrapolationPredictor
  unknowns_Scalar = 'x'
[]
[m]
  type = ImplicitUpdate
  equation_system = 'eq'
  solver = 'newton'
  predictor = 'guess'
[]"""
SYSTEM = "[EquationSystems]\n[eq]\ntype = NonlinearSystem\nmodel = system\nunknowns = 'x'\n[]\n[]\n"
SOLVERS = "[Solvers]\n[newton]\ntype = Newton\nlinear_solver = lu\n[]\n[lu]\ntype = DenseLU\n[]\n[]\n"


def test_implicit_update(model):
    m = model(IMPLICIT, rest=SYSTEM + SOLVERS)
    assert list(m.inputs) == ["x~1", "t", "t~1"]
    assert list(m.outputs) == ["x"]
    assert list(m.named_parameters()) == ["system.decay.weight_0", "system.decay.offset"]
    assert (m.solver.abs_tol, m.solver.rel_tol, m.solver.max_its) == (1e-10, 1e-8, 25)
    assert m.system.givens == ["x~1", "t", "t~1"]
    with pytest.raises(NotImplementedError, match="is implicit"):
        m.evaluate({name: Scalar.constant(1.0) for name in m.inputs})


def test_a_composed_predictor_may_have_by_products(model):
    other = "[other]\ntype = ScalarLinearCombination\nfrom = 't'\nto = 'unused'\n[]\n"
    both = "[both]\ntype = ComposedModel\nmodels = 'guess other'\n[]\n"
    text = other + both + IMPLICIT.replace("predictor = 'guess'", "predictor = 'both'")
    [segment] = partition(model(text, rest=SYSTEM + SOLVERS)).segments
    predictor = predictor_of_segment(segment, {}, "the predictor")
    assert [slot.name for slot in predictor.outputs] == ["x"]
    values = {name: Scalar.constant(3.0) for name in segment.inputs}
    assert {name: v.data.item() for name, v in segment.predict(values).items()} == {"x": 3.0}
    with pytest.raises(InputFileError, match="unknown variable among the unknowns 'unused'"):
        model(other + IMPLICIT.replace("predictor = 'guess'", "predictor = 'other'"), rest=SYSTEM + SOLVERS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("predictor = 'guess'", "max_substepping_level = 31", "max_substepping_level.*from 0 to 30"),
        ("unknowns_Scalar = 'x'", "unknowns_Scalar = 'z'", "unknown variable among the unknowns 'z'"),
        ("unknowns_Scalar = 'x'", "unknowns_SR2 = 'x'", "unknown 'x' is Scalar, but the predictor gives SR2"),
        ("unknowns_Scalar = 'x'", "", "expected at least one unknown"),
        ("unknowns = 'x'", "unknowns = 'x'\nstructure = 'sparse'", "unknown structure 'sparse'"),
        ("unknowns = 'x'", "unknowns = 'x; t'", "residual of 't'"),
        ("unknowns = 'x'", "unknowns = 'y'", r"unknown input of model 'system' 'y'"),
        ("unknowns = 'x'", "unknowns = 'x'\nresiduals = 'r'", r"residual of 'x'.*'r'"),
        ("unknowns = 'x'", "unknowns = 'x'\nresiduals = 'x_residual r'", "expected 1 different residuals"),
        ("solver = 'newton'", "solver = 'lu'", "'lu' is not a nonlinear solver"),
        ("linear_solver = lu", "linear_solver = newton", r"cyclic dependency|not a linear solver"),
        ("linear_solver = lu", "substep_del_tol = 0", "expected a number above 0"),
        ("linear_solver = lu", "max_its = -1", "expected a number that is not negative"),
        ("type = DenseLU", "type = Cholesky", r"unknown type 'Cholesky'.*Known: .*DenseLU, .*Newton"),
        ("type = DenseLU", "type = SchurComplement", "primary_solver"),
        (
            "type = DenseLU",
            "type = SchurComplement\nprimary_solver = direct\nschur_solver = direct\n[]\n[direct]\ntype = DenseLU",
            "linear solver 'lu' does not fit: it needs two groups of unknowns",
        ),
        ("type = DenseLU", "type = GMRES\ncache_strategy = sometimes", "cache strategy 'sometimes'|cache_strategy"),
        ("type = DenseLU", "type = GMRES\nrestart = 0", "expected a number of 1 or more, got 0"),
        ("type = DenseLU", "type = BiCGStab\nrel_tol = 1.0", "expected a number below 1"),
        ("type = DenseLU", "type = BiCGStab\nrel_tol = 0.0", "cannot both be 0"),
        ("type = DenseLU", "type = GMRES\npreconditioner = newton", "cyclic dependency|not a preconditioner"),
        (
            "type = Newton",
            "type = NewtonWithLineSeach",
            "unknown type 'NewtonWithLineSeach'; did you mean 'NewtonWithLineSearch'",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_name(model, old, new, message):
    text = IMPLICIT + "\x00" + SYSTEM + SOLVERS
    assert old in text
    blocks, rest = text.replace(old, new).split("\x00")
    with pytest.raises(InputFileError, match=message) as error:
        model(blocks, rest=rest)
    assert "law.i:" in str(error.value)
