"""A folder whose worktree git has forgotten, as it does when a drive was away for long: made one again, to be saved."""

from __future__ import annotations

from pathlib import Path

from plait.core.errors import WorldError
from plait.git.refs import task_branch
from plait.git.worktrees.metadata__stamp import replace_file
from plait.git.worktrees.worktree import Worktree, is_real_folder, write_worktree_path
from plait.git.worktrees.worktree__layout import WorkspaceLayout, new_worktree_id
from plait.git.worktrees.worktree__repository import Repository


def adopt_folder(
    repository: Repository, layout: WorkspaceLayout, folder: Path, batch: str, task: str
) -> Worktree:
    """Under the repository's lock. Its files are as they were; they are compared with what its branch holds."""
    if is_real_folder(folder / ".git"):
        raise WorldError(f"{folder} holds a repository of its own: look at it, and remove it yourself")
    head = repository.resolve_commit(f"refs/heads/{task_branch(batch, task)}") or repository.resolve_commit(
        "HEAD"
    )
    if head is None:
        raise WorldError(f"there is no commit to compare {folder} with")
    place = layout.making / new_worktree_id()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    repository.git.run("worktree", "add", "--quiet", "--no-checkout", "--detach", str(place), head)
    admin = repository.admin_folder(place.name)
    repository.git_at(admin, folder).run("read-tree", head)
    replace_file(folder / ".git", f"gitdir: {admin}\n".encode("utf-8", "surrogateescape"))
    write_worktree_path(admin, folder)
    (place / ".git").unlink()
    place.rmdir()
    return Worktree(folder, admin)
