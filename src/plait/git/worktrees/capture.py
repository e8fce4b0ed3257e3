"""Makes one commit on the task's branch from whatever an agent left in its workspace; previews and undoes it.

The files win over the index, over HEAD and over unfinished operations. The agent's own commits that descend from the base
stay in the history, with one more on top for what they lack; all others are saved, and the files become one commit on the
base. It may be killed at any instant: refs are updated first, the folder last, and a second run finds what was done.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from plait.core.errors import AgentError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.core.text import defuse_references
from plait.git.command import Git, GitCancelledError, GitError
from plait.git.interfaces import CapturedChange, CaptureOptions, CommitInfo
from plait.git.kept_objects import find_missing_objects, keep_objects, object_variables, retry_pruned
from plait.git.refs import attempt_ref, task_branch
from plait.git.worktrees import result_checks
from plait.git.worktrees.agent_worktree import AgentWorktree, WorktreeError, open_worktree, scratch_folder
from plait.git.worktrees.checkout import exclude_options
from plait.git.worktrees.metadata import read_setup_paths
from plait.git.worktrees.saved_work import SavedRefs, fetch_replaced_repositories, save_unreachable
from plait.git.worktrees.signing import (
    LIST_VARIABLES,
    Committer,
    commit_signed,
    find_committer,
    make_signing_error,
)
from plait.git.worktrees.submodule_changes import list_submodule_folders
from plait.git.worktrees.tree_snapshot import (
    CleanedSnapshot,
    Snapshot,
    TreeChange,
    copy_index,
    list_changes,
    revert_status_edits,
    snapshot_index,
    snapshot_worktree,
    write_to_worktree,
)
from plait.git.worktrees.worktree import Repository

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S")
_MAX_LINES = 20  # of a hook's output
_TRIES_WITH_INDEX = 3  # that use the worktree's index and HEAD, before only the files count
HOOKS_TIMEOUT_SECONDS = 600.0  # seconds for all hooks of one commit


class HookRefusedError(AgentError):
    """A hook refused the commit; the change is saved, and the files were not changed."""


def capture(
    repository: Repository, workspace: Path, attempt: Attempt, base: str, options: CaptureOptions
) -> CapturedChange:
    """Commit everything an attempt left on the task's branch and under the attempt's ref.

    Raises UnfinishedError if it left conflicts, changes in a submodule that would be lost, or a file of more than `max_file_bytes`,
    HookRefusedError if a hook refuses the commit; everything is saved then.
    """
    try:
        worktree = open_worktree(repository, workspace, task_branch(attempt.batch, attempt.task))
    except WorktreeError:
        if change := find_captured(repository.git, attempt, base, options.author):
            return change
        raise
    return retry_pruned(
        lambda tries: _capture_once(worktree, attempt, base, options, from_files=tries >= _TRIES_WITH_INDEX)
    )


def _capture_once(
    worktree: AgentWorktree, attempt: Attempt, base: str, options: CaptureOptions, *, from_files: bool
) -> CapturedChange:
    """Capture once. `from_files`: objects that the worktree's index or the agent's commits name are missing, so only
    the files count.
    """
    branch, max_bytes = task_branch(attempt.batch, attempt.task), options.max_file_bytes
    saved_refs = SavedRefs(worktree.repository, attempt.batch, attempt.task)
    with scratch_folder(worktree.gitdir) as scratch, ExitStack() as stack:
        index = copy_index(worktree, scratch, base, from_files=from_files)
        if error := result_checks.check_finished(worktree, index, base):
            raise _save_for_error(error, worktree, saved_refs, scratch)
        wait_for_variables = stack.enter_context(worktree.git.start(*LIST_VARIABLES))
        snapshot = snapshot_index(worktree, index, base)
        changes = list_changes(snapshot.git, base, snapshot.tree, max_bytes)
        cleaned = revert_status_edits(snapshot, changes, options.find_restorer)
        if cleaned.tree != snapshot.tree:
            changes = list_changes(snapshot.git, base, cleaned.tree, max_bytes)
        if error := result_checks.check_file_sizes(worktree.git, base, cleaned.tree, changes, max_bytes, worktree.path):
            raise _save_for_error(error, worktree, saved_refs, scratch)
        refs = (f"refs/heads/{branch}", attempt_ref(attempt))
        head, existing = worktree.read_head(base), worktree.read_refs(*refs)
        if from_files and head is not None and find_missing_objects(worktree.git, [head], [base]):
            head = base
        message = format_commit_message(options.author, attempt)
        committer = find_committer(options.author, worktree.git, wait_for_variables().text)

        def report_packed(tip: str, pack: Path) -> None:
            if options.on_packed is not None and not options.hooks:
                options.on_packed(replace(_describe_result(tip, changes, cleaned.reverted_sources), pack=str(pack)))

        run = _Capture(
            worktree,
            saved_refs,
            attempt,
            base,
            head,
            existing,
            snapshot,
            cleaned,
            message,
            committer,
            max_bytes,
            from_files,
            bool(changes),
            report_packed,
        )
        tip, pack = run.commit_with_hooks(scratch) if options.hooks else run.commit_without_hooks()
    if options.hooks and worktree.git.tree_of(tip) != cleaned.tree:
        changes = list_changes(worktree.git, base, tip)
    return replace(_describe_result(tip, changes, cleaned.reverted_sources), pack=str(pack or ""))


def find_captured(git: Git, attempt: Attempt, base: str, author: CommitInfo) -> CapturedChange | None:
    """Return what was committed of this attempt before; None if nothing was."""
    tip = _find_committed(git, attempt, author)
    return None if tip is None else _describe_result(tip, list_changes(git, base, tip), ())


def _find_committed(git: Git, attempt: Attempt, author: CommitInfo) -> str | None:
    """Find the commit of this attempt, where a crash came before its report and the workspace no longer exists."""
    if commit := git.resolve_commit(attempt_ref(attempt)):
        return commit
    tip = git.resolve_commit(f"refs/heads/{task_branch(attempt.batch, attempt.task)}")
    lines = git.text("log", "-1", "--format=%(trailers:only,unfold)", tip).splitlines() if tip else []
    return tip if {f"{key}: {value}" for key, value in author.trailers} <= {*lines} else None


def _save_for_error(error: AgentError, worktree: AgentWorktree, saved_refs: SavedRefs, scratch: Path) -> AgentError:
    """Save everything that the agent left, and return the error with a hint that says where it is."""
    saved = save_unreachable(worktree, saved_refs, scratch)
    if saved:
        error.hint = f"{error.hint} What it left is in {saved}.".lstrip()
    return error


_Committed = tuple[str, Path | None]  # the commit, and the pack that has what is new in it


@dataclass(frozen=True, slots=True)
class _Capture:
    """The parts of a capture. `head` and `refs` are what the agent left. `has_changes`: the tree isn't the base's."""

    worktree: AgentWorktree
    saved_refs: SavedRefs
    attempt: Attempt
    base: str
    head: str | None
    refs: Mapping[str, str]
    snapshot: Snapshot
    cleaned: CleanedSnapshot
    message: str
    committer: Committer
    max_file_bytes: int
    from_files: bool
    has_changes: bool
    report_packed: Callable[[str, Path], None]

    @property
    def branch(self) -> str:
        return task_branch(self.attempt.batch, self.attempt.task)

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def commit_without_hooks(self) -> _Committed:
        parents = self._parents()
        return self._finish(self._find_existing(parents) or self._make_commit(parents))

    def commit_with_hooks(self, scratch: Path) -> _Committed:
        parents = self._parents()
        tip = self._find_existing(parents)
        if tip is not None:
            return self._finish(tip)
        self._save_other_commits(*parents)
        self.worktree.update_refs({self.ref: (parents[0], self.refs.get(self.ref))})
        self.worktree.attach_head(self.branch)
        write_to_worktree(self.snapshot, self.cleaned.changed)
        self.worktree.install_index(self.snapshot.index)
        if len(parents) == 1:
            result_checks.clear_operation(self.worktree)  # git would commit a merge that is left behind
        tip = self._run_git_commit(scratch)
        result_ref = attempt_ref(self.attempt)
        pack = self._move_refs(tip, {result_ref: (tip, self.refs.get(result_ref))})
        result_checks.clear_operation(self.worktree)
        return tip, pack

    def _make_commit(self, parents: tuple[str, ...]) -> str:
        """Make a commit that no ref holds yet, without running hooks."""
        git = self.worktree.git.with_options(variables=self.committer.variables)
        message = self.message.encode("utf-8", "replace")
        return commit_signed(git, self.cleaned.tree, parents, message, may_sign=self.committer.may_sign)

    def _run_git_commit(self, scratch: Path) -> str:
        """Commit the worktree's index on its HEAD with all hooks, as a person would."""
        message_file = scratch / "message"
        message_file.write_bytes(self.message.encode("utf-8", "replace"))
        git = Git(
            self.worktree.path,
            environment=self.worktree.repository.environment,
            variables=self.committer.variables,
            settings=(f"core.hooksPath={_find_hooks_path(self.worktree)}",),
            timeout=HOOKS_TIMEOUT_SECONDS,
        )
        try:
            git.run("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file", str(message_file))
        except GitCancelledError:
            raise
        except GitError as error:
            if "failed to sign" in error.stderr:
                raise make_signing_error(error) from error
            output = "\n".join(error.stderr.strip().splitlines()[-_MAX_LINES:]) or error.message
            refused = HookRefusedError(f"a hook of the repository refused the commit: {output}")
            raise _save_for_error(refused, self.worktree, self.saved_refs, scratch) from error
        return git.text("rev-parse", "--verify", "HEAD")

    def _parents(self) -> tuple[str, ...]:
        """Return the commit's parents: two if the agent resolved a merge without committing it.

        A file that is too large stays in the history that it was committed to, so such a history is left out: the base
        is the only parent then.
        """
        head, git = self.head, self.worktree.git
        if head is None or not git.is_ancestor(self.base, head):
            return (self.base,)
        merging = result_checks.read_merge_heads(self.worktree)
        others = [merge_head for merge_head in merging if not git.is_ancestor(merge_head, head)]
        has_large_files = result_checks.has_large_blobs(git, self.base, (head, *others), self.max_file_bytes)
        return (self.base,) if has_large_files else (head, *others)

    def _find_existing(self, parents: tuple[str, ...]) -> str | None:
        """Find the commit that holds this already: its only parent, or the one that this attempt was given before."""
        tree = self.cleaned.tree
        if len(parents) == 1 and (
            not self.has_changes if parents[0] == self.base else self.worktree.git.tree_of(parents[0]) == tree
        ):
            return parents[0]
        earlier = self.refs.get(attempt_ref(self.attempt))
        if earlier is None or self.worktree.git.tree_of(earlier) != tree:
            return None
        return earlier if self.worktree.git.parents_of(earlier) == parents else None

    def _finish(self, tip: str) -> _Committed:
        """Set the refs to the tip, put HEAD on the branch, and make the folder and the index the same as the tip."""
        self._save_other_commits(tip)
        moves = {ref: (tip, self.refs.get(ref)) for ref in (attempt_ref(self.attempt), self.ref)}
        pack = self._move_refs(tip, moves)
        self.worktree.attach_head(self.branch)
        write_to_worktree(self.snapshot, self.cleaned.changed)
        result_checks.clear_operation(self.worktree)
        self.worktree.install_index(self.snapshot.index)
        return tip, pack

    def _move_refs(self, tip: str, moves: Mapping[str, tuple[str, str | None]]) -> Path | None:
        """Set refs to the tip. Its objects are checked, even if the refs are there already. Returns the pack that has
        them now, if any.
        """
        with keep_objects(self.worktree.git, self.worktree.repository.common, [tip], [self.base]) as pack:
            if pack is not None:
                self.report_packed(tip, pack)
            self.worktree.update_refs(moves)
        return pack

    def _save_other_commits(self, *tips: str) -> None:
        """Save the agent's commits that will not be in the task's history."""
        git, fetched = self.worktree.git, fetch_replaced_repositories(self.worktree)
        recorded = result_checks.read_recorded_commits(self.worktree)
        for commit in dict.fromkeys((self.head, self.refs.get(self.ref), *recorded, *fetched.values())):
            if commit is None or commit == self.base:
                continue
            if self.from_files and find_missing_objects(git, [commit], [self.base]):
                continue  # it can't be kept
            if not any(git.is_ancestor(commit, tip) for tip in tips):
                self.saved_refs.keep(commit)
        for folder in fetched:
            shutil.rmtree(folder, ignore_errors=True)


