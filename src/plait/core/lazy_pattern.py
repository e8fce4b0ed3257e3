"""`re.compile`, put off until the pattern is first used: a process imports hundreds, and uses few of them.

To type checkers it is the standard library's own.
"""

# ruff: noqa: ANN001, ANN204 - type checkers see the standard library's
from __future__ import annotations

import re
from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:  # noqa: N801 - it stands for a function
        def __init__(self, text, flags=0):
            self._said = text, flags

        def __getattr__(self, name):
            """Compile the pattern and keep the attribute here, so that the next access is as fast as on a pattern."""
            found = getattr(re.compile(*self._said), name)
            setattr(self, name, found)
            return found
