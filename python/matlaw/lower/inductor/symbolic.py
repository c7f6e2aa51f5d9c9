"""Record a function with a symbolic number of rows, as torch.export wants it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from numpy.typing import NDArray
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from matlaw.errors import CompileError
from matlaw.trace.forward import TensorFunction
from matlaw.trace.slots import Slot

#: Number of rows while recording: no model has an axis of this extent.
_HINT = 10007


def record_symbolically(
    function_with: Callable[[Sequence[torch.Tensor]], TensorFunction],
    inputs: Sequence[Slot],
    constants: Sequence[NDArray],
    title: str,
    dtype: torch.dtype,
    device: str,
) -> torch.fx.GraphModule:
    """The aten operations of a function.

    Its constants are arguments while it is recorded, so that what follows from them is recorded, too.

    :param function_with: gives the function with these constants; it takes one tensor ``(*shape, B)`` per input
    :param inputs: slots of the arguments
    :param constants: values of the constants, which become buffers of the module
    :param title: for messages
    :param dtype: of the arguments
    :param device: of the arguments
    :raises CompileError: it cannot be recorded for any number of rows
    """
    shape_env = ShapeEnv()
    mode = FakeTensorMode(shape_env=shape_env, allow_non_fake_inputs=True)
    context: StatelessSymbolicContext = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC])
    rows = mode.from_tensor(torch.empty(_HINT), static_shapes=False, symbolic_context=context).shape[0]
    try:
        with mode, enable_python_dispatcher():
            arguments = [torch.empty(*slot.batched_shape(rows), dtype=dtype, device=device) for slot in inputs]
            numbers = [torch.empty(x.shape, dtype=torch.from_numpy(x).dtype, device=device) for x in constants]
            module = make_fx(lambda *all: tuple(function_with(all[len(inputs) :])(*all[: len(inputs)])))(
                *arguments, *numbers
            )
    except Exception as e:
        first = str(e).strip().splitlines()[:1]
        raise CompileError(f"{title}: it cannot be recorded ({type(e).__name__}: {' '.join(first)})") from e
    guards = [str(guard.expr) for guard in shape_env.guards]
    if guards:
        raise CompileError(f"{title}: what it does depends on the number of rows ({'; '.join(guards)})")
    placeholders = module.graph.find_nodes(op="placeholder")
    for k, (placeholder, constant) in enumerate(zip(placeholders[len(inputs) :], constants, strict=True)):
        if placeholder.users:
            module.register_buffer(f"constant_{k}", torch.from_numpy(constant.copy()).to(device))
            with module.graph.inserting_before(placeholder):
                placeholder.replace_all_uses_with(module.graph.get_attr(f"constant_{k}"))
        module.graph.erase_node(placeholder)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module
