"""A law that was compiled ahead of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from matlaw import _core
from matlaw.evaluation import Evaluation, SegmentHistory, checked_pairs
from matlaw.models.weight_file import load_tensors
from matlaw.runtime.arrays import as_tensor, as_tensors, numpy_evaluation, to_numpy, wants_numpy
from matlaw.state_pair import StatePair

Arrays = dict[str, Any]
Blocks = dict[str, dict[str, Any]]


class CompiledModel:
    """A compiled law; made by :func:`matlaw.load_model`.

    Inputs are dicts of NumPy arrays or torch tensors of shape ``(*B, *sub_batch, *base)``, with batch shapes that
    broadcast against each other; results are of the same kind (tensors when any input is one). Symmetric tensors
    are in Mandel components. Tensors have the law's dtype and lie on its device. Results carry no gradient, whatever
    ``requires_grad`` of the inputs says: derivatives come from :meth:`jacobian`, :meth:`jvp` and :meth:`param_vjp`.
    Calls run without the interpreter lock, so threads may share a law.

    :param handle: what the C++ loader returned
    """

    def __init__(self, handle: _core.Model) -> None:
        self._handle = handle
        self._dtype: torch.dtype = getattr(torch, handle.dtype)
        self._device = torch.device(handle.device)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        kind = f"{self._device}, {self._handle.dtype}, {self.backend}"
        return f"CompiledModel({self.name!r}: {inputs} -> {outputs}; {kind})"

    @property
    def handle(self) -> _core.Model:
        """The C++ model, for hosts written in C++."""
        return self._handle

    @property
    def name(self) -> str:
        """Name of the model in its input file."""
        return self._handle.name

    @property
    def backend(self) -> str:
        """What evaluates the graphs: ``native``, ``inductor``, or ``native+inductor`` where only some are native."""
        return self._handle.backend

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, in order."""
        return self._handle.input_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        return self._handle.output_names

    @property
    def input_base_shapes(self) -> list[tuple[int, ...]]:
        """Base shape of each input, ``(6,)`` for a symmetric tensor."""
        return [tuple(shape) for shape in self._handle.input_base_shapes]

    @property
    def output_base_shapes(self) -> list[tuple[int, ...]]:
        """Base shape of each output."""
        return [tuple(shape) for shape in self._handle.output_base_shapes]

    @property
    def input_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Sub-batch shape of each input, ``()`` for a plain one."""
        return [tuple(shape) for shape in self._handle.input_sub_batch_shapes]

    @property
    def output_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Sub-batch shape of each output."""
        return [tuple(shape) for shape in self._handle.output_sub_batch_shapes]

    @property
    def input_types(self) -> list[str]:
        """Tensor type of each input: ``Scalar``, ``SR2`` ..."""
        return self._handle.input_types

    @property
    def output_types(self) -> list[str]:
        """Tensor type of each output."""
        return self._handle.output_types

    @property
    def device(self) -> torch.device:
        """Where inputs and outputs lie."""
        return self._device

    @property
    def dtype(self) -> torch.dtype:
        """Of inputs and outputs: ``torch.float64`` or ``torch.float32``."""
        return self._dtype

    @property
    def derivative_pairs(self) -> list[tuple[str, str]]:
        """Derivatives ``(output, input)`` that the law was compiled with."""
        return self._handle.derivative_pairs

    @property
    def state_pairs(self) -> list[StatePair]:
        """What a host carries from one accepted step to the next."""
        return [
            StatePair(current, old, role, tuple(initial)) for current, old, role, initial in self._handle.state_pairs
        ]

    @property
    def times(self) -> list[tuple[str, str]]:
        """Inputs ``(t, t~1)`` that are time and its old value.

        A row that fails while the one is not after the other has bad input.
        """
        return self._handle.times

    def last_failure(self) -> _core.Failure | None:
        """Why rows of the last call failed in which any did; None when there was no such call.

        With several threads it is the call that ended last, whole. The rows, 16 at most, are run again, alone and
        recorded, when this is first asked.
        """
        return self._handle.last_failure()

    def evaluate(
        self,
        inputs: Mapping[str, Any],
        jacobian: bool = False,
        pairs: Sequence[tuple[str, str]] | None = None,
        history: bool = False,
    ) -> Evaluation:
        """Return outputs and the verdict per row; rows never raise.

        :param inputs: by name, each ``(*B, *sub_batch, *base)``
        :param jacobian: compute :attr:`derivative_pairs` as well
        :param pairs: ``(output, input)`` that are needed; others may be computed too
        :param history: write down what every Newton solve did: :attr:`matlaw.Evaluation.history`
        :raises FatalError: a name, shape, dtype or device is wrong, or the law has no derivatives
        """
        outputs, blocks, status, iterations, substeps, dt_factor, failed_rows, recorded, version = (
            self._handle.evaluate(self._tensors("input", inputs), jacobian, checked_pairs(pairs or ()), history)
        )
        segments, reason, place = recorded or ([], None, None)
        found = Evaluation(
            outputs,
            status,
            iterations,
            substeps,
            dt_factor,
            blocks,
            failed_rows,
            [SegmentHistory(*segment) for segment in segments],
            reason,
            place,
            version,
        )
        return numpy_evaluation(found) if wants_numpy(inputs) else found

    def forward(self, inputs: Mapping[str, Any]) -> Arrays:
        """Return the outputs, each ``(*B, *sub_batch, *base)``.

        :raises ConvergenceError: some rows did not converge; it carries them
        :raises InputError: an input is not finite; it names the variable and the first row
        :raises FatalError: a name, shape, dtype or device is wrong
        """
        result = self._handle.forward(self._tensors("input", inputs))
        return to_numpy(result) if wants_numpy(inputs) else result

    def jvp(self, inputs: Mapping[str, Any], tangents: Mapping[str, Any]) -> tuple[Arrays, Arrays]:
        """Return the outputs and their derivative along `tangents`, both by output name.

        :param tangents: by input name, shaped like the inputs; a missing one is zero
        :raises ConvergenceError: as :meth:`forward`
        :raises FatalError: as :meth:`forward`, or the law lacks a derivative that is needed
        """
        outputs, derivatives = self._handle.jvp(self._tensors("input", inputs), self._tensors("tangent", tangents))
        if wants_numpy(inputs, tangents):
            return to_numpy(outputs), to_numpy(derivatives)
        return outputs, derivatives

    def jacobian(self, inputs: Mapping[str, Any]) -> tuple[Arrays, Blocks]:
        """Return the outputs and the blocks ``[output][input]``.

        Each is ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)``.

        A block that does not depend on the batch comes without ``*B``.

        :raises ConvergenceError: as :meth:`forward`
        :raises FatalError: as :meth:`forward`, or the law has no derivatives
        """
        outputs, blocks = self._handle.jacobian(self._tensors("input", inputs))
        return (to_numpy(outputs), to_numpy(blocks)) if wants_numpy(inputs) else (outputs, blocks)

    def named_parameters(self) -> dict[str, torch.Tensor]:
        """Return the promoted parameters by qualified name; empty when all were baked in."""
        return self._handle.named_parameters()

    def set_parameter(self, name: str, value: Any) -> None:
        """Replace a promoted parameter by a copy of `value`.

        :param value: ``(*param_base)``, or ``(*B, *param_base)`` for one value per row; integers where the parameter
            is int64
        :raises FatalError: there is no such parameter, or the shape, dtype or device is wrong
        :raises InputError: the value is NaN or infinite
        """
        known = self._handle.named_parameters().get(name)
        dtype = self._dtype if known is None else known.dtype
        self._handle.set_parameter(name, as_tensor(f"parameter '{name}'", value, dtype, self._device))

    @property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes ``(*sub_batch, *base)`` of the weights outside the compiled code, by name (docs/weights.md)."""
        return {name: tuple(shape) for name, shape in self._handle.weight_shapes}

    @property
    def weights_version(self) -> int:
        """1 for the weights that the law was loaded with, one more with every update; 0 for a law without."""
        return self._handle.weights_version

    def weights(self) -> dict[str, torch.Tensor]:
        """Return copies of the weights in use, by name."""
        return self._handle.weights()

    def update_weights(self, weights: Mapping[str, Any] | str | Path, user_managed: bool = False) -> int:
        """Use other weights in all calls that begin from now on: all of them or, when one does not fit, none.

        Calls that run end with the weights that they began with, also in other threads.

        :param weights: all weights by name, or a safetensors file or a checkpoint of ``torch.save`` with them
        :param user_managed: use the memory of the tensors instead of copying it. Nobody may write to it then; they have
            to be contiguous
        :returns: the version of the weights
        :raises FatalError: a weight is missing or not the law's, has another shape or dtype, or holds NaN or an
            infinity; or the file is damaged
        """
        if not isinstance(weights, str | Path):
            return self._handle.update_weights(as_tensors("weight", weights, self._dtype, any_dtype=True), user_managed)
        if Path(weights).suffix == ".safetensors":
            return self._handle.update_weights_from(str(weights))
        return self._handle.update_weights(load_tensors(Path(weights)), True)

    @property
    def implicit_updates(self) -> list[str]:
        """Names of the implicit updates, in the order in which they are solved."""
        return self._handle.implicit_updates

    @property
    def solver_config(self) -> dict[str, Any]:
        """Settings of the Newton solves, those that the law was compiled with until they are set.

        They are ``atol``, ``rtol``, ``miters``, ``ls_type``, ``ls_max_iters``, ``ls_cutback``, ``ls_c``,
        ``max_substepping_level``, ``substep_del_tol`` and, where linear systems are solved iteratively, the dicts
        ``krylov`` (of Newton steps), ``input_sensitivity`` and ``param_sensitivity`` (of derivatives). Where implicit
        updates differ, those of the first.

        :raises FatalError: the law solves nothing
        """
        return self._handle.solver_config

    @property
    def solver_configs(self) -> dict[str, dict[str, Any]]:
        """These settings by implicit update; empty for a law that solves nothing."""
        return self._handle.solver_configs

    def set_solver_config(self, update: str | None = None, /, **settings: Any) -> None:
        """Change settings of the Newton solves; those that are not named stay as they are.

        Not to be called while another thread evaluates the law.

        :param update: name of an implicit update; all when it is None
        :param settings: entries of :attr:`solver_config`; ``ls_type`` is ``NONE``, ``BACKTRACKING`` or
            ``STRONG_WOLFE``, ``krylov`` and the like are dicts with some of their entries
        :raises FatalError: there is no such update or setting, its value is out of range, a direct linear solver has no
            such settings, or the law solves nothing
        """
        self._handle.set_solver_config(update, **settings)

    def memory_per_call(self) -> int:
        """Return the bytes that a call works in at most, with all derivatives and the threads that it would have now.

        It does not depend on the number of rows, and is what ``max_bytes`` of :func:`matlaw.load_model` bounds.
        """
        return self._handle.memory_per_call()

    def param_jacobian(self, inputs: Mapping[str, Any]) -> Blocks:
        """Return ``[output][parameter]`` of the pairs that were compiled.

        Each is ``(*B, *out_sub_batch, *out_base, *param_sub_batch, *param_base)``.

        :raises ConvergenceError: as :meth:`forward`
        :raises FatalError: as :meth:`forward`, or the law was compiled without them
        """
        result = self._handle.param_jacobian(self._tensors("input", inputs))
        return to_numpy(result) if wants_numpy(inputs) else result

    def param_vjp(self, inputs: Mapping[str, Any], cotangents: Mapping[str, Any]) -> Arrays:
        """Return the gradient by promoted parameters of the outputs weighted by `cotangents`.

        It has the shape of a parameter's value: rows that share one value are summed.

        :param cotangents: by output name, shaped like the outputs; a missing one is zero
        :raises ConvergenceError: as :meth:`forward`
        :raises FatalError: as :meth:`forward`, or the law was compiled without the derivative of such an output
        """
        result = self._handle.param_vjp(self._tensors("input", inputs), self._tensors("cotangent", cotangents))
        return to_numpy(result) if wants_numpy(inputs, cotangents) else result

    def _tensors(self, kind: str, values: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        return as_tensors(kind, values, self._dtype, self._device)
