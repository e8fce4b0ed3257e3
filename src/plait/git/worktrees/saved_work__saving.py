"""Before a worktree is made anew or given back: what is in no ref becomes one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.refs import task_branch
from plait.git.worktrees.saved_refs import SavedRefs
from plait.git.worktrees.saved_work import save_workspace as save_work
from plait.git.worktrees.submodules__modulework import save_submodule
from plait.git.worktrees.worktree import Worktree, is_real_folder, read_small_file
from plait.git.worktrees.worktree__layout import list_children


def save_worktree(saved_refs: SavedRefs, worktree: Worktree) -> None:
    """Raises WorldError if something can't be saved: then nothing may be removed."""
    try:
        _save_parts(saved_refs, worktree)
    except OSError as error:
        raise WorldError(f"what is in {worktree.folder} can't be saved: {error}") from error


def _save_parts(saved_refs: SavedRefs, worktree: Worktree) -> None:
    repository, admin = saved_refs.repository, worktree.admin
    for module in list_submodule_dirs(admin) if admin is not None else ():
        save_submodule(saved_refs, module)
    if is_real_folder(worktree.folder):
        batch, task, environment = saved_refs.batch, saved_refs.task, repository.environment
        save_work(worktree.folder, batch, task, environment=environment, common=repository.common)
    elif admin is not None:
        _save_admin(saved_refs, admin)


def list_submodule_dirs(folder: Path, inside: str = "modules") -> Iterator[Path]:
    """The git folders of a worktree's submodules, and of theirs. Their names may have slashes in them."""
    for each in list_children(folder / inside):
        if (each / "HEAD").is_file():
            yield each
            yield from list_submodule_dirs(each)
        elif is_real_folder(each):
            yield from list_submodule_dirs(each, "")


def _save_admin(saved_refs: SavedRefs, admin: Path) -> None:
    """Somebody removed the folder; what was committed or staged in it is still known."""
    name = read_small_file(admin / "HEAD").rstrip("\n").removeprefix("ref: ")
    branch = f"refs/heads/{task_branch(saved_refs.batch, saved_refs.task)}"
    head = saved_refs.repository.resolve_commit(name or branch)
    if head is None:
        return
    git = saved_refs.repository.git_at(admin, admin)
    said = git.run("write-tree", codes=(0, 128)) if os.path.lexists(admin / "index") else None
    before = git.text("rev-parse", f"{head}^{{tree}}")
    if said is not None and said.code == 0 and said.text != before:
        saved_refs.save_tree(git, said.text, head)
    else:
        saved_refs.keep(head)
