"""Finds and mends plait's own branches and refs, and the HEADs of its worktrees, whose objects are missing.

They hold nothing complete, and make `git gc` and `git clone` fail.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import PLAIT_IDENTITY, Git, join_fields
from plait.git.kept_objects import find_missing_objects
from plait.git.merge.commits import read_commits
from plait.git.refs import OBJECT_ID, is_plait_branch
from plait.git.worktrees.metadata import read_small_file
from plait.git.worktrees.worktree import Repository

_BRANCHES, _OWN, _WORKTREES = "refs/heads/", "refs/plait/", "worktrees/"
_UNREADABLE = re.compile(r"^warning: ignoring broken ref (.+)$", re.MULTILINE)
_MESSAGE = b"What is left of a damaged result\n"


@dataclass(frozen=True, slots=True)
class BrokenRef:
    """A ref whose objects are missing. `tip` is empty if git can't read the ref; `missing` is git's message about what
    is missing.
    """

    name: str
    tip: str
    missing: str


def is_worktree_head(name: str) -> bool:
    return name.startswith(_WORKTREES)


def find_broken_refs(repository: Repository) -> Iterator[BrokenRef]:
    """Yield the broken refs of plait; the user's branches, remotes and tags are not checked."""
    git = repository.git
    listing = git.run("for-each-ref", "--format=%(objectname) %(refname)")
    for name in _UNREADABLE.findall(listing.err):
        if _is_own(name):
            yield BrokenRef(name, "", "git can't read it")
    rows = listing.text.split("\n")  # a name may have other line ends
    refs = {name: tip for tip, name in (row.split(" ", 1) for row in rows if row)}
    refs |= _read_detached_heads(repository)
    existing = _find_existing(git, set(refs.values()))
    users = sorted({tip for name, tip in refs.items() if not _is_own(name) and tip in existing})
    own = {name: tip for name, tip in refs.items() if _is_own(name)}
    whole = sorted({tip for tip in own.values() if tip in existing})
    # One walk for all; each on its own only if something is missing.
    missing = (
        {tip: found for tip in whole if (found := find_missing_objects(git, [tip], users))}
        if whole and find_missing_objects(git, whole, users)
        else {}
    )
    for name, tip in own.items():
        if tip not in existing:
            yield BrokenRef(name, tip, f"commit {tip} is missing")
        elif tip in missing:
            yield BrokenRef(name, tip, missing[tip])


def _read_detached_heads(repository: Repository) -> dict[str, str]:
    """Return the detached HEADs of plait's worktrees: the commit by the HEAD's full name."""
    heads = {
        f"{_WORKTREES}{gitdir.name}/HEAD": read_small_file(gitdir / "HEAD").strip()
        for gitdir in repository.worktree_gitdirs
    }
    return {name: tip for name, tip in heads.items() if OBJECT_ID.match(tip)}


def mend_head(git: Git, head: BrokenRef) -> None:
    """Put HEAD on what is left of its commit, or on no files. What is in the worktree then counts as a change, and is
    saved.
    """
    tip = commit_remains(git, head.tip) or git.commit_as_plait(git.text("mktree"), [], _MESSAGE)
    git.run("update-ref", "--no-deref", "-m", "plait: mended", head.name, tip, head.tip)


def commit_remains(git: Git, tip: str) -> str | None:
    """Commit, without parents, the files of a damaged commit that still exist; None if there are none.

    The new commit has the date of the damaged one, so that all refs to that are saved as the same commit.
    """
    commit = read_commits(git, [tip]).get(tip)
    if commit is None:
        return None
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", tip, codes=range(256)).fields
    blobs = {row.split("\t", 1)[0].split(" ")[2] for row in listed if " blob " in row}
    existing = _find_existing(git, blobs)
    rows = [row for row in listed if row.split("\t", 1)[0].split(" ")[2] in existing]
    if not rows:
        return None
    with tempfile.TemporaryDirectory() as folder:
        indexed = git.with_options(variables={"GIT_INDEX_FILE": str(Path(folder) / "index")})
        indexed.run("update-index", "-z", "--add", "--index-info", stdin=join_fields(rows))
        tree = indexed.text("write-tree", "--missing-ok")
    dates = {"GIT_AUTHOR_DATE": commit.date, "GIT_COMMITTER_DATE": commit.date}
    return git.with_options(variables={**PLAIT_IDENTITY, **dates}).commit_tree(tree, [], _MESSAGE)


def _find_existing(git: Git, objects: Collection[str]) -> set[str]:
    if not objects:
        return set()
    feed = "".join(f"{each}\n" for each in sorted(objects)).encode()
    rows = git.run("cat-file", "--batch-check", stdin=feed).text.splitlines()
    return {row.split(" ")[0] for row in rows if not row.endswith(" missing")}


def _is_own(name: str) -> bool:
    is_branch = name.startswith(_BRANCHES) and is_plait_branch(name.removeprefix(_BRANCHES))
    return is_branch or name.startswith(_OWN) or is_worktree_head(name)
