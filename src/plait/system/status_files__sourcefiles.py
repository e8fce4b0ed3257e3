"""Statuses written back to the files that tasks came from (`write_back`), and edits of such files (`replace`)."""

from plait.system.status_files import WriteResult, replace_file_text, write_statuses

__all__ = ["WriteResult", "replace_file_text", "write_statuses"]
