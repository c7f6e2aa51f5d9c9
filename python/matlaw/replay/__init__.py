"""Failing calls that were written to a file: reading them, and stepping through them again."""

from matlaw.replay.law import replayed_law, row_inputs
from matlaw.replay.replay_file import ReplayFile, ReplayRow, read_replay_file
from matlaw.replay.trace import Iteration, RowTrace, SegmentTrace, trace_row

__all__ = [
    "Iteration",
    "ReplayFile",
    "ReplayRow",
    "RowTrace",
    "SegmentTrace",
    "read_replay_file",
    "replayed_law",
    "row_inputs",
    "trace_row",
]
