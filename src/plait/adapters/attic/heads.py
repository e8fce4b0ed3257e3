"""Branches and refs of plait's, and which other refs have what they have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from plait.adapters.attic.model import Branch, Ref
from plait.core.frozen import dataclass
from plait.site.git import Git, GitError
from plait.site.refs import ATTEMPTS, BASES, LINES, SAVED, batch_branch, task_branch, word

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"
OWN = "refs/plait/"
_BATCH, _TASK = "plait/batch-", "plait/task-"
_FORMAT = "%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)"


@dataclass(frozen=True, slots=True)
class Names:
    """Which batch and task a name stands for: names are made from ids, and are not read back."""

    branches: Mapping[str, tuple[str, str]]
    words: Mapping[str, str]

    @classmethod
    def of(cls, batches: Mapping[str, Iterable[str]]) -> Names:
        """The tasks by batch."""
        branches = {batch_branch(batch): (batch, "") for batch in batches}
        for batch, tasks in batches.items():
            branches |= {task_branch(batch, task): (batch, task) for task in tasks}
        return cls(branches, {word(batch): batch for batch in batches})

    def batch(self, said: str) -> str:
        """A batch that nobody knows goes by the word its refs have."""
        return self.words.get(said, said)

    def branch(self, name: str) -> tuple[str, str]:
        """Batch and task. Which task of which batch that nobody knows a branch is of, its name does not tell."""
        unknown = name.removeprefix(_BATCH) if name.startswith(_BATCH) else ""
        return self.branches.get(name, (unknown, ""))


def refs(git: Git) -> dict[str, str]:
    """Every ref of the repository that leads to a commit, with that commit."""
    found = {}
    for line in git.text("for-each-ref", f"--format={_FORMAT}").splitlines():
        name, oid, kind, peeled, peeled_kind = line.split("\0")
        if kind == "commit" or peeled_kind == "commit":
            found[name] = oid if kind == "commit" else peeled
    return found


def missing(git: Git, tips: Collection[str], others: Iterable[str]) -> set[str]:
    """Those of the commits that none of the others has in its history."""
    if not tips:
        return set()
    words = "\n".join([*sorted(tips), *(f"^{other}" for other in sorted(set(others)))])
    # One walk for all of them: what one tip leads to is told only as far as no other commit leads there.
    told = git.run("rev-list", "--stdin", feed=f"{words}\n".encode()).text.split()
    return set(tips) & set(told)


def branches(git: Git, names: Names, open_in: Mapping[str, str]) -> list[Branch]:
    """`open_in` tells the worktrees that are not plait's, by the branch that they have checked out."""
    every = refs(git)
    own = {name: tip for name, tip in every.items() if _is_ours(name)}
    if not own:
        return []
    unmerged = missing(git, set(own.values()), _theirs(every))
    unpushed = missing(git, unmerged, _pushed(every))
    unsaved = missing(git, unmerged, _saved(every))
    joined = _joined(git, names, own)
    return [
        Branch(
            ref.removeprefix(HEADS),
            tip,
            *names.branch(ref.removeprefix(HEADS)),
            merged=tip not in unmerged,
            pushed=tip not in unpushed,
            joined=ref in joined,
            saved=tip not in unsaved,
            open_in=open_in.get(ref, ""),
        )
        for ref, tip in own.items()
    ]


def held(git: Git, names: Names) -> list[Ref]:
    """What lies under refs/plait, by batch."""
    every = refs(git)
    own = {name: tip for name, tip in every.items() if name.startswith(OWN)}
    alone = missing(git, set(own.values()), [*_theirs(every), *_pushed(every)])
    return [
        Ref(name, tip, names.batch(_batch(name)), elsewhere=tip not in alone) for name, tip in own.items()
    ]


def _is_ours(name: str) -> bool:
    return name.startswith((f"{HEADS}{_BATCH}", f"{HEADS}{_TASK}"))


def _theirs(every: Mapping[str, str]) -> Iterator[str]:
    """What people keep: not a stash, which is there to be dropped."""
    for name, tip in every.items():
        kept = name.startswith((HEADS, REMOTES, "refs/tags/"))
        if kept and not name.startswith(f"{HEADS}plait/") and not _on_remote(name):
            yield tip


def _pushed(every: Mapping[str, str]) -> Iterator[str]:
    return (tip for name, tip in every.items() if _on_remote(name))


def _saved(every: Mapping[str, str]) -> Iterator[str]:
    return (tip for name, tip in every.items() if name.startswith(OWN))


def _on_remote(name: str) -> bool:
    return name.startswith(REMOTES) and "/plait/" in name.removeprefix(REMOTES)


def _joined(git: Git, names: Names, own: Mapping[str, str]) -> set[str]:
    """The branches of tasks that are in the history of their batch's."""
    tasks: dict[str, dict[str, str]] = {}
    for ref, tip in own.items():
        batch, task = names.branch(ref.removeprefix(HEADS))
        if task:
            tasks.setdefault(batch, {})[ref] = tip
    found = set[str]()
    for batch, theirs in tasks.items():
        branch = own.get(HEADS + batch_branch(batch))
        if branch is not None:
            out = missing(git, set(theirs.values()), [branch])
            found |= {ref for ref, tip in theirs.items() if tip not in out}
    return found


def _batch(name: str) -> str:
    """refs/plait/attempts/<batch>/…"""
    for kind in (ATTEMPTS, SAVED, LINES, BASES):
        if name.startswith(f"{kind}/"):
            return name.removeprefix(f"{kind}/").partition("/")[0]
    return ""


def checked_out(git: Git) -> dict[str, str]:
    """Where each branch is checked out that is, by its ref."""
    found, where = {}, ""
    for line in (
        git.run("worktree", "list", "--porcelain", "-z").out.decode("utf-8", "surrogateescape").split("\0")
    ):
        word, _, said = line.partition(" ")
        if word == "worktree":
            where = said
        elif word == "branch":
            found[said] = where
    return found


def delete(git: Git, ref: str, tip: str) -> str:
    """Unless it has moved: then why it stays. One that is gone already is gone."""
    try:
        git.run("update-ref", "-d", ref, tip)
    except GitError as error:
        if git.run("rev-parse", "--verify", "--quiet", ref, codes=(0, 1)).code:
            return ""
        return "it has moved meanwhile" if "but expected" in error.said else error.message
    return ""
