"""Work that no ref reaches, put under refs/plait/saved before anything becomes of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.capture.scratch import scratch
from plait.site.capture.snapshot import Snapshot, look
from plait.site.capture.unfinished import merged, put_aside
from plait.site.capture.words import PLAIT, variables
from plait.site.capture.worktree import Worktree, find
from plait.site.git import Git, GitError
from plait.site.refs import saved_ref, task_branch


def save(
    workspace: Path,
    batch: str,
    task: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> str | None:
    """Put whatever no ref reaches into a commit under refs/plait/saved: its name, or None if there is nothing.

    Files, new ones too; the index, where it has something else; commits on no branch. Index and files stay as they are.
    """
    worktree = find(workspace, task_branch(batch, task), common, environment)
    with scratch(worktree.admin) as room:
        return save_all(worktree, Shelf(worktree, batch, task), room)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The saved refs of one task."""

    worktree: Worktree
    batch: str
    task: str

    def keep(self, commit: str) -> str:
        """The ref that holds this commit: one that does so already, or the next free one."""
        held = self._held()
        if commit in held:
            return held[commit]
        n = 1 + max((int(name.rpartition("/")[2]) for name in held.values()), default=0)
        ref = saved_ref(self.batch, self.task, n)
        self.worktree.update({ref: (commit, None)})
        return ref

    def like(self, tree: str, parents: Sequence[str]) -> str | None:
        """A ref that holds the same already."""
        trees = self.worktree
        alike = (ref for commit, ref in self._held().items() if _alike(trees, commit, tree, parents))
        return next(alike, None)

    def _held(self) -> dict[str, str]:
        refs = self.worktree.refs(saved_ref(self.batch, self.task, 0).removesuffix("0"))
        return {commit: ref for ref, commit in refs.items() if ref.rpartition("/")[2].isdecimal()}


def save_all(worktree: Worktree, shelf: Shelf, room: Path, seen: Snapshot | None = None) -> str | None:
    head = worktree.commit("HEAD")
    now = worktree.tree(head) if head else worktree.git.text("mktree")  # without a file
    snapshot = seen or look(worktree, room, head or now)
    parents = [head] if head else []
    staged = _staged(worktree, room, {now, snapshot.tree})
    if staged is not None:
        parents.append(_commit(worktree.git, staged, parents, "What was staged"))
    lost = [commit for commit in _loose(worktree, head) if commit not in parents]
    if staged is None and snapshot.tree == now and not _unreached(worktree, [*parents, *lost]):
        return None
    parents += lost
    return shelf.like(snapshot.tree, parents) or shelf.keep(_saved(worktree.git, snapshot, parents))


def foreign(worktree: Worktree) -> dict[Path, str]:
    """The repositories that an agent made in the place of this one's, and where each was: those commits, brought over."""
    found: dict[Path, str] = {}
    for left in worktree.admin.glob("plait-left-*"):
        own = worktree.git.with_(variables={"GIT_DIR": str(left), "GIT_COMMON_DIR": str(left)})
        with suppress(GitError):
            commit = own.text("rev-parse", "--verify", "HEAD^{commit}")
            worktree.git.run("fetch", "--no-tags", "--no-write-fetch-head", "--quiet", str(left), "HEAD")
            found[left] = commit
    return found


def _alike(worktree: Worktree, commit: str, tree: str, parents: Sequence[str]) -> bool:
    """What was staged is a commit of its own, made anew each time: its tree counts."""
    if worktree.tree(commit) != tree:
        return False
    held = worktree.parents(commit)
    return [worktree.tree(each) for each in held] == [worktree.tree(each) for each in parents]


def _loose(worktree: Worktree, head: str | None) -> Iterator[str]:
    """The commits that only this worktree's own records name."""
    for commit in dict.fromkeys([*merged(worktree), *put_aside(worktree), *foreign(worktree).values()]):
        if commit != head and _unreached(worktree, [commit]):
            yield commit


def _unreached(worktree: Worktree, commits: Sequence[str]) -> bool:
    """Whether one of them is in the history of no ref but saved ones; HEAD is none."""
    words = ("rev-list", "--max-count=1", *commits, "--not", "--exclude=refs/plait/saved/*", "--glob=refs/*")
    return bool(commits) and bool(worktree.git.text(*words))


def _staged(worktree: Worktree, room: Path, known: set[str]) -> str | None:
    """The index as a tree, if that is nowhere else. One with conflicts holds nothing but what its commits hold."""
    copy = room / "staged"
    with suppress(OSError):
        shutil.copyfile(worktree.admin / "index", copy)
        git = worktree.git.with_(variables={"GIT_INDEX_FILE": str(copy)})
        said = git.run("write-tree", codes=(0, 128))
        return said.text if said.code == 0 and said.text not in known else None
    return None


def _saved(git: Git, snapshot: Snapshot, parents: Sequence[str]) -> str:
    return _commit(git, snapshot.tree, parents, "What was in the workspace")


def _commit(git: Git, tree: str, parents: Sequence[str], words: str) -> str:
    above = [word for parent in parents for word in ("-p", parent)]
    return git.with_(variables=variables(PLAIT, PLAIT)).text(
        "commit-tree", tree, *above, feed=f"{words}\n".encode()
    )
