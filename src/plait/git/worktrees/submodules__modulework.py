"""What was made in the folder of a submodule: its own repository goes with the worktree."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from plait.git.command import Git
from plait.git.worktrees.saved_refs import SavedRefs
from plait.git.worktrees.worktree import is_real_folder, read_small_file
from plait.git.worktrees.worktree__repository import Repository

SUBMODULE_BASE_REF = "refs/plait/base"  # in the submodule: what it began with


def save_submodule(saved_refs: SavedRefs, module: Path) -> None:
    """Commits and changes that its remote has not got, as refs of the repository around it."""
    git = saved_refs.repository.git_at(module, module)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128)).text
    known = (SUBMODULE_BASE_REF,) if read_small_file(module / SUBMODULE_BASE_REF) else ()
    branches = git.text("for-each-ref", "--format=%(objectname)", "refs/heads/").splitlines()
    for tip in dict.fromkeys((_commit_work(saved_refs, git, module, head), *branches)):
        if tip and git.text("rev-list", "-1", tip, "--not", *known, "--remotes", "--tags"):
            saved_refs.fetch_commit(str(module), tip)


def _commit_work(saved_refs: SavedRefs, git: Git, module: Path, head: str) -> str:
    """Everything in its folder, as a commit on its head; the head, if that is all there is."""
    within = git.run("config", "core.worktree", codes=(0, 1)).text
    folder = Path(os.path.normpath(module / within))
    if not head or not within or not is_real_folder(folder):
        return head
    with tempfile.TemporaryDirectory(dir=module) as room:
        tree = _write_tree(saved_refs.repository, module, folder, Path(room) / "index")
    return (
        head if tree == git.text("rev-parse", f"{head}^{{tree}}") else saved_refs.make_commit(git, tree, head)
    )


def _write_tree(repository: Repository, module: Path, folder: Path, index: Path) -> str:
    """By an index of its own, with the old one's time: git compares it with the files'."""
    if (module / "index").is_file():
        shutil.copy2(module / "index", index)
    git = repository.git_at(module, folder, variables={"GIT_INDEX_FILE": str(index)})
    git.run("add", "--all")
    return git.text("write-tree")
