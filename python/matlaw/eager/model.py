"""Laws evaluated straight from an input file, without a compile step."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch

from matlaw.eager import boundary
from matlaw.eager.chain import Chain, Run
from matlaw.eager.failing import FailingRun
from matlaw.eager.given import Given
from matlaw.eager.implicit import runtime_core
from matlaw.eager.parameter_gradients import ParameterGradients, run_in_parts
from matlaw.eager.record import Detail
from matlaw.eager.row_mixing import RowMixing, first_along
from matlaw.eager.sensitivity import identity_seeds
from matlaw.errors import ConvergenceError, FatalError, InputError
from matlaw.evaluation import Evaluation, SegmentHistory, Status, checked_pairs
from matlaw.input import InputFile
from matlaw.input import load_model as load_forward_model
from matlaw.models import Variable
from matlaw.models.batch_axes import call_with
from matlaw.models.weight_file import load_tensors
from matlaw.tensors import Tensor, to_internal, to_public
from matlaw.tensors.layout import block_to_public
from matlaw.trace import ImplicitSegment, Program, StatePair, partition

if TYPE_CHECKING:
    from matlaw._core import Failure

Tensors = dict[str, torch.Tensor]
Blocks = dict[str, dict[str, torch.Tensor]]


class Evaluator(Protocol):
    """What runs the segments of a program."""

    def run(self, given: Given, detail: Detail = Detail.NOTHING) -> Run:
        """Evaluate all rows; see :meth:`matlaw.eager.chain.Chain.run`."""


class EagerModel:
    """A law that torch evaluates operation by operation, with the operations of a compiled one.

    Tensors are in the public layout: inputs ``(*B, *sub_batch, *base)`` whose batch shapes broadcast, outputs with the
    full batch shape. In a law that reduces batch axes (``SR2DynamicMean``) an output lacks those that it was reduced
    along, and a derivative is for a change in all rows alike. Results carry no gradient.

    :param path: input file
    :param name: name of the model
    :param extensions: Python files, packages or module names that register further types
    :param dtype: ``float64`` or ``float32``
    :param device: where the inputs live
    :param overrides: assignments such as ``Models/elasticity/E:=1``
    :param sub_batch: sub-batch shapes of variables that ``[Settings]/example_batch_shape`` does not declare
    :raises InputFileError: when the file is wrong
    :raises FatalError: when an extension, the dtype or the device is wrong
    """

    def __init__(
        self,
        path: str | Path,
        name: str,
        extensions: Sequence[str | Path] = (),
        *,
        dtype: torch.dtype | str = torch.float64,
        device: torch.device | str = "cpu",
        overrides: Sequence[str] = (),
        sub_batch: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self._dtype = _dtype(dtype)
        try:
            self._device = torch.device(device)
            torch.empty(0, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise FatalError(f"device '{device}' is not available: {error}") from error
        self._source = (path, name, tuple(overrides), tuple(extensions))
        self._settings: dict[str, dict[str, Any]] = {}
        # The last run in which rows failed; a list, so that copies with other sub-batch axes share it.
        self._failing: list[FailingRun] = []
        self._program, self._chain = self._partitioned(sub_batch)
        self._mixing = RowMixing(self._program)
        self._parameters: dict[str, Tensor] = {
            key: value.to(self._dtype, self._device) for key, value in self._program.parameters.items()
        }
        self._parameter_dtypes = {key: value.parameter_dtype for key, value in self._parameters.items()}
        self._parameter_batches: dict[str, tuple[int, ...]] = {
            key: slot.batch_shape for key, slot in self._program.slots.items()
        }
        self._weight_names = [key for key, slot in self._program.slots.items() if slot.shared]
        self._weights = (1, {name: self._parameters[name] for name in self._weight_names})
        self._installing = threading.Lock()

    def __repr__(self) -> str:
        return f"EagerModel({self.name!r}: {', '.join(self.input_names)} -> {', '.join(self.output_names)})"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._program.name

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, in order."""
        return list(self._program.inputs)

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        return list(self._program.outputs)

    @property
    def input_base_shapes(self) -> list[tuple[int, ...]]:
        """Base shape of each input."""
        return [v.type.base_shape for v in self._program.inputs.values()]

    @property
    def output_base_shapes(self) -> list[tuple[int, ...]]:
        """Base shape of each output."""
        return [v.type.base_shape for v in self._program.outputs.values()]

    @property
    def input_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Sub-batch shape of each input."""
        return [v.sub_batch_shape for v in self._program.inputs.values()]

    @property
    def output_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Sub-batch shape of each output."""
        return [v.sub_batch_shape for v in self._program.outputs.values()]

    @property
    def input_types(self) -> list[str]:
        """Tensor type of each input."""
        return [v.type.__name__ for v in self._program.inputs.values()]

    @property
    def output_types(self) -> list[str]:
        """Tensor type of each output."""
        return [v.type.__name__ for v in self._program.outputs.values()]

    @property
    def device(self) -> torch.device:
        """Where inputs and outputs live."""
        return self._device

    @property
    def dtype(self) -> torch.dtype:
        """Type of inputs and outputs."""
        return self._dtype

    @property
    def derivative_pairs(self) -> list[tuple[str, str]]:
        """Derivatives that :meth:`jacobian` returns: of every output by every input without sub-batch axes.

        Those by an input with sub-batch axes come from :meth:`evaluate` when they are named.
        """
        by = [name for name, variable in self._program.inputs.items() if not variable.sub_batch_ndim]
        return [(out, given) for out in self._program.outputs for given in by]

    @property
    def state_pairs(self) -> list[StatePair]:
        """What a host carries from one accepted step to the next."""
        return self._program.state_pairs

    @property
    def times(self) -> list[tuple[str, str]]:
        """Inputs ``(t, t~1)`` that are time and its old value.

        A row that fails while the one is not after the other has bad input.
        """
        return self._program.times

    def last_failure(self) -> Failure | None:
        """Why rows of the last call failed in which any did; None when there was no such call.

        With several threads it is the call that ended last. The rows, 16 at most, are run again when this is first
        asked.
        """
        failing = self.last_failing()
        return None if failing is None else failing.look_into()

    def last_failing(self) -> FailingRun | None:
        """The run that :meth:`last_failure` looks into."""
        return self._failing[-1] if self._failing else None

    def record(self, inputs: Mapping[str, torch.Tensor]) -> Run:
        """Evaluate, and write down every iterate of every solve.

        :raises FatalError: for a wrong call, never for a row
        """
        return self._run(inputs, {}, (), detail=Detail.ITERATES)[0]

    def evaluate(
        self,
        inputs: Mapping[str, torch.Tensor],
        jacobian: bool = False,
        pairs: Sequence[tuple[str, str]] | None = None,
        history: bool = False,
        weights: Mapping[str, torch.Tensor] | None = None,
    ) -> Evaluation:
        """Outputs and the verdict per row.

        :param inputs: by name, each ``(*B, *sub_batch, *base)``
        :param jacobian: compute derivatives as well
        :param pairs: which ``(output, input)``, any; by default :attr:`derivative_pairs`
        :param history: write down what every Newton solve did
        :param weights: those of this call, from :meth:`weights`, in place of those in use
        :raises FatalError: for a wrong name, shape, dtype or device, never for a row
        """
        pinned = self._weights if weights is None else (0, self._typed_weights(weights))
        wanted = self._wanted(pairs) if jacobian else []
        seeds = self._by(wanted)
        detail = Detail.NORMS if history else Detail.NOTHING
        run, batch, sizes = self._run(inputs, seeds, (), detail=detail, weights=pinned[1])
        return Evaluation(
            outputs=self._outputs(run, batch),
            status=run.status.reshape(batch),
            iterations=run.iterations.reshape(batch),
            substeps=run.substeps.reshape(batch),
            dt_factor=run.dt_factor.reshape(batch),
            jacobian=self._blocks_of(wanted, run, batch, sizes),
            failed_rows=run.failed_rows,
            history=[
                SegmentHistory(r.unknown_names, r.residual.reshape(*batch, -1), r.step.reshape(*batch, -1))
                for r in run.records
            ],
            reason=run.reason.reshape(batch) if history else None,
            place=run.place.reshape(batch) if history else None,
            weights_version=pinned[0] if pinned[1] else 0,
        )

    def forward(self, inputs: Mapping[str, torch.Tensor], batch_ndim: int | None = None) -> Tensors:
        """Outputs.

        :param batch_ndim: number of batch axes of every input that has any; what is between them and the base is
            sub-batch, declared or not
        :raises ConvergenceError: when a row did not converge
        :raises InputError: when an input is NaN or infinite
        :raises FatalError: for a wrong call
        """
        if batch_ndim is not None:
            return self._split(inputs, batch_ndim).forward(inputs)
        run, batch, _ = self._run(inputs, {}, ())
        self._raise_for_rows(run, inputs, batch)
        return self._outputs(run, batch)

    def jvp(
        self,
        inputs: Mapping[str, torch.Tensor],
        tangents: Mapping[str, torch.Tensor],
        batch_ndim: int | None = None,
    ) -> tuple[Tensors, Tensors]:
        """Outputs and the directional derivative.

        :param tangents: by name of an input of :attr:`derivative_pairs`, shaped like the inputs; a missing one is zero.
            Their batch may be larger than that of the inputs, to which it broadcasts: several directions at a time
        :param batch_ndim: see :meth:`forward`
        :raises: as :meth:`forward`
        """
        if batch_ndim is not None:
            return self._split(inputs, batch_ndim).jvp(inputs, tangents)
        by = {given for _, given in self.derivative_pairs}
        for name in tangents:
            if name not in by and name in self._program.inputs and self._program.inputs[name].sub_batch_ndim:
                raise FatalError(
                    f"tangent '{name}': the input has sub-batch axes and is held fixed; derivatives are by inputs "
                    "without them, others are given by evaluate when its pairs name them"
                )
        if self._are_many(inputs, tangents):
            return self._along_many(inputs, tangents)
        run, batch, _ = self._run(inputs, {}, (), tangents)
        self._raise_for_rows(run, inputs, batch)
        found = {}
        for name, variable in self._program.outputs.items():
            block = run.derivatives.get(name, {}).get("tangent")
            if block is None:
                block = torch.zeros(variable.size, 1, run.rows, dtype=self._dtype, device=self._device)
            found[name] = self._narrowed(to_public(_typed(block[:, 0], variable), batch), name, batch)
        return self._outputs(run, batch), found

    def _are_many(self, inputs: Mapping[str, torch.Tensor], tangents: Mapping[str, torch.Tensor]) -> bool:
        """Whether the batch of the tangents is larger than that of the call."""
        if self._mixing:
            return False
        boundary.check_names("input", inputs, self._program.inputs, complete=True)
        boundary.check_names("tangent", tangents, self._program.inputs, complete=False)
        batch = self._batch(inputs)
        shapes = {"inputs": batch}
        scalars = set()
        for name, tangent in tangents.items():
            variable = self._program.inputs[name]
            self._check(f"tangent '{name}'", tangent, variable)
            shapes[f"tangent '{name}'"] = tuple(tangent.shape[: tangent.ndim - len(variable.shape)])
            if not variable.shape:
                scalars.add(f"tangent '{name}'")
        return boundary.common_batch("inputs and tangents", shapes, scalars) != batch

    def _along_many(
        self, inputs: Mapping[str, torch.Tensor], tangents: Mapping[str, torch.Tensor]
    ) -> tuple[Tensors, Tensors]:
        """Outputs of the call, and the derivative along each of several directions."""
        wanted = [(output, given) for output in self._program.outputs for given in tangents]
        run, batch, sizes = self._run(inputs, self._by(wanted), ())
        self._raise_for_rows(run, inputs, batch)
        blocks = self._blocks_of(wanted, run, batch, sizes)
        found = {}
        for name, variable in self._program.outputs.items():
            axes = boundary.trailing_shape(variable)
            terms = []
            for given, tangent in tangents.items():
                size = self._program.inputs[given].size
                own = tangent.shape[: tangent.ndim - len(self._program.inputs[given].shape)]
                matrix = blocks[name][given].reshape(*batch, variable.size, size)
                terms.append((matrix @ tangent.detach().reshape(*own, size, 1)).squeeze(-1))
            total = sum(terms[1:], terms[0])
            found[name] = total.reshape(*total.shape[:-1], *axes)
        return self._outputs(run, batch), found

    def jacobian(self, inputs: Mapping[str, torch.Tensor], batch_ndim: int | None = None) -> tuple[Tensors, Blocks]:
        """Outputs and derivative blocks ``[output][input]`` of :attr:`derivative_pairs`.

        Each is ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)``.

        :param batch_ndim: see :meth:`forward`
        :raises: as :meth:`forward`
        """
        if batch_ndim is not None:
            return self._split(inputs, batch_ndim).jacobian(inputs)
        wanted = self.derivative_pairs
        run, batch, sizes = self._run(inputs, self._by(wanted), ())
        self._raise_for_rows(run, inputs, batch)
        return self._outputs(run, batch), self._blocks_of(wanted, run, batch, sizes)

    def named_parameters(self) -> Tensors:
        """Values of the parameters by qualified name, ``(*param_base)`` or ``(*B, *param_base)``.

        They have the dtype of the law; Miller indices that are integers in the input file are int64.
        """
        return {
            name: to_public(p, self._parameter_batches[name]).to(self._parameter_dtypes[name])
            for name, p in self._parameters.items()
        }

    @property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes ``(*sub_batch, *base)`` of the weights by name: the parameters of modules. See docs/weights.md."""
        found = {}
        for name in self._weight_names:
            value = self._parameters[name]
            found[name] = (*value.sub_batch_shape, *value.base_shape)
        return found

    @property
    def weights_version(self) -> int:
        """1 for the weights that the law was loaded with, one more with every update; 0 for a law without."""
        return self._weights[0] if self._weight_names else 0

    def weights(self) -> dict[str, torch.Tensor]:
        """The weights in use, by name."""
        return {name: to_public(value, ()) for name, value in self._weights[1].items()}

    def update_weights(self, weights: Mapping[str, torch.Tensor] | str | Path, user_managed: bool = False) -> int:
        """Use other weights in all calls that begin from now on: all of them or, when one does not fit, none.

        :param weights: all weights by name, or a safetensors file or a checkpoint of ``torch.save`` with them
        :param user_managed: keep the tensors themselves, not copies; nobody may write to them then
        :returns: the version of the weights
        :raises FatalError: a weight is missing or not the law's, has another shape or dtype, or holds NaN or an
            infinity; or the file is damaged
        """
        tensors = load_tensors(Path(weights)) if isinstance(weights, str | Path) else weights
        shapes = [(name, list(shape)) for name, shape in self.weight_shapes.items()]
        dtype = str(self._dtype).removeprefix("torch.")
        return self.install_weights(
            runtime_core().checked_weights(self.name, shapes, dtype, str(self._device), dict(tensors), user_managed)
        )

    def install_weights(self, weights: Mapping[str, torch.Tensor]) -> int:
        """Use weights that were checked; see :meth:`update_weights`."""
        typed = self._typed_weights(weights)
        with self._installing:
            self._weights = (self._weights[0] + 1, typed)
            return self._weights[0]

    def _typed_weights(self, weights: Mapping[str, torch.Tensor]) -> dict[str, Tensor]:
        found = {}
        for name in self._weight_names:
            like = self._parameters[name]
            found[name] = to_internal(weights[name].to(self._device), type(like), like.sub_batch_ndim, ())
        return found

    def set_parameter(self, name: str, value: torch.Tensor) -> None:
        """Copies a value.

        :param value: ``(*param_sub_batch, *param_base)``, or with ``*B`` in front for one value per row; integers of
            any width where the parameter is int64
        :raises FatalError: for a wrong name, shape, dtype or device
        :raises InputError: when it is NaN or infinite
        """
        boundary.check_names("parameter", [name], self._parameters, complete=False)
        if name in self._weight_names:
            raise FatalError(f"'{name}' is a weight of model '{self.name}': all weights change at once, update_weights")
        old, dtype = self._parameters[name], self._parameter_dtypes[name]
        integers = dtype == torch.int64
        if not isinstance(value, torch.Tensor):
            value = torch.as_tensor(value, dtype=None if integers else dtype)
        if integers and boundary.is_integer(value.dtype):
            value = value.to(dtype)
        trailing = (*old.sub_batch_shape, *old.base_shape)
        boundary.check_tensor(f"parameter '{name}'", value, trailing, dtype, self._device, old.sub_batch_ndim)
        if not torch.isfinite(value).all():
            raise InputError(f"parameter '{name}' of model '{self.name}' cannot be NaN or infinite", name)
        self._parameter_batches[name] = tuple(value.shape[: value.ndim - len(trailing)])
        value = value.detach().expand((*self._parameter_batches[name], *trailing)).to(self._dtype, copy=True)
        self._parameters[name] = to_internal(value, type(old), old.sub_batch_ndim)

    @property
    def implicit_updates(self) -> list[str]:
        """Names of the implicit updates, in the order in which they are solved."""
        return list(self._updates())

    @property
    def solver_config(self) -> dict[str, Any]:
        """Settings of the nonlinear solves, those of the input file until they are set.

        Where implicit updates differ, those of the first.

        :raises FatalError: the law solves nothing
        """
        for config in self.solver_configs.values():
            return config
        raise self._no_solver()

    @property
    def solver_configs(self) -> dict[str, dict[str, Any]]:
        """These settings by implicit update; empty for a law that solves nothing."""
        return {
            name: {**segment.solver_config, **self._settings.get(name, {})} for name, segment in self._updates().items()
        }

    def set_solver_config(self, update: str | None = None, /, **settings: Any) -> None:
        """Change settings of the nonlinear solves; those that are not named stay as they are.

        :param update: name of an implicit update; all when it is None
        :param settings: entries of :attr:`solver_config`
        :raises FatalError: there is no such update or setting, its value is out of range, or the law solves nothing
        """
        configs = self.solver_configs
        if not configs:
            raise self._no_solver()
        if update is not None and update not in configs:
            raise FatalError(
                f"model '{self.name}' has no implicit update '{update}'; it has " + ", ".join(map(repr, configs))
            )
        names = list(configs) if update is None else [update]
        for name in names:
            for solver in ("krylov", "input_sensitivity", "param_sensitivity"):
                if solver in settings and solver not in configs[name]:
                    raise FatalError(
                        f"implicit update '{name}' of model '{self.name}' has a direct solver: it has no settings "
                        f"'{solver}'. Give it another in the input file to change that"
                    )
        changed = {name: runtime_core().changed_solver_config(configs[name], settings) for name in names}
        for name, config in changed.items():
            self._settings.setdefault(name, {}).update({setting: config[setting] for setting in settings})

    def param_jacobian(self, inputs: Mapping[str, torch.Tensor]) -> Blocks:
        """Derivatives by the parameters, ``[output][parameter]``.

        Each is ``(*B, *out_sub_batch, *out_base, *param_sub_batch, *param_base)``.

        :raises: as :meth:`forward`
        """
        by = self._parameter_variables()
        run, batch, sizes = self._run(inputs, {}, tuple(by))
        self._raise_for_rows(run, inputs, batch)
        return self._blocks(run, batch, sizes, by)

    def param_vjp(self, inputs: Mapping[str, torch.Tensor], cotangents: Mapping[str, torch.Tensor]) -> Tensors:
        """Derivative of ``sum(cotangent * output)`` by the parameters, each of the parameter's shape.

        A parameter with one value for all rows collects the sum over the rows.

        :param cotangents: by output name, shaped like the outputs; a missing one is zero
        :raises: as :meth:`forward`
        """
        boundary.check_names("output", cotangents, self._program.outputs, complete=False)
        if self._mixing:
            raise FatalError(f"model '{self.name}' reduces a batch axis: it has no param_vjp; use param_jacobian")
        by = self._parameter_variables()
        given, batch, _ = self._given(inputs, {}, tuple(by))
        weights = {}
        for name, cotangent in cotangents.items():
            output = self._program.outputs[name]
            typed = self._internal(f"cotangent '{name}'", cotangent, output, batch)
            weights[name] = typed.data.reshape(output.size, given.rows)
        per_row = frozenset(key for key in by if self._parameter_batches[key])
        like = torch.empty(0, dtype=self._dtype, device=self._device)
        gradients = ParameterGradients(weights, by, per_row, like, given.rows)
        outputs = sum(output.size for output in self._program.outputs.values())
        run = self._kept(given, run_in_parts(given, self._chain.run, gradients.add, outputs))
        self._raise_for_rows(run, inputs, batch)
        found = {}
        for key, total in gradients.sums.items():
            shape = self._parameter_batches[key]
            full = to_public(_typed(total, by[key]), batch if shape else ())
            found[key] = full.sum_to_size((*shape, *full.shape[len(batch) :])) if shape else full
        return found

    def _run(
        self,
        inputs: Mapping[str, torch.Tensor],
        seeds: Mapping[str, Variable],
        parameter_seeds: tuple[str, ...],
        tangents: Mapping[str, torch.Tensor] | None = None,
        detail: Detail = Detail.NOTHING,
        weights: Mapping[str, Tensor] | None = None,
    ) -> tuple[Run, tuple[int, ...], dict[str, int]]:
        """Checks the inputs and runs the chain on the rows whose input is finite."""
        given, batch, sizes = self._given(inputs, seeds, parameter_seeds, tangents, weights)
        run = self._run_together(given, detail, batch) if self._mixing else self._chain.run(given, detail)
        return self._kept(given, run), batch, sizes

    def _given(
        self,
        inputs: Mapping[str, torch.Tensor],
        seeds: Mapping[str, Variable],
        parameter_seeds: tuple[str, ...],
        tangents: Mapping[str, torch.Tensor] | None = None,
        weights: Mapping[str, Tensor] | None = None,
    ) -> tuple[Given, tuple[int, ...], dict[str, int]]:
        """The checked arguments of a call, its batch shape and the sizes of the seeds."""
        boundary.check_names("input", inputs, self._program.inputs, complete=True)
        batch = self._batch(inputs)
        values = {n: self._internal(f"input '{n}'", inputs[n], v, batch) for n, v in self._program.inputs.items()}
        rows = 1
        for extent in batch:
            rows *= extent
        parameters = {}
        for key, p in {**self._parameters, **(self._weights[1] if weights is None else weights)}.items():
            shape = self._parameter_batches[key]
            parameters[key] = to_internal(to_public(p, shape), type(p), p.sub_batch_ndim, batch) if shape else p
        sizes = {name: variable.size for name, variable in seeds.items()}
        sizes |= {key: v.size for key, v in self._parameter_variables().items() if key in parameter_seeds}
        derivatives = identity_seeds(sizes, rows, self._dtype, self._device)
        if tangents is not None:
            boundary.check_names("tangent", tangents, self._program.inputs, complete=False)
            for name, tangent in tangents.items():
                variable = self._program.inputs[name]
                typed = self._internal(f"tangent '{name}'", tangent, variable, batch)
                derivatives[name] = {"tangent": typed.data.reshape(variable.size, 1, rows)}
        return Given(values, parameters, derivatives, rows), batch, sizes

    def _kept(self, given: Given, run: Run) -> Run:
        """The run, which is remembered where rows failed."""
        if run.failed_rows:
            run.failing = self._remember(given, run)
        return run

    def _run_together(self, given: Given, detail: Detail, batch: tuple[int, ...]) -> Run:
        """Runs the chain of a law whose rows depend on each other, so that none can be left out.

        :raises InputError: an input is NaN or infinite in a row
        """
        for name, value in given.values.items():
            wrong = (~torch.isfinite(value.data)).reshape(-1, value.data.shape[-1]).any(0)
            if bool(wrong.any()):
                row = int(wrong.nonzero()[0])
                raise InputError(
                    f"input '{name}' of model '{self.name}' is NaN or infinite in row {row} of the flattened batch; "
                    "all rows depend on it, as the law reduces a batch axis",
                    name,
                    row,
                )
        with call_with(self._mixing.axes(batch)[0]):
            return self._chain.run(given, detail)

    def _remember(self, given: Given, run: Run) -> FailingRun:
        """Keeps a run in which rows failed, and writes its replay file where that is asked for."""
        configs = self.solver_configs
        failing = FailingRun(self.name, self._chain, given, run, list(self._program.outputs), configs)
        self._failing[:] = [failing]
        if not os.environ.get("MATLAW_FAILURE_DIR") or not runtime_core().replay_folder():
            return failing
        name, text = self._source_text()
        extensions = [str(extension) for extension in self._source[3]]
        dtype = str(self._dtype).removeprefix("torch.")
        runtime_core().write_replay(failing.look_into(), name, text, extensions, dtype, configs)
        return failing

    def _no_solver(self) -> FatalError:
        return FatalError(f"model '{self.name}' solves nothing: it has no solver settings")

    def _updates(self) -> dict[str, ImplicitSegment]:
        """The implicit segments by the names of their updates."""
        return {s.update.name: s for s in self._program.segments if isinstance(s, ImplicitSegment)}

    def _source_text(self) -> tuple[str, str]:
        """Name and text of the input file, with includes merged and overrides applied."""
        path, _, overrides, _ = self._source
        try:
            return Path(path).name, InputFile(Path(path), overrides).render()
        except FatalError:  # it was moved meanwhile
            return Path(path).name, ""

    def _batch(self, inputs: Mapping[str, torch.Tensor]) -> tuple[int, ...]:
        """The batch shape of a call."""
        shapes = {}
        for name, variable in self._program.inputs.items():
            trailing = boundary.trailing_shape(variable)
            self._check(f"input '{name}'", inputs[name], variable)
            shapes[name] = tuple(inputs[name].shape[: inputs[name].ndim - len(trailing)])
        scalars = {name for name, variable in self._program.inputs.items() if not variable.shape}
        for key, shape in self._parameter_batches.items():
            if shape:
                shapes[key] = shape
                if not self._parameters[key].base_shape and not self._parameters[key].sub_batch_ndim:
                    scalars.add(key)
        return boundary.common_batch("inputs", shapes, scalars)

    def _internal(self, what: str, value: torch.Tensor, variable: Variable, batch: tuple[int, ...]) -> Tensor:
        """A checked value in the internal layout with the full batch."""
        trailing = boundary.trailing_shape(variable)
        self._check(what, value, variable)
        try:
            value = value.detach()
            value = value.expand((*value.shape[: value.ndim - len(trailing)], *trailing))
            return to_internal(value, variable.type, variable.sub_batch_ndim, batch)
        except RuntimeError as error:
            own = tuple(value.shape[: value.ndim - len(trailing)])
            raise FatalError(
                f"{what}: its batch shape {own} does not broadcast to {batch}, that of the call"
            ) from error

    def _check(self, what: str, value: torch.Tensor, variable: Variable) -> None:
        trailing = boundary.trailing_shape(variable)
        boundary.check_tensor(what, value, trailing, self._dtype, self._device, variable.sub_batch_ndim)

    def _split(self, inputs: Mapping[str, torch.Tensor], batch_ndim: int) -> EagerModel:
        """The law with the sub-batch axes that the inputs of a call have behind their batch axes."""
        if batch_ndim < 0:
            raise FatalError(f"batch_ndim is a number of axes, 0 or more; got {batch_ndim}")
        boundary.check_names("input", inputs, self._program.inputs, complete=True)
        shapes = {}
        for name, variable in self._program.inputs.items():
            value, base = inputs[name], variable.type.base_shape
            boundary.check_tensor(f"input '{name}'", value, base, self._dtype, self._device)
            shape = tuple(value.shape[batch_ndim : value.ndim - len(base)])
            # Declared extents are checked by the call itself.
            shapes[name] = variable.sub_batch_shape or shape
        if all(v.sub_batch_shape == shapes[name] for name, v in self._program.inputs.items()):
            return self
        other = copy(self)
        other._program, other._chain = self._partitioned(shapes)
        other._mixing = RowMixing(other._program)
        return other

    def _partitioned(self, sub_batch: Mapping[str, tuple[int, ...]] | None) -> tuple[Program, Evaluator]:
        """The law with these sub-batch axes of variables that the input file does not declare."""
        program = partition(load_forward_model(*self._source, sub_batch))
        return program, Chain(program, self._dtype, self._device, self._settings)

    def _outputs(self, run: Run, batch: tuple[int, ...]) -> Tensors:
        found = {
            name: to_public(_typed(run.values[name], variable), batch)
            for name, variable in self._program.outputs.items()
        }
        return {name: self._narrowed(value, name, batch) for name, value in found.items()}

    def _narrowed(self, value: torch.Tensor, output: str, batch: tuple[int, ...]) -> torch.Tensor:
        """A value or derivative of an output without the batch axes that the output lacks."""
        return first_along(value, self._mixing.axes(batch)[1][output]) if self._mixing else value

    def _wanted(self, pairs: Sequence[tuple[str, str]] | None) -> list[tuple[str, str]]:
        """Derivatives that a caller asks for."""
        if pairs is None:
            return self.derivative_pairs
        pairs = checked_pairs(pairs)
        for pair in pairs:
            if pair[0] not in self._program.outputs or pair[1] not in self._program.inputs:
                known = ", ".join(f"{output}:{given}" for output, given in self.derivative_pairs)
                raise FatalError(
                    f"model '{self.name}' has no derivative '{pair[0]}:{pair[1]}'; it has {known or 'none'}"
                )
        return pairs

    def _by(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Variable]:
        """The inputs that these derivatives are by."""
        by = {given for _, given in pairs}
        return {name: variable for name, variable in self._program.inputs.items() if name in by}

    def _blocks_of(
        self, pairs: Sequence[tuple[str, str]], run: Run, batch: tuple[int, ...], sizes: Mapping[str, int]
    ) -> Blocks:
        """The blocks of these derivatives."""
        blocks: Blocks = {}
        for output, given in pairs:
            by = {given: self._program.inputs[given]}
            blocks.setdefault(output, {}).update(self._blocks(run, batch, sizes, by, [output])[output])
        return blocks

    def _blocks(
        self,
        run: Run,
        batch: tuple[int, ...],
        sizes: Mapping[str, int],
        by: Mapping[str, Variable],
        outputs: Sequence[str] | None = None,
    ) -> Blocks:
        """Derivatives in the public layout; what does not depend on a seed has zeros."""
        found: Blocks = {}
        for name in self._program.outputs if outputs is None else outputs:
            variable = self._program.outputs[name]
            found[name] = {}
            for seed, seed_variable in by.items():
                block = run.derivatives.get(name, {}).get(seed)
                if block is None:
                    block = torch.zeros(variable.size, sizes[seed], run.rows, dtype=self._dtype, device=self._device)
                    block[..., run.status != int(Status.CONVERGED)] = torch.nan
                block = block.reshape(*variable.shape, *seed_variable.shape, run.rows)
                public = block_to_public(block, _axes(variable), _axes(seed_variable), batch)
                found[name][seed] = self._narrowed(public, name, batch)
        return found

    def _parameter_variables(self) -> dict[str, Variable]:
        """The parameters that derivatives are by: those that are no weights."""
        return {
            key: Variable(type(p), p.sub_batch_shape)
            for key, p in self._parameters.items()
            if key not in self._weight_names
        }

    def _raise_for_time(self, inputs: Mapping[str, Any], batch: tuple[int, ...], bad: list[int]) -> None:
        """Raises for a time that does not advance in the first row with bad input."""
        for current, old in self.times:
            now, before = (
                self._internal(f"input '{name}'", inputs[name], self._program.inputs[name], batch).data[..., bad[0]]
                for name in (current, old)
            )
            now, before = now.reshape(-1), before.reshape(-1)
            still = torch.nonzero(now <= before).flatten()
            if still.numel():
                at = int(still[0])
                raise InputError(
                    f"time does not advance in row {bad[0]} of the flattened batch: '{current}' is {float(now[at])!r} "
                    f"and '{old}' is {float(before[at])!r}, and model '{self.name}' cannot be solved for such a step "
                    f"(rows with this: {_listed(bad)}). A smaller time step does not help: pass a '{current}' that is "
                    f"after '{old}'. A host that calls the law before its first step, to initialise it, should pass a "
                    "step of some length, or not call it",
                    current,
                    bad[0],
                )

    def _raise_for_rows(self, run: Run, inputs: Mapping[str, Any], batch: tuple[int, ...]) -> None:
        """Raises what :meth:`evaluate` reports per row: bad input first, then divergence."""
        if not run.failed_rows:
            return
        bad = torch.nonzero(run.status == int(Status.BAD_INPUT)).flatten().tolist()
        if bad:
            for name, variable in self._program.inputs.items():
                value = to_internal(inputs[name], variable.type, variable.sub_batch_ndim, batch).data[..., bad[0]]
                if not torch.isfinite(value).all():
                    raise InputError(
                        f"input '{name}' of model '{self.name}' is NaN or infinite in row {bad[0]} of the flattened "
                        f"batch (rows with such input: {_listed(bad)}). A smaller time step does not help: look for "
                        f"where '{name}' is computed",
                        name,
                        bad[0],
                    )
            for name, parameter in self._parameters.items():
                of_row = parameter.data[..., bad[0] if self._parameter_batches[name] == batch else slice(None)]
                if not torch.isfinite(of_row).all():
                    raise InputError(
                        f"parameter '{name}' of model '{self.name}' is NaN or infinite (rows that have such a value: "
                        f"{_listed(bad)})",
                        name,
                        bad[0],
                    )
            self._raise_for_time(inputs, batch, bad)
        raise ConvergenceError(run.failing.look_into().message(), run.failed_rows)


def load_model(
    path: str | Path,
    name: str,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | str = torch.float64,
    extensions: Sequence[str | Path] = (),
    overrides: Sequence[str] = (),
) -> EagerModel:
    """The law of an input file; see :class:`EagerModel`."""
    return EagerModel(path, name, extensions, dtype=dtype, device=device, overrides=overrides)


def _axes(variable: Variable) -> tuple[int, int]:
    """Numbers of base and of sub-batch axes."""
    return len(variable.type.base_shape), variable.sub_batch_ndim


def _typed(data: torch.Tensor, variable: Variable) -> Tensor:
    """Typed tensor from components in any leading shape."""
    return variable.type(data.reshape(*variable.shape, data.shape[-1]), variable.sub_batch_ndim)


def _dtype(dtype: torch.dtype | str) -> torch.dtype:
    known = {"float64": torch.float64, "float32": torch.float32}
    name = str(dtype).removeprefix("torch.")
    if name not in known:
        raise FatalError(f"dtype must be one of {', '.join(known)}, got '{name}'")
    return known[name]


def _listed(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:10]))
    return shown if len(rows) <= 10 else f"{shown}, ... {len(rows)} in all"
