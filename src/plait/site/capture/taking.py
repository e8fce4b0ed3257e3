"""Whatever an agent left in its workspace becomes one commit on its task's branch.

The files win: over the index, over HEAD, over what is half done. Commits of the agent's own that descend from the base stay
in the history, with one more on top for what they lack; any others are saved, and the files become one commit on the base.

It may end at any instant. Refs come first, what is in the folder last; done again, it finds what was done.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from plait.core.frozen import dataclass
from plait.core.task import Attempt
from plait.ports import Author, Captured, Restore
from plait.site.capture import bulk, commit, unfinished, words
from plait.site.capture.saving import Shelf, foreign, save_all
from plait.site.capture.scratch import scratch
from plait.site.capture.snapshot import Snapshot, look
from plait.site.capture.statuses import Cleared, cleared, write_out
from plait.site.capture.worktree import Worktree, find
from plait.site.refs import attempt_ref, task_branch


def capture(  # noqa: PLR0913 - it is all that makes a commit
    workspace: Path,
    attempt: Attempt,
    base: str,
    author: Author,
    restore: Restore,
    *,
    hooks: bool,
    largest: int = 0,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> Captured:
    """Everything an attempt left, as a commit on the task's branch and under the attempt's ref.

    Raises UnfinishedError if it left conflicts, edits in a submodule, or a file of more than `largest` bytes, RefusedError if
    a hook says no; then everything is saved.
    """
    branch = task_branch(attempt.batch, attempt.task)
    worktree = find(workspace, branch, common, environment)
    shelf = Shelf(worktree, attempt.batch, attempt.task)
    with scratch(worktree.admin) as room:
        left = unfinished.conflicts(worktree)
        if left:
            raise unfinished.error(worktree, left, save_all(worktree, shelf, room))
        if modules := unfinished.edited_modules(worktree):
            raise unfinished.modules_error(modules, save_all(worktree, shelf, room))
        snapshot = look(worktree, room, base)
        clear = cleared(worktree, snapshot, base, restore)
        if bulky := bulk.too_large(worktree, base, clear.tree, largest):
            raise bulk.error(bulky, largest, save_all(worktree, shelf, room))
        refs = (f"refs/heads/{branch}", attempt_ref(attempt))
        head, there = worktree.commit("HEAD"), worktree.refs(*refs)
        taking = _Taking(worktree, shelf, attempt, base, head, there, snapshot, clear, largest)
        wording = commit.Wording(words.message(author, attempt), words.people(author, worktree.git))
        tip = taking.with_hooks(wording, room, environment) if hooks else taking.plainly(wording)
    return _captured(worktree, base, tip, clear.taken_out)


@dataclass(frozen=True, slots=True)
class _Taking:
    """`head` and `refs` are what the agent left."""

    worktree: Worktree
    shelf: Shelf
    attempt: Attempt
    base: str
    head: str | None
    refs: Mapping[str, str]
    snapshot: Snapshot
    clear: Cleared
    largest: int

    @property
    def branch(self) -> str:
        return task_branch(self.attempt.batch, self.attempt.task)

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def plainly(self, wording: commit.Wording) -> str:
        parents = self._parents()
        tip = self._there(parents) or commit.make(self.worktree, self.clear.tree, parents, wording)
        return self._settled(tip)

    def with_hooks(self, wording: commit.Wording, room: Path, environment: Mapping[str, str] | None) -> str:
        parents = self._parents()
        tip = self._there(parents)
        if tip is not None:
            return self._settled(tip)
        self._keep_others(*parents)
        self.worktree.update({self.ref: (parents[0], self.refs.get(self.ref))})
        self.worktree.attach(self.branch)
        write_out(self.snapshot, self.clear.changed)
        self.worktree.install(self.snapshot.index)
        if len(parents) == 1:
            unfinished.forget(self.worktree)  # git would commit a merge that is left behind
        tip = self._committed(wording, room, environment)
        own = attempt_ref(self.attempt)
        self.worktree.update({own: (tip, self.refs.get(own))})
        unfinished.forget(self.worktree)
        return tip

    def _committed(self, wording: commit.Wording, room: Path, environment: Mapping[str, str] | None) -> str:
        try:
            return commit.make_with_hooks(self.worktree, wording, room, environment)
        except commit.RefusedError as error:
            saved = save_all(self.worktree, self.shelf, room)
            error.hint = f"The change is in {saved}." if saved else ""
            raise

    def _parents(self) -> tuple[str, ...]:
        """What the commit follows. A merge that the agent resolved but did not commit has two.

        A file that is too large stays in the history that it was committed to, so that history is left behind.
        """
        head = self.head
        if head is None or not self.worktree.descends(head, self.base):
            return (self.base,)
        others = [each for each in unfinished.merged(self.worktree) if not self.worktree.descends(head, each)]
        burdened = bulk.burdened(self.worktree, self.base, (head, *others), self.largest)
        return (self.base,) if burdened else (head, *others)

    def _there(self, parents: tuple[str, ...]) -> str | None:
        """The commit that holds this already: what it would follow, or the one that this attempt was given before."""
        tree = self.clear.tree
        if len(parents) == 1 and self.worktree.tree(parents[0]) == tree:
            return parents[0]
        earlier = self.refs.get(attempt_ref(self.attempt))
        if earlier is None or self.worktree.tree(earlier) != tree:
            return None
        return earlier if self.worktree.parents(earlier) == parents else None

    def _settled(self, tip: str) -> str:
        """Refs name the tip, HEAD is on the branch, and the folder and the index are as the tip is."""
        self._keep_others(tip)
        moves = {ref: (tip, self.refs.get(ref)) for ref in (attempt_ref(self.attempt), self.ref)}
        self.worktree.update(moves)
        self.worktree.attach(self.branch)
        write_out(self.snapshot, self.clear.changed)
        unfinished.forget(self.worktree)
        self.worktree.install(self.snapshot.index)
        return tip

    def _keep_others(self, *tips: str) -> None:
        """The agent's commits that will not be in the task's history."""
        worktree = self.worktree
        brought = foreign(worktree)
        named = (*unfinished.merged(worktree), *unfinished.put_aside(worktree), *brought.values())
        for each in dict.fromkeys((self.head, self.refs.get(self.ref), *named)):
            if each not in {None, self.base} and not any(worktree.descends(tip, each) for tip in tips):
                self.shelf.keep(each)
        for left in brought:
            shutil.rmtree(left, ignore_errors=True)


def _captured(worktree: Worktree, base: str, tip: str, taken_out: tuple[str, ...]) -> Captured:
    words_ = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    rows = [row.split("\t", 2) for row in worktree.git.run(*words_, base, tip).words]
    files = tuple(path for _, _, path in rows)
    # Of a binary file no lines are told.
    added, removed = (sum(int(row[n]) for row in rows if row[n].isdecimal()) for n in (0, 1))
    return Captured(
        tip,
        files,
        diffstat=(len(files), added, removed),
        empty=not files,
        taken_out=taken_out,
    )
