"""Derivatives in reverse mode of plain functions of tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch

#: Function of the cotangent that gives the gradients.
PullBack = Callable[[torch.Tensor], tuple[torch.Tensor, ...]]


def vjp(function: Callable[..., torch.Tensor], *at: torch.Tensor) -> tuple[torch.Tensor, PullBack]:
    """Value of a function and its pull-back, as ``torch.func.vjp`` gives them; may be nested.

    The machinery behind ``torch.func`` takes seconds to load, which a process that only evaluates laws eagerly need not
    spend: autograd does the same there. It is used where it is loaded, and where tensors are symbolic or ``torch.func``
    differentiates further out.

    :param function: of all of ``at``
    :param at: arguments

    >>> value, pull_back = vjp(lambda x: x * x, torch.tensor([3.0]))
    >>> value.item(), pull_back(torch.ones(1))[0].item()
    (9.0, 6.0)
    """
    if _func_is_due():
        value, pull_back, *_ = torch.func.vjp(function, *at)
        return value, pull_back
    outer = torch.is_grad_enabled()
    with torch.enable_grad():
        # A view of an argument that is differentiated further out stays connected to it.
        inner = [x.view_as(x) if outer and x.requires_grad else x.detach().requires_grad_() for x in at]
        value = function(*inner)

    def gradients(cotangent: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not value.requires_grad:
            return tuple(torch.zeros_like(x) for x in at)
        with torch.enable_grad():
            # A product, as torch.autograd.grad imports a computer algebra system to look at a cotangent.
            found = torch.autograd.grad(
                (value * cotangent).sum(), inner, create_graph=outer, retain_graph=True, allow_unused=True,
                materialize_grads=True,
            )  # fmt: skip
        return tuple(g if outer else g.detach() for g in found)

    return (value if outer else value.detach()), gradients


def _func_is_due() -> bool:
    if torch._C._functorch.maybe_current_level() is not None or any(map(torch._C._get_dispatch_mode, _SYMBOLIC)):
        return True
    # matlaw's own modes, which watch operations, get the same ones in every process.
    return torch._C._len_torch_dispatch_stack() == 0 and "torch._dynamo" in sys.modules


#: Modes in which tensors have no values.
_SYMBOLIC = (torch._C._TorchDispatchModeKey.FAKE, torch._C._TorchDispatchModeKey.PROXY)
