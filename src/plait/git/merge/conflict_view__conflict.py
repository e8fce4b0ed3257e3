"""A conflict as text, for whoever repairs it: what git says of it, and the places where both sides differ."""

from __future__ import annotations

from collections.abc import Iterator

from plait.git.command import Git
from plait.git.merge import objects
from plait.git.merge.three_way import MergeResult

CONFLICT_STYLE = ("merge.conflictStyle=zdiff3",)
OURS_LABEL, THEIRS_LABEL, BASE_LABEL = "already merged", "this task", "before both"
MAX_CONFLICT_CHARACTERS = 20_000  # characters in all: it becomes part of what an agent is told
_CONTEXT_LINES = 3
_MAX_LINE_CHARACTERS = 500  # characters of one line


def format_conflict(git: Git, tried: MergeResult, files: tuple[str, ...]) -> str:
    """Empty if nothing stands against the merge."""
    if not files:
        return ""
    notes = [name_sides(note.text, tried) for note in tried.notes if set(note.paths) & set(files)]
    said = [line for line in notes if not line.startswith("Auto-merging")]
    share = max(1_000, (MAX_CONFLICT_CHARACTERS - sum(map(len, said))) // len(files))
    parts = ["\n".join(said), *(_format_file(git, tried, path, share) for path in files)]
    return _truncate("\n\n".join(part for part in parts if part), MAX_CONFLICT_CHARACTERS)


def _format_file(git: Git, tried: MergeResult, path: str, limit: int) -> str:
    content = objects.read_file(git, tried.tree, path)
    if content is None:
        return f"{path}: there is no plain file of this name in the merged tree."
    if b"\0" in content:
        return f"{path}: a binary file; one of the two versions has to be chosen."
    hunks = list(_find_hunks(name_sides(content.decode("utf-8", "replace"), tried).split("\n")))
    if not hunks:
        return ""
    return _truncate(f"{path}:\n" + "\n…\n".join(hunks), limit)


def _find_hunks(lines: list[str]) -> Iterator[str]:
    """Each conflict with a few lines around it."""
    start = None
    for place, line in enumerate(lines):
        if line.startswith(f"<<<<<<< {OURS_LABEL}"):
            start = place
        elif line.startswith(f">>>>>>> {THEIRS_LABEL}") and start is not None:
            shown = lines[max(0, start - _CONTEXT_LINES) : place + 1 + _CONTEXT_LINES]
            yield "\n".join(_truncate(one, _MAX_LINE_CHARACTERS) for one in shown)
            start = None


def name_sides(text: str, tried: MergeResult) -> str:
    """Sides by what they are, not by the ids of commits that nobody knows."""
    said = text.replace(tried.ours, OURS_LABEL).replace(tried.theirs, THEIRS_LABEL)
    return "\n".join(
        f"||||||| {BASE_LABEL}" if line.startswith("||||||| ") else line for line in said.split("\n")
    )


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n… ({len(text) - limit} characters more)"
