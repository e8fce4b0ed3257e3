"""Lists plait's branches and refs, and which other refs contain their commits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.gc.items import BranchItem, RefItem
from plait.git.refs import BATCH_BRANCH_PREFIX, TASK_BRANCH_PREFIX, ref_component, task_branch

BRANCH_PREFIX = "refs/heads/"
REMOTE_PREFIX = "refs/remotes/"
PLAIT_PREFIX = "refs/plait/"
_BRANCH_PREFIXES = (f"{BRANCH_PREFIX}{BATCH_BRANCH_PREFIX}", f"{BRANCH_PREFIX}{TASK_BRANCH_PREFIX}")
_FORMAT = "%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)"


@dataclass(frozen=True, slots=True)
class RefNames:
    """The batch and task of a ref name. `batch_branches` are those of known batches; an unknown one is read from the name."""

    branches: Mapping[str, tuple[str, str]]
    components: Mapping[str, str]
    batch_branches: Mapping[str, str]

    @classmethod
    def from_batches(cls, tasks: Mapping[str, Iterable[str]], batch_branches: Mapping[str, str]) -> RefNames:
        """The tasks and the branch of each batch; a batch that runs in place has no branch."""
        branches = {branch: (batch, "") for batch, branch in batch_branches.items() if branch}
        for batch, names in tasks.items():
            branches |= {task_branch(batch, task): (batch, task) for task in names}
        return cls(branches, {ref_component(batch): batch for batch in tasks}, batch_branches)

    def batch(self, component: str) -> str:
        """The batch's id; for an unknown batch, the component of the ref."""
        return self.components.get(component, component)

    def branch(self, name: str) -> tuple[str, str]:
        """Batch and task; of an unknown task branch, neither."""
        unknown = name.removeprefix(BATCH_BRANCH_PREFIX) if name.startswith(BATCH_BRANCH_PREFIX) else ""
        return self.branches.get(name, (unknown, ""))


def list_refs(git: Git) -> dict[str, str]:
    """Every ref of the repository that leads to a commit, with that commit."""
    found = {}
    for line in git.text("for-each-ref", f"--format={_FORMAT}").splitlines():
        name, oid, kind, peeled, peeled_kind = line.split("\0")
        if kind == "commit" or peeled_kind == "commit":
            found[name] = oid if kind == "commit" else peeled
    return found


def find_unreachable(git: Git, tips: Collection[str], others: Iterable[str]) -> set[str]:
    """The tips that none of the others contains."""
    if not tips:
        return set()
    revisions = "\n".join([*sorted(tips), *(f"^{other}" for other in sorted(set(others)))])
    # One walk for all tips: rev-list prints only what the others do not reach.
    listed = git.run("rev-list", "--stdin", stdin=f"{revisions}\n".encode()).text.split()
    return set(tips) & set(listed)


def list_branches(git: Git, names: RefNames, open_in: Mapping[str, str]) -> list[BranchItem]:
    """`open_in` maps branches to the other worktrees that have them checked out."""
    every = list_refs(git)
    own = {name: tip for name, tip in every.items() if name.startswith(_BRANCH_PREFIXES)}
    if not own:
        return []
    unmerged = find_unreachable(git, set(own.values()), _user_tips(every))
    unpushed = find_unreachable(git, unmerged, _remote_tips(every))
    unsaved = find_unreachable(git, unmerged, [tip for name, tip in every.items() if name.startswith(PLAIT_PREFIX)])
    joined = _find_in_batch_branch(git, names, own)
    return [
        BranchItem(
            ref.removeprefix(BRANCH_PREFIX),
            tip,
            *names.branch(ref.removeprefix(BRANCH_PREFIX)),
            merged=tip not in unmerged,
            pushed=tip not in unpushed,
            joined=ref in joined,
            saved=tip not in unsaved,
            open_in=open_in.get(ref, ""),
        )
        for ref, tip in own.items()
    ]


def list_plait_refs(git: Git, names: RefNames) -> list[RefItem]:
    """The refs under refs/plait."""
    every = list_refs(git)
    own = {name: tip for name, tip in every.items() if name.startswith(PLAIT_PREFIX)}
    alone = find_unreachable(git, set(own.values()), [*_user_tips(every), *_remote_tips(every)])
    return [
        RefItem(name, tip, names.batch(batch_component(name)), elsewhere=tip not in alone) for name, tip in own.items()
    ]


def _user_tips(every: Mapping[str, str]) -> Iterator[str]:
    """The branches and tags of people, without stashes."""
    for name, tip in every.items():
        kept = name.startswith((BRANCH_PREFIX, REMOTE_PREFIX, "refs/tags/"))
        if kept and not name.startswith(f"{BRANCH_PREFIX}plait/") and not _on_remote(name):
            yield tip


def _remote_tips(every: Mapping[str, str]) -> Iterator[str]:
    return (tip for name, tip in every.items() if _on_remote(name))


def _on_remote(name: str) -> bool:
    return name.startswith(REMOTE_PREFIX) and "/plait/" in name.removeprefix(REMOTE_PREFIX)


def _find_in_batch_branch(git: Git, names: RefNames, own: Mapping[str, str]) -> set[str]:
    """The task branches that their batch's branch contains."""
    tasks: dict[str, dict[str, str]] = {}
    for ref, tip in own.items():
        batch, task = names.branch(ref.removeprefix(BRANCH_PREFIX))
        if task:
            tasks.setdefault(batch, {})[ref] = tip
    found = set[str]()
    for batch, theirs in tasks.items():
        branch = own.get(f"{BRANCH_PREFIX}{names.batch_branches.get(batch, '')}")
        if branch is not None:
            out = find_unreachable(git, set(theirs.values()), [branch])
            found |= {ref for ref, tip in theirs.items() if tip not in out}
    return found


def batch_component(name: str) -> str:
    """The batch in refs/plait/attempts/<batch>/…"""
    parts = name.split("/")
    return parts[3] if name.startswith(PLAIT_PREFIX) and len(parts) > 3 else ""


def find_checkouts(git: Git) -> dict[str, str]:
    """The folders in which branches are checked out, by ref."""
    found, where = {}, ""
    for line in git.run("worktree", "list", "--porcelain", "-z").fields:
        key, _, value = line.partition(" ")
        if key == "worktree":
            where = value
        elif key == "branch":
            found[value] = where
    return found


def delete_ref(git: Git, ref: str, tip: str) -> str:
    """Delete a ref unless it has moved; why it was kept, or empty."""
    try:
        git.run("update-ref", "-d", ref, tip)
    except GitError as error:
        if not git.read_ref(ref):
            return ""
        return "it has moved" if "but expected" in error.stderr else error.message
    return ""
