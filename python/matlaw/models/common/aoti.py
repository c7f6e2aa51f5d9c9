"""Compiled models in an input file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from matlaw.errors import FatalError
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model, Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import TYPES, Tensor, to_internal, to_public


@register("AOTIModel")
class AOTIModel(Model):
    """A law that was compiled before.

    * ``artifact_path``: the artifact folder, relative to the input file

    :ivar compiled: the loaded law
    """

    artifact_path = Option("str", "the artifact folder, relative to the input file")

    def setup(self, context: Context) -> None:
        """Loads the artifact and takes over its variables."""
        path = Path(context.directory()) / context.option("artifact_path")
        if not path.exists():
            raise context.error(f"the artifact '{path}' does not exist; compile it again", "artifact_path")
        # The runtime sits above the models; only this one type reaches up to it, and only when it is used.
        self.compiled = import_module("matlaw.runtime").load_model(str(path), path.name)
        law = self.compiled
        for name, kind, sub in zip(law.input_names, law.input_types, law.input_sub_batch_shapes, strict=True):
            self.add_input(name, Variable(TYPES[kind], tuple(sub)), context)
        for name, kind, sub in zip(law.output_names, law.output_types, law.output_sub_batch_shapes, strict=True):
            self.add_output(name, Variable(TYPES[kind], tuple(sub)), context)

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """None: the parameters of a compiled law are set on :attr:`compiled`."""
        return {}

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Evaluates the compiled law."""
        size = max(values[name].batch_size for name in self.inputs)
        given = [to_public(values[name], (size,)) for name in self.inputs]
        results = _Call.apply(_Record(self.compiled), *given)
        return {
            name: to_internal(result, v.type, v.sub_batch_ndim)
            for (name, v), result in zip(self.outputs.items(), results, strict=True)
        }


class _Record:
    """A compiled law and the plain tensors of one call: what torch.func saves has no memory that could be read."""

    def __init__(self, law: Any) -> None:
        self.law = law
        self.inputs: tuple[torch.Tensor, ...] = ()


class _Call(torch.autograd.Function):
    """A call of a compiled law, differentiable once through the derivatives that it was compiled with."""

    @staticmethod
    def forward(record: _Record, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        law, record.inputs = record.law, inputs
        outputs = law.forward(dict(zip(law.input_names, inputs, strict=True)))
        return tuple(outputs[name] for name in law.output_names)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.record = inputs[0]

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        law, inputs = ctx.record.law, ctx.record.inputs
        wanted = [name for name, needed in zip(law.input_names, ctx.needs_input_grad[1:], strict=True) if needed]
        pairs = set(law.derivative_pairs)
        missing = [f"{o}:{i}" for o in law.output_names for i in wanted if (o, i) not in pairs]
        if missing:
            raise FatalError(
                f"the compiled law '{law.name}' was compiled without the derivatives {', '.join(missing)}; compile it "
                f"with -d {' -d '.join(missing)}"
            )
        _, blocks = law.jacobian(dict(zip(law.input_names, inputs, strict=True)))
        found: list[torch.Tensor | None] = [None]
        for name, given in zip(law.input_names, inputs, strict=True):
            total = torch.zeros_like(given) if name in wanted else None
            if total is not None:
                for out, cotangent in zip(law.output_names, cotangents, strict=True):
                    rows = given.shape[0]
                    weights = cotangent.reshape(rows, -1, 1)
                    block = blocks[out][name]
                    base_ndim = cotangent.ndim + given.ndim - 2
                    block = block.expand((rows, *block.shape[block.ndim - base_ndim :]))
                    total = total + (weights * block.reshape(rows, weights.shape[1], -1)).sum(1).reshape(given.shape)
            found.append(total)
        return tuple(found)
