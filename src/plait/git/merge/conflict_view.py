"""Shows conflicts: as text for the agent that resolves them, and with both sides of each file for people.

The merge is repeated as the merger does it; nothing of it is left in the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.git import objects as git_objects
from plait.git.command import Git
from plait.git.interfaces import ConflictedFile, ConflictKind, MergeRules
from plait.git.merge.change_merger import ChangeMerger, map_errors, refuse_regeneration
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.git.merge.three_way import Ancestry, MergeNote, MergeResult, list_files_by_task

CONFLICT_STYLE = ("merge.conflictStyle=zdiff3",)
OURS_LABEL, THEIRS_LABEL, BASE_LABEL = "already merged", "this task", "before both"
MAX_CONFLICT_CHARACTERS = 20_000  # characters in all: it becomes part of an agent's prompt
_CONTEXT_LINES = 3
_MAX_LINE_CHARACTERS = 500  # characters of one line


def format_conflict(git: Git, tried: MergeResult, files: tuple[str, ...]) -> str:
    """Show the conflicts of these files as text; empty if there are none."""
    if not files:
        return ""
    notes = [name_sides(note.text, tried) for note in tried.notes if set(note.paths) & set(files)]
    lines = [line for line in notes if not line.startswith("Auto-merging")]
    share = max(1_000, (MAX_CONFLICT_CHARACTERS - sum(map(len, lines))) // len(files))
    parts = ["\n".join(lines), *(_format_file(git, tried, path, share) for path in files)]
    return _truncate("\n\n".join(part for part in parts if part), MAX_CONFLICT_CHARACTERS)


def _format_file(git: Git, tried: MergeResult, path: str, limit: int) -> str:
    content = git_objects.read_file(git, tried.tree, path)
    if content is None:
        return f"{path}: there is no plain file of this name in the merged tree."
    if b"\0" in content:
        return f"{path}: a binary file; one of the two versions has to be chosen."
    hunks = list(_find_hunks(name_sides(content.decode("utf-8", "replace"), tried).split("\n")))
    if not hunks:
        return ""
    return _truncate(f"{path}:\n" + "\n…\n".join(hunks), limit)


def _find_hunks(lines: list[str]) -> Iterator[str]:
    """Yield each conflict with a few lines around it."""
    start = None
    for index, line in enumerate(lines):
        if line.startswith(f"<<<<<<< {OURS_LABEL}"):
            start = index
        elif line.startswith(f">>>>>>> {THEIRS_LABEL}") and start is not None:
            shown = lines[max(0, start - _CONTEXT_LINES) : index + 1 + _CONTEXT_LINES]
            yield "\n".join(_truncate(text, _MAX_LINE_CHARACTERS) for text in shown)
            start = None


def name_sides(text: str, tried: MergeResult) -> str:
    """Replace the commit ids in conflict labels by names for the sides."""
    lines = text.replace(tried.ours, OURS_LABEL).replace(tried.theirs, THEIRS_LABEL)
    return "\n".join(f"||||||| {BASE_LABEL}" if line.startswith("||||||| ") else line for line in lines.split("\n"))


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n… ({len(text) - limit} characters more)"


MAX_CONFLICT_FILES = 100  # files whose contents are shown
_SIDE_NAMES = {1: "base", 2: "ours", 3: "theirs", 0: "merged"}
# By git's names, the most specific first: git may report several for one file.
_CONFLICT_KINDS = (
    ("submodule", ConflictKind.SUBMODULE),
    ("rename", ConflictKind.RENAME),
    ("modify/delete", ConflictKind.MODIFY_DELETE),
    ("file/directory", ConflictKind.FOLDER),
    ("distinct", ConflictKind.MODE),
    ("binary", ConflictKind.BINARY),
    ("contents", ConflictKind.CONTENT),
)


@dataclass(frozen=True, slots=True)
class ConflictingMerge:
    """A change and the commit that it conflicts with. `merged` are the changes merged into that commit, by task, in
    order.
    """

    change: Change
    onto: str
    merged: Mapping[str, Change]


def read_conflict_sides(
    git_dir: Path, attempted: ConflictingMerge, rules: MergeRules, environment: Mapping[str, str]
) -> tuple[list[ConflictedFile], int]:
    """Read both sides of the conflicting files; return them, and how many more there are. Raises WorldError if a commit
    is missing.
    """
    with (
        map_errors(f"the conflict of {attempted.change.task} could not be read"),
        TemporaryDirectory(prefix="plait-conflict-") as scratch,
    ):
        folder = Path(scratch)
        private = PrivateGitDirs(git_dir, folder / "git", environment, _make_object_dir(folder, git_dir))
        variables = {"GIT_DIR": str(git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        repository_git = Git(git_dir, environment=environment, variables=variables)
        merging = ChangeMerger(repository_git, private, Ancestry(repository_git), refuse_regeneration)
        git, tried, plan = merging.try_merge(attempted.change, attempted.onto, rules, ())
        conflicts = plan.conflicts
        touched = _tasks_by_file(repository_git, attempted.merged)
        files = [
            _describe_file(path, tried, sides, touched)
            for path, sides in zip(
                conflicts[:MAX_CONFLICT_FILES],
                _read_sides(git, tried, conflicts[:MAX_CONFLICT_FILES]),
                strict=True,
            )
        ]
        return files, len(conflicts[MAX_CONFLICT_FILES:])


def apply_change(git_dir: Path, change: Change, onto: str, folder: Path) -> tuple[Git, str] | None:
    """Return the tree of a change as if it had been made on `onto`, and the git that reads it, with its objects in
    `folder`.

    None if it conflicts. Raises WorldError if a commit is missing.
    """
    with map_errors(f"the change of {change.task} could not be read"):
        environment = dict(os.environ)
        private = PrivateGitDirs(git_dir, folder / "git", environment, _make_object_dir(folder, git_dir))
        variables = {"GIT_DIR": str(git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        repository_git = Git(git_dir, environment=environment, variables=variables)
        merging = ChangeMerger(repository_git, private, Ancestry(repository_git), refuse_regeneration)
        git, tried, _ = merging.try_merge(change, onto, MergeRules(), ())
        return (git, tried.tree) if tried.clean else None


def _make_object_dir(folder: Path, git_dir: Path) -> Path:
    """Make a folder for new objects, with the repository's objects as alternates."""
    objects = folder / "objects"
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text(f"{git_dir / 'objects'}\n", "utf-8", "surrogateescape")
    return objects


