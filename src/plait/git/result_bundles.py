"""Results of attempts that ran on another machine: sent home as a bundle, checked, and put into the engine's repository.

Whatever comes back is taken for hostile: an agent may have replaced git there. The commits are stored in a quarantine, which
only this process reads, and checked by the rules of a local capture. Then the objects are put into the repository, and the
task's branch and the attempt's ref are moved in one transaction, each from the value that was seen before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
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
    filter_commits,
    index_pack,
    open_bundle,
    open_git,
    read_header,
    read_pack_count,
)
from plait.git.command import Git, GitError
from plait.git.kept_objects import (
    find_missing_objects,
    is_object_gone,
    keep_objects,
    new_object_folder,
    object_variables,
)
from plait.git.objects import is_safe_path
from plait.git.refs import BASES, attempt_ref, remove_stale_lock, saved_ref, task_branch
from plait.git.worktrees import result_checks
from plait.git.worktrees.metadata import find_checkouts, read_gitdir_link
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.signing import commit_signed
from plait.git.worktrees.worktree import WORKTREE_ID_PREFIX, Repository
from plait.system.disk import remove_tree

MAX_CHANGE_BYTES = 128 << 20  # of the list of changed paths: about a million
MAX_SAVED = 100  # commits of saved work that one result may have
_STALE_LOCK_SECONDS = 10.0
_GITLINK_MODE = "160000"
_MODES = frozenset({"000000", "100644", "100755", "120000", _GITLINK_MODE})
_FSCK_OBJECT = re.compile(r"(?:object|in) (?P<id>[0-9a-f]{40,64})")
_FSCK_MISSING = re.compile(r"did not receive expected object (?P<id>[0-9a-f]{40,64})")
_FSCK_RULE = re.compile(r"error(?: in \w+ [0-9a-f]+|: object [0-9a-f]+)?: (?P<rule>[A-Za-z0-9]+: .*)")


class RejectedResultError(AgentError):
    """The result breaks a rule; nothing was changed."""


class StaleResultError(WorldError):
    """The task has moved on since this attempt; nothing was changed."""


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """What the engine knows of a result. `tip` is the commit that the node says it is; empty: only saved work comes.

    `base` is the commit that the task started from. No new file may be larger than `max_file_bytes`, unless that is 0.
    """

    attempt: Attempt
    tip: str
    base: str
    max_file_bytes: int = 0
    limits: PackLimits = field(default_factory=PackLimits)


@dataclass(frozen=True, slots=True)
class TakenResult:
    """`tip` is the task's commit here: another one than on the node if it was signed. `saved` are the refs of saved work here,
    by those that it has on the node.
    """

    tip: str
    saved: Mapping[str, str] = field(default_factory=dict)


def create_result_bundle(git_dir: Path, attempt: Attempt, tip: str, base: str) -> bytes:
    """On the node: the attempt's commit (empty: it has none), and what was saved of the task's work."""
    git = open_git(git_dir)
    prefix = saved_ref(attempt.batch, attempt.task, 0).removesuffix("0")
    rows = git.text("for-each-ref", "--format=%(objectname) %(refname)", prefix, BASES).splitlines()
    refs = {ref: commit for commit, ref in (row.split(" ", 1) for row in rows)}
    saved = sorted((ref for ref in refs if ref.startswith(prefix)), key=lambda ref: (len(ref), ref))[-MAX_SAVED:]
    sent = {ref: refs[ref] for ref in saved} | ({attempt_ref(attempt): tip} if tip else {})
    bases = [commit for ref, commit in refs.items() if ref.startswith(f"{BASES}/")]
    return create_bundle(git_dir, sent, [base, *bases]) if sent else b""


def take_over_result(
    git_dir: Path, data: bytes | Path, expected: ExpectedResult, environment: Mapping[str, str] | None = None
) -> TakenResult:
    """Check what a node returned, and put it into the repository. Can be killed at any instant, and done again.

    Raises RejectedResultError if the result breaks a rule, BundleError if it is damaged or incomplete, StaleResultError if
    the task has moved on, and WorldError if the repository can't take it now.
    """
    repository = Repository(git_dir, environment)
    git, common = open_git(repository.common, environment), repository.common
    if expected.tip:
        _require_current(git, expected.attempt)
    scratch = new_object_folder(common)
    try:
        quarantine = git.with_options(variables=object_variables(scratch, common / "objects"))
        saved = _store_checked(quarantine, git, data, expected, scratch)
        tip = _take_over_tip(repository, git, quarantine, expected, scratch) if expected.tip else ""
        if not saved:
            return TakenResult(tip)
        saved_refs = SavedRefs(repository, expected.attempt.batch, expected.attempt.task)
        with keep_objects(git, common, [*saved.values()], [expected.base], [scratch]):
            return TakenResult(tip, {ref: saved_refs.keep(commit) for ref, commit in saved.items()})
    finally:
        remove_tree(scratch)


def _take_over_tip(repository: Repository, git: Git, quarantine: Git, expected: ExpectedResult, scratch: Path) -> str:
    tip = _find_taken(quarantine, git, expected) or _sign(quarantine, git, expected)
    _require_unused(repository.common, task_branch(expected.attempt.batch, expected.attempt.task))
    with keep_objects(git, repository.common, [tip], [expected.base], [scratch]):
        _move_refs(repository, git, expected.attempt, tip)
    return tip


def _require_current(git: Git, attempt: Attempt) -> None:
    """Raises StaleResultError if a later attempt of the task has a result."""
    own = attempt_ref(attempt)
    prefix = own.removesuffix(str(attempt.n))
    names = git.text("for-each-ref", "--format=%(refname)", own.rpartition("/")[0] + "/").splitlines()
    numbers = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    if later := [number for number in numbers if number.isdecimal() and int(number) > attempt.n]:
        raise StaleResultError(
            f"the result of attempt {attempt.n} of {attempt.task} comes too late: attempt {later[-1]} has one"
        )


def _require_unused(common: Path, branch: str) -> None:
    """Raises WorldError if the user has the branch checked out: its files would seem to be changed."""
    for folder in find_checkouts(common, f"refs/heads/{branch}"):
        gitdir = read_gitdir_link(folder)
        if folder.is_dir() and not (gitdir is not None and gitdir.name.startswith(WORKTREE_ID_PREFIX)):
            raise WorldError(
                f"branch {branch} is checked out in {folder}, so the result can't be put on it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _store_checked(
    quarantine: Git, git: Git, data: bytes | Path, expected: ExpectedResult, scratch: Path
) -> dict[str, str]:
    """Store the bundle's objects in the quarantine and check them. The commits of saved work, by their refs on the node."""
    saved: dict[str, str] = {}
    if data != b"":
        with open_bundle(git.cwd, data) as file:
            header = read_header(file)
            saved = _check_refs(header.refs, expected)
            if lacking := {*header.prerequisites} - filter_commits(git, header.prerequisites):
                raise BundleError(f"the result builds on {min(lacking)}, which is not in this repository")
            if read_pack_count(file):
                check_pack_size(file, header.object_format, expected.limits)
                _index_strictly(quarantine, file, scratch, expected)
    commits = [*saved.values(), *([expected.tip] if expected.tip else [])]
    if lacking := {*commits} - filter_commits(quarantine, commits):
        raise BundleError(f"the result has no commit {min(lacking)}")
    try:
        if expected.tip:
            _check_tip(quarantine, expected)
        if why := find_missing_objects(quarantine, commits, [expected.base]):
            raise BundleError(f"the result is not complete: {why}")
    except GitError as error:
        raise _explain(error) from error
    return saved


