"""A bare clone that plait keeps of a remote repository, and its checkouts, from which the sources of batches are read.

The remote's branches are under refs/remotes/origin, so that fetching never moves those of plait and its agents under
refs/heads. It is made under another name and renamed when complete.

checkouts/<commit>/<name>     detached at that commit; `.ready` beside it has the whole commit, and the time of its last use
checkouts/<commit>-2/<name>   the same, where an open batch has changed the first

There is one checkout for each commit, so that it never moves during a batch; a new one is cheap compared to a batch.
Changes that were left in one are saved under refs/plait/saved before it is reset or removed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex

from plait.core.errors import UserError, WorldError
from plait.git.command import Git, GitError
from plait.git.remote_url import PROTOCOLS, RemoteUrl, parse_remote_url
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.worktree import Repository
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.flock import hold_lock

ORIGIN_PREFIX = "refs/remotes/origin"
_FETCH_REFSPEC = f"+refs/heads/*:{ORIGIN_PREFIX}/*"
CHECKOUTS_FOLDER = "checkouts"
UNUSED_SECONDS = 86400.0  # seconds: a client that reads a checkout has submitted its batch by then
_LOCK_FILE, _READY_FILE, _INCOMING_PREFIX = "lock", ".ready", "incoming-"
_SHORT_LENGTH = 16
_GITLINK = ":000000 160000 "
_SYMREF = re.compile(r"ref: refs/heads/(.+)\tHEAD")
_SHA256_LENGTH = 64
_COMMIT_ID = re.compile(r"[0-9a-f]{4,64}")
# A server that stops answering is given up after a minute.
_TIMEOUT_SETTINGS = ("http.lowSpeedLimit=1", "http.lowSpeedTime=60")
ReportProgress = Callable[[str], None]


class Mirror:
    """The mirror of a remote repository: `git_dir` is the clone, `name` the repository's name, `branch` the remote's
    default branch (empty: none).
    """

    def __init__(self, git_dir: Path, remote: RemoteUrl, branch: str, environment: Mapping[str, str]) -> None:
        self.git_dir = git_dir
        self.name = remote.name
        self.url = remote.url
        self.branch = branch
        self._remote = remote
        self._environment = environment

    def resolve(self, base: str = "") -> str:
        """Return the commit of a name at the remote, by default of its default branch. Raises UserError."""
        if not base and not self.branch:
            raise UserError(
                f"{self.url} has no default branch, or nothing on it",
                hint="Choose one with --base BRANCH.",
            )
        if not base.isprintable():
            raise UserError(f"{base!r} is not the name of a commit")
        for name in _candidate_refs(base or self.branch):
            commit = self.git.resolve_commit(name)
            if commit is not None:
                return commit
        raise UserError(
            f"{self.url} has no branch, tag or commit {base or self.branch}",
            hint=f"Run: git ls-remote {self.url}",
        )

    def checkout(self, commit: str, in_use: Collection[Path] = ()) -> Path:
        """Return a checkout of this commit, to read sources from. `in_use` are the checkouts of open batches, which are
        not changed.
        """
        try:
            return _check_out(self, commit, in_use)
        except GitError as error:
            raise make_damage_error(error, self._remote, self.git) or error from error

    @property
    def git(self) -> Git:
        return _open_git(self.git_dir, self._environment)

    def git_at(self, checkout: Path) -> Git:
        return Git(checkout, environment=self._environment)

    def save_commit(self, checkout_commit: str, tip: str) -> None:
        """Save what was left in the checkout of a commit."""
        repository = Repository(self.git_dir, self._environment)
        SavedRefs(repository, "checkout", checkout_commit[:_SHORT_LENGTH]).keep(tip)


def open_mirror(
    url: str, cache: Path, *, environment: Mapping[str, str], report: ReportProgress = lambda _: None
) -> Mirror:
    """Open the mirror of this repository, brought up to date. Raises UserError or WorldError, and leaves nothing
    incomplete.

    Credentials are left to git's helpers and the environment.
    """
    remote = parse_remote_url(url)
    home = cache / remote.folder
    git_dir = home / f"{remote.name}.git"
    git_environment = _git_environment(environment, remote)
    try:
        with hold_lock(home / _LOCK_FILE, on_wait=lambda: report(f"Another plait is fetching {remote.url}.")):
            branch = _update(remote, git_dir, git_environment, report)
    except OSError as error:
        raise WorldError(
            f"cannot write the mirror in {home}: {error.strerror}",
            hint=f"Check the folder's permissions: ls -ld {cache}.",
        ) from error
    return Mirror(git_dir, remote, branch, git_environment)


def _open_git(git_dir: Path, environment: Mapping[str, str]) -> Git:
    """Open git with an explicit GIT_DIR, because safe.bareRepository may forbid git to find a bare repository by
    itself.
    """
    return Git(git_dir, environment=environment, variables={"GIT_DIR": str(git_dir)}, settings=_TIMEOUT_SETTINGS)


def _update(remote: RemoteUrl, git_dir: Path, environment: Mapping[str, str], report: ReportProgress) -> str:
    """Fetch or clone, and return the default branch's name."""
    git = _open_git(git_dir, environment)
    try:
        remote_git = Git(git_dir.parent, environment=environment, settings=_TIMEOUT_SETTINGS)
        listing = remote_git.text("ls-remote", "--symref", "--", remote.url, "HEAD")
        if git_dir.exists():
            report(f"Fetching {remote.url} …")
            _fetch(git, remote)
        else:
            report(f"Cloning {remote.url} …")
            _clone(remote, git_dir, environment, listing)
        return _set_default_branch(git, listing)
    except GitError as error:
        raise make_damage_error(error, remote, git) or make_unreachable_error(error, remote, git_dir) from error


