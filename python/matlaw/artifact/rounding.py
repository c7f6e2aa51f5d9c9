"""How much rounding can move a result: evaluate with every operation off by one unit of rounding, at random.

What differs by no more than that is equal: two correct orders of the same operations differ so, too. It sees
cancellation inside a function, which moving the inputs alone does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

#: Length of the sequence of random factors, and by how much it is shifted from one operation to the next: primes.
_PERIOD = 8191
_STRIDE = 1237


class RoundingNoise(TorchDispatchMode):
    """While active, every floating-point result of torch is multiplied by ``1 + unit`` or ``1 - unit``.

    :param unit: unit of rounding
    :param seed: of the signs
    """

    def __init__(self, unit: float, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        signs = torch.randint(0, 2, (_PERIOD,), generator=generator, dtype=torch.float64) * 2 - 1
        self.factors = 1.0 + unit * signs
        self.count = 0

    def run(self, func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Apply an operation and move its result."""
        result = func(*args, **kwargs)
        fresh = all(r.alias_info is None for r in func._schema.returns)
        if not fresh or not isinstance(result, torch.Tensor) or not result.dtype.is_floating_point:
            return result
        self.count += 1
        size = result.numel()
        factors = self.factors.roll(_STRIDE * self.count)
        if size > _PERIOD:
            factors = factors.repeat(-(-size // _PERIOD))
        return result * factors[:size].reshape(result.shape)


def _dispatch(
    self: RoundingNoise, func: Any, types: Sequence[type], args: tuple = (), kwargs: dict[str, Any] | None = None
) -> Any:
    return self.run(func, args, kwargs or {})


# Not a method: torch would wrap it for its own compiler, and load that, which takes a second.
RoundingNoise.__torch_dispatch__ = _dispatch  # type: ignore[method-assign,assignment]


def with_noise(
    function: Callable[..., Sequence[torch.Tensor]], arguments: Sequence[torch.Tensor], unit: float, seed: int
) -> list[torch.Tensor]:
    """The results of a function, evaluated with rounding noise on its arguments and on every operation."""
    with RoundingNoise(unit, seed):
        return list(function(*(x.clone() for x in arguments)))
