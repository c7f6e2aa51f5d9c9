"""NumPy arrays and torch tensors: a law takes either and gives back the same kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from matlaw.eager.boundary import is_integer
from matlaw.errors import FatalError
from matlaw.evaluation import Evaluation, SegmentHistory


def as_tensor(
    name: str, value: Any, dtype: torch.dtype, device: torch.device | None = None, any_dtype: bool = False
) -> torch.Tensor:
    """Return a tensor that shares memory with `value` where it can.

    :param name: what the value is, for the error message
    :param value: tensor (returned as it is), NumPy array (shared when it is writable and on the same device), number or
        nested sequence of numbers
    :param dtype: of the tensor that is made from numbers, and what arrays and tensors must have; int64 takes integers
        of any width, and nothing else
    :param device: where arrays and numbers go; tensors stay where they are
    :param any_dtype: arrays and tensors may have any other; whoever takes them says what does not fit
    :raises FatalError: the value is not numeric, has another dtype, or is an array of which values are masked

    >>> a = np.zeros((2, 6))
    >>> as_tensor("strain", a, torch.float64)[1, 2] = 5.0
    >>> float(a[1, 2])
    5.0
    """
    integers = dtype == torch.int64
    if integers and isinstance(value, torch.Tensor) and is_integer(value.dtype):
        return value.to(dtype)
    if integers and isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        value = value.astype(np.int64)
    if isinstance(value, torch.Tensor):
        if value.dtype != dtype and not any_dtype:
            raise FatalError(f"{name}: expected {dtype}, got {value.dtype}; convert it with .to({dtype})")
        return value
    other_dtype = isinstance(value, np.ndarray) and value.dtype != (expected := numpy_dtype(dtype))
    if other_dtype and value.dtype.kind in "biuf" and not any_dtype:
        other = f", or load the law with dtype='{value.dtype}'" if value.dtype in (np.float32, np.float64) else ""
        raise FatalError(
            f"{name}: expected an array of {expected}, got one of {value.dtype}; "
            f"convert it with .astype(np.{expected}){other}"
        )
    if np.ma.is_masked(value):
        raise FatalError(
            f"{name}: values of it are masked; give the array without these rows, or .filled(...) with numbers"
        )
    try:
        if isinstance(value, np.ndarray):
            # torch has neither read-only tensors nor negative strides.
            if not value.flags.writeable or any(stride < 0 for stride in value.strides):
                value = value.copy()
            tensor = torch.from_numpy(value)
        else:
            tensor = torch.as_tensor(value, dtype=None if integers else dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise FatalError(f"{name}: expected numbers, a NumPy array or a torch tensor; {error}") from error
    if integers and not is_integer(tensor.dtype):
        raise FatalError(f"{name}: expected integers, got {value!r}")
    if integers:
        tensor = tensor.to(dtype)
    return tensor if device is None else tensor.to(device)


def numpy_dtype(dtype: torch.dtype) -> np.dtype[Any]:
    """Return NumPy's name for a dtype of torch.

    >>> numpy_dtype(torch.float32)
    dtype('float32')
    """
    return np.dtype(str(dtype).removeprefix("torch."))


def as_tensors(
    kind: str,
    values: Mapping[str, Any],
    dtype: torch.dtype,
    device: torch.device | None = None,
    any_dtype: bool = False,
) -> dict[str, torch.Tensor]:
    """Return the tensors of a mapping; see :func:`as_tensor`.

    :param kind: ``input``, ``tangent`` ...: names the values in errors
    :raises FatalError: it is no mapping of names to numbers, or an array or tensor has another dtype
    """
    # What a host hands over step after step takes a tenth of the time of the checks below.
    if type(values) is dict and not any_dtype and _all_tensors(values, dtype):
        return values
    if not isinstance(values, Mapping):
        raise FatalError(f"{kind}s: expected a dict keyed by variable name, got {type(values).__name__}")
    for name in values:
        if not isinstance(name, str):
            raise FatalError(f"{kind}s: expected a dict keyed by variable name, got the key {name!r}")
    return {name: as_tensor(f"{kind} '{name}'", value, dtype, device, any_dtype) for name, value in values.items()}


def _all_tensors(values: dict[str, Any], dtype: torch.dtype) -> bool:
    for name, value in values.items():
        if type(value) is not torch.Tensor or value.dtype is not dtype or type(name) is not str:
            return False
    return True


def wants_numpy(*mappings: Mapping[str, Any]) -> bool:
    """True when something was given and nothing of it is a torch tensor.

    >>> wants_numpy({"strain": np.zeros(6)}), wants_numpy({"strain": np.zeros(6), "t": torch.zeros(())})
    (True, False)
    """
    given = False
    for mapping in mappings:
        for value in mapping.values():
            if isinstance(value, torch.Tensor):
                return False
            given = True
    return given


def to_numpy(value: Any) -> Any:
    """Return NumPy arrays in place of tensors, in nested dicts too, sharing memory with tensors on the CPU."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {name: to_numpy(entry) for name, entry in value.items()}
    return value


def numpy_evaluation(found: Evaluation) -> Evaluation:
    """Return an evaluation with NumPy arrays in place of tensors."""
    values = {entry.name: getattr(found, entry.name) for entry in fields(found)}
    values |= {
        name: to_numpy(value)
        for name, value in values.items()
        if name not in ("failed_rows", "history", "weights_version")
    }
    values["history"] = [SegmentHistory(h.unknowns, to_numpy(h.residual), to_numpy(h.step)) for h in found.history]
    return Evaluation(**values)
