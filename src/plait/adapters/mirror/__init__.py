"""Managed mirrors of remote repositories: one bare clone for each, shared by all batches, brought up to date before each."""

from plait.adapters.mirror.checkouts import remove_checkout, list_stale_checkouts
from plait.adapters.mirror.mirror import Mirror, open_mirror

__all__ = ["Mirror", "open_mirror", "remove_checkout", "list_stale_checkouts"]
