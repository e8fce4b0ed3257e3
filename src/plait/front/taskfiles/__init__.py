"""Tasks made and edited as files."""

from plait.front.taskfiles.create import create_task_file
from plait.front.taskfiles.draft import TaskDraft
from plait.front.taskfiles.edit import edit_task_file
from plait.front.taskfiles.saved import SavedTask

__all__ = ["TaskDraft", "SavedTask", "create_task_file", "edit_task_file"]
