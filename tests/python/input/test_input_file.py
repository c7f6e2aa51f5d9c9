"""Input files: what is read, and what errors say."""

import pytest

from matlaw.errors import FatalError, InputFileError
from matlaw.input import InputFile, load_model

LAW = """# a comment with [brackets] and 'quotes
sigma = 5
[Models]
  [yield] # a keyword of Python
    type = YieldFunction
    yield_stress = ${sigma}
    isotropic_hardening = 'k'
  []
  [lambda]
    type = LinearIsotropicHardening
    hardening_modulus = 3
    isotropic_hardening = 'k'
  []
  [class]
    type = ComposedModel
    models = 'yield lambda'
  []
[]
[Drivers]
  [later]
    type = SomethingElse
  []
[]
"""


def parameters(m):
    return {name: p.data.item() for name, p in m.named_parameters().items()}


def test_file(write):
    path = write(LAW)
    file = InputFile(path)
    assert file.path == path
    assert file.text == LAW
    assert file.sections == ["Models", "Drivers"]
    assert file.model_names == ["yield", "lambda", "class"]
    assert file.type_of("Models", "class") == "ComposedModel"
    assert file.names("Data") == []
    assert file.model("class") is file.model("class")
    assert parameters(file.model("class")) == {"lambda.K": 3.0, "yield.sy": 5.0}


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["Models/yield/yield_stress:=7"], {"lambda.K": 3.0, "yield.sy": 7.0}),
        (["sigma:=8", "Models/lambda/hardening_modulus := 1e2"], {"lambda.K": 100.0, "yield.sy": 8.0}),
        (["Models/yield/yield_stress=9"], {"lambda.K": 3.0, "yield.sy": 9.0}),
        (["Models/class/models:='lambda'"], {"lambda.K": 3.0}),
    ],
)
def test_overrides(write, overrides, expected):
    assert parameters(load_model(write(LAW), "class", overrides)) == expected


def test_an_override_may_add_an_option(write):
    m = load_model(write(LAW), "yield", ["Models/yield/yield_function:='f'"])
    assert list(m.outputs) == ["f"]
    assert "yield_function" in InputFile(write(LAW), ["Models/yield/yield_function:='f'"]).render()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("Models/yeld/yield_stress:=7", r"override '.*': unknown block of \[Models\] 'yeld'; did you mean 'yield'\?"),
        ("Modells/yield/yield_stress:=7", r"unknown section 'Modells'; did you mean 'Models'\?"),
        (
            "Models/yield/yield_stres:=7",
            r"override '.*': \[Models\]/\[yield\]: unknown option 'yield_stres'; did you mean 'yield_stress'\?",
        ),
        ("Models/yield/yield_stress:=", "override"),
        ("a b", "override 'a b'"),
        ("", "expected one assignment"),
        ("Models/yield/type:=YieldFunktion", r"unknown type 'YieldFunktion'; did you mean 'YieldFunction'\?"),
    ],
)
def test_overrides_that_fit_nothing(write, override, message):
    with pytest.raises(InputFileError, match=message):
        load_model(write(LAW), "yield", [override])


def test_includes(write, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.i").write_text(
        "[Models]\n[more]\ntype = YieldFunction\nyield_stress = ${sigma}\n[]\n[]\n"
    )
    path = write(LAW + "!include parts/more.i\n")
    file = InputFile(path, ["Models/more/isotropic_hardening:='h'"])
    assert file.model_names == ["yield", "lambda", "class", "more"]
    assert list(file.model("more").inputs) == ["effective_stress", "h"]
    assert parameters(file.model("more")) == {"more.sy": 5.0}
    (tmp_path / "parts" / "more.i").write_text("[Models]\n[yield]\ntype = YieldFunction\nyield_stress = 1\n[]\n[]\n")
    with pytest.raises(
        InputFileError, match=r"more\.i:2: block \[Models\]/\[yield\] is there twice, first in .*law\.i:4"
    ):
        InputFile(path)
    (tmp_path / "parts" / "more.i").write_text("[Models]\n[other]\ntype = YieldFunction\nyield_stres = 1\n[]\n[]\n")
    with pytest.raises(InputFileError, match=r"more\.i:4: \[Models\]/\[other\]: unknown option"):
        InputFile(path).model("other")


