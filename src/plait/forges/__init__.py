"""The forge: a batch branch pushed to its remote, and one pull request for it."""

from plait.forges.registry import HttpOptions, open_forge
from plait.forges.remote import CommitDistance, PushRejectedError, count_distance, fetch_target, push_branch
from plait.forges.remote__remote import RemoteUnreachableError, find_default_branch

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
