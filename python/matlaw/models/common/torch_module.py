"""A neural network, or any other module of torch, as a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from matlaw.errors import FatalError
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.loaded import loaded_module
from matlaw.models.model import Leaf, Overrides, Values
from matlaw.models.provenance import evaluation_of
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.models.weight_file import module_weights, read_weights
from matlaw.tensors import TYPES, Scalar, Tensor, to_internal, to_public


@register("TorchModule")
class TorchModule(Leaf):
    """A module of torch that maps input variables to output variables.

    The parameters and floating-point buffers of the module are parameters of the model, under their names in the
    module; ``matlaw-compile --external-weights`` keeps them out of the compiled code. They are converted to the type of
    the law, and the module is in evaluation mode. Derivatives are those of what ``forward`` does.

    * ``module``: ``file.py:NAME``, with a path relative to the input file, or ``package.module:NAME``; NAME is a class
      or a function that gives the module when it is called without arguments. The file is run only where the user
      names it with ``--load``: an input file alone runs no code
    * ``weights``: a safetensors file, or a checkpoint of ``torch.save`` (``.pt``, ``.pth``); without one the module
      keeps what its constructor gives with torch's seed at 0
    * ``inputs``, ``outputs``: variables, and ``input_types``, ``output_types``: their types, one for each or one for
      all
    * ``arguments``: ``joined`` hands over one tensor ``(B, n)`` with the components of all inputs side by side (of a
      symmetric tensor its six Mandel components) and takes one back; ``separate`` hands over one ``(B, *base)`` for
      each input and takes a tuple

    :ivar module: the module; the tensors in it are not used
    """

    module_ = Option("str", "file.py:NAME or package.module:NAME, what makes the module")
    weights = Option("str", "safetensors file or checkpoint of torch", required=False)
    inputs_ = Option("list", "input variables")
    input_types = Option("list", "their tensor types, one for each or one for all", required=False, default="Scalar")
    outputs_ = Option("list", "output variables")
    output_types = Option("list", "their tensor types, one for each or one for all", required=False, default="Scalar")
    arguments = Option(
        "str", "how the module is called", required=False, default="joined", choices=("joined", "separate")
    )

    def setup(self, context: Context) -> None:
        """Makes the module, reads its weights, and declares the variables."""
        super().setup(context)
        self.module = _made(context)
        self._joined = context.option("arguments") == "joined"
        for name, kind in _typed(context, "input"):
            self.add_input(name, Variable(kind), context, "inputs")
        for name, kind in _typed(context, "output"):
            self.add_output(name, Variable(kind), context, "outputs")
        tensors = module_weights(self.module)
        if context.option("weights"):
            path = Path(context.directory()) / context.option("weights")
            try:
                tensors = read_weights(path, tensors)
            except FatalError as error:
                raise context.error(str(error), "weights") from error
        for name, tensor in tensors.items():
            value = to_internal(tensor.to(torch.float64), Scalar, tensor.ndim, ())
            self._slots[name] = ParameterSlot(value, shared=True)
        self._check(context)

    def _check(self, context: Context) -> None:
        """Runs the module once, so that what does not fit is said here and not in the middle of a compile."""
        zeros = {name: variable.type.zeros() for name, variable in self.inputs.items()}
        try:
            self.run(zeros, {})
        except FatalError as error:
            raise context.error(str(error), "module") from error
        except Exception as error:
            what = " ".join(str(error).split())
            raise context.error(
                f"calling the module with {self._call_text()} failed: {type(error).__name__}: {what}", "module"
            ) from error

    def _call_text(self) -> str:
        """What the module is called with, for messages."""
        if self._joined:
            return f"one tensor (B, {sum(v.size for v in self.inputs.values())})"
        shapes = (f"{name} (B{''.join(f', {n}' for n in v.type.base_shape)})" for name, v in self.inputs.items())
        return ", ".join(shapes)

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Calls the module."""
        given = [values[name] for name in self.inputs]
        like = given[0]
        tensors = {}
        for name, slot in self._slots.items():
            value = overrides.get(slot, slot.value).to(like.dtype, like.device)
            if value.batch_size != 1:
                raise FatalError(
                    f"model '{self.name}': weight '{name}' has one value for each row; a module takes one for all rows"
                )
            tensors[name] = to_public(value, ())
        sub_batch = torch.broadcast_shapes(*(x.sub_batch_shape for x in given))
        with evaluation_of(self.name, self.outputs, self.location):
            found = self.forward(tensors, given, sub_batch)
        return dict(zip(self.outputs, found, strict=True))

    def forward(
        self, tensors: dict[str, torch.Tensor], given: list[Tensor], sub_batch: tuple[int, ...]
    ) -> list[Tensor]:
        """The outputs in order.

        :param tensors: the weights by name
        :param given: the inputs in order
        :param sub_batch: sub-batch shape of the outputs
        :raises FatalError: the module gives something else than the outputs
        """
        rows = max(x.batch_size for x in given)
        arguments = [_batch_first(x, sub_batch, rows) for x in given]
        if self._joined:
            ndim = 1 + len(sub_batch)
            arguments = [torch.cat([x.flatten(ndim) if x.ndim > ndim else x.unsqueeze(-1) for x in arguments], dim=-1)]
        results = torch.func.functional_call(self.module, tensors, tuple(arguments))
        if self._joined:
            results = self._split(results)
        elif isinstance(results, torch.Tensor):
            results = (results,)
        if len(results) != len(self.outputs):
            raise FatalError(
                f"the module of model '{self.name}' gives {len(results)} tensors; it has {len(self.outputs)} outputs"
            )
        return [
            self._output(name, variable.type, y, sub_batch)
            for (name, variable), y in zip(self.outputs.items(), results, strict=True)
        ]

    def _split(self, joined: torch.Tensor) -> list[torch.Tensor]:
        """One tensor for each output."""
        sizes = [variable.size for variable in self.outputs.values()]
        if not isinstance(joined, torch.Tensor) or joined.shape[-1] != sum(sizes):
            shape = tuple(joined.shape) if isinstance(joined, torch.Tensor) else type(joined).__name__
            raise FatalError(
                f"the module of model '{self.name}' gives {shape}; its outputs have {sum(sizes)} components in all, "
                f"so (B, {sum(sizes)}) was expected"
            )
        parts = joined.split(sizes, dim=-1)
        kinds = [variable.type for variable in self.outputs.values()]
        return [x.reshape(*x.shape[:-1], *kind.base_shape) for x, kind in zip(parts, kinds, strict=True)]

    def _output(self, name: str, kind: type[Tensor], y: torch.Tensor, sub_batch: tuple[int, ...]) -> Tensor:
        trailing = (*sub_batch, *kind.base_shape)
        if y.ndim != 1 + len(trailing) or tuple(y.shape[1:]) != trailing:
            raise FatalError(
                f"the module of model '{self.name}' gives a tensor of shape {tuple(y.shape)} for '{name}'; "
                f"{('B', *trailing)} was expected"
            )
        sub = len(sub_batch)
        base = range(1 + sub, 1 + sub + kind.base_ndim)
        return kind(y.permute(*base, *range(1, 1 + sub), 0), sub)


