"""What was made in the folder of a submodule: its own repository goes with the worktree."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from plait.site.git import Git
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.shelf import Shelf
from plait.site.workspaces.worktree import is_folder, small

BASE = "refs/plait/base"  # in the submodule: what it began with


def save_module(shelf: Shelf, module: Path) -> None:
    """Commits and changes that its remote has not got, as refs of the repository around it."""
    git = shelf.repository.at(module, module)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128)).text
    known = (BASE,) if small(module / BASE) else ()
    branches = git.text("for-each-ref", "--format=%(objectname)", "refs/heads/").splitlines()
    for tip in dict.fromkeys((_work(shelf, git, module, head), *branches)):
        if tip and git.text("rev-list", "-1", tip, "--not", *known, "--remotes", "--tags"):
            shelf.bring(str(module), tip)


def _work(shelf: Shelf, git: Git, module: Path, head: str) -> str:
    """Everything in its folder, as a commit on its head; the head, if that is all there is."""
    within = git.run("config", "core.worktree", codes=(0, 1)).text
    folder = Path(os.path.normpath(module / within))
    if not head or not within or not is_folder(folder):
        return head
    with tempfile.TemporaryDirectory(dir=module) as room:
        tree = _tree(shelf.repository, module, folder, Path(room) / "index")
    return head if tree == git.text("rev-parse", f"{head}^{{tree}}") else shelf.commit(git, tree, head)


def _tree(repository: Repository, module: Path, folder: Path, index: Path) -> str:
    """By an index of its own, with the old one's time: git compares it with the files'."""
    if (module / "index").is_file():
        shutil.copy2(module / "index", index)
    git = repository.at(module, folder, variables={"GIT_INDEX_FILE": str(index)})
    git.run("add", "--all")
    return git.text("write-tree")
