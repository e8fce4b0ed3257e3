"""Changes inside a workspace's submodules that the result would lose.

A commit of the repository holds only the commit that a submodule is at. Files that are not committed there, commits that are
in no remote of the submodule, and files in a submodule that is not checked out would be gone with the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names
from plait.git.command import Git, GitError
from plait.git.objects import GITLINK_MODE
from plait.git.worktrees.checkout import SUBMODULE_BASE_REF, exclude_options
from plait.git.worktrees.metadata import find_gitdir, is_real_folder

_MAX_NAMED = 5
_MAX_NESTING = 20
_SETTINGS = (
    "core.trustctime=true",  # otherwise an edit that keeps size and time is not noticed
    "core.checkStat=default",
    "core.bare=false",
    "submodule.recurse=false",
)


@dataclass(frozen=True, slots=True)
class SubmoduleFolder:
    """A submodule's folder in a workspace. `path` starts at the top of the workspace. Without `git`, nothing is checked
    out there.
    """

    path: str
    folder: Path
    git: Git | None

    def list_uncommitted(self, ours: Sequence[str] = ()) -> list[str]:
        """List files with changes, new files, and submodules at another commit, except what is below the paths `ours`."""
        if self.git is None:
            found = _list_files(self.folder)
        else:
            options = ("--untracked-files=all", "--ignore-submodules=dirty", "--no-renames")
            found = [row[3:] for row in self.git.run("status", "--porcelain", "-z", *options).fields]
        paths = (f"{self.path}/{path.rstrip('/')}" for path in found)
        return [path for path in paths if not any(path == each or path.startswith(f"{each}/") for each in ours)]

    def list_untracked(self) -> list[str]:
        """List new files that are not ignored."""
        args = ("ls-files", "-z", "--others", "--exclude-standard")
        found = _list_files(self.folder) if self.git is None else self.git.run(*args).fields
        return [f"{self.path}/{path.rstrip('/')}" for path in found]

    def list_unpushed(self) -> list[str]:
        """List the heads with commits that neither a remote nor the user's clone has."""
        if self.git is None:
            return []
        names = self.git.text("for-each-ref", "--format=%(objectname)", "refs/heads/").splitlines()
        heads = dict.fromkeys(commit for commit in (self.git.resolve_commit("HEAD"), *names) if commit)
        base = (SUBMODULE_BASE_REF,) if self.git.resolve_commit(SUBMODULE_BASE_REF) else ()
        known = (*base, "--remotes", "--tags", "--alternate-refs")
        return [commit for commit in heads if self.git.text("rev-list", "-1", commit, "--not", *known)]

    def reset(self, ours: Sequence[str]) -> None:
        """Discard what is not committed, except what is below the paths `ours`."""
        if self.git is not None:
            inner = [path.removeprefix(f"{self.path}/") for path in ours if path.startswith(f"{self.path}/")]
            self.git.run("reset", "--hard", "--quiet", codes=(0, 128))
            self.git.run("clean", "-ffd", "--quiet", *exclude_options(inner))


def list_submodule_folders(git: Git, prefix: str = "", nesting: int = 0) -> Iterator[SubmoduleFolder]:
    """Yield all submodules of the index, checked out or not, each before those inside it."""
    rows = (row.partition("\t") for row in git.run("ls-files", "--stage", "-z", codes=(0, 128)).fields)
    for path in dict.fromkeys(path for header, _, path in rows if header.startswith(GITLINK_MODE)):
        folder = git.cwd / path
        if not is_real_folder(folder) or folder.resolve() != git.cwd.resolve() / path:
            continue  # removed or replaced, which is a change like any other
        submodule = SubmoduleFolder(f"{prefix}{path}", folder, _open_repository(git, folder))
        yield submodule
        if submodule.git is not None and nesting < _MAX_NESTING:
            yield from list_submodule_folders(submodule.git, f"{submodule.path}/", nesting + 1)


def find_lost_changes(git: Git, ours: Sequence[str]) -> tuple[str, str] | None:
    """Find the first change that would be lost, as a message and a hint; None if there is none. `ours`: paths that
    setup made.
    """
    for submodule in list_submodule_folders(git):
        try:
            lost = _find_lost_change(submodule, ours)
        except GitError as error:
            return f"the submodule {submodule.path} can't be read: {error.message}", "Restore its repository."
        if lost is not None:
            return lost
    return None


def _find_lost_change(submodule: SubmoduleFolder, ours: Sequence[str]) -> tuple[str, str] | None:
    files = submodule.list_uncommitted(ours)
    names = join_names(files, _MAX_NAMED)
    if files and submodule.git is None:
        return (
            f"the submodule {submodule.path} is not checked out here, so files in it can't be part of the result: {names}",
            "Remove them; to work on the submodule, run git submodule update --init in the checkout first.",
        )
    if files:
        return (
            f"changes in the submodule {submodule.path} are not committed there and can't be part of the result: {names}",
            "Commit them in the submodule and push that commit to its remote, or remove them.",
        )
    if unpushed := submodule.list_unpushed():
        return (
            f"the submodule {submodule.path} has a commit that none of its remotes has: {unpushed[0][:12]}; others can't get it",
            "Push it from the submodule to its remote, or run the task in the submodule's own repository.",
        )
    return None


def has_new_gitlink(git: Git, base: str) -> bool:
    """Whether the index has a submodule, or a repository that was added as one, which the base doesn't have."""
    options = ("--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    rows = git.run("diff-index", *options, base, codes=(0, 128)).fields[::2]
    return any(row.split(" ", 2)[1] == GITLINK_MODE for row in rows)


def _open_repository(git: Git, folder: Path) -> Git | None:
    try:
        gitdir = find_gitdir(folder)
    except WorldError:
        return None
    return git.open_inner(gitdir, folder, _SETTINGS) if (gitdir / "HEAD").is_file() else None


def _list_files(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    return sorted(str(path.relative_to(folder)) for path in files if path != folder / ".git")