def _clone(remote: RemoteUrl, git_dir: Path, environment: Mapping[str, str], listing: str) -> None:
    for leftover in git_dir.parent.glob(f"{_INCOMING_PREFIX}*"):  # left by a killed process
        shutil.rmtree(leftover, ignore_errors=True)
    incoming = git_dir.parent / f"{_INCOMING_PREFIX}{token_hex(4)}"
    is_sha256 = len(listing.rpartition("\n")[2].partition("\t")[0]) == _SHA256_LENGTH
    options = ["init", "--quiet", "--bare", "--template=", f"--object-format={'sha256' if is_sha256 else 'sha1'}"]
    try:
        Git(git_dir.parent, environment=environment).run(*options, "--", str(incoming))
        _fetch(_open_git(incoming, environment), remote)
        incoming.rename(git_dir)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _fetch(git: Git, remote: RemoteUrl) -> None:
    """Fetch everything. Branches that the remote deleted are deleted here, but tags are not: an agent may have made
    them.
    """
    _set_remote(git, remote)
    options = ["--quiet", "--prune", "--tags", "--force", "--no-write-fetch-head", "--no-recurse-submodules"]
    git.run("fetch", *options, "--no-auto-maintenance", "origin", _FETCH_REFSPEC)
    (git.cwd / FETCHED_MARKER).touch()


def _set_remote(git: Git, remote: RemoteUrl) -> None:
    """Set the remote again: agents work in this repository and may have changed it."""
    for key, value in (("remote.origin.url", remote.url), ("remote.origin.fetch", _FETCH_REFSPEC)):
        if git.run("config", "--local", "--get-all", key, codes=(0, 1)).text != value:
            git.run("config", "--local", "--replace-all", key, value)


def _set_default_branch(git: Git, listing: str) -> str:
    """Store the remote's HEAD as git does, and return its branch; empty if it names nothing that exists."""
    match = _SYMREF.search(listing)
    if match is None or git.run("show-ref", "--verify", "--quiet", f"{ORIGIN_PREFIX}/{match[1]}", codes=(0, 1)).code:
        return ""
    git.run("symbolic-ref", f"{ORIGIN_PREFIX}/HEAD", f"{ORIGIN_PREFIX}/{match[1]}")
    return match[1]


def _candidate_refs(base: str) -> list[str]:
    """List the refs that the name may mean, the likeliest first: the remote's branches before local ones."""
    plain = base.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("origin/")
    commit = [base] if _COMMIT_ID.fullmatch(base) else []
    tag = base.removeprefix("refs/tags/")
    return [
        f"{ORIGIN_PREFIX}/{plain}",
        f"{ORIGIN_PREFIX}/{base}",
        f"refs/tags/{tag}",
        *commit,
        f"refs/heads/{plain}",
    ]


