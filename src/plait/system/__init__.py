"""What the engines of one user share, in files of the user's own: `open_commons`."""

from plait.system.shared_state import FileSharedState, open_shared_state

__all__ = ["FileSharedState", "open_shared_state"]
