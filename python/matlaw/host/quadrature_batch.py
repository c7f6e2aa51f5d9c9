"""A law evaluated at a fixed number of points: inputs, outputs, tangent and state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from matlaw import _core
from matlaw.errors import FatalError
from matlaw.runtime.compiled import CompiledModel

if TYPE_CHECKING:
    from matlaw.eager import EagerModel

Array = npt.NDArray[np.float64]
#: numbers of points: a slice without step, or a list of them
Points = slice | Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True)
class Kinematics:
    """Which components of strain and stress a host works with.

    ==================== ========================== ========================================
    hypothesis           components of the host     the others
    ==================== ========================== ========================================
    ``3d``               xx yy zz yz xz xy
    ``plane_strain``     xx yy xy                   zero strain
    ``axisymmetric``     rr zz tt rz (xx yy zz xy)  zero strain
    ``plane_stress``     xx yy xy                   zero stress, their strain is solved for
    ``uniaxial_stress``  xx                         zero stress, their strain is solved for
    ==================== ========================== ========================================

    All are Mandel components: a shear component is sqrt2 times that of the tensor.

    :ivar strain: the law's strain input, ``stress`` its stress output; by default the only ones of type SR2
    :ivar tolerance: stress-free components are zero when none exceeds this part of the largest component of the stress
    :ivar max_iterations: Newton iterations on their strain; a point that needs more has not converged
    """

    hypothesis: str = "3d"
    strain: str = ""
    stress: str = ""
    tolerance: float = 1e-10
    max_iterations: int = 25

    def arguments(self) -> tuple[str, str, str, float, int]:
        """What the C++ side takes."""
        return self.hypothesis, self.strain, self.stress, self.tolerance, self.max_iterations


def handle_of(model: CompiledModel | EagerModel) -> _core.Model:
    """The C++ side of a law.

    :raises FatalError: it is no law
    """
    if not callable(getattr(model, "evaluate", None)):
        raise FatalError(f"QuadratureBatch: expected a law from matlaw.load_model, got {type(model).__name__}")
    return model.handle if isinstance(model, CompiledModel) else _core.wrap_eager(model)


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
    :meth:`set_state`, :meth:`restore`, :meth:`remap` and :meth:`resize` only, so a failed step can be tried again from
    them. A call that raises changes nothing.

    :param model: a law from :func:`matlaw.load_model`, compiled or eager
    :param n_points: number of points
    :param kinematics: which components the host's strain and stress have, or the hypothesis alone: ``"plane_stress"``.
        Where components are free of stress, :meth:`evaluate` finds their strain point by point, starting from that of
        the last :meth:`commit`, and the tangents are consistent with it.
    :raises FatalError: `model` is no law, its state pairs do not fit its variables, or it lacks what the hypothesis
        needs
    """

    def __init__(self, model: CompiledModel | EagerModel, n_points: int, kinematics: Kinematics | str = "3d") -> None:
        handle = handle_of(model)
        if isinstance(kinematics, str):
            kinematics = Kinematics(kinematics)
        if not isinstance(kinematics, Kinematics):
            raise FatalError(f"QuadratureBatch: expected a hypothesis such as '3d', or Kinematics, got {kinematics!r}")
        if not hasattr(n_points, "__index__"):
            raise FatalError(f"QuadratureBatch: n_points has to be a whole number, got {n_points!r}")
        self.model = model
        self._batch = _core.QuadratureBatch(handle, n_points, *kinematics.arguments())

    @classmethod
    def around(cls, model: CompiledModel | EagerModel, batch: _core.QuadratureBatch) -> QuadratureBatch:
        """Wrap a batch that the C++ side made."""
        self = cls.__new__(cls)
        self.model = model
        self._batch = batch
        return self

    def __repr__(self) -> str:
        return f"QuadratureBatch({self.model.name!r}, n_points={self.n_points})"

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self._batch.n_points

    @property
    def hypothesis(self) -> str:
        """Name of the kinematic hypothesis."""
        return self._batch.hypothesis

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

    def set_input(self, name: str, values: npt.ArrayLike, points: Points | None = None) -> None:
        """Copy the values of an input.

        :param values: ``(n_points, *shape)``, or flattened ``(n_points, size)``; or ``(*shape)`` for the same value at
            every point, a number for a scalar
        :param points: for these points only; `values` is then ``(len(points), *shape)``. Points that never get a value
            are NaN.
        :raises FatalError: there is no such input or point, or the shape is wrong
        """
        if points is None:
            self._batch.set_input(name, _numbers(name, values))
        else:
            self._batch.set_input_at(name, self._numbered(points), _numbers(name, values))

    def set_parameter(self, name: str, values: npt.ArrayLike) -> None:
        """Give a parameter of the law a value for this batch alone. Results are dropped.

        Threads must not use the law at the same time then.

        :param values: ``(n_points, *base)``, one value per point, or ``(*base)``
        :raises FatalError: the law has no such parameter (a compiled one keeps those of ``matlaw-compile -p``), or the
            number of values is wrong
        """
        self._batch.set_parameter(name, _numbers(name, values))

    def update_weights(self, weights: Mapping[str, Any] | str | Path, user_managed: bool = False) -> int:
        """Give the law other weights, which the next :meth:`evaluate` uses; see the law's own ``update_weights``.

        Other batches of the law get them too. Results stay.

        :returns: the version of the weights
        """
        return self.model.update_weights(weights, user_managed)

    def evaluate(self, tangent: bool = False, points: Points | None = None) -> _core.Verdict:
        """Evaluate the law for the inputs set and the old state; points never raise.

        :param tangent: compute the derivatives as well
        :param points: evaluate these points only. The others keep their results, or are NaN when they have none; their
            derivatives are NaN when they were evaluated without.
        :returns: verdict on the points evaluated, in their order, with ``ok``, ``failed_rows`` (numbers of points of
            the batch), ``status``, ``iterations``, and ``dt_factor``, the smallest over the points. Points that failed
            are NaN in every output.
        :raises FatalError: an input was not set, there is no such point, or the law has no derivatives
        """
        if points is None:
            return self._batch.evaluate(tangent)
        if isinstance(points, slice) and points.step in (None, 1):
            begin, end, _ = points.indices(self.n_points)
            return self._batch.evaluate_range(begin, max(begin, end), tangent)
        return self._batch.evaluate_points(self._numbered(points), tangent)

    def output(self, name: str) -> Array:
        """Return an output of the last evaluation, ``(n_points, *sub_batch, *base)``.

        :raises FatalError: there is no such output, or nothing was evaluated
        """
        return self._batch.output(name)

    def tangent(self, output: str, given: str) -> Array:
        """Return a derivative of the last evaluation, ``(n_points, *out_shape, *in_shape)``.

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

    def full_strain(self) -> Array:
        """Return all six components of the strain under a hypothesis, ``(n_points, 6)``.

        :raises FatalError: the hypothesis is ``3d``, or nothing was evaluated
        """
        return self._batch.full_strain()

    def full_stress(self) -> Array:
        """Return all six components of the stress under a hypothesis, ``(n_points, 6)``.

        :raises FatalError: the hypothesis is ``3d``, or nothing was evaluated
        """
        return self._batch.full_stress()

    def set_state(self, name: str, values: npt.ArrayLike, points: Points | None = None) -> None:
        """Replace an old variable: a given initial field. Results are dropped.

        :param values: ``(n_points, *sub_batch, *base)``
        :param points: for these points only; `values` is then ``(len(points), *sub_batch, *base)``
        :raises FatalError: there is no such old variable or point, or the shape is wrong
        """
        if points is None:
            self._batch.set_state(name, _numbers(name, values))
        else:
            self._batch.set_state_at(name, self._numbered(points), _numbers(name, values))

    def commit(self) -> None:
        """Accept the step: current variables become the old ones.

        :raises FatalError: some point failed, or was not evaluated since the last commit or since an input was set
        """
        self._batch.commit()

    def revert(self) -> None:
        """Reject the step: inputs go back to their values of the last commit, results are dropped.

        Inputs that no commit has seen yet keep their values. The old state needs no restoring.
        """
        self._batch.revert()

    def save(self) -> bytes:
        """Return the old state, the parameters set and the inputs of the last commit, for a restart."""
        return self._batch.save()

    def restore(self, saved: bytes) -> None:
        """Take back what :meth:`save` returned, bit for bit.

        :raises FatalError: the bytes are damaged, or belong to another law, hypothesis, number of points, set of
            variables or version
        """
        self._batch.restore(saved_bytes("QuadratureBatch", saved))

    def remap(self, old: Sequence[int] | npt.NDArray[np.integer]) -> None:
        """Follow a mesh that changed: new point ``i`` takes the state of the old point ``old[i]``.

        Inputs and parameters set per point move along where every new point has an old one; otherwise they have to be
        set anew. Constants stay; results are dropped.

        :param old: one number per new point, -1 for the initial state; several may be equal
        :raises FatalError: there is no such point
        """
        self._batch.remap(integers(old))

    def resize(self, n_points: int) -> None:
        """:meth:`remap` that keeps the first points and gives new ones the initial state."""
        self._batch.resize(n_points)

    def _numbered(self, points: Points) -> npt.NDArray[np.int64]:
        if isinstance(points, slice):
            return np.arange(*points.indices(self.n_points), dtype=np.int64)
        return integers(points)


def saved_bytes(kind: str, saved: Any) -> bytes:
    """Refuses what no ``save`` returned."""
    if not isinstance(saved, bytes | bytearray | memoryview):
        raise FatalError(f"{kind}: restore takes the bytes that save returned; got {type(saved).__name__}")
    return bytes(saved)


def integers(points: Any) -> npt.NDArray[np.int64]:
    """Refuses what NumPy would round or read as a mask."""
    array = np.asarray(points)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FatalError(
            f"QuadratureBatch: points are whole numbers in one dimension; got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64)


def _numbers(name: str, values: npt.ArrayLike | Any) -> Array:
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise FatalError(f"QuadratureBatch: '{name}' takes numbers; {error}") from error