def _check_refs(refs: Mapping[str, str], expected: ExpectedResult) -> dict[str, str]:
    """Saved work by its ref. Raises RejectedResultError for any other ref than the attempt's own."""
    own, prefix = attempt_ref(expected.attempt), saved_ref(expected.attempt.batch, expected.attempt.task, 0)[:-1]
    saved = {ref: commit for ref, commit in refs.items() if re.fullmatch(rf"{re.escape(prefix)}[1-9][0-9]{{0,8}}", ref)}
    if others := sorted(refs.keys() - {*saved, own}):
        raise RejectedResultError(f"the result has a ref of its own choice: {others[0]}")
    if refs.get(own, "") != expected.tip:
        raise RejectedResultError(f"the result's ref is not at the commit {expected.tip[:12] or 'that was announced'}")
    if len(saved) > MAX_SAVED:
        raise RejectedResultError(f"the result has {len(saved)} commits of saved work, and {MAX_SAVED} are allowed")
    return saved


def _index_strictly(quarantine: Git, file: IO[bytes], scratch: Path, expected: ExpectedResult) -> None:
    """Store the pack if each of its objects passes git's own checks."""
    start, failure = file.tell(), None
    try:
        index_pack(quarantine, file, scratch, "--strict")
    except GitError as error:
        failure = error
    if failure is None:
        return
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
    """Empty if git can't list the paths, since the result is damaged in other places too."""
    listed = None
    with suppress(GitError):
        if expected.tip:
            revisions = (expected.tip, f"^{expected.base}")
            listed = git.read_bounded("rev-list", "--objects", *revisions, max_bytes=MAX_CHANGE_BYTES)
    for line in (listed or b"").decode("utf-8", "replace").splitlines():
        if line.startswith(f"{name} "):
            return line.partition(" ")[2]
    return ""


