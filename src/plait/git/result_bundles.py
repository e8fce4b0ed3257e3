"""Results of attempts that ran on another machine: sent home as a bundle, checked, and put into the engine's repository.

Whatever comes back is taken for hostile: an agent may have replaced git there. The commits are stored in a quarantine, which
only this process reads, and checked by the rules of a local capture. Then the objects are put into the repository, and the
task's branch and the attempt's ref are moved in one transaction, each from the value that was seen before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import IO

from plait.core.errors import AgentError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.bundles import (
    BundleError,
    PackLimits,
    check_pack_size,
    create_bundle,
    format_header,
    index_pack,
    open_bundle,
    open_git,
    read_header,
    read_pack_count,
)
from plait.git.command import Git, GitError
from plait.git.kept_objects import (
    is_object_gone,
    keep_objects,
    keep_pack,
    list_pack,
    new_object_folder,
    object_variables,
    sync_pack,
)
from plait.git.objects import FILE_MODES, FOLDER_MODE, GITLINK_MODE, is_safe_path
from plait.git.refs import (
    BASES,
    OBJECT_ID,
    attempt_ref,
    may_have_ref,
    remove_blank_ref,
    remove_stale_lock,
    saved_ref,
    task_branch,
)
from plait.git.worktrees import result_checks
from plait.git.worktrees.metadata import find_checkouts, read_gitdir_link
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.signing import commit_signed
from plait.git.worktrees.tree_snapshot import TreeChange
from plait.git.worktrees.worktree import WORKTREE_ID_PREFIX, Repository
from plait.system.disk import remove_tree

MAX_CHANGE_BYTES = 128 << 20  # of the list of changed paths: about a million
MAX_SENT_PACK_BYTES = 64 << 10  # it has no deltas
MAX_SAVED = 100  # commits of saved work that one result may have
_STALE_LOCK_SECONDS = 10.0
_NO_MODE = "000000"
_MODES = FILE_MODES | {_NO_MODE, "120000", GITLINK_MODE}
_MODES_WITHOUT_OBJECT = frozenset({_NO_MODE, GITLINK_MODE})
_FSCK_OBJECT = re.compile(r"(?:object|in) (?P<id>[0-9a-f]{40,64})")
_FSCK_MISSING = re.compile(r"did not receive expected object (?P<id>[0-9a-f]{40,64})")
_FSCK_RULE = re.compile(r"error(?: in \w+ [0-9a-f]+|: object [0-9a-f]+)?: (?P<rule>[A-Za-z0-9]+: .*)")


class RejectedResultError(AgentError):
    """The result breaks a rule; nothing was changed."""


class StaleResultError(WorldError):
    """A later result of the task has been taken over already; nothing was changed."""


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """What the engine knows of a result.

    `tip` is the commit that the node announces; empty if only saved work comes. `base` is the commit that the task
    started from. No new file may be larger than `max_file_bytes`, unless that is 0.
    """

    attempt: Attempt
    tip: str
    base: str
    max_file_bytes: int = 0
    limits: PackLimits = field(default_factory=PackLimits)


@dataclass(frozen=True, slots=True)
class TakenResult:
    """A result that was taken over. `tip` is the task's commit here, which differs from the node's if it was signed.
    `files` are all that it changed. `saved` are the refs of saved work here, by their refs on the node.
    """

    tip: str
    files: tuple[str, ...] = ()
    saved: Mapping[str, str] = field(default_factory=dict)


def create_result_bundle(git_dir: Path, attempt: Attempt, tip: str, base: str, pack: str = "") -> bytes:
    """Make, on the node, a bundle of the attempt's commit (empty: it has none) and of the task's saved work.

    `base` may be unknown then. `pack` is a file with all that the commit has and the base has not. A small one is sent
    as it is: git would take a process to make a smaller one.
    """
    git = open_git(git_dir)
    prefix = saved_ref(attempt.batch, attempt.task, 0).removesuffix("0")
    sent = {attempt_ref(attempt): tip} if tip else {}
    if not may_have_ref(git_dir, prefix.rstrip("/")):
        with suppress(OSError):
            if sent and pack and Path(pack).stat().st_size <= MAX_SENT_PACK_BYTES:
                return format_header([base], sent) + Path(pack).read_bytes()
        # The engine has all that the base leads to, and takes nothing that does not follow it.
        return create_bundle(git_dir, sent, [base], boundary=[base]) if sent else b""
    rows = git.text("for-each-ref", "--format=%(objectname) %(refname)", prefix, BASES).splitlines()
    refs = {ref: commit for commit, ref in (row.split(" ", 1) for row in rows)}
    saved = sorted((ref for ref in refs if ref.startswith(prefix)), key=lambda ref: (len(ref), ref))[-MAX_SAVED:]
    sent |= {ref: refs[ref] for ref in saved}
    bases = [commit for ref, commit in refs.items() if ref.startswith(f"{BASES}/")]
    return create_bundle(git_dir, sent, [commit for commit in (base, *bases) if commit]) if sent else b""


def take_over_result(
    git_dir: Path, data: bytes, expected: ExpectedResult, environment: Mapping[str, str] | None = None
) -> TakenResult:
    """Take over one result; see ResultReceiver.take."""
    with closing(ResultReceiver(git_dir, expected.base, environment)) as receiver:
        return receiver.take(data, expected)


class ResultReceiver:
    """Takes over a result that follows `base`.

    It asks git what it can before the result arrives, while the node still works. Closing it removes temporary files,
    after the result is reported.
    """

    def __init__(self, git_dir: Path, base: str, environment: Mapping[str, str] | None = None) -> None:
        self._cleanup = ExitStack()
        self._repository = Repository(git_dir, environment)
        common = self._repository.common
        self._git = open_git(common, environment)
        self._signs = bool(self._git.read_bool("commit.gpgsign"))
        # The quarantine: a folder for objects that git sees besides the repository's. The disk isn't waited for here: it is for
        # what is taken over, before a ref names it.
        self._scratch = new_object_folder(common)
        self._cleanup.callback(remove_tree, self._scratch)
        self._quarantine = self._git.with_options(
            variables=object_variables(self._scratch, common / "objects"), settings=["core.fsync=none"]
        )
        self._quarantine.resolve_commit(base)

    def close(self) -> None:
        self._cleanup.close()

    def take(self, data: bytes, expected: ExpectedResult) -> TakenResult:
        """Check what a node returned, and put it into the repository. It can be killed at any instant and repeated.

        Raises RejectedResultError if the result breaks a rule, BundleError if it is damaged or incomplete,
        StaleResultError if a later result was taken over already, and WorldError if the repository can't take it now.
        """
        if expected.tip and not OBJECT_ID.match(expected.tip):
            raise RejectedResultError(f"the result names no commit: {expected.tip[:100]!r}")
        repository, git, common, quarantine = self._repository, self._git, self._repository.common, self._quarantine
        refs = _read_refs(repository, git, expected.attempt) if expected.tip else {}
        stored = _store_checked(quarantine, git, data, expected, self._scratch)
        tip = _find_taken(quarantine, refs, expected) or self._sign(expected.tip) if expected.tip else ""
        if tip:
            _require_unused(common, task_branch(expected.attempt.batch, expected.attempt.task))
        saved_refs = SavedRefs(repository, expected.attempt.batch, expected.attempt.task)
        self._cleanup.enter_context(self._keep(stored, tip, expected))
        if tip:
            _move_refs(repository, git, expected.attempt, tip, refs)
        return TakenResult(tip, stored.files, {ref: saved_refs.keep(commit) for ref, commit in stored.saved.items()})

    def _keep(self, stored: _Stored, tip: str, expected: ExpectedResult) -> AbstractContextManager[None]:
        """Keep the stored objects while refs are moved to them. Raises BundleError if an object that they lead to is
        missing.
        """
        if stored.whole_pack is not None and tip == expected.tip:
            return keep_pack(self._git, self._repository.common, stored.whole_pack)
        tips = [*stored.saved.values(), *([tip] if tip else [])]
        return _keep_complete(self._git, self._repository.common, tips, expected, self._scratch)

    def _sign(self, tip: str) -> str:
        """Return the tip, signed if the user's commits are and capture made it: keys don't leave this machine. Raises
        SigningError.
        """
        quarantine = self._quarantine
        if not self._signs or self._git.resolve_commit(tip):
            return tip
        trailers = quarantine.text("log", "-1", "--format=%(trailers:only,unfold,key=Plait-Attempt)", tip)
        if not trailers:
            return tip
        commit = quarantine.run("cat-file", "commit", tip).out
        message = commit.partition(b"\n\n")[2]
        fields = quarantine.text("log", "-1", "--format=%an%n%ae%n%ad%n%cn%n%ce%n%cd", "--date=raw", tip).split("\n")
        names = [f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL", "DATE")]
        signer = quarantine.with_options(variables=dict(zip(names, fields, strict=True)))
        return commit_signed(signer, quarantine.tree_of(tip), quarantine.parents_of(tip), message)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is in the quarantine. `saved` are the commits of saved work, by their refs on the node; `files` those that
    the result changed. `whole_pack` is a pack with exactly what the result has and its base has not.
    """

    saved: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    whole_pack: Path | None = None