ONE = "[Models]\n  [m]\n    type = YieldFunction\n    yield_stress = 5\n  []\n[]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE.replace("yield_stress", "yeild_stress"), r"law\.i:4: \[Models\]/\[m\]: unknown option 'yeild_stress'; did you mean 'yield_stress'\? Known: "),  # noqa: E501
        (ONE.replace("    yield_stress = 5\n", ""), r"law\.i:2: \[Models\]/\[m\]: missing option 'yield_stress': yield stress"),  # noqa: E501
        (ONE.replace("    type = YieldFunction\n", ""), r"law\.i:2: \[Models\]/\[m\]: missing option 'type'"),
        (ONE.replace("YieldFunction", "yieldfunction"), r"law\.i:2: \[Models\]/\[m\]: unknown type 'yieldfunction'; did you mean 'YieldFunction'\?"),  # noqa: E501
        (ONE.replace("YieldFunction", "Newton"), r"unknown type 'Newton'.*It belongs in \[Solvers\]"),
        (ONE.replace("YieldFunction", "LearnedFlowRate"), r"unknown type 'LearnedFlowRate'\. Alike, of \d+: PerzynaPlasticFlowRate, .*\. matlaw-syntax lists all types; --load adds types of your own$"),  # noqa: E501
        (ONE.replace("[Models]", "[Model]"), r"law\.i:1: unknown section 'Model'; did you mean 'Models'\?"),
        (ONE.replace("    yield_stress", "    [sub]\n    []\n    yield_stress"), r"unexpected block \[sub\]"),
        (ONE + "[Models]\n  [m]\n    yield_function = f\n  []\n[]\n", r"law\.i:8: block \[Models/m\] is there twice, first in line 2"),  # noqa: E501
        (ONE.replace("  []\n", "    yield_stress = 6\n  []\n"), r"law\.i:5: .*duplicate field 'yield_stress'"),
        (ONE.replace("= 5", "= ${nothing}"), "nothing"),
        (ONE.replace("[]\n[]", "[]"), r"law\.i:\d+: "),
        ("[Settings]\n  example_batch_shape = '5'\n[]\n" + ONE, r"law\.i:2: \[Settings\]: option 'example_batch_shape': expected \(dynamic; sub-batch\), such as '\(2; 5\)' or '\(2,\)', got '5'"),  # noqa: E501
        ("[Settings]\n  [example_batch_shape]\n    strain = '(2; x)'\n  []\n[]\n" + ONE, r"law\.i:3: \[Settings\]: option 'example_batch_shape/strain': expected positive integers separated by commas, got 'x' in '\(2; x\)'"),  # noqa: E501
        ("[Settings]\n  [example_batch_shape]\n    strian = '(2; 3)'\n  []\n[]\n" + ONE, r"example_batch_shape names 'strian', which is no variable of model 'm'; its variables are: "),  # noqa: E501
        ("[Settings]\n  other = 1\n[]\n" + ONE, r"law\.i:2: \[Settings\]: unknown option 'other'"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_choices(write, text, message):
    with pytest.raises(InputFileError, match=message):
        load_model(write(text), "m")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("type = LinearIsotropicElasticity\ncoefficients = '1 0.3'\ncoefficient_types = 'YOUNGS_MODULUS POISSON_RATIO'",
         r"unknown choice 'POISSON_RATIO'; did you mean 'POISSONS_RATIO'\?"),
        ("type = LinearIsotropicElasticity\ncoefficients = '1'\ncoefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'",
         "option 'coefficients': expected two coefficients, got 1"),
        ("type = LinearIsotropicElasticity\ncoefficients = '1 2'\ncoefficient_types = 'YOUNGS_MODULUS YOUNGS_MODULUS'",
         "expected two different coefficient types"),
        ("type = LinearIsotropicElasticity\ncoefficients = '1 0.3'\ncompliance = maybe\n"
         "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'", "option 'compliance': expected true or false, got 'maybe'"),  # noqa: E501
        ("type = SR2Invariant\ninvariant_type = MISES\ntensor = A", r"unknown choice 'MISES'; did you mean 'VONMISES'\?"),  # noqa: E501
        ("type = SR2LinearCombination\nto = A", "missing option 'from'"),
        ("type = LinearIsotropicHardening\nhardening_modulus = '1,000'", "'1,000' is no number; write 1000"),
        ("type = YieldFunktion\nyield_stress = 1", r"did you mean 'YieldFunction'\? Alike, of \d+: GTNYieldFunction, Yield"),  # noqa: E501
        ("type = ResolvedShear", r"needs the block 'crystal_geometry' of \[Data\], but the file has no \[Data\]"),
        ("type = SR2LinearCombination\nfrom = ''\nto = A", "expected at least one variable"),
        ("type = SR2LinearCombination\nfrom = 'A A'\nto = B", "a variable appears twice"),
        ("type = SR2LinearCombination\nfrom = 'A B'\nto = C\nweights = '1 2 3'", "expected 1 or 2 weights, got 3"),
        ("type = ImplicitUpdate\nequation_system = e\nsolver = s\nmax_substepping_level = 1.5",
         "option 'max_substepping_level': expected an integer, got '1.5'"),
        ("type = ImplicitUpdate\nequation_system = e\nsolver = s", r"the file has no \[EquationSystems\]"),
        ("type = AOTIModel\nartifact_path = 'nowhere'", "artifact_path.*nowhere' does not exist"),
    ],
)  # fmt: skip
def test_wrong_values(model, block, message):
    with pytest.raises(InputFileError, match=message) as error:
        model(f"[m]\n{block}\n[]")
    assert "law.i:" in str(error.value)
    assert "[Models]/[m]" in str(error.value)


