"""Statuses written back to the files that tasks came from: `write_back`."""

from plait.adapters.sourcefiles.write import Written, write_back

__all__ = ["Written", "write_back"]
