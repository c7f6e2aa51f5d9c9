"""Native CPU kernels: one C++ function per graph, explicit SIMD over the rows, compiled by the system's compiler."""

from matlaw.lower.native.compiler import CPU_TARGETS, build, find_compiler
from matlaw.lower.native.kernel import Kernel
from matlaw.lower.native.kernel_source import emit
from matlaw.lower.native.programs import ForwardProgram, native_program
from matlaw.lower.native.solver import emit_solver

__all__ = ["CPU_TARGETS", "ForwardProgram", "Kernel", "build", "emit", "emit_solver", "find_compiler", "native_program"]