def test_solver_values_must_be_numbers(write):
    text = "[Models]\n[m]\ntype = YieldFunction\nyield_stress = 5\n[]\n[]\n[Solvers]\n[n]\ntype = Newton\nabs_tol = tiny\n[]\n[]\n"  # noqa: E501
    with pytest.raises(
        InputFileError, match=r"law\.i:10: \[Solvers\]/\[n\]: option 'abs_tol': expected a number, got 'tiny'"
    ):
        InputFile(write(text)).build("Solvers", "n")


def test_no_such_model_and_no_such_file(write, tmp_path):
    with pytest.raises(InputFileError, match=r"unknown block of \[Models\] 'clas'; did you mean 'class'\?"):
        load_model(write(LAW), "clas")
    with pytest.raises(InputFileError, match=r"none\.i: cannot be read"):
        load_model(tmp_path / "none.i", "m")


EXTENSION = '''
from matlaw.input import Input, Output, Parameter, register
from matlaw.models import Leaf
from matlaw.tensors import Scalar


@register("{name}")
class Square(Leaf):
    """y = a x^2"""

    x = Input(Scalar)
    y = Output(Scalar)
    a = Parameter(Scalar)

    def forward(self, x, a):
        return a * x * x
'''


def test_extensions_add_types(write, tmp_path):
    from matlaw.tensors import Scalar

    (tmp_path / "square.py").write_text(EXTENSION.format(name="ExtensionSquare"))
    package = tmp_path / "laws"
    package.mkdir()
    (package / "__init__.py").write_text("from . import one\n")
    (package / "one.py").write_text(EXTENSION.format(name="ExtensionPackageSquare"))
    path = write(
        "[Models]\n[m]\ntype = ExtensionSquare\na = 3\n[]\n[n]\ntype = ExtensionPackageSquare\na = 2\n[]\n[]\n"
    )
    with pytest.raises(InputFileError, match="unknown type 'ExtensionSquare'"):
        load_model(path, "m")
    extensions = [tmp_path / "square.py", str(package)]
    m = load_model(path, "m", extensions=extensions)
    assert m.evaluate({"x": Scalar.constant(2.0)})["y"].data.item() == 12.0
    assert load_model(path, "n", extensions=extensions).type_name == "ExtensionPackageSquare"
    assert load_model(path, "m", extensions=str(tmp_path / "square.py")).type_name == "ExtensionSquare"
    with pytest.raises(FatalError, match=r"extension '.*absent\.py'"):
        load_model(path, "m", extensions=[tmp_path / "absent.py"])
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(FatalError, match=r"broken\.py': ZeroDivisionError"):
        load_model(path, "m", extensions=[tmp_path / "broken.py"])
    (tmp_path / "clash.py").write_text(EXTENSION.format(name="YieldFunction"))
    with pytest.raises(FatalError, match=r"type 'YieldFunction' of section .* is registered twice"):
        load_model(path, "m", extensions=[tmp_path / "clash.py"])
