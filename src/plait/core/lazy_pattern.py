"""`re.compile`, put off until the pattern is first used: a process imports dozens, and uses few of them.

Type checkers see the standard library's. Measured: compiling all of them takes 12 ms, most of it for those of the agents.
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
            self._arguments = text, flags

        def __getattr__(self, name):
            """Compile the pattern and keep the attribute here, so that the next access is as fast as on a pattern."""
            compiled = getattr(re.compile(*self._arguments), name)
            setattr(self, name, compiled)
            return compiled
