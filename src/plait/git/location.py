"""Finds a repository, the folder in which plait keeps its state, and the id of a project."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass

_GIT_TIMEOUT_SECONDS = 60.0  # seconds for git to answer
_GIT_LOCATION_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_TEST_ASSUME_DIFFERENT_OWNER",
)
# Settings that make a repository different from what its folder suggests.
_UNUSUAL_CONFIG = ("worktree", "bare = true", "bare=true", "[include", "extensions")
# Overrides of settings that would make git run a program: looking at a repository runs nothing.
_READ_ONLY_OPTIONS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_NO_REPOSITORY = "not a git repository"


@dataclass(frozen=True, slots=True)
class RepoLocation:
    """A repository and plait's state folder. `state` is in git's common folder: safe from `git clean`, and shared by
    all worktrees of a repository. Outside of a repository it is `.plait/`, and `repository` is False.
    """

    top: Path
    state: Path
    repository: bool

    @property
    def git_dir(self) -> Path:
        """Return the common git folder, shared by all worktrees."""
        return self.state.parent

    def relative_name(self, path: Path) -> str:
        """Return the path as used in messages, ids and the journal: relative to the top, with slashes, or absolute if
        outside.
        """
        try:
            return path.relative_to(self.top).as_posix() or "."
        except ValueError:
            return path.as_posix()


def find_repo(path: Path) -> RepoLocation:
    if not os.path.isdir(path):  # noqa: PTH112 - it never raises
        raise UserError(f"there is no folder {path}")
    path = path.resolve()
    plain = _find_ordinary_repo(path)
    if plain is not None:
        return plain
    output, error = _run_git(path, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
    if output:
        top, *others = output.removesuffix("\n").split("\n")
        if len(others) > 1:
            raise UserError("the path of this repository has a line break in it", hint="Rename the folder.")
        return RepoLocation(Path(top), Path(*others) / "plait", repository=True)
    if error and _NO_REPOSITORY not in error:
        # Treating it as no repository would put the state in a place where it isn't looked for later.
        raise UserError(f"git refuses to work in {path}: {error}", hint=_make_hint(error))
    return RepoLocation(path, path / ".plait", repository=False)


def _find_ordinary_repo(path: Path) -> RepoLocation | None:
    """Find an ordinary repository without running git, which would take as long as the rest of a quick command.

    None for anything unusual: worktrees, submodules, bare repositories, other owners, environment variables.
    """
    if ".git" in path.parts or any(name in os.environ for name in _GIT_LOCATION_VARIABLES):
        return None
    for top in (path, *path.parents):
        git = top / ".git"
        try:
            status = os.lstat(git)
        except OSError:
            continue
        ordinary = "\n" not in str(top) and _is_ordinary(git, status)
        return RepoLocation(top, git / "plait", repository=True) if ordinary else None
    return None


def _is_ordinary(git: Path, status: os.stat_result) -> bool:
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or git.parent.stat().st_uid != os.geteuid():
        return False
    try:
        config = (git / "config").read_text("utf-8", "replace").lower()
        present = [os.path.exists(git / part) for part in ("HEAD", "objects", "refs")]  # noqa: PTH110 - it never raises
    except OSError:
        return False
    shared = os.path.exists(git / "commondir")  # noqa: PTH110
    return all(present) and not shared and not any(sign in config for sign in _UNUSUAL_CONFIG)


def _make_hint(error: str) -> str:
    if "work tree" in error:
        return "plait works in a checkout: go to one, or make one with git worktree add."
    return "Run git status there."


def list_repo_files(location: RepoLocation) -> list[str]:
    """List the tracked files, and the untracked ones that are not ignored; empty outside of a repository, where a walk
    could take forever.
    """
    if not location.repository:
        return []
    output, _ = _run_git(location.top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return list(filter(None, output.split("\0")))


def _run_git(path: Path, *args: str) -> tuple[str, str]:
    """Return git's output and an empty text, or an empty text and the first line of its error; both empty without git."""
    import subprocess  # an engine knows its repository and never gets here

    try:
        output = subprocess.run(  # fixed words and a folder
            ["git", "-C", str(path), *_READ_ONLY_OPTIONS, *args],  # the user's git
            capture_output=True,
            check=False,
            timeout=_GIT_TIMEOUT_SECONDS,
            env=os.environ | {"LC_ALL": "C"},  # its error messages are parsed
        )
    except FileNotFoundError:
        return "", ""
    except subprocess.TimeoutExpired:
        return "", f"no answer in {_GIT_TIMEOUT_SECONDS:.0f} seconds"
    if output.returncode == 0:
        return output.stdout.decode("utf-8", "surrogateescape"), ""
    return "", output.stderr.decode("utf-8", "replace").partition("\n")[0].removeprefix("fatal: ")


PROJECT_ID_LENGTH = 12


def compute_project_id(location: RepoLocation) -> str:
    """Return a hash of the repository's git folder, which is the same for all its checkouts."""
    return hashlib.sha256(os.fsencode(os.path.realpath(location.state.parent))).hexdigest()[:PROJECT_ID_LENGTH]
