"""The forge: a batch branch pushed to its remote, and one pull request for it."""

from plait.adapters.forge.opening import Manners, open_forge
from plait.adapters.forge.push import Distance, PushRejectedError, distance, push, refresh_target
from plait.adapters.forge.remote import RemoteUnreachableError, default_branch

__all__ = [
    "Distance",
    "Manners",
    "PushRejectedError",
    "RemoteUnreachableError",
    "default_branch",
    "distance",
    "open_forge",
    "push",
    "refresh_target",
]
