"""The forge: a batch branch pushed to its remote, and one pull request for it."""

from plait.adapters.forge.opening import HttpOptions, open_forge
from plait.adapters.forge.push import (
    CommitDistance,
    PushRejectedError,
    count_distance,
    push_branch,
    fetch_target,
)
from plait.adapters.forge.remote import RemoteUnreachableError, find_default_branch

__all__ = [
    "CommitDistance",
    "HttpOptions",
    "PushRejectedError",
    "RemoteUnreachableError",
    "find_default_branch",
    "count_distance",
    "open_forge",
    "push_branch",
    "fetch_target",
]
