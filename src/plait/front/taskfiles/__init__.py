"""Tasks made and edited as files."""

from plait.front.taskfiles.create import create
from plait.front.taskfiles.draft import Draft
from plait.front.taskfiles.edit import edit
from plait.front.taskfiles.saved import Saved

__all__ = ["Draft", "Saved", "create", "edit"]