def _git_environment(given: Mapping[str, str], remote: RemoteUrl) -> dict[str, str]:
    """Return an environment in which git uses only protocols that run no program of the URL's choice, prompts nowhere,
    and passes the user name to helpers.
    """
    allowed = given.get("GIT_ALLOW_PROTOCOL")
    protocols = [protocol for protocol in PROTOCOLS if allowed is None or protocol in allowed.split(":")]
    environment = {**given, "GIT_ALLOW_PROTOCOL": ":".join(protocols)}
    if "SSH_ASKPASS" not in given:  # or ssh would ask at the terminal, and wait
        environment |= {"SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force"}
    if remote.user:
        config_count = given.get("GIT_CONFIG_COUNT", "")
        index = int(config_count) if config_count.isdecimal() else 0
        environment |= {
            "GIT_CONFIG_COUNT": str(index + 1),
            f"GIT_CONFIG_KEY_{index}": "credential.username",
            f"GIT_CONFIG_VALUE_{index}": remote.user,
        }
    return environment


FETCHED_MARKER = "plait-fetched"  # a file in the mirror, as old as its last fetch
_AUTH_FAILURE = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied"
    r"|Host key verification failed|error: 40[13]|Access denied"
)
_DAMAGE_SIGNS = re.compile(
    r"not a git repository|inside a git repository|bad object|corrupt|object file .* is empty|unable to (?:read|find|parse)|missing (?:blob|tree|commit)"
    r"|bad config|invalid sha1|does not point to a valid object|not a tree|broken|bad revision|bad (?:tree|commit)"
    r"|Could not read [0-9a-f]{40}|inflate|cannot be loaded|bad pack|not a commit"
)
_AUTH_HINT = "git needs non-interactive credentials: a credential helper, GIT_ASKPASS or ssh-agent. Try: "


def make_unreachable_error(error: GitError, remote: RemoteUrl, git_dir: Path) -> WorldError:
    """Make the error for a clone or fetch that failed."""
    reason = error.message.partition(": ")[2] or error.message
    trial = f"git ls-remote {shlex.quote(remote.url)}"
    hint = _AUTH_HINT + trial if _AUTH_FAILURE.search(error.stderr) else f"Run: {trial}"
    if not git_dir.exists():
        return WorldError(f"{remote.url} can't be cloned: {reason}", hint=hint)
    return WorldError(
        f"{remote.url} can't be fetched: {reason}; a batch would start from what it was{_format_last_fetch(git_dir)}, so nothing "
        "was started",
        hint=hint,
    )


def make_damage_error(error: GitError, remote: RemoteUrl, git: Git) -> WorldError | None:
    """Make the error for a damaged mirror; None if it is intact. Checking takes a while, so it is done only on
    suspicion.
    """
    if not _DAMAGE_SIGNS.search(error.stderr) or not git.cwd.exists():
        return None
    check = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if git.run(*check, codes=range(256)).code == 0:
        return None
    reason = error.message.partition(": ")[2] or error.message
    home = shlex.quote(str(git.cwd.parent))
    return WorldError(
        f"the mirror of {remote.url} in {git.cwd} is damaged: {reason}",
        hint=f"Remove it, and it is cloned again: rm -r {home}. Unpushed results of its batches are lost with it.",
    )


def _format_last_fetch(git_dir: Path) -> str:
    try:
        fetched = (git_dir / FETCHED_MARKER).stat().st_mtime
    except OSError:
        return ""
    return time.strftime(" at %H:%M on %Y-%m-%d", time.localtime(fetched))


def _check_out(mirror: Mirror, commit: str, in_use: Collection[Path]) -> Path:
    """Return a checkout of exactly this commit. A changed checkout is saved and reset, or left alone if it is in use."""
    used = {os.path.realpath(path) for path in in_use}
    root = mirror.git_dir.parent / CHECKOUTS_FOLDER
    with hold_lock(root / _LOCK_FILE):
        for folder in _candidates(root, commit):
            path = folder / mirror.name
            if not (folder / _READY_FILE).exists() or not path.is_dir():
                return _make(mirror, path, commit)
            git = mirror.git_at(path)
            if _is_clean(git, commit) or (os.path.realpath(path) not in used and _refresh(mirror, git, commit)):
                (folder / _READY_FILE).touch()
                return path
    raise AssertionError("there is always another name")


