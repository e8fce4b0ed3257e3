"""Disables repositories that a sandboxed command put in the place of its worktree's own, or of a submodule's.

Git would run the programs that their settings name, so they are removed or renamed before git works there.
"""

from __future__ import annotations

import os
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.objects import GITLINK_MODE
from plait.git.worktrees.agent_worktree import restore_gitdir_link
from plait.git.worktrees.index_file import list_index, may_have_submodules
from plait.git.worktrees.metadata import is_real_folder, read_gitdir_link, read_worktree_path
from plait.git.worktrees.worktree import Repository


def disable_replaced_repositories(gitdir: Path) -> bool:
    """Disable repositories that a sandboxed command left in place of its worktree's `.git`, or of a submodule's;
    whether there were any.

    This comes after a command whose view is not absorbed, before git works in its worktree: git would run what their
    settings name. A mount protects the `.git` only in the sandbox's own namespace. Raises WorldError.
    """
    folder = read_worktree_path(gitdir)
    was_replaced = folder is not None and restore_gitdir_link(folder, gitdir)
    return disable_replaced_submodules(Repository(gitdir.parent.parent), gitdir) or was_replaced


def disable_replaced_submodules(repository: Repository, gitdir: Path) -> bool:
    """Rename repositories that an agent put in a submodule's place, because git would run what their settings name.
    Whether there were any.
    """
    worktree = read_worktree_path(gitdir)
    data = (gitdir / "index").read_bytes() if (gitdir / "index").exists() else b""
    index = (may_have_submodules(data) and list_index(repository.git_at(gitdir, gitdir))) or {}
    paths = [path for path, rows in index.items() if any(mode == GITLINK_MODE for mode, _, _ in rows)]
    if worktree is None or not paths:
        return False
    found = False
    top, modules = Path(os.path.realpath(worktree)), (gitdir / "modules").resolve()
    for path in paths:
        # Git follows no links to a submodule, and what they lead to is not the agent's.
        if is_real_folder(top / path) and os.path.realpath(top / path) == str(top / path):
            try:
                found = _rename_repositories(top / path, modules) or found
            except (OSError, RecursionError) as error:
                raise WorldError(f"the submodule {path} can't be checked for what the agent left: {error}") from error
    return found


def _rename_repositories(submodule: Path, modules: Path) -> bool:
    """Rename the repositories in a submodule's folder whose git folder is not in `modules`. Whether there were any.
    Raises OSError if the folder can't be read completely.
    """
    found = False

    def fail(error: OSError) -> None:
        raise error

    for folder, names, _ in os.walk(submodule, onerror=fail):
        names[:] = [name for name in names if name != ".git"]
        link = Path(folder, ".git")
        target = read_gitdir_link(Path(folder))
        if os.path.lexists(link) and (target is None or not target.resolve().is_relative_to(modules)):
            link.rename(link.with_name(f".git-replaced-{os.urandom(4).hex()}"))
            found = True
    return found
