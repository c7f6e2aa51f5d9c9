"""Compiled models in an input file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

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
        given = {name: to_public(values[name], (size,)) for name in self.inputs}
        results = self.compiled.forward(given)
        return {name: to_internal(results[name], v.type, v.sub_batch_ndim) for name, v in self.outputs.items()}
