"""Before a worktree is made anew or given back: what is in no ref becomes one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from plait.core.errors import WorldError
from plait.site.capture import save as save_work
from plait.site.refs import task_branch
from plait.site.workspaces.layout import children
from plait.site.workspaces.modulework import save_module
from plait.site.workspaces.shelf import Shelf
from plait.site.workspaces.worktree import Worktree, is_folder, small


def save(shelf: Shelf, worktree: Worktree) -> None:
    """Raises WorldError if something can't be saved: then nothing may be removed."""
    try:
        _save(shelf, worktree)
    except OSError as error:
        raise WorldError(f"what is in {worktree.folder} can't be saved: {error}") from error


def _save(shelf: Shelf, worktree: Worktree) -> None:
    repository, admin = shelf.repository, worktree.admin
    for module in modules(admin) if admin is not None else ():
        save_module(shelf, module)
    if is_folder(worktree.folder):
        batch, task, environment = shelf.batch, shelf.task, repository.environment
        save_work(worktree.folder, batch, task, environment=environment, common=repository.common)
    elif admin is not None:
        _save_records(shelf, admin)


def modules(folder: Path, inside: str = "modules") -> Iterator[Path]:
    """The git folders of a worktree's submodules, and of theirs. Their names may have slashes in them."""
    for each in children(folder / inside):
        if (each / "HEAD").is_file():
            yield each
            yield from modules(each)
        elif is_folder(each):
            yield from modules(each, "")


def _save_records(shelf: Shelf, admin: Path) -> None:
    """Somebody removed the folder; what was committed or staged in it is still known."""
    name = small(admin / "HEAD").rstrip("\n").removeprefix("ref: ")
    branch = f"refs/heads/{task_branch(shelf.batch, shelf.task)}"
    head = shelf.repository.commit(name or branch)
    if head is None:
        return
    git = shelf.repository.at(admin, admin)
    said = git.run("write-tree", codes=(0, 128)) if os.path.lexists(admin / "index") else None
    before = git.text("rev-parse", f"{head}^{{tree}}")
    if said is not None and said.code == 0 and said.text != before:
        shelf.put_away(git, said.text, head)
    else:
        shelf.keep(head)
