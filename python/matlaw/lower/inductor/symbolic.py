"""Record a function with a symbolic number of rows, as torch.export wants it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
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
    function: TensorFunction, inputs: Sequence[Slot], title: str, dtype: torch.dtype, device: str
) -> torch.fx.GraphModule:
    """The aten operations of a function.

    :param function: takes one tensor ``(*shape, B)`` per input
    :param inputs: slots of the arguments
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
            arguments = [torch.empty(*slot.shape, rows, dtype=dtype, device=device) for slot in inputs]
            module = make_fx(lambda *flat: tuple(function(*flat)))(*arguments)
    except Exception as e:
        first = str(e).strip().splitlines()[:1]
        raise CompileError(f"{title}: it cannot be recorded ({type(e).__name__}: {' '.join(first)})") from e
    guards = [str(guard.expr) for guard in shape_env.guards]
    if guards:
        raise CompileError(f"{title}: what it does depends on the number of rows ({'; '.join(guards)})")
    module.graph.eliminate_dead_code()
    module.recompile()
    return module