def list_stale_checkouts(mirror: Mirror, in_use: Collection[Path], min_age: float = UNUSED_SECONDS) -> list[Path]:
    """List the checkouts that no open batch uses and that were not requested for `min_age` seconds."""
    used = {os.path.realpath(path) for path in in_use}
    checkouts = sorted((mirror.git_dir.parent / CHECKOUTS_FOLDER).glob(f"*/{mirror.name}"))
    return [path for path in checkouts if os.path.realpath(path) not in used and _age(path) >= min_age]


def remove_checkout(mirror: Mirror, path: Path) -> bool:
    """Remove a checkout. False, and it stays, if something in it can't be saved."""
    ready = path.parent / _READY_FILE
    with hold_lock(path.parent.parent / _LOCK_FILE):
        if ready.exists():
            git = mirror.git_at(path)
            commit = ready.read_text().strip()
            if not _is_clean(git, commit) and not _save(mirror, git, commit):
                return False
            ready.unlink()  # from here on it can be deleted, even after a crash
        _discard(mirror, path)
    return True


def _candidates(root: Path, commit: str) -> Iterator[Path]:
    for n in count(1):
        yield root / (commit[:_SHORT_LENGTH] if n == 1 else f"{commit[:_SHORT_LENGTH]}-{n}")


def _make(mirror: Mirror, path: Path, commit: str) -> Path:
    """Make a checkout, replacing what a killed plait left at its path."""
    _discard(mirror, path)
    make_private_folder(path.parent)
    # Twice --force: git may remember one of that name, and that it was being made.
    mirror.git.run("worktree", "add", "--force", "--force", "--detach", "--no-checkout", str(path), commit)
    mirror.git_at(path).run("reset", "--quiet", "--hard")
    replace_file(path.parent / _READY_FILE, f"{commit}\n".encode(), mode=0o666)
    return path


def _discard(mirror: Mirror, path: Path) -> None:
    if path.is_dir():
        mirror.git.run("worktree", "remove", "--force", "--force", str(path), codes=(0, 128))
    if path.parent.is_dir():
        shutil.rmtree(path.parent)


def _is_clean(git: Git, commit: str) -> bool:
    """Whether the checkout is exactly this commit; False if git can't read it."""
    status = ("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=dirty")
    with suppress(GitError):
        return git.text("rev-parse", "HEAD") == commit and not git.text(*status)
    return False


def _refresh(mirror: Mirror, git: Git, commit: str) -> bool:
    """Reset the checkout to the commit; False if that fails. Ignored files stay, since workspaces may need them."""
    with suppress(GitError):
        if _save(mirror, git, commit):
            git.run("checkout", "--quiet", "--force", "--detach", commit)
            git.run("clean", "--quiet", "-fd")
            return _is_clean(git, commit)
    return False


def _save(mirror: Mirror, git: Git, commit: str) -> bool:
    """Save all changes under a ref; False if there is something that no commit can hold."""
    with suppress(GitError):
        tip = _commit_everything(git)
        if tip is not None:
            mirror.save_commit(commit, tip)
            return True
    return False


def _commit_everything(git: Git) -> str | None:
    """Return a commit of the local commits with uncommitted changes on top. None if there is a nested repository."""
    index = git.cwd.parent / f".index-{token_hex(4)}"
    index_git = git.with_options(variables={"GIT_INDEX_FILE": str(index)})
    try:
        index_git.run("read-tree", "HEAD")
        index_git.run("add", "--all")
        changed = index_git.text("diff-index", "--cached", "HEAD")
        if _GITLINK in changed:
            return None
        if not changed:
            return git.text("rev-parse", "HEAD")
        message = b"What was left in a checkout of a mirror\n"
        return index_git.commit_as_plait(index_git.text("write-tree"), ["HEAD"], message)
    finally:
        index.unlink(missing_ok=True)


def _age(path: Path) -> float:
    for candidate in (path.parent / _READY_FILE, path):
        with suppress(OSError):
            return time.time() - candidate.stat().st_mtime
    return 0.0