def _describe_result(tip: str, changes: Sequence[TreeChange], reverted_sources: tuple[str, ...]) -> CapturedChange:
    files = tuple(change.path for change in changes)
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    return CapturedChange(tip, files, (len(files), added, removed), not files, reverted_sources)


def format_commit_message(author: CommitInfo, attempt: Attempt) -> str:
    """Format the message, unchanged but for line ends and control characters, with the trailers as the last paragraph."""
    output = _CONTROL.sub("", author.message.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [line.rstrip() for line in output.strip().split("\n")]
    message = "\n".join(lines) or defuse_references(f"Work on {' '.join(attempt.task.split())}")
    trailers = [
        f"{key}: {defuse_references(_CONTROL.sub('', ' '.join(value.split())))}" for key, value in author.trailers
    ]
    if not trailers:
        return f"{message}\n"
    _, gap, last = message.rpartition("\n\n")
    together = gap and all(_TRAILER.match(line) for line in last.split("\n"))
    return message + ("\n" if together else "\n\n") + "\n".join(trailers) + "\n"


def _find_hooks_path(worktree: AgentWorktree) -> str:
    """Find the repository's hooks folder, ignoring plait's own setting that disables hooks."""
    output = worktree.git.run("config", "--show-scope", "-z", "--get-all", "core.hooksPath", codes=(0, 1)).fields
    paths = [path for scope, path in zip(output[::2], output[1::2], strict=False) if scope != "command"]
    return paths[-1] if paths else str(worktree.repository.common / "hooks")


def preview_commit(repository: Repository, workspace: Path, branch: str, base: str) -> str | None:
    """Return what the agent would leave if it stopped now, as a commit on `base` that no ref holds; None if nothing
    differs.

    Nothing in the workspace is changed, because its agent is running.
    """
    worktree = open_worktree(repository, workspace, branch, repair=False)
    with scratch_folder(worktree.gitdir) as scratch:
        tree = snapshot_worktree(worktree, scratch, base).tree
        if tree == worktree.git.tree_of(base):
            return None
        return worktree.git.commit_as_plait(tree, [base], b"Work in progress\n")


def snapshot_workspace(repository: Repository, workspace: Path, base: str, scratch: Path) -> tuple[Git, str]:
    """Return what would be captured now as a tree, with an index and object store of its own, and the git that reads
    it. Nothing else is changed.

    An agent may be working there. Raises WorldError.
    """
    objects = scratch / "objects"
    objects.mkdir()
    try:
        worktree = open_worktree(repository, workspace, "", repair=False)
        git = worktree.git.with_options(variables=object_variables(objects, repository.common / "objects"))
        snapshot = snapshot_worktree(replace(worktree, git=git), scratch, base)
    except WorktreeError:
        raise WorldError(f"the workspace {workspace} no longer exists: nothing to compare") from None
    except GitError as error:
        message = f"the files in {workspace} can't be read now: {error.message}"
        raise WorldError(message, hint="Try again in a moment.") from error
    return snapshot.git, snapshot.tree


def reset_workspace(repository: Repository, workspace: Path, attempt: Attempt, tip: str) -> None:
    """Reset every file to `tip` after a check has run; ignored files and what setup put there stay.

    Whatever differs from the tip is saved first.
    """
    branch = task_branch(attempt.batch, attempt.task)
    worktree = open_worktree(repository, workspace, branch)
    saved_refs = SavedRefs(repository, attempt.batch, attempt.task)
    with scratch_folder(worktree.gitdir) as scratch:
        snapshot = snapshot_worktree(worktree, scratch, tip)
        same = snapshot.tree == worktree.git.tree_of(tip)
        if not same:
            save_unreachable(worktree, saved_refs, scratch, snapshot)
        _reset_refs(worktree, saved_refs, branch, tip)
        result_checks.clear_operation(worktree)
        worktree.install_index(snapshot.index)
    if not same:
        _reset_files(worktree, tip)
    _reset_submodules(worktree)


def _reset_refs(worktree: AgentWorktree, saved_refs: SavedRefs, branch: str, tip: str) -> None:
    """Set the branch to the tip and put HEAD on it; commits that a check made are kept."""
    ref = f"refs/heads/{branch}"
    current = worktree.git.resolve_commit(ref)
    for commit in dict.fromkeys((current, worktree.git.resolve_commit("HEAD"))):
        if commit is not None and not worktree.git.is_ancestor(commit, tip):
            saved_refs.keep(commit)
    worktree.update_refs({ref: (tip, current)})
    worktree.attach_head(branch)


def _reset_files(worktree: AgentWorktree, tip: str) -> None:
    git = worktree.git
    git.run("reset", "--hard", "--quiet", tip)
    # Twice forced: this also removes a repository that a check made inside.
    git.run("clean", "-ffd", "--quiet", *exclude_options(read_setup_paths(worktree.gitdir)))


def _reset_submodules(worktree: AgentWorktree) -> None:
    """Reset submodules, because what a check left in one would count as the next agent's work."""
    if not result_checks.has_submodules(worktree):
        return
    setup_paths, git = read_setup_paths(worktree.gitdir), worktree.git
    changed = [each for each in list_submodule_folders(git) if each.git and each.list_uncommitted(setup_paths)]
    for submodule in changed:
        submodule.reset(setup_paths)
    if changed or _have_submodules_moved(worktree):
        git.run("submodule", "update", "--quiet", "--force", "--checkout", "--no-fetch", "--recursive")


def _have_submodules_moved(worktree: AgentWorktree) -> bool:
    rows = worktree.git.run("diff-files", "--raw", "-z", "--ignore-submodules=dirty").fields
    return any(" 160000 " in row or row.startswith(":160000") for row in rows[::2])
