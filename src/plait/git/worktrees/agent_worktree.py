"""A task's worktree as plait works with it: found by its own records, not by what lies in the folder.

An agent can write anything into its folder, and into the repository's settings. So git is told where everything is, and
runs no hook, no monitor and no replacement of objects that an agent may have set up. What stays, because contents and
signatures depend on it: filters (LFS and the like), and the program that signs.

A folder for what one call makes and throws away, in the worktree's own records: the same disk as its index.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git

_VALID_HEAD = re.compile(r"(?:ref: refs/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*\Z")


_SETTINGS = (
    "core.safecrlf=false",  # or it refuses files with line ends of both kinds
    "core.trustctime=true",  # or an edit that keeps size and time goes unseen
    "core.checkStat=default",
    "core.splitIndex=false",
    "core.bare=false",
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
)


_SPARSE_SETTINGS = ("core.sparseCheckout=true", "core.sparseCheckoutCone=true", "index.sparse=true")


# Where git has the patterns of what a sparse checkout wants.
SPARSE_PATTERNS_FILE = "info/sparse-checkout"


class WorktreeError(WorldError):
    """A workspace is no worktree any more; its files are as they are."""


@dataclass(frozen=True, slots=True)
class AgentWorktree:
    """`admin` is its own part of the repository's git folder, `common` the part it shares with all others."""

    path: Path
    admin: Path
    common: Path
    git: Git

    def resolve_commit(self, name: str) -> str | None:
        """The commit that a name stands for; None if there is none."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return self.git.run(*words, codes=(0, 1, 128)).text or None

    def read_refs(self, *names: str) -> dict[str, str]:
        """What these refs name, by their whole names, and those below them; one that does not exist is left out."""
        said = self.git.text("for-each-ref", "--format=%(refname) %(objectname)", *names)
        return dict(line.split(" ", 1) for line in said.splitlines())

    def tree_of(self, commit: str) -> str:
        return self.git.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def parents_of(self, commit: str) -> tuple[str, ...]:
        return tuple(self.git.text("rev-parse", f"{commit}^@").split())

    def is_descendant(self, commit: str, base: str) -> bool:
        """Whether `base` is in the history of `commit`."""
        return commit == base or self.git.run("merge-base", "--is-ancestor", base, commit, codes=(0, 1)).code == 0

    def read_first_line(self, name: str) -> str:
        """The first line of a file of its own; empty if there is none."""
        try:
            with (self.admin / name).open(encoding="utf-8", errors="replace") as file:
                return file.readline(4096).strip()
        except OSError:
            return ""

    def update_refs(self, moves: Mapping[str, tuple[str, str | None]]) -> None:
        """Set refs (new value, and the one they have now) all at once; a value that is not as expected is an error."""
        wanted = {ref: move for ref, move in moves.items() if move[0] != move[1]}
        for ref in wanted:
            self.common.joinpath(f"{ref}.lock").unlink(missing_ok=True)  # a dead process's: nobody else writes them
        # Moving the branch that HEAD is on locks HEAD as well.
        self.admin.joinpath("HEAD.lock").unlink(missing_ok=True)
        feed = "".join(f"update {ref}\0{new}\0{old or '0' * len(new)}\0" for ref, (new, old) in wanted.items())
        if feed:
            self.git.run("update-ref", "-m", "plait", "--stdin", "-z", stdin=feed.encode())

    def attach_head(self, branch: str) -> None:
        """Put HEAD on a branch; neither the index nor the files change."""
        if self.read_first_line("HEAD") != f"ref: refs/heads/{branch}":
            self.admin.joinpath("HEAD.lock").unlink(missing_ok=True)
            self.git.run("symbolic-ref", "-m", "plait", "HEAD", f"refs/heads/{branch}")

    def install_index(self, index: Path) -> None:
        """Make this index the worktree's own; a lock on the old one belongs to a dead process."""
        index.replace(self.admin / "index")
        self.admin.joinpath("index.lock").unlink(missing_ok=True)


