"""Tasks made and edited as files."""

from plait.client.task_drafts import TaskDraft
from plait.client.task_editor__create import create_task_file
from plait.client.task_editor__edit import edit_task_file
from plait.client.task_editor__saved import SavedTask

__all__ = ["TaskDraft", "SavedTask", "create_task_file", "edit_task_file"]
