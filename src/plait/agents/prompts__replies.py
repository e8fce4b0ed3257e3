"""Replies: how an agent that only reads tells what to write, and how files are shown to it: in the same form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_FENCE_RUNS = re.compile(r"`{3,}")

REPLY_INSTRUCTIONS = """\
## How to answer

Change no file yourself: answer with the files, and they are written for you. A new file, or one that changes much, as a
whole: a line with its path from the top of the repository, then all of its text in a fence that nothing in it closes.

FILE: path/to/file
```
all of its lines
```

A small change of a file that is there, as an edit: the lines as they are, exactly and only once in the file, and the lines
that take their place.

FILE: path/to/file
FIND:
the lines as they are
REPLACE:
the new lines
END

Everything that you name is written, or nothing. Text outside of these blocks is for people to read."""


def build_reply_instructions(allowed: Collection[str] = ()) -> str:
    """For the end of a prompt. `allowed` are the only files that are taken; none: any of the repository."""
    if not allowed:
        return REPLY_INSTRUCTIONS
    listed = "\n".join(f"- {path}" for path in allowed)
    return f"{REPLY_INSTRUCTIONS}\n\nOnly these files are taken:\n{listed}"


def format_files(files: Iterable[tuple[str, str]]) -> str:
    """Files as they are, each in a fence that nothing in it closes."""
    return "\n\n".join(_format_file(path, text) for path, text in files)


def _format_file(path: str, text: str) -> str:
    longest = max((len(run) for run in _FENCE_RUNS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"FILE: {path}\n{fence}\n{text}{end}{fence}"
