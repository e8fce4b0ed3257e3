"""Where the workspaces of one repository lie. A worktree's place says what it is, and each change of place is one rename.

batch-<batch>/task-<task>/   leased to a task: made in full, and perhaps worked in
batch-<batch>/gate/          the batch's own, for its gate
making/<id>/                 being made; whoever makes it holds a lock on the folder, so a dead maker's is told from others
pool/<id>/                   given back, waiting for the next task
trash/<id>/                  not needed any more; deleted when there is time

The repository that workspaces are made from, by its common git folder: one for all of its worktrees.

One worktree: its folder, and git's own folder about it (`admin`). Either may be missing, whoever removed it.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.system import locks
from plait.system.atomic_files import read_regular_file, replace_file
from plait.system.disk import remove_tree
from plait.system.state_paths import safe_filename

WORKTREE_ID_PREFIX = "plait-"


_BATCH_PREFIX = "batch-"


def new_worktree_id() -> str:
    """Git names its own folder about a worktree after the worktree's: nobody else has this name, ever."""
    return f"{WORKTREE_ID_PREFIX}{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class WorkspaceLayout:
    root: Path

    @property
    def making(self) -> Path:
        return self.root / "making"

    @property
    def pool(self) -> Path:
        return self.root / "pool"

    @property
    def trash(self) -> Path:
        return self.root / "trash"

    def batch(self, batch: str) -> Path:
        return self.root / f"{_BATCH_PREFIX}{safe_filename(batch)}"

    def task(self, batch: str, task: str) -> Path:
        return self.batch(batch) / f"task-{safe_filename(task)}"

    def gate(self, batch: str) -> Path:
        return self.batch(batch) / "gate"

    def workspace(self, batch: str, task: str) -> Path:
        """A gate is no task's."""
        return self.task(batch, task) if task else self.gate(batch)

    def list_all(self) -> list[Path]:
        """Everything that takes room, wherever it is on its way."""
        rooms = [self.making, self.pool, self.trash]
        rooms += [each for each in list_children(self.root) if each.name.startswith(_BATCH_PREFIX)]
        return [each for room in rooms for each in list_children(room)]


def list_children(folder: Path) -> list[Path]:
    """None if it is not there, or was just removed."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


CHECKOUT_WORKERS = 8  # a checkout waits for the disk more than for a core


_SETTINGS = (
    "worktree.useRelativePaths=false",  # or adding one changes the shared configuration
    "submodule.recurse=false",  # they are seen to one by one, and may stay empty
    "core.trustctime=true",  # or an edit that keeps size and time goes unseen
    "core.checkStat=default",
    "core.safecrlf=false",  # what is saved is saved as it is
    "filter.lfs.required=false",  # without the content, the pointer
    "lfs.transfer.maxretries=1",
    f"checkout.workers={CHECKOUT_WORKERS}",
)


class Repository:
    def __init__(self, git_dir: Path, environment: Mapping[str, str] | None = None) -> None:
        self.common = Path(os.path.realpath(git_dir))
        self.environment = environment
        # A work tree of its own, since the configuration may name one that is gone.
        self.git = self.git_at(self.common, self.common)

    @property
    def plait_folder(self) -> Path:
        return self.common / "plait"

    @property
    def trash(self) -> Path:
        return self.plait_folder / "trash"

    @property
    def admin_folders(self) -> list[Path]:
        """Git's folders about the worktrees that plait made."""
        return [each for each in list_children(self.common / "worktrees") if each.name.startswith(WORKTREE_ID_PREFIX)]

    def admin_folder(self, name: str) -> Path:
        return self.common / "worktrees" / name

    def git_at(
        self,
        git_dir: Path,
        folder: Path,
        *,
        variables: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
    ) -> Git:
        """Git in a folder, told where everything is: it must never look for a repository above and find another one."""
        places = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(folder), **(variables or {})}
        return Git(folder, environment=self.environment, variables=places, settings=(*_SETTINGS, *settings))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Git can't make two worktrees at once; held for moments only, also while one is moved."""
        path = self.plait_folder / "workspaces.lock"
        with ExitStack() as stack:
            try:
                stack.enter_context(locks.hold_lock(path))
            except OSError as error:
                raise WorldError(f"cannot lock {path}: {error.strerror}") from error
            yield

    def resolve_commit(self, name: str) -> str | None:
        """The commit that a name stands for now."""
        said = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", codes=(0, 1, 128))
        return said.text if said.code == 0 else None

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        said = self.git.run("merge-base", "--is-ancestor", ancestor, commit, codes=(0, 1, 128))
        return said.code == 0


