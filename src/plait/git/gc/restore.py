"""Lists the commits that are saved under refs/plait, and restores one as a new branch. No existing branch is moved."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.gc.inventory import BRANCH_PREFIX, PLAIT_PREFIX, RefNames, list_refs
from plait.git.refs import ATTEMPTS, BASES, SAVED, ref_component

_MAX_TRIES = 99
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SavedCommit:
    """A commit that is saved under refs/plait. `name` is what people write; `ref` the full ref."""

    name: str
    ref: str
    commit: str
    at: float
    subject: str


@dataclass(frozen=True, slots=True)
class RestoredBranch:
    branch: str
    commit: str
    made: bool = True


def list_saved_commits(git: Git) -> list[SavedCommit]:
    """List the saved commits, the newest first, without the bases of batches."""
    refs = {
        ref: commit
        for ref, commit in list_refs(git).items()
        if ref.startswith(PLAIT_PREFIX) and not ref.startswith(f"{BASES}/")
    }
    described = _describe_commits(git, set(refs.values()))
    commits = [
        SavedCommit(ref.removeprefix(PLAIT_PREFIX), ref, commit, *described[commit]) for ref, commit in refs.items()
    ]
    return sorted(commits, key=lambda saved: saved.at, reverse=True)


def _describe_commits(git: Git, commits: Collection[str]) -> dict[str, tuple[float, str]]:
    """Return when each commit was made, and its subject."""
    if not commits:
        return {}
    args = ("log", "--no-walk=unsorted", "--no-show-signature", "-z", "--format=%H%n%ct%n%s", "--stdin")
    rows = (row.split("\n", 2) for row in git.run(*args, stdin="\n".join(sorted(commits)).encode() + b"\n").fields)
    return {commit: (float(at), subject) for commit, at, subject in rows}


def restore_branch(git: Git, names: RefNames, query: str, branch: str | None) -> RestoredBranch:
    """Make a branch from a saved commit. Raises UserError if there is none, or the branch exists elsewhere."""
    saved = _find_saved(list_saved_commits(git), names, query)
    if branch is not None:
        if branch.startswith("-") or git.run("check-ref-format", f"{BRANCH_PREFIX}{branch}", codes=(0, 1)).code:
            raise UserError(f"{branch} is not a valid branch name")
        return _make_branch(git, branch, saved.commit)
    base_name = f"restored-{_UNSAFE_CHARACTERS.sub('-', saved.name.partition('/')[2]).strip('-.')}"
    for number in range(1, _MAX_TRIES):
        name = base_name if number == 1 else f"{base_name}-{number}"
        try:
            return _make_branch(git, name, saved.commit)
        except UserError:
            continue
    raise UserError(f"there are too many branches called {base_name}", hint="Choose a name with --as NAME.")


def _find_saved(commits: Sequence[SavedCommit], names: RefNames, query: str) -> SavedCommit:
    exact = [saved for saved in commits if query in {saved.ref, saved.name, saved.name.partition("/")[2]}]
    matches = (
        exact or _find_by_branch(commits, names, query) or [saved for saved in commits if _has_prefix(saved, query)]
    )
    if not matches:
        raise UserError(f"nothing is saved under the name {query}", hint="`plait gc --list` shows what is.")
    if len({saved.commit for saved in matches}) > 1:
        candidates = ", ".join(saved.name for saved in matches[:_MAX_SHOWN])
        raise UserError(f"{query} could be {candidates}", hint="Write more of it.")
    return matches[0]


def _has_prefix(saved: SavedCommit, query: str) -> bool:
    return bool(query) and (saved.name.startswith(query) or saved.name.partition("/")[2].startswith(query))


def _find_by_branch(commits: Sequence[SavedCommit], names: RefNames, query: str) -> list[SavedCommit]:
    """Return the newest saved commit of the task whose branch this was."""
    batch, task = names.branches.get(query.removeprefix(BRANCH_PREFIX), ("", ""))
    prefixes = (
        tuple(f"{kind}/{ref_component(batch)}/{ref_component(task)}/" for kind in (SAVED, ATTEMPTS)) if task else ()
    )
    return [saved for saved in commits if prefixes and saved.ref.startswith(prefixes)][:1]


def _make_branch(git: Git, branch: str, commit: str) -> RestoredBranch:
    ref = f"{BRANCH_PREFIX}{branch}"
    try:
        git.create_ref(ref, commit)
    except GitError as error:
        existing = git.read_ref(ref)
        if existing == commit:
            return RestoredBranch(branch, commit, made=False)
        if not existing:
            raise
        raise UserError(f"there is a branch {branch} already", hint="Choose another name with --as NAME.") from error
    return RestoredBranch(branch, commit)
