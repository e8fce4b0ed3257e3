"""A conflict as text, for whoever repairs it: what git says of it, and the places where both sides differ."""

from __future__ import annotations

from collections.abc import Iterator

from plait.adapters.integrator import trees
from plait.adapters.integrator.threeway import Blend
from plait.site.git import Git

STYLE = ("merge.conflictStyle=zdiff3",)
OURS, THEIRS, BASE = "already merged", "this task", "before both"
WHOLE = 20_000  # characters in all: it becomes part of what an agent is told
_CONTEXT = 3
_LONG = 500  # characters of one line


def tell(git: Git, tried: Blend, files: tuple[str, ...]) -> str:
    """Empty if nothing stands against the merge."""
    if not files:
        return ""
    notes = [named(note.text, tried) for note in tried.notes if set(note.paths) & set(files)]
    said = [line for line in notes if not line.startswith("Auto-merging")]
    share = max(1_000, (WHOLE - sum(map(len, said))) // len(files))
    parts = ["\n".join(said), *(_part(git, tried, path, share) for path in files)]
    return _cut("\n\n".join(part for part in parts if part), WHOLE)


def _part(git: Git, tried: Blend, path: str, room: int) -> str:
    content = trees.read(git, tried.tree, path)
    if content is None:
        return f"{path}: there is no plain file of this name in the merged tree."
    if b"\0" in content:
        return f"{path}: a binary file; one of the two versions has to be chosen."
    hunks = list(_hunks(named(content.decode("utf-8", "replace"), tried).split("\n")))
    if not hunks:
        return ""
    return _cut(f"{path}:\n" + "\n…\n".join(hunks), room)


def _hunks(lines: list[str]) -> Iterator[str]:
    """Each conflict with a few lines around it."""
    start = None
    for place, line in enumerate(lines):
        if line.startswith(f"<<<<<<< {OURS}"):
            start = place
        elif line.startswith(f">>>>>>> {THEIRS}") and start is not None:
            shown = lines[max(0, start - _CONTEXT) : place + 1 + _CONTEXT]
            yield "\n".join(_cut(one, _LONG) for one in shown)
            start = None


def named(text: str, tried: Blend) -> str:
    """Sides by what they are, not by the ids of commits that nobody knows."""
    said = text.replace(tried.ours, OURS).replace(tried.theirs, THEIRS)
    return "\n".join(f"||||||| {BASE}" if line.startswith("||||||| ") else line for line in said.split("\n"))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}\n… ({len(text) - room} characters more)"
