"""A task's worktree opened for git commands that must not be influenced by its agent.

An agent can write anything into its folder and into the repository's settings. So git gets explicit paths and runs no hook,
no file system monitor and no object replacement that an agent may have set up. Filters (LFS and the like) and the signing
program stay, because contents and signatures depend on them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.refs import has_ref_files, may_have_ref, read_loose_ref, remove_blank_ref
from plait.git.worktrees.checkout import sparse_settings
from plait.git.worktrees.metadata import is_real_folder, read_gitdir_link, read_small_file, write_gitdir_link
from plait.git.worktrees.worktree import VALID_HEAD, Repository, find_worktree
from plait.system.atomic_files import replace_file
from plait.system.disk import remove_tree
from plait.system.processes import start_time

VIEW_FOLDER = "plait-sandbox"  # what a sandboxed agent sees of the repository (sandbox_view)
_SETTINGS = (
    "core.safecrlf=false",  # otherwise it refuses files with line ends of both kinds
    "core.trustctime=true",  # otherwise an edit that keeps size and time is not noticed
    "core.checkStat=default",
    "core.splitIndex=false",
    "core.bare=false",
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
)


class WorktreeError(WorldError):
    """A workspace is not a worktree any more; its files were not changed."""


@dataclass(frozen=True, slots=True)
class AgentWorktree:
    repository: Repository
    path: Path
    gitdir: Path
    git: Git

    def read_refs(self, *names: str) -> dict[str, str]:
        """Read these refs by full name; missing ones are left out."""
        common = self.repository.common
        found = {name: read_loose_ref(common, name) for name in names if may_have_ref(common, name)}
        if all(found.values()):
            return found
        lines = self.git.text("for-each-ref", "--format=%(refname) %(objectname)", *names).splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def read_head(self, base: str) -> str | None:
        """Return the commit that HEAD is at; None if there is none. `base` is known to exist."""
        ref = self.read_first_line("HEAD").removeprefix("ref: ")
        # Others, such as those in refs/worktree, each worktree has for itself.
        is_at_base = ref.startswith("refs/heads/") and read_loose_ref(self.repository.common, ref) == base
        return base if is_at_base else self.git.resolve_commit("HEAD")

    def read_first_line(self, name: str) -> str:
        """Return the first line of a file in the gitdir; empty if the file is missing."""
        return read_small_file(self.gitdir / name).partition("\n")[0].strip()

    def update_refs(self, moves: Mapping[str, tuple[str, str | None]]) -> None:
        """Set refs (new and current value) in one transaction; an unexpected current value is an error."""
        changed = {ref: move for ref, move in moves.items() if move[0] != move[1]}
        for ref in changed if has_ref_files(self.repository.common) else ():
            # Left by a dead process: only plait writes these.
            self.repository.common.joinpath(f"{ref}.lock").unlink(missing_ok=True)
            remove_blank_ref(self.repository.common, ref)
        # Moving the branch that HEAD is on locks HEAD as well.
        self.gitdir.joinpath("HEAD.lock").unlink(missing_ok=True)
        feed = "".join(f"update {ref}\0{new}\0{old or '0' * len(new)}\0" for ref, (new, old) in changed.items())
        if feed:
            self.git.run("update-ref", "-m", "plait", "--stdin", "-z", stdin=feed.encode())

    def attach_head(self, branch: str) -> None:
        """Set HEAD to a branch without changing index or files."""
        if self.read_first_line("HEAD") != f"ref: refs/heads/{branch}":
            self.gitdir.joinpath("HEAD.lock").unlink(missing_ok=True)
            self.git.run("symbolic-ref", "-m", "plait", "HEAD", f"refs/heads/{branch}")

    def install_index(self, index: Path) -> None:
        """Install this file as the worktree's index; a lock on the old one belongs to a dead process."""
        index.replace(self.gitdir / "index")
        self.gitdir.joinpath("index.lock").unlink(missing_ok=True)