def _batch_first(x: Tensor, sub_batch: tuple[int, ...], rows: int) -> torch.Tensor:
    """``(B, *sub_batch, *base)``"""
    data = x.data
    for _ in range(len(sub_batch) - x.sub_batch_ndim):
        data = data.unsqueeze(x.base_ndim)
    data = data.expand(*x.base_shape, *sub_batch, rows)
    sub = range(x.base_ndim, x.base_ndim + len(sub_batch))
    return data.permute(-1, *sub, *range(x.base_ndim))


def _typed(context: Context, which: str) -> list[tuple[str, type[Tensor]]]:
    """Variables and their types."""
    names, kinds = context.option(f"{which}s"), context.option(f"{which}_types")
    if not names:
        raise context.error(f"expected at least one {which}", f"{which}s")
    if len(kinds) == 1:
        kinds = kinds * len(names)
    if len(kinds) != len(names):
        raise context.error(
            f"expected one type, or one for each of the {len(names)} variables, got {len(kinds)}", f"{which}_types"
        )
    for kind in kinds:
        if kind not in TYPES:
            raise context.unknown("type", kind, list(TYPES), f"{which}_types")
    return [(name, TYPES[kind]) for name, kind in zip(names, kinds, strict=True)]


def _made(context: Context) -> torch.nn.Module:
    """The module, made in evaluation mode."""
    text: str = context.option("module")
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name.isidentifier():
        raise context.error(f"expected file.py:NAME or package.module:NAME, got '{text}'", "module")
    file = str(Path(context.directory()) / where) if where.endswith(".py") else where
    source = loaded_module(file)
    if source is None:
        raise context.error(
            f"'{where}' was not loaded, and an input file alone runs no code; load it with --load {where} "
            f"(in Python: extensions=['{where}'])",
            "module",
        )
    make: Callable[[], Any] | None = getattr(source, name, None)
    if not callable(make):
        known = [n for n, x in vars(source).items() if inspect.isclass(x) and issubclass(x, torch.nn.Module)]
        raise context.unknown(f"class or function in {where}", name, known, "module")
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            module = make()
    except Exception as error:
        raise context.error(f"{name}() failed: {type(error).__name__}: {error}", "module") from error
    if not isinstance(module, torch.nn.Module):
        raise context.error(f"{name}() gave {type(module).__name__}, not a torch.nn.Module", "module")
    return module.eval().requires_grad_(False)
