"""From models to graphs: partition into segments and forward traces."""

from matlaw.trace.partition import partition
from matlaw.trace.program import ForwardSegment, ImplicitSegment, Program, StatePair

__all__ = ["ForwardSegment", "ImplicitSegment", "Program", "StatePair", "partition"]