def open_worktree(repository: Repository, workspace: Path, branch: str, *, repair: bool = True) -> AgentWorktree:
    """Open the worktree at this path, restoring its `.git` and HEAD if an agent replaced or damaged them."""
    if not workspace.is_dir():
        raise WorktreeError(f"the workspace {workspace} no longer exists")
    if was_replaced(repository, workspace):
        raise WorktreeError(f"the workspace {workspace} was deleted, and something else was made in its place")
    worktree = find_worktree(repository, Path(os.path.realpath(workspace)), repair=repair)
    if worktree is None or worktree.gitdir is None:
        hint = "Its files are still there. Copy what you need, and retry the task."
        raise WorktreeError(f"{workspace} is not a git worktree any more", hint=hint)
    folder, gitdir = worktree.folder, worktree.gitdir
    if repair:
        was_sandboxed = (gitdir / VIEW_FOLDER).exists()
        _restore_links(folder, gitdir, branch, was_sandboxed=was_sandboxed)
        if was_sandboxed:
            from plait.git.worktrees.view_absorption import absorb_view  # only where an agent was in a sandbox

            absorb_view(repository, gitdir)
    variables = {
        "GIT_DIR": str(gitdir),
        "GIT_WORK_TREE": str(folder),
        "GIT_COMMON_DIR": str(repository.common),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
    }
    git = Git(folder, environment=repository.environment, variables=variables, settings=_SETTINGS)
    sparse = sparse_settings(gitdir)
    if sparse and git.read_bool("core.sparseCheckout") is None:  # otherwise the repository's settings decide
        git = git.with_options(settings=sparse)
    return AgentWorktree(repository, folder, gitdir, git)


def was_replaced(repository: Repository, workspace: Path) -> bool:
    """Whether a worktree was deleted and its folder made again: it has neither a `.git` nor any file of the index.

    Without this check, its agent would seem to have deleted all files.
    """
    if os.path.lexists(workspace / ".git") or not workspace.is_dir():
        return False
    worktree = find_worktree(repository, Path(os.path.realpath(workspace)), repair=False)
    if worktree is None or worktree.gitdir is None:
        return False
    tracked = repository.git_at(worktree.gitdir, worktree.folder).run("ls-files", "-z", codes=(0, 128)).fields
    return bool(tracked) and not any(os.path.lexists(worktree.folder / path) for path in tracked)


def _restore_links(folder: Path, gitdir: Path, branch: str, *, was_sandboxed: bool) -> None:
    """Make git see this worktree here again. A repository that was made in place of its `.git` is moved into the
    gitdir.

    A sandboxed agent's is not moved there: git would run what its settings name.
    """
    if is_real_folder(folder / ".git") and not was_sandboxed:
        left = next(path for n in count(1) if not os.path.lexists(path := gitdir / f"plait-left-{n}"))
        shutil.move(folder / ".git", left)
    restore_gitdir_link(folder, gitdir)
    if not VALID_HEAD.match(read_small_file(gitdir / "HEAD")):
        replace_file(gitdir / "HEAD", f"ref: refs/heads/{branch}\n".encode(), mode=0o666)


def restore_gitdir_link(folder: Path, gitdir: Path) -> bool:
    """Make the folder's `.git` lead to the gitdir, and remove a repository that is in its place. False if it already
    led there.
    """
    if is_real_folder(folder / ".git"):
        remove_tree(folder / ".git")
    if read_gitdir_link(folder) == gitdir:
        return False
    write_gitdir_link(folder, gitdir)
    return True


_SCRATCH_PREFIX = "plait-scratch-"


@contextmanager
def scratch_folder(gitdir: Path) -> Iterator[Path]:
    """Make an empty folder in the gitdir (on the disk of its index), and remove it afterwards. Also removes those that
    dead processes left.
    """
    for leftover in gitdir.glob(f"{_SCRATCH_PREFIX}*"):
        pid = leftover.name.removeprefix(_SCRATCH_PREFIX).partition("-")[0]
        if not pid.isdecimal() or start_time(int(pid)) is None:
            shutil.rmtree(leftover, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH_PREFIX}{os.getpid()}-", dir=gitdir))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