_MAX_BYTES = 1 << 16  # bytes of one of git's small files


_VALID_HEAD = re.compile(r"(?:ref: refs/\S+|[0-9a-f]{40,64})\n?\Z")


# Of a worktree that is given back, this stays: all else (merges half done, reflogs, locks) was its last task's business.
_KEPT_ADMIN_FILES = frozenset({"HEAD", "commondir", "gitdir", "index", "plait.json", "plait-outfit"})


@dataclass(frozen=True, slots=True)
class Worktree:
    folder: Path
    admin: Path | None

    @property
    def valid_admin(self) -> Path | None:
        """Its admin, if git can work here: the folder and the admin are whole, and know each other."""
        if self.admin is None or not is_real_folder(self.folder) or read_gitdir_link(self.folder) != self.admin:
            return None
        whole = _VALID_HEAD.match(read_small_file(self.admin / "HEAD")) and read_small_file(
            self.admin / "index"
        ).startswith("DIRC")
        return self.admin if whole else None

    def move(self, to: Path) -> Worktree:
        """Under the repository's lock. As `git worktree move`, which won't move one that has submodules in it.

        The admin is told first: a folder in its old place that names an admin which names nobody is still a whole one.
        """
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.admin is not None:
            write_worktree_path(self.admin, to)
        self.folder.rename(to)
        return Worktree(to, self.admin)

    def reset_admin(self) -> None:
        """What its last task had begun is over: only what makes it a worktree stays."""
        assert self.admin is not None
        for each in list_children(self.admin):
            if each.name not in _KEPT_ADMIN_FILES:
                remove_tree(each)


def find_worktree(repository: Repository, folder: Path) -> Worktree | None:
    """What there is in this place: a worktree, or what is left of one. What a folder says of itself is an agent's word."""
    named = read_gitdir_link(folder)
    if named not in repository.admin_folders or not _ensure_admin_names(named, folder):
        named = next((each for each in repository.admin_folders if read_worktree_path(each) == folder), None)
    if named is not None:
        _repair(named, folder)
        return Worktree(folder, named)
    return Worktree(folder, None) if os.path.lexists(folder) else None


def _repair(admin: Path, folder: Path) -> None:
    """What has no content of its own, and some git or agent that died has lost."""
    if not read_small_file(admin / "commondir"):
        replace_file(admin / "commondir", b"../..\n", mode=0o666)
    if is_real_folder(folder) and not os.path.lexists(folder / ".git"):
        replace_file(folder / ".git", f"gitdir: {admin}\n".encode("utf-8", "surrogateescape"), mode=0o666)


def read_gitdir_link(folder: Path) -> Path | None:
    """The admin that the folder names."""
    word, _, path = read_small_file(folder / ".git").rstrip("\n").partition(": ")
    return Path(path) if word == "gitdir" and Path(path).is_absolute() else None


def read_worktree_path(admin: Path) -> Path | None:
    """The folder that the admin names."""
    path = read_small_file(admin / "gitdir").rstrip("\n")
    return Path(path).parent if path.endswith("/.git") else None


def write_worktree_path(admin: Path, folder: Path) -> None:
    replace_file(admin / "gitdir", f"{folder / '.git'}\n".encode("utf-8", "surrogateescape"), mode=0o666)


def _ensure_admin_names(admin: Path, folder: Path) -> bool:
    """Whoever died between telling the admin and moving the folder left an admin that names nobody."""
    named = read_worktree_path(admin)
    if named == folder:
        return True
    if named is None or os.path.lexists(named / ".git"):
        return False
    write_worktree_path(admin, folder)
    return True


def read_small_file(path: Path) -> str:
    """One of git's small files; empty if it is missing, a symlink or not a regular file."""
    try:
        return read_regular_file(path, _MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
