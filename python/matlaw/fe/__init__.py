"""A finite-element host for laws: small-strain solid mechanics from MOOSE input files.

>>> from matlaw.fe import run
>>> result = run("examples/fe/notched_bar.i", output="out")  # doctest: +SKIP
"""

from matlaw.fe.simulation import RunResult, run

__all__ = ["RunResult", "run"]
