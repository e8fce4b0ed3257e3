"""What the engines of one user share, in files of the user's own: `open_commons`."""

from plait.adapters.commons.shared import FileCommons, open_commons

__all__ = ["FileCommons", "open_commons"]
