"""Managed mirrors of remote repositories: one bare clone for each, shared by all batches, brought up to date before each."""

from plait.git.mirror import Mirror, open_mirror
from plait.git.mirror_checkouts import list_stale_checkouts, remove_checkout

__all__ = ["Mirror", "open_mirror", "remove_checkout", "list_stale_checkouts"]