@contextmanager
def _keep_complete(
    git: Git, common: Path, tips: Sequence[str], expected: ExpectedResult, scratch: Path
) -> Iterator[None]:
    """Keep the tips' objects while refs are moved to them. Raises BundleError if an object that they lead to is
    missing.
    """
    with ExitStack() as stack:
        try:
            if tips:
                stack.enter_context(keep_objects(git, common, tips, [expected.base], [scratch]))
        except GitError as error:
            if is_object_gone(error):
                raise BundleError(f"the result is not complete: {error.message}") from error
            raise
        yield


def _read_refs(repository: Repository, git: Git, attempt: Attempt) -> dict[str, str]:
    """Return the values of the attempt's ref and the task's branch, as far as they exist. Raises StaleResultError if a
    later attempt of the task has a result.
    """
    own, branch = attempt_ref(attempt), f"refs/heads/{task_branch(attempt.batch, attempt.task)}"
    prefix = own.removesuffix(str(attempt.n))
    patterns = (own.rpartition("/")[0], branch)
    if not any(may_have_ref(repository.common, name) for name in patterns):
        return {}
    rows = git.text("for-each-ref", "--format=%(objectname) %(refname)", *patterns).splitlines()
    refs = {ref: commit for commit, ref in (row.split(" ", 1) for row in rows)}
    numbers = [name.removeprefix(prefix) for name in refs if name.startswith(prefix)]
    if later := [number for number in numbers if number.isdecimal() and int(number) > attempt.n]:
        raise StaleResultError(
            f"the result of attempt {attempt.n} of {attempt.task} comes too late: attempt {later[-1]} has one"
        )
    return {ref: commit for ref, commit in refs.items() if ref in {own, branch}}