def open_worktree(
    workspace: Path,
    branch: str,
    common: Path | None,
    environment: Mapping[str, str] | None,
    *,
    repair: bool = True,
) -> AgentWorktree:
    """The worktree at this path, mended if an agent took its `.git` away. `common` is the repository's git folder, if known."""
    if not workspace.is_dir():
        raise WorktreeError(f"the workspace {workspace} is gone")
    path = Path(os.path.realpath(workspace))
    admin = _find_admin(path, common)
    if admin is None:
        hint = "Its files are still there. Copy what you need, and retry the task."
        raise WorktreeError(f"{workspace} is not a git worktree any more", hint=hint)
    shared = common or Path(os.path.realpath(admin / (_first_line(admin / "commondir") or "../..")))
    if repair:
        _repair(path, admin, branch)
    variables = {
        "GIT_DIR": str(admin),
        "GIT_WORK_TREE": str(path),
        "GIT_COMMON_DIR": str(shared),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
    }
    git = Git(path, environment=environment, variables=variables, settings=_SETTINGS)
    return AgentWorktree(path, admin, shared, _with_sparse_settings(git, admin))


def _with_sparse_settings(git: Git, admin: Path) -> Git:
    """With the settings of a sparse checkout, where its choice lies in the admin and no setting speaks of it."""
    if not (admin / SPARSE_PATTERNS_FILE).is_file():
        return git
    said = git.run("config", "--type=bool", "--get", "core.sparseCheckout", codes=(0, 1)).text
    return git if said else git.with_options(settings=_SPARSE_SETTINGS)


def _find_admin(path: Path, common: Path | None) -> Path | None:
    """The folder whose records name this path. What the path says of itself is only where to look first."""
    said = _first_line(path / ".git").removeprefix("gitdir:").strip()
    named = [Path(os.path.realpath(path / said))] if said else []
    if common is not None:
        known = Path(os.path.realpath(common / "worktrees"))
        named = [each for each in named if each.parent == known]
        with suppress(OSError):
            named += sorted(known.iterdir())
    return next((admin for admin in named if _belongs_to(admin, path)), None)


def _belongs_to(admin: Path, path: Path) -> bool:
    said = _first_line(admin / "gitdir")
    return bool(said) and Path(os.path.realpath(admin / Path(said).parent)) == path


def _repair(path: Path, admin: Path, branch: str) -> None:
    """What git needs to see a worktree here. A repository that was made in its place is kept beside its records."""
    link = path / ".git"
    if link.is_dir() and not link.is_symlink():
        shutil.move(link, _next_free_path(admin))
    if Path(os.path.realpath(path / _first_line(link).removeprefix("gitdir:").strip())) != admin:
        link.unlink(missing_ok=True)
        link.write_text(f"gitdir: {admin}\n", encoding="utf-8", errors="surrogateescape")
    if not _VALID_HEAD.match(_first_line(admin / "HEAD")):
        (admin / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")


def _next_free_path(admin: Path) -> Path:
    n = 1
    while (admin / f"plait-left-{n}").exists():
        n += 1
    return admin / f"plait-left-{n}"


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(8192).rstrip("\r\n")
    except OSError:
        return ""


_SCRATCH_PREFIX = "plait-scratch-"


@contextmanager
def scratch_folder(admin: Path) -> Iterator[Path]:
    """Empty, and gone afterwards; those that dead processes left are removed as well."""
    for left in admin.glob(f"{_SCRATCH_PREFIX}*"):
        if not _is_alive(left.name.removeprefix(_SCRATCH_PREFIX).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH_PREFIX}{os.getpid()}-", dir=admin))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    if not pid.isdecimal() or len(pid) > 10:
        return False
    with suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(int(pid), 0)
        except PermissionError:
            return True
        return int(pid) > 0
    return False
