"""Makes one commit on the task's branch from whatever an agent left in its workspace; previews and undoes it.

The files win over the index, over HEAD and over unfinished operations. The agent's own commits that descend from the base
stay in the history, with one more on top for what they lack; all others are saved, and the files become one commit on the
base. It may be killed at any instant: refs are updated first, the folder last, and a second run finds what was done.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.interfaces import CapturedChange, CaptureOptions
from plait.git.refs import attempt_ref, task_branch
from plait.git.worktrees import attempt_commit, result_checks
from plait.git.worktrees.agent_worktree import AgentWorktree, open_worktree, scratch_folder
from plait.git.worktrees.checkout import exclude_options
from plait.git.worktrees.metadata import read_setup_paths
from plait.git.worktrees.saved_work import SavedRefs, fetch_replaced_repositories, save_unreachable
from plait.git.worktrees.tree_snapshot import (
    CleanedSnapshot,
    Snapshot,
    revert_status_edits,
    snapshot_worktree,
    write_to_worktree,
)
from plait.git.worktrees.worktree import Repository


def capture(
    repository: Repository, workspace: Path, attempt: Attempt, base: str, options: CaptureOptions
) -> CapturedChange:
    """Commit everything an attempt left on the task's branch and under the attempt's ref.

    Raises UnfinishedError if it left conflicts, edits in a submodule, or a file of more than `max_file_bytes`,
    HookRefusedError if a hook refuses the commit; everything is saved then.
    """
    branch, max_bytes = task_branch(attempt.batch, attempt.task), options.max_file_bytes
    worktree = open_worktree(repository, workspace, branch)
    saved_refs = SavedRefs(repository, attempt.batch, attempt.task)
    with scratch_folder(worktree.admin) as scratch:
        left = result_checks.find_unresolved_files(worktree)
        if left:
            raise result_checks.make_conflicts_error(worktree, left, save_unreachable(worktree, saved_refs, scratch))
        if modules := result_checks.find_edited_submodules(worktree):
            raise result_checks.make_submodules_error(modules, save_unreachable(worktree, saved_refs, scratch))
        snapshot = snapshot_worktree(worktree, scratch, base)
        cleaned = revert_status_edits(worktree, snapshot, base, options.restore)
        if large := result_checks.find_large_files(worktree, base, cleaned.tree, max_bytes):
            raise result_checks.make_large_files_error(
                large, max_bytes, save_unreachable(worktree, saved_refs, scratch)
            )
        refs = (f"refs/heads/{branch}", attempt_ref(attempt))
        head, existing = worktree.git.resolve_commit("HEAD"), worktree.read_refs(*refs)
        run = _Capture(worktree, saved_refs, attempt, base, head, existing, snapshot, cleaned, max_bytes)
        text = attempt_commit.CommitText(
            attempt_commit.format_commit_message(options.author, attempt),
            attempt_commit.identity_variables(options.author, worktree.git),
        )
        tip = run.commit_with_hooks(text, scratch) if options.hooks else run.commit_without_hooks(text)
    return _describe_result(worktree, base, tip, cleaned.reverted_sources)


@dataclass(frozen=True, slots=True)
class _Capture:
    """`head` and `refs` are what the agent left."""

    worktree: AgentWorktree
    saved_refs: SavedRefs
    attempt: Attempt
    base: str
    head: str | None
    refs: Mapping[str, str]
    snapshot: Snapshot
    cleaned: CleanedSnapshot
    largest: int

    @property
    def branch(self) -> str:
        return task_branch(self.attempt.batch, self.attempt.task)

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def commit_without_hooks(self, text: attempt_commit.CommitText) -> str:
        parents = self._parents()
        tip = self._find_existing(parents) or attempt_commit.make_commit(
            self.worktree, self.cleaned.tree, parents, text
        )
        return self._finish(tip)

    def commit_with_hooks(self, text: attempt_commit.CommitText, scratch: Path) -> str:
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
        tip = self._commit_or_save(text, scratch)
        own = attempt_ref(self.attempt)
        self.worktree.update_refs({own: (tip, self.refs.get(own))})
        result_checks.clear_operation(self.worktree)
        return tip

    def _commit_or_save(self, text: attempt_commit.CommitText, scratch: Path) -> str:
        try:
            return attempt_commit.commit_with_hooks(self.worktree, text, scratch)
        except attempt_commit.HookRefusedError as error:
            saved = save_unreachable(self.worktree, self.saved_refs, scratch)
            error.hint = f"The change is in {saved}." if saved else ""
            raise

    def _parents(self) -> tuple[str, ...]:
        """What the commit follows. A merge that the agent resolved but did not commit has two.

        A file that is too large stays in the history that it was committed to, so that history is left behind.
        """
        head = self.head
        if head is None or not self.worktree.git.is_ancestor(self.base, head):
            return (self.base,)
        others = [
            each
            for each in result_checks.read_merge_heads(self.worktree)
            if not self.worktree.git.is_ancestor(each, head)
        ]
        burdened = result_checks.has_large_blobs(self.worktree, self.base, (head, *others), self.largest)
        return (self.base,) if burdened else (head, *others)

    def _find_existing(self, parents: tuple[str, ...]) -> str | None:
        """The commit that holds this already: what it would follow, or the one that this attempt was given before."""
        tree = self.cleaned.tree
        if len(parents) == 1 and self.worktree.git.tree_of(parents[0]) == tree:
            return parents[0]
        earlier = self.refs.get(attempt_ref(self.attempt))
        if earlier is None or self.worktree.git.tree_of(earlier) != tree:
            return None
        return earlier if self.worktree.git.parents_of(earlier) == parents else None

    def _finish(self, tip: str) -> str:
        """Refs name the tip, HEAD is on the branch, and the folder and the index are as the tip is."""
        self._save_other_commits(tip)
        moves = {ref: (tip, self.refs.get(ref)) for ref in (attempt_ref(self.attempt), self.ref)}
        self.worktree.update_refs(moves)
        self.worktree.attach_head(self.branch)
        write_to_worktree(self.snapshot, self.cleaned.changed)
        result_checks.clear_operation(self.worktree)
        self.worktree.install_index(self.snapshot.index)
        return tip

    def _save_other_commits(self, *tips: str) -> None:
        """The agent's commits that will not be in the task's history."""
        worktree = self.worktree
        brought = fetch_replaced_repositories(worktree)
        named = (
            *result_checks.read_merge_heads(worktree),
            *result_checks.read_stashed_commits(worktree),
            *brought.values(),
        )
        for each in dict.fromkeys((self.head, self.refs.get(self.ref), *named)):
            if each not in {None, self.base} and not any(worktree.git.is_ancestor(each, tip) for tip in tips):
                self.saved_refs.keep(each)
        for left in brought:
            shutil.rmtree(left, ignore_errors=True)


def _describe_result(worktree: AgentWorktree, base: str, tip: str, taken_out: tuple[str, ...]) -> CapturedChange:
    args = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    rows = [row.split("\t", 2) for row in worktree.git.run(*args, base, tip).fields]
    files = tuple(path for _, _, path in rows)
    # git counts no lines in binary files.
    added, removed = (sum(int(row[n]) for row in rows if row[n].isdecimal()) for n in (0, 1))
    return CapturedChange(
        tip,
        files,
        diffstat=(len(files), added, removed),
        empty=not files,
        reverted_sources=taken_out,
    )


def preview_commit(repository: Repository, workspace: Path, branch: str, base: str) -> str | None:
    """What the agent would leave if it stopped now, as a commit on `base` that no ref holds; None if nothing differs.

    Nothing in the workspace is changed: its agent is running.
    """
    worktree = open_worktree(repository, workspace, branch, repair=False)
    with scratch_folder(worktree.admin) as scratch:
        tree = snapshot_worktree(worktree, scratch, base).tree
        if tree == worktree.git.tree_of(base):
            return None
        return worktree.git.commit_as_plait(tree, [base], b"Work in progress\n")


def reset_workspace(repository: Repository, workspace: Path, attempt: Attempt, tip: str) -> None:
    """Reset every file to `tip`, after a check has run; ignored files and what setup put there stay.

    What differs from the tip is saved first.
    """
    branch = task_branch(attempt.batch, attempt.task)
    worktree = open_worktree(repository, workspace, branch)
    saved_refs = SavedRefs(repository, attempt.batch, attempt.task)
    with scratch_folder(worktree.admin) as scratch:
        snapshot = snapshot_worktree(worktree, scratch, tip)
        same = snapshot.tree == worktree.git.tree_of(tip)
        if not same:
            save_unreachable(worktree, saved_refs, scratch, snapshot)
        _reset_refs(worktree, saved_refs, branch, tip)
        result_checks.clear_operation(worktree)
        worktree.install_index(snapshot.index)
    if not same:
        _reset_files(worktree, tip)


def _reset_refs(worktree: AgentWorktree, saved_refs: SavedRefs, branch: str, tip: str) -> None:
    """The branch names the tip, and HEAD is on it; commits that a check made are kept."""
    ref = f"refs/heads/{branch}"
    now = worktree.git.resolve_commit(ref)
    for each in dict.fromkeys((now, worktree.git.resolve_commit("HEAD"))):
        if each is not None and not worktree.git.is_ancestor(each, tip):
            saved_refs.keep(each)
    worktree.update_refs({ref: (tip, now)})
    worktree.attach_head(branch)


def _reset_files(worktree: AgentWorktree, tip: str) -> None:
    git = worktree.git
    git.run("reset", "--hard", "--quiet", tip)
    # Twice forced: this also removes a repository that a check made inside.
    git.run("clean", "-ffd", "--quiet", *exclude_options(read_setup_paths(worktree.admin)))
    if (worktree.path / ".gitmodules").exists() and _have_submodules_moved(worktree):
        git.run("submodule", "update", "--quiet", "--force", "--checkout", "--no-fetch", "--recursive")


def _have_submodules_moved(worktree: AgentWorktree) -> bool:
    rows = worktree.git.run("diff-files", "--raw", "-z", "--ignore-submodules=dirty").fields
    return any(" 160000 " in about or about.startswith(":160000") for about in rows[::2])
