"""Statuses written back to the files that tasks came from (`write_back`), and edits of such files (`replace`)."""

from plait.adapters.sourcefiles.write import Written, replace, write_back

__all__ = ["Written", "replace", "write_back"]
