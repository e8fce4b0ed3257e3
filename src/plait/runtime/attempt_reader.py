"""What front ends read of this machine's attempts: transcripts, result files, and the files of a workspace."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.task import Attempt
from plait.git.command import Git, GitError
from plait.runtime.executor import Transcript
from plait.runtime.transcript import FileTranscript
from plait.system.state_paths import StateFolder

_MAX_RESULT_BYTES = 1 << 20


def open_transcript(folder: StateFolder, attempt: Attempt) -> Transcript:
    return FileTranscript(folder.attempt(attempt).transcript)


def read_result_file(folder: StateFolder, attempt: Attempt, name: str) -> Mapping[str, object]:
    """The JSON object that an attempt wrote; empty if it is missing, cut off or of another version."""
    import json

    try:
        with (folder.attempt(attempt).path / name).open("rb") as file:
            value: object = json.loads(file.read(_MAX_RESULT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def snapshot_workspace(common: Path, workspace: Path, scratch: Path) -> tuple[Git, str]:
    """A workspace's files as a tree, with an index and object store of its own: neither it nor the repository changes."""
    private = _find_private_gitdir(common, workspace)
    objects = scratch / "objects"
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text(f"{common / 'objects'}\n", "utf-8", "surrogateescape")
    with suppress(FileNotFoundError):  # with its mtime, which tells git which files to read
        shutil.copy2(private / "index", scratch / "index")
    git = Git(
        workspace,
        variables={
            "GIT_DIR": str(private),
            "GIT_WORK_TREE": str(workspace),
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
        },
        settings=("core.safecrlf=false", "advice.addEmbeddedRepo=false"),
    )
    _add_files(git, workspace)
    return git, git.text("write-tree")


def _add_files(git: Git, workspace: Path) -> None:
    """An agent may be working there: skip files that disappear meanwhile."""
    try:
        git.run("add", "--all", "--ignore-errors", codes=(0, 1))
    except GitError as error:
        try:
            git.run("add", "--update", "--ignore-errors", codes=(0, 1))
        except GitError:
            raise WorldError(
                f"the files in {workspace} can't be read now: {error.message}", hint="Try again in a moment."
            ) from error


def _find_private_gitdir(common: Path, workspace: Path) -> Path:
    """The worktree's own git folder. Without it, git would search the parent folders for a repository."""
    try:
        key, _, value = (workspace / ".git").read_text("utf-8", "surrogateescape").partition(":")
        private = (workspace / value.strip()).resolve()
        if key == "gitdir" and private.parent == (common / "worktrees").resolve():
            return private
    except OSError:
        pass
    raise WorldError(f"the workspace {workspace} no longer exists: nothing to compare")