def _check_tip(git: Git, expected: ExpectedResult) -> None:
    """The rules of a local capture: it descends from the base, paths stay in the worktree, and no file is too large."""
    tip, base, max_bytes = expected.tip, expected.base, expected.max_file_bytes
    if not git.is_ancestor(base, tip):
        raise RejectedResultError(f"the result {tip[:12]} does not descend from its base {base[:12]}")
    for mode, path in _list_changes(git, base, tip):
        if not is_safe_path(path):
            raise RejectedResultError(f"the result has a path that leads out of the workspace or into .git: {path!r}")
        if mode not in _MODES:
            raise RejectedResultError(f"the result has a file of an unknown kind, mode {mode}: {path!r}")
    if error := result_checks.check_file_sizes(git, base, tip, max_bytes):
        raise RejectedResultError(error.message, hint=error.hint)
    if result_checks.has_large_blobs(git, base, (tip,), max_bytes):
        raise RejectedResultError(
            f"a commit of the result has a file that is larger than workspace.largest_file, {max_bytes:,} bytes"
        )


def _list_changes(git: Git, base: str, tip: str) -> Iterator[tuple[str, str]]:
    """The new mode and the path of each file that differs."""
    args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", base, tip)
    output = git.read_bounded(*args, max_bytes=MAX_CHANGE_BYTES)
    if output is None:
        raise RejectedResultError("the result changes too many files: more than a million")
    fields = [each for each in output.decode("utf-8", "surrogateescape").split("\0") if each]
    for row, path in zip(fields[::2], fields[1::2], strict=True):
        yield row.split(" ")[1], path


def _explain(error: GitError) -> GitError | BundleError | RejectedResultError:
    """Git failed on what the node returned, or on the repository."""
    if error.code < 0 or "tree depth" in error.stderr:
        return RejectedResultError(f"git can't read the result: {error.message}")
    if is_object_gone(error):
        return BundleError(f"the result is not complete: {error.message}")
    return error


def _find_taken(quarantine: Git, git: Git, expected: ExpectedResult) -> str:
    """The commit that this attempt was given before, if it is the same; empty if it has none. Raises StaleResultError."""
    taken = git.read_ref(attempt_ref(expected.attempt))
    if not taken or taken == expected.tip:
        return taken
    facts = [(quarantine.tree_of(each), quarantine.parents_of(each)) for each in (taken, expected.tip)]
    if facts[0] != facts[1]:
        raise StaleResultError(f"attempt {expected.attempt.n} of {expected.attempt.task} has another result already")
    return taken  # signed here


def _sign(quarantine: Git, git: Git, expected: ExpectedResult) -> str:
    """The tip, signed if the user's commits are and capture made it: keys don't leave this machine. Raises SigningError."""
    tip = expected.tip
    if not git.read_bool("commit.gpgsign") or filter_commits(git, [tip]):
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


def _move_refs(repository: Repository, git: Git, attempt: Attempt, tip: str) -> None:
    """Set the attempt's ref and the task's branch. A commit that only the branch holds is saved first."""
    branch, own = f"refs/heads/{task_branch(attempt.batch, attempt.task)}", attempt_ref(attempt)
    before = {ref: git.read_ref(ref) for ref in (branch, own)}
    if before[own] == tip:
        return  # done before; the branch may have moved on since
    if before[branch] and not git.is_ancestor(before[branch], tip):
        SavedRefs(repository, attempt.batch, attempt.task).keep_unreachable(before[branch], moving_ref=branch)
    for ref in before:  # left by a killed process: only plait writes these
        remove_stale_lock(repository.common, ref, _STALE_LOCK_SECONDS)
    zeros = "0" * len(tip)
    feed = "".join(f"update {ref}\0{tip}\0{old or zeros}\0" for ref, old in before.items() if old != tip)
    git.run("update-ref", "-m", "plait: result of an attempt", "--stdin", "-z", stdin=feed.encode())
