"""A folder whose worktree git has forgotten, as it does when a drive was away for long: made one again, to be saved."""

from __future__ import annotations

from pathlib import Path

from plait.core.errors import WorldError
from plait.site.refs import task_branch
from plait.site.workspaces.layout import Layout, new_id
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import replace_file
from plait.site.workspaces.worktree import Worktree, is_folder, point


def adopt(repository: Repository, layout: Layout, folder: Path, batch: str, task: str) -> Worktree:
    """Under the repository's lock. Its files are as they were; they are compared with what its branch holds."""
    if is_folder(folder / ".git"):
        raise WorldError(f"{folder} holds a repository of its own: look at it, and remove it yourself")
    head = repository.commit(f"refs/heads/{task_branch(batch, task)}") or repository.commit("HEAD")
    if head is None:
        raise WorldError(f"there is no commit to compare {folder} with")
    place = layout.making / new_id()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    repository.git.run("worktree", "add", "--quiet", "--no-checkout", "--detach", str(place), head)
    admin = repository.admin(place.name)
    repository.at(admin, folder).run("read-tree", head)
    replace_file(folder / ".git", f"gitdir: {admin}\n".encode("utf-8", "surrogateescape"))
    point(admin, folder)
    (place / ".git").unlink()
    place.rmdir()
    return Worktree(folder, admin)
