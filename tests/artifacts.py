"""Compile the artifacts that tests share, each once.

They lie in ``build/test-artifacts/<law>-<variant>/``: the artifact folder ``model/`` and the stub ``model_aoti.i``. One
that is up to date is used again, so calling this twice costs little.

* ``linear_elastic-native``, ``j2_viscoplastic-native``, ``j2_plastic-native``: native kernels, float64, derivative
  of stress by strain (which all others have as well)
* ``linear_elastic-both``, ``j2_viscoplastic-both``, ``j2_plastic-both``: ``.pt2`` graphs as well, the last one with all
  derivatives; so are ``radial_return-both``, ``gurson-both``, ``kocks_mecking-both``, ``zener-both`` and
  ``bilinear_traction-both``
* ``radial_return-inductor``: ``.pt2`` graphs alone
* ``j2_viscoplastic-float32``: native kernels, float32
* ``j2_viscoplastic-parameters``: native kernels, float64, Young's modulus and the yield stress are parameters
* ``linear_elastic-parameters``: the same of the elastic law, with both of its parameters
* ``j2_viscoplastic-parameter-derivatives``, ``linear_elastic-parameter-derivatives``: besides, derivatives of all
  outputs by these parameters; ``linear_elastic-parameters-both`` with ``.pt2`` graphs as well
* ``relaxing_grains-native``: a law with a sub-batch axis (tests/data), derivative of the mean by strain
* ``learned-native``: a law with networks in three segments (tests/data), all weights outside the code; ``learned-both``
  with ``.pt2`` graphs as well

* ``j2_viscoplastic-substepping``, ``j2_viscoplastic-substepping-both``: down to 2^-7 of an increment, with the strain
  ramped; native kernels, and ``.pt2`` graphs as well, then with derivatives by nearly all inputs and by the parameters
* ``j2_krylov-both`` (tests/data): both kinds of graphs of iterative linear solves, of derivatives by inputs too, and by
  the parameters; ``j2_krylov_sensitivities-both``: those by parameters iterative as well
* ``chaboche2-substepping-both``, ``single_crystal-substepping-both``, ``taylor_polycrystal-substepping-both``: down to
  2^-6 of an increment, both kinds of graphs, with all derivatives

pytest compiles what a test asks for (fixture ``artifact`` in conftest.py). For C++ tests run this file first and
tell them where the artifacts are:

    python tests/artifacts.py              # all, in build/test-artifacts
    python tests/artifacts.py --native     # those that take seconds
    MATLAW_TEST_ARTIFACTS=$PWD/build/test-artifacts ctest --test-dir build/cpp

The environment variable ``MATLAW_TEST_ARTIFACTS`` names the folder here, too.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matlaw.artifact.cache import Cache

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "examples" / "models"
DATA = ROOT / "tests" / "data"


@dataclass(frozen=True)
class Variant:
    """How a shared artifact is compiled.

    :ivar law: name of the input file
    :ivar options: arguments of :func:`matlaw.artifact.compile_model`
    :ivar derivatives: requests besides ``stress:strain``, or instead of it where they are all derivatives or the law is
        not in examples/models
    :ivar place: folder of the input file
    """

    law: str
    options: dict[str, Any] = field(default_factory=dict)
    derivatives: tuple[str, ...] = ()
    place: Path = MODELS


_J2_PARAMETERS = ["update.system.elasticity.E", "update.system.normality.flow.yield.sy"]
_BY_J2_PARAMETERS = tuple(f":{name}" for name in _J2_PARAMETERS)
_KRYLOV = [
    "Solvers/lu/type:=GMRES",
    "Solvers/lu/preconditioner:=blocks",
    "Models/update/input_sensitivity_solver:=iterative",
]
_ALL = (":",)
_SIX_LEVELS = ["Models/update/max_substepping_level:=6"]
_SUBSTEPPING = ["Models/update/max_substepping_level:=7", "Models/update/incremental_variables:='strain'"]
_LEARNED: dict[str, Any] = {"external_weights": [], "extensions": [str(DATA / "learned.py")]}

VARIANTS: dict[str, Variant] = {
    "linear_elastic-native": Variant("linear_elastic", {"backend": "native"}),
    "j2_viscoplastic-native": Variant("j2_viscoplastic", {"backend": "native"}),
    "j2_plastic-native": Variant("j2_plastic", {"backend": "native"}),
    "j2_viscoplastic-float32": Variant("j2_viscoplastic", {"backend": "native", "dtype": "float32"}),
    "j2_viscoplastic-parameters": Variant("j2_viscoplastic", {"backend": "native", "parameters": _J2_PARAMETERS}),
    "j2_viscoplastic-parameter-derivatives": Variant(
        "j2_viscoplastic",
        {"backend": "native", "parameters": _J2_PARAMETERS},
        _BY_J2_PARAMETERS,
    ),
    "linear_elastic-parameter-derivatives": Variant(
        "linear_elastic", {"backend": "native", "parameters": ["model.E", "model.nu"]}, (":model.E", ":model.nu")
    ),
    "linear_elastic-parameters": Variant(
        "linear_elastic", {"backend": "native", "parameters": ["model.E", "model.nu"]}
    ),
    "j2_viscoplastic-substepping": Variant("j2_viscoplastic", {"backend": "native", "overrides": _SUBSTEPPING}),
    "j2_viscoplastic-substepping-both": Variant(
        "j2_viscoplastic",
        {"backend": "both", "overrides": _SUBSTEPPING, "parameters": _J2_PARAMETERS},
        (":strain", ":strain~1", "stress:t", "stress:t~1", "stress:plastic_strain~1", *_BY_J2_PARAMETERS),
    ),
    "j2_krylov-both": Variant(
        "j2_krylov",
        {"backend": "both", "overrides": _KRYLOV, "parameters": _J2_PARAMETERS},
        ("stress:strain", "plastic_strain:t", *_BY_J2_PARAMETERS),
        DATA,
    ),
    "j2_krylov_sensitivities-both": Variant(
        "j2_krylov",
        {
            "backend": "both",
            "overrides": [*_KRYLOV, "Models/update/param_sensitivity_solver:=iterative"],
            "parameters": _J2_PARAMETERS,
        },
        ("stress:strain", "plastic_strain:t", *_BY_J2_PARAMETERS),
        DATA,
    ),
    "chaboche2-substepping-both": Variant(
        "chaboche2",
        {"backend": "both", "overrides": [*_SIX_LEVELS, "Models/update/incremental_variables:='strain'"]},
        _ALL,
    ),
    "single_crystal-substepping-both": Variant("single_crystal", {"backend": "both", "overrides": _SIX_LEVELS}, _ALL),
    "taylor_polycrystal-substepping-both": Variant(
        "taylor_polycrystal", {"backend": "both", "overrides": _SIX_LEVELS}, _ALL
    ),
    "radial_return-both": Variant("radial_return", {"backend": "both"}, _ALL),
    "radial_return-inductor": Variant("radial_return", {"backend": "inductor"}),
    "gurson-both": Variant("gurson", {"backend": "both"}, _ALL),
    "kocks_mecking-both": Variant("kocks_mecking", {"backend": "both"}, _ALL),
    "zener-both": Variant("zener", {"backend": "both"}, _ALL),
    "bilinear_traction-both": Variant("bilinear_traction", {"backend": "both"}, _ALL),
    "linear_elastic-parameters-both": Variant(
        "linear_elastic", {"backend": "both", "parameters": ["model.E", "model.nu"]}, (":model.E", ":model.nu")
    ),
    "linear_elastic-both": Variant("linear_elastic", {"backend": "both"}),
    "j2_viscoplastic-both": Variant("j2_viscoplastic", {"backend": "both"}),
    "j2_plastic-both": Variant("j2_plastic", {"backend": "both"}, _ALL),
    "relaxing_grains-native": Variant("relaxing_grains", {"backend": "native"}, ("mean_creep:strain",), DATA),
    "learned-native": Variant("learned", {"backend": "native", **_LEARNED}, ("stress:strain",), DATA),
    "learned-both": Variant("learned", {"backend": "both", **_LEARNED}, ("stress:strain",), DATA),
}


def folder() -> Path:
    """Where the artifacts are."""
    return Path(os.environ.get("MATLAW_TEST_ARTIFACTS") or ROOT / "build" / "test-artifacts")


def cache() -> Cache:
    """Graphs of shared artifacts: what other artifacts and tests have in common with these is not compiled again."""
    from matlaw.artifact.cache import Cache

    return Cache(folder() / "cache")


def shared_artifact(name: str, jobs: int = 2) -> Path:
    """The folder with ``model/`` and ``model_aoti.i`` of a variant, compiled when it is not up to date.

    :param name: a key of :data:`VARIANTS`
    :param jobs: processes that compile
    """
    from matlaw.artifact import compile_model

    variant = VARIANTS[name]
    place = folder() / name
    by_default = ["stress:strain"] if variant.place == MODELS and variant.derivatives != _ALL else []
    derivatives = [*by_default, *variant.derivatives]
    source = variant.place / f"{variant.law}.i"
    compile_model(source, "model", place, derivatives=derivatives, jobs=jobs, cache=cache(), **variant.options)
    return place


def main() -> int:
    """Compile all."""
    p = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    p.add_argument("--native", action="store_true", help="leave out the variants with .pt2 graphs")
    p.add_argument("names", nargs="*", help=f"variants (default: all): {', '.join(VARIANTS)}")
    options = p.parse_args()
    for name in options.names or VARIANTS:
        if name not in VARIANTS:
            p.error(f"unknown variant '{name}'; known: {', '.join(VARIANTS)}")
        if options.native and VARIANTS[name].options["backend"] == "both":
            continue
        print(shared_artifact(name), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