def _tasks_by_file(git: Git, merged: Mapping[str, Change]) -> dict[str, tuple[str, ...]]:
    """Return the tasks that changed each file, the newest first."""
    changed = (
        list_files_by_task(git, {task: (change.base, change.tip) for task, change in merged.items()}) if merged else {}
    )
    tasks: dict[str, tuple[str, ...]] = {}
    for task in merged:
        for path in changed[task]:
            tasks[path] = (task, *tasks.get(path, ()))
    return tasks


def _read_sides(git: Git, tried: MergeResult, paths: Sequence[str]) -> Iterator[Mapping[str, bytes | None]]:
    """Read the content of each side of each file; None if too large. A missing side is left out."""
    objects: dict[str, dict[str, str]] = {path: {} for path in paths}
    for stage in tried.stages:
        if stage.path in objects:
            objects[stage.path][_SIDE_NAMES[stage.number]] = stage.object
    for path, name in git_objects.list_blobs(git, tried.tree, paths).items():
        objects[path][_SIDE_NAMES[0]] = name
    contents = git_objects.read_blobs(git, [name for sides in objects.values() for name in sides.values()])
    return iter(
        [{side: contents[name] for side, name in sides.items() if name in contents} for sides in objects.values()]
    )


def _describe_file(
    path: str,
    tried: MergeResult,
    sides: Mapping[str, bytes | None],
    touched: Mapping[str, tuple[str, ...]],
) -> ConflictedFile:
    notes = [note for note in tried.notes if path in note.paths and note.kind.startswith("CONFLICT")]
    available = {side: content for side, content in sides.items() if content is not None}
    binary = any(b"\0" in content for content in available.values())
    texts = {} if binary else {side: content.decode("utf-8", "replace") for side, content in available.items()}
    merged = texts.get("merged")
    stages = [stage for stage in tried.stages if stage.path == path]
    kind = _classify(notes, [stage.number for stage in stages], binary=binary)
    plain = not binary and all(stage.mode.startswith("100") for stage in stages)
    has_sides = bool(stages) and not is_about_folders(tried, path)
    return ConflictedFile(
        path,
        kind,
        "\n".join(name_sides(note.text, tried) for note in notes),
        binary,
        texts.get("base"),
        texts.get("ours"),
        texts.get("theirs"),
        None if merged is None else name_sides(merged, tried),
        tuple(side for side, content in sides.items() if content is None),
        touched.get(path, ()),
        has_sides,
        has_sides and plain and _is_text(available.get("merged")),
    )


def _is_text(content: bytes | None) -> bool:
    """Whether the content stays the same when it is decoded and encoded again."""
    return content is not None and content.decode("utf-8", "replace").encode() == content


def is_about_folders(tried: MergeResult, path: str) -> bool:
    """Whether git has moved the file to make room for a folder, or can't say which of its names counts."""
    return any("file/directory" in note.kind for note in tried.notes if path in note.paths)


def _classify(notes: Sequence[MergeNote], stages: Sequence[int], *, binary: bool) -> ConflictKind:
    lines = " ".join(note.kind for note in notes)
    kind = next((kind for sign, kind in _CONFLICT_KINDS if sign in lines), ConflictKind.OTHER)
    if kind is ConflictKind.CONTENT and binary:
        return ConflictKind.BINARY
    return ConflictKind.ADD_ADD if kind is ConflictKind.CONTENT and 1 not in stages else kind
