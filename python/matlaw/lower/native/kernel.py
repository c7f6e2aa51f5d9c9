"""Call a native kernel from Python: for the self-check and for tests."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from matlaw.errors import CompileError
from matlaw.lower.native.source import ABI_VERSION
from matlaw.trace.slots import Slot

#: Rows are handed over in multiples of this.
ROW_BLOCK = 8
_ALIGNMENT = 64


def aligned(components: int, ld: int, dtype: np.dtype) -> NDArray:
    """An array ``(components, ld)`` whose memory starts at a multiple of 64 bytes."""
    size = max(components, 1) * ld * dtype.itemsize
    memory = np.zeros(size + _ALIGNMENT, dtype=np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(max(components, 1), ld)


def _load(library: Path) -> tuple[ctypes.CDLL, int]:
    """The library, loaded from an anonymous copy of the file, and the descriptor of that copy.

    The loader identifies libraries by path: it would hand out the old one for a file that was written anew.

    :raises OSError: the library does not load
    """
    descriptor = os.memfd_create("matlaw-kernel", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as copy:
            copy.write(library.read_bytes())
        return ctypes.CDLL(f"/proc/self/fd/{descriptor}"), descriptor
    except OSError:
        os.close(descriptor)
        raise


def _unload(handle: int, descriptor: int) -> None:
    ctypes.CDLL(None).dlclose(ctypes.c_void_p(handle))
    os.close(descriptor)  # last: while the library is there its path must not be given to another


class _Place(ctypes.Structure):
    """Where rows stand, ``native::Place`` of the runtime."""

    _fields_ = (("data", ctypes.c_void_p), ("row", ctypes.c_int64), ("component", ctypes.c_int64))


class Kernel:
    """A kernel, in memory as long as this object lives.

    :param library: the shared library
    :param inputs: slots, in order
    :param outputs: slots, in order
    :param dtype: float64 or float32
    :raises CompileError: the library does not load or has another interface version
    """

    def __init__(self, library: Path, inputs: Sequence[Slot], outputs: Sequence[Slot], dtype: np.dtype) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.dtype = np.dtype(dtype)
        try:
            self._library, descriptor = _load(library)
        except OSError as e:
            raise CompileError(f"{library.name}: it does not load on this machine: {e}") from e
        weakref.finalize(self, _unload, self._library._handle, descriptor)
        version = ctypes.c_int32.in_dll(self._library, "matlaw_abi_version").value
        if version != ABI_VERSION:
            raise CompileError(f"{library.name}: interface version {version}, expected {ABI_VERSION}")
        self.lanes = ctypes.c_int32.in_dll(self._library, "matlaw_lanes").value
        self._function = self._library.matlaw_graph
        self._function.restype = None
        self._function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]

    def __call__(self, *inputs: NDArray) -> list[NDArray]:
        """Evaluate.

        :param inputs: per slot ``(*shape, B)``, of a weight ``(*shape, 1)``; rows are padded to a multiple of 8 by
            repeating the last one
        :returns: per output ``(*shape, B)``
        """
        rows, ld, handed = self._padded(inputs)
        results = [aligned(slot.size, ld, self.dtype) for slot in self.outputs]
        for result in results:
            result.fill(np.nan)
        self.run(handed, results, ld, ld)
        return [r[:, :rows].reshape(*slot.shape, rows).copy() for slot, r in zip(self.outputs, results, strict=True)]

    @property
    def has_in_place(self) -> bool:
        """True when the kernel can evaluate rows where they stand."""
        return hasattr(self._library, "matlaw_in_place")

    def in_place(self, *inputs: NDArray) -> tuple[list[NDArray], bool]:
        """Evaluate rows where they stand.

        :param inputs: per slot ``(size, B)`` with any strides, B a multiple of 8
        :returns: per output ``(size, B)``, with strides like those of the first input, and whether inputs and outputs
            were found to be finite
        """
        function = self._library.matlaw_in_place
        function.restype = ctypes.c_int32
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        rows = inputs[0].shape[1]
        order: Literal["C", "F"] = "C" if inputs[0].strides[1] == self.dtype.itemsize else "F"
        results = [np.full((slot.size, rows), np.nan, self.dtype, order) for slot in self.outputs]
        finite = function(self._places(inputs), self._places(results), rows)
        return results, bool(finite)

    def _places(self, arrays: Sequence[NDArray]) -> ctypes.Array:
        size = self.dtype.itemsize
        found = (_Place(x.ctypes.data, x.strides[1] // size, x.strides[0] // size) for x in arrays)
        return (_Place * max(len(arrays), 1))(*found)

    def _padded(self, inputs: Sequence[NDArray]) -> tuple[int, int, list[NDArray]]:
        rows = inputs[0].shape[-1]
        ld = -(-rows // ROW_BLOCK) * ROW_BLOCK
        handed = []
        for slot, x in zip(self.inputs, inputs, strict=True):
            if slot.shared:
                weight = aligned(1, slot.size, self.dtype)
                weight[0] = np.asarray(x).reshape(slot.size)
                handed.append(weight)
                continue
            buffer = aligned(slot.size, ld, self.dtype)
            buffer[:, :rows] = np.asarray(x).reshape(slot.size, rows)
            buffer[:, rows:] = buffer[:, rows - 1 : rows]
            handed.append(buffer)
        return rows, ld, handed

    def solve(
        self, *inputs: NDArray, atol: float, rtol: float, most: int, easy: int, settled: float
    ) -> tuple[NDArray, NDArray] | None:
        """Newton's method from start to end, of a kernel of Newton steps that has it; None for another.

        :param inputs: as of a call; the unknowns, which come first, hold the guess
        :param most: iterations
        :param easy: after so many iterations a row has to halve its residual each time
        :param settled: `rtol` counts only after a step below this, relative to the unknowns
        :returns: the unknowns ``(n, B)``, and ``(4, B)``: first and last norm of the residual, iterations, and 1 for a
            row that is done, whose unknowns are the solution; others keep their guess
        """
        function = getattr(self._library, "matlaw_solve", None)
        if function is None:
            return None
        function.restype = None
        function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 3
        rows, ld, handed = self._padded(inputs)
        n = self.outputs[0].size
        unknowns, report = aligned(n, ld, self.dtype), aligned(4, ld, self.dtype)
        count = 0
        for buffer in handed:
            if count < n:
                unknowns[count : count + len(buffer)] = buffer
                count += len(buffer)
        pointers = (ctypes.c_void_p * len(handed))(*(x.ctypes.data for x in handed))
        limits = np.array([atol, rtol, easy, settled, settled])
        function(pointers, unknowns.ctypes.data, report.ctypes.data, limits.ctypes.data, most, ld, ld)
        return unknowns[:, :rows].copy(), report[:, :rows].copy()

    def run(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray], ld: int, rows: int) -> None:
        """The bare call, on aligned arrays ``(components, ld)``."""
        pointers_in = (ctypes.c_void_p * max(len(inputs), 1))(*(x.ctypes.data for x in inputs))
        pointers_out = (ctypes.c_void_p * max(len(outputs), 1))(*(y.ctypes.data for y in outputs))
        self._function(pointers_in, pointers_out, ld, rows)