def _require_unused(common: Path, branch: str) -> None:
    """Raise WorldError if the user has the branch checked out: its files would seem to be changed."""
    for folder in find_checkouts(common, f"refs/heads/{branch}"):
        gitdir = read_gitdir_link(folder)
        if folder.is_dir() and not (gitdir is not None and gitdir.name.startswith(WORKTREE_ID_PREFIX)):
            raise WorldError(
                f"branch {branch} is checked out in {folder}, so the result can't be put on it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _store_checked(quarantine: Git, git: Git, data: bytes, expected: ExpectedResult, scratch: Path) -> _Stored:
    """Store the bundle's objects in the quarantine and check them."""
    saved: dict[str, str] = {}
    pack, count = None, 0
    if data:
        with open_bundle(git.cwd, data) as file:
            header = read_header(file)
            saved = _check_refs(header.refs, expected)  # the quarantine has nothing yet but what the repository has
            if lacking := [
                commit for commit in sorted(header.prerequisites) if quarantine.resolve_commit(commit) != commit
            ]:
                raise BundleError(f"the result builds on {lacking[0]}, which is not in this repository")
            if count := read_pack_count(file):
                check_pack_size(file, header.object_format, expected.limits)
                pack = _index_strictly(quarantine, file, scratch, expected)
    commits = [*saved.values(), *([expected.tip] if expected.tip else [])]
    if lacking := [commit for commit in sorted(commits) if quarantine.resolve_commit(commit) != commit]:
        raise BundleError(f"the result has no commit {lacking[0]}")
    try:
        # The pack is most likely the one that is kept, so the disk is waited for while git compares.
        meanwhile = (lambda: None) if pack is None else partial(sync_pack, pack)
        new, files = _check_tip(quarantine, expected, meanwhile) if expected.tip else (frozenset[str](), ())
    except GitError as error:
        raise _explain(error) from error
    is_whole = pack is not None and not saved and count == len(new) and new <= list_pack(pack, len(expected.tip))
    return _Stored(saved, files, pack if is_whole else None)


def _check_refs(refs: Mapping[str, str], expected: ExpectedResult) -> dict[str, str]:
    """Return saved work by its ref. Raises RejectedResultError for any other ref than the attempt's own."""
    own, prefix = attempt_ref(expected.attempt), saved_ref(expected.attempt.batch, expected.attempt.task, 0)[:-1]
    saved = {ref: commit for ref, commit in refs.items() if re.fullmatch(rf"{re.escape(prefix)}[1-9][0-9]{{0,8}}", ref)}
    if others := sorted(refs.keys() - {*saved, own}):
        raise RejectedResultError(f"the result has a ref of its own choice: {others[0]}")
    if refs.get(own, "") != expected.tip:
        raise RejectedResultError(f"the result's ref is not at the commit {expected.tip[:12] or 'that was announced'}")
    if len(saved) > MAX_SAVED:
        raise RejectedResultError(f"the result has {len(saved)} commits of saved work, and {MAX_SAVED} are allowed")
    return saved


def _index_strictly(quarantine: Git, file: IO[bytes], scratch: Path, expected: ExpectedResult) -> Path:
    """Store the pack if each of its objects passes git's own checks, and the objects that it names exist."""
    start = file.tell()
    try:
        return index_pack(quarantine, file, scratch, "--strict")
    except GitError as error:
        failure = error
    if missing := _FSCK_MISSING.search(failure.stderr):
        raise BundleError(f"the result is not complete: the object {missing['id']} is missing") from failure
    if not (found := _FSCK_OBJECT.search(failure.stderr)):
        raise _explain(failure) from failure
    # Once more without the checks, to find out which path it is.
    file.seek(start)
    index_pack(quarantine, file, scratch)
    if expected.tip:
        _check_tip(quarantine, expected)
    rule = _FSCK_RULE.search(failure.stderr)
    path = _find_path(quarantine, expected, found["id"])
    raise RejectedResultError(f"git refuses {path or found['id']}: {rule['rule'] if rule else failure.message}")


def _find_path(git: Git, expected: ExpectedResult, name: str) -> str:
    """Find the path of an object; empty if git can't list the paths, since the result is damaged in other places too."""
    listed = None
    with suppress(GitError):
        if expected.tip:
            revisions = (expected.tip, f"^{expected.base}")
            listed = git.read_bounded("rev-list", "--objects", *revisions, max_bytes=MAX_CHANGE_BYTES)
    for line in (listed or b"").decode("utf-8", "replace").splitlines():
        if line.startswith(f"{name} "):
            return line.partition(" ")[2]
    return ""


def _check_tip(
    git: Git, expected: ExpectedResult, meanwhile: Callable[[], None] = lambda: None
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Check the rules of a local capture: the tip descends from the base, paths stay in the worktree, and no file is
    too large.

    Returns the objects that it leads to, without those that the base has at the same path (empty if there are other
    commits between), and the files that it changed.
    """
    tip, base, max_bytes = expected.tip, expected.base, expected.max_file_bytes
    if not git.is_ancestor(base, tip):
        raise RejectedResultError(f"the result {tip[:12]} does not descend from its base {base[:12]}")
    rows = _list_changes(git, base, tip, meanwhile)
    changes = [row for row in rows if FOLDER_MODE not in {row.base_mode, row.mode}]
    for change in changes:
        if not is_safe_path(change.path):
            raise RejectedResultError(
                f"the result has a path that leads out of the workspace or into .git: {change.path!r}"
            )
        if change.mode not in _MODES:
            raise RejectedResultError(f"the result has a file of an unknown kind, mode {change.mode}: {change.path!r}")
    if error := result_checks.check_file_sizes(git, base, tip, changes, max_bytes):
        raise RejectedResultError(error.message, hint=error.hint)
    files = tuple(change.path for change in changes)
    if git.parents_of(tip) == (base,):
        return frozenset(
            {tip, git.tree_of(tip), *(row.blob for row in rows if row.mode not in _MODES_WITHOUT_OBJECT)}
        ), files
    if result_checks.has_large_blobs(git, base, (tip,), max_bytes):
        raise RejectedResultError(
            f"a commit of the result has a file that is larger than workspace.largest_file, {max_bytes:,} bytes"
        )
    return frozenset(), files


def _list_changes(git: Git, base: str, tip: str, meanwhile: Callable[[], None]) -> list[TreeChange]:
    """List each file and folder that differs, without counting lines."""
    args = ("diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", base, tip)
    output = git.read_bounded(*args, max_bytes=MAX_CHANGE_BYTES, meanwhile=meanwhile)
    if output is None:
        raise RejectedResultError("the result changes too many files: more than a million")
    fields = [each for each in output.decode("utf-8", "surrogateescape").split("\0") if each]
    rows = ((row.removeprefix(":").split(" "), path) for row, path in zip(fields[::2], fields[1::2], strict=True))
    return [TreeChange(path, row[0], row[1], row[2], row[3], 0, 0) for row, path in rows]


def _explain(error: GitError) -> GitError | BundleError | RejectedResultError:
    """Explain whether git failed because of what the node returned, or because of the repository."""
    if error.code < 0 or "tree depth" in error.stderr:
        return RejectedResultError(f"git can't read the result: {error.message}")
    if is_object_gone(error):
        return BundleError(f"the result is not complete: {error.message}")
    return error


def _find_taken(quarantine: Git, refs: Mapping[str, str], expected: ExpectedResult) -> str:
    """Return the commit that this attempt was given before, if it is the same; empty if it has none. Raises
    StaleResultError if it differs.
    """
    taken = refs.get(attempt_ref(expected.attempt), "")
    if not taken or taken == expected.tip:
        return taken
    facts = [(quarantine.tree_of(each), quarantine.parents_of(each)) for each in (taken, expected.tip)]
    if facts[0] != facts[1]:
        raise StaleResultError(f"attempt {expected.attempt.n} of {expected.attempt.task} has another result already")
    return taken  # signed here


def _move_refs(repository: Repository, git: Git, attempt: Attempt, tip: str, refs: Mapping[str, str]) -> None:
    """Set the attempt's ref and the task's branch. A commit that only the branch holds is saved first."""
    branch, own = f"refs/heads/{task_branch(attempt.batch, attempt.task)}", attempt_ref(attempt)
    before = {ref: refs.get(ref, "") for ref in (branch, own)}
    if before[own] == tip:
        return  # done before; the branch may have moved on since
    if before[branch] and not git.is_ancestor(before[branch], tip):
        SavedRefs(repository, attempt.batch, attempt.task).keep_unreachable(before[branch], moving_ref=branch)
    for ref in before:  # left by a killed process: only plait writes these
        remove_stale_lock(repository.common, ref, _STALE_LOCK_SECONDS)
        remove_blank_ref(repository.common, ref)
    zeros = "0" * len(tip)
    feed = "".join(f"update {ref}\0{tip}\0{old or zeros}\0" for ref, old in before.items() if old != tip)
    git.run("update-ref", "-m", "plait: result of an attempt", "--stdin", "-z", stdin=feed.encode())
