"""A law over a history of prescribed inputs."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from matlaw.drivers.driver import Driver, Outcome, Progress
from matlaw.drivers.history import History
from matlaw.drivers.law import Boundary, Law, evaluate, inputs_of, outputs_of
from matlaw.drivers.typed_options import typed_options, typed_pairs
from matlaw.drivers.values import Value, read_value
from matlaw.input.suggestion import closest
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register

#: Tensor types of the variables that can be prescribed.
KINDS = ("Scalar", "Vec", "SR2", "WR2", "R2", "MRP", "SSR4", "MillerIndex")

_OLD = re.compile(r"(?P<name>.+)~(?P<steps>[1-9][0-9]*)")


@register("TransientDriver", section="Drivers")
@typed_options(KINDS, ("prescribed", "ic"), "{prefix} value")
class TransientDriver(Driver):
    """Steps a law through a history of prescribed inputs and records all inputs and outputs.

    Step 0 is the initial state; the law is evaluated from step 1 on. An input ``x~1`` is the value of ``x`` one step
    before (``x~2``: two steps): the law's output where it has one of that name, else the prescribed input. Where there
    is no such step, or it has no ``x``, it is the initial condition, else the initial value that the law itself
    records, else zero.

    * ``model``: the law
    * ``prescribed_time``: the ``[Tensors]`` entry of the times, ``(steps, *B)``
    * ``time``: the law's input that takes the time; a law without it does not see the time
    * ``save_as``: result file, relative to the working directory (``.pt``, ``.npz`` or ``.csv``)
    * ``prescribed_<type>_names``, ``prescribed_<type>_values``: inputs and their histories ``(steps, *B, *sub_batch,
      *base)``; a number stands for that value at all steps
    * ``ic_<type>_names``, ``ic_<type>_values``: variables and their initial values ``(*B, *sub_batch, *base)``, or
      ``(*base)`` for all rows and sites
    """

    model_ = Option("str", "the law")
    prescribed_time = Option("str", "the [Tensors] entry of the times, first axis: steps")
    time = Option("str", "the law's input that takes the time", required=False, default="t")
    save_as = Option("str", "result file (.pt, .npz or .csv), relative to the working directory", required=False)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._model_name: str = context.option("model")
        self._time_name: str = context.option("time")
        self._save_as: str = context.option("save_as")
        time = read_value(context, context.option("prescribed_time"), "Scalar", "prescribed_time")
        if time.constant or not time.data.ndim or not time.data.numel():
            raise context.error(
                f"expected a Scalar whose first axis is the steps, got one of shape {tuple(time.data.shape)}",
                "prescribed_time",
            )
        self._times = time.data
        self._prescribed: dict[str, tuple[Value, str]] = {}
        for kind, name, token, option in typed_pairs(context, KINDS, "prescribed"):
            value = read_value(context, token, kind, option)
            extent = value.data.shape[0] if value.data.ndim else 0
            if not value.constant and extent != self.steps:
                raise context.error(
                    f"'{name}': the first axis of {value.source} is the steps and must have {self.steps} entries, as "
                    f"prescribed_time has; its shape is {tuple(value.data.shape)}",
                    option,
                )
            self._prescribed[name] = (value, option)
        self._initial: dict[str, tuple[Value, str]] = {
            name: (read_value(context, token, kind, option), option)
            for kind, name, token, option in typed_pairs(context, KINDS, "ic")
        }

    @property
    def model_name(self) -> str:
        """Name of the law."""
        return self._model_name

    @property
    def model_owner(self) -> Driver:
        """The driver itself."""
        return self

    def sub_batch_shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of prescribed and of initial values."""
        given = {**self._initial, **self._prescribed}
        return {name: v.sub_batch_shape for name, (v, _) in given.items() if v.sub_batch_shape}

    @property
    def steps(self) -> int:
        """Number of steps, the initial state included."""
        return int(self._times.shape[0])

    def run(self, law: Law, progress: Progress | None = None) -> Outcome:
        """Steps through the history; see :meth:`Driver.run`."""
        boundary, outputs = inputs_of(law), outputs_of(law)
        self._check(boundary, outputs)
        history = History(boundary={**outputs, **boundary})
        outcome = Outcome(history=history, save_as=Path(self._save_as) if self._save_as else None)
        outcome.warnings += [*self._unset(boundary, outputs), *self._back_in_time()]
        initial = {
            name: _at_all_sites(v, {**boundary, **outputs}[name]).to(law.dtype).to(law.device)
            for name, (v, _) in self._initial.items()
        }
        recorded = {
            p.current: torch.tensor(p.initial, dtype=law.dtype).reshape(boundary[p.old].trailing).to(law.device)
            for p in law.state_pairs
            if any(p.initial)
        }
        for step in range(self.steps):
            values = self._prescribe(step, law, boundary)
            if step == 0:
                values |= {n: v for n, v in initial.items() if n in boundary and n not in outputs}
                history.inputs.append(_on_cpu(values))
                history.outputs.append(_on_cpu({n: v for n, v in initial.items() if n in outputs}))
                continue
            if progress:
                progress(step, self.steps - 1, float(self._times[step].max()))
            for name, b in boundary.items():
                if name not in values:
                    values[name] = self._earlier(name, b, step, history, recorded, law)
            where = f"{self.location}: step {step} of {self.steps - 1}, time {self._time_text(step)}"
            try:
                found = evaluate(law, values, boundary, where)
            except RuntimeError as error:
                shapes = ", ".join(f"{n} {tuple(v.shape)}" for n, v in values.items())
                raise self.context.error(
                    f"step {step}: the law cannot take these inputs ({shapes}): {error}"
                ) from error
            history.inputs.append(_on_cpu(values))
            history.outputs.append(_on_cpu(found.outputs))
            outcome.iterations.append(int(torch.as_tensor(found.iterations).max()))
        return outcome

    def _check(self, inputs: dict[str, Boundary], outputs: dict[str, Boundary]) -> None:
        """Every name is a variable of the law, of the type that is given for it."""
        for name, (value, option) in self._prescribed.items():
            if name not in inputs:
                listed = option.replace("_values", "_names")
                raise self.context.unknown(f"input of model '{self.model_name}'", name, list(inputs), listed)
            self._check_value(value, option, name, inputs[name], 0 if value.constant else 1)
        for name, (value, option) in self._initial.items():
            known = {**inputs, **outputs}
            if name not in known:
                listed = option.replace("_values", "_names")
                raise self.context.unknown(f"variable of model '{self.model_name}'", name, list(known), listed)
            self._check_value(value, option, name, known[name], 0)

    def _check_value(self, value: Value, option: str, name: str, b: Boundary, leading: int) -> None:
        if value.kind != b.kind:
            raise self.context.error(
                f"'{name}' of model '{self.model_name}' is {b.kind}, not {value.kind}; list it in "
                f"{option.replace(value.kind, b.kind).replace('_values', '_names')}",
                option,
            )
        shape = tuple(value.data.shape)
        if not leading and shape == b.base_shape:
            return  # one value for all sites
        trailing = shape[len(shape) - len(b.trailing) :] if b.trailing else ()
        if not value.constant and (len(shape) < leading + len(b.trailing) or trailing != b.trailing):
            expected = ", ".join([*(["steps"] if leading else []), "*B", *map(str, b.trailing)])
            raise self.context.error(f"'{name}': expected shape ({expected}), {value.source} has {shape}", option)

    def _unset(self, inputs: dict[str, Boundary], outputs: dict[str, Boundary]) -> list[str]:
        """Inputs that nothing sets."""
        known = {*self._prescribed, *self._initial, *outputs, self._time_name}
        names = []
        for name in inputs:
            match = _OLD.fullmatch(name)
            if name not in known and not (match and (match["name"] in known or match["name"] in inputs)):
                names.append(name)
        alike = [*outputs, *inputs, *self.context.blocks("Models"), *self.context.blocks("Tensors")]
        return [
            f"input '{n}' of model '{self.model_name}' is not prescribed; it is zero at all steps"
            + (_lost_state(n) or closest(n, [other for other in alike if other not in names]))
            for n in names
        ]

    def _back_in_time(self) -> list[str]:
        """The first step whose time is before that of the step before."""
        back = (self._times.reshape(self.steps, -1).diff(dim=0) < 0.0).any(dim=1).nonzero()
        if not len(back):
            return []
        step = int(back[0]) + 1
        return [f"time goes back at step {step}, from {self._time_text(step - 1)} to {self._time_text(step)}"]

    def _prescribe(self, step: int, law: Law, inputs: dict[str, Boundary]) -> dict[str, torch.Tensor]:
        values = {}
        if self._time_name in inputs and self._time_name not in self._prescribed:
            values[self._time_name] = self._times[step]
        for name, (value, _) in self._prescribed.items():
            if value.constant:
                values[name] = value.data.expand(inputs[name].trailing)
            else:
                values[name] = value.data[step]
        return {name: v.to(law.dtype).to(law.device) for name, v in values.items()}

    def _earlier(
        self, name: str, b: Boundary, step: int, history: History, recorded: dict[str, torch.Tensor], law: Law
    ) -> torch.Tensor:
        """The value of an input that is not prescribed: of an earlier step, or the one before the first step."""
        match = _OLD.fullmatch(name)
        # An input that bears the name of an output is its initial guess: the value of the step before.
        current, back = (match["name"], int(match["steps"])) if match else (name, 1)
        at = max(step - back, 0)
        for side in ("output", "input"):
            value = history.get(side, at, current)
            if value is not None:
                return value.to(law.device)
        if current in recorded:
            return recorded[current]
        return torch.zeros(b.trailing, dtype=law.dtype, device=law.device)

    def _time_text(self, step: int) -> str:
        low, high = float(self._times[step].min()), float(self._times[step].max())
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _lost_state(name: str) -> str:
    """What to do about an old value of which the law has neither an input nor an output."""
    match = _OLD.fullmatch(name)
    return f"; if the law computes '{match['name']}', list that in additional_outputs" if match else ""


def _at_all_sites(value: Value, b: Boundary) -> torch.Tensor:
    """A value without axes stands for every site of a variable that has some."""
    one_for_all = tuple(value.data.shape) == b.base_shape
    return value.data.expand(b.trailing) if one_for_all else value.data


def _on_cpu(values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(value).detach().cpu() for name, value in values.items()}
