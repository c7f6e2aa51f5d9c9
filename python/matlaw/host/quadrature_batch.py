"""A law evaluated at a fixed number of points: inputs, outputs, tangent and state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matlaw import _core
from matlaw.errors import FatalError
from matlaw.runtime.compiled import CompiledModel

if TYPE_CHECKING:
    from matlaw.eager import EagerModel

Array = npt.NDArray[np.float64]


class QuadratureBatch:
    """A law at `n_points` quadrature points, for a finite-element host.

    A step of a host::

        batch.set_input("strain", strain)              # (n_points, 6)
        batch.set_input("t", time)                     # the same at every point
        verdict = batch.evaluate(tangent=True)
        if verdict.ok:
            batch.output("stress")                     # (n_points, 6)
            batch.tangent("stress", "strain")          # (n_points, 6, 6)
        batch.commit()                                 # the step was accepted; batch.revert(): it was not

    Values are float64 whatever the law's dtype; symmetric tensors are in Mandel components. Arrays that come out
    are read-only views; they stay valid, and keep their values, for as long as they are referenced.

    The old variables (``x~1``) of the law's state pairs belong to the batch. They change in :meth:`commit`,
    :meth:`set_state`, :meth:`restore` and :meth:`resize` only, so a failed step can be tried again from them. A
    call that raises changes nothing.

    :param model: a law from :func:`matlaw.load_model`, compiled or eager
    :param n_points: number of points
    :raises FatalError: `model` is no law, or its state pairs do not fit its variables
    """

    def __init__(self, model: CompiledModel | EagerModel, n_points: int) -> None:
        if not callable(getattr(model, "evaluate", None)):
            raise FatalError(f"QuadratureBatch: expected a law from matlaw.load_model, got {type(model).__name__}")
        self.model = model
        handle = model.handle if isinstance(model, CompiledModel) else _core.wrap_eager(model)
        self._batch = _core.QuadratureBatch(handle, n_points)

    def __repr__(self) -> str:
        return f"QuadratureBatch({self.model.name!r}, n_points={self.n_points})"

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self._batch.n_points

    @property
    def input_names(self) -> list[str]:
        """Inputs that the host sets: those of the law but for its old variables."""
        return self._batch.input_names

    @property
    def output_names(self) -> list[str]:
        """Outputs of the law."""
        return self._batch.output_names

    @property
    def state_names(self) -> list[str]:
        """Old variables that the batch keeps."""
        return self._batch.state_names

    @property
    def tangent_names(self) -> list[tuple[str, str]]:
        """Derivatives ``(output, input)`` that :meth:`tangent` offers."""
        return self._batch.tangent_names

    def shape(self, variable: str) -> tuple[int, ...]:
        """Return the shape ``(*sub_batch, *base)`` of one value of an input, output or old variable."""
        return self._batch.shape(variable)

    def set_input(self, name: str, values: npt.ArrayLike) -> None:
        """Copy the values of an input.

        :param values: ``(n_points, *shape)``, or flattened ``(n_points, size)``; or ``(*shape)`` for the same value at
            every point, a number for a scalar
        :raises FatalError: there is no such input, or the shape is wrong
        """
        self._batch.set_input(name, _numbers(name, values))

    def evaluate(self, tangent: bool = False) -> _core.Verdict:
        """Evaluate the law for the inputs set and the old state; points never raise.

        :param tangent: compute the derivatives as well
        :returns: verdict with ``ok``, ``failed_rows``, ``status`` ``(n_points,)``, ``iterations`` ``(n_points,)``, and
            ``dt_factor``, the smallest over the points. Points that failed are NaN in every output.
        :raises FatalError: an input was not set, or the law has no derivatives
        """
        return self._batch.evaluate(tangent)

    def output(self, name: str) -> Array:
        """Return an output of the last evaluation, ``(n_points, *sub_batch, *base)``.

        :raises FatalError: there is no such output, or nothing was evaluated
        """
        return self._batch.output(name)

    def tangent(self, output: str, given: str) -> Array:
        """Return a derivative of the last evaluation, ``(n_points, *out_shape, *in_base)``.

        :param output: the variable that is derived
        :param given: the input with respect to which
        :raises FatalError: the law has no such derivative, or ``evaluate(tangent=True)`` was not called
        """
        return self._batch.tangent(output, given)

    def state(self, name: str) -> Array:
        """Return an old variable, ``(n_points, *sub_batch, *base)``.

        :param name: with its suffix, ``x~1``
        :raises FatalError: there is no such old variable
        """
        return self._batch.state(name)

    def set_state(self, name: str, values: npt.ArrayLike) -> None:
        """Replace an old variable: a given initial field. Results are dropped.

        :param values: ``(n_points, *sub_batch, *base)``
        :raises FatalError: there is no such old variable, or the shape is wrong
        """
        self._batch.set_state(name, _numbers(name, values))

    def commit(self) -> None:
        """Accept the step: current variables become the old ones.

        :raises FatalError: some point failed, nothing was evaluated since the last commit, or an input was set since
        """
        self._batch.commit()

    def revert(self) -> None:
        """Reject the step: inputs go back to their values of the last commit, results are dropped.

        Inputs that no commit has seen yet keep their values. The old state needs no restoring.
        """
        self._batch.revert()

    def save(self) -> bytes:
        """Return the old state and the inputs of the last commit, for a restart."""
        return self._batch.save()

    def restore(self, saved: bytes) -> None:
        """Take back what :meth:`save` returned, bit for bit.

        :raises FatalError: the bytes are damaged, or belong to another law, number of points, set of variables or
            version
        """
        self._batch.restore(saved)

    def resize(self, n_points: int) -> None:
        """Change the number of points.

        The first points keep their state, new ones get the initial state. Inputs set per point have to be set anew,
        constants stay; results are dropped.
        """
        self._batch.resize(n_points)


def _numbers(name: str, values: npt.ArrayLike | Any) -> Array:
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise FatalError(f"QuadratureBatch: '{name}' takes numbers; {error}") from error
