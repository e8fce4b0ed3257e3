"""Plait's own branches and refs whose objects are missing. They hold nothing whole, and make `git gc` and `git clone` fail."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import PLAIT_IDENTITY, Git, join_fields
from plait.git.kept_objects import find_missing_objects
from plait.git.refs import is_plait_branch

_BRANCHES, _OWN = "refs/heads/", "refs/plait/"
_UNREADABLE = re.compile(r"^warning: ignoring broken ref (.+)$", re.MULTILINE)
_MESSAGE = b"What is left of a damaged result\n"


@dataclass(frozen=True, slots=True)
class BrokenRef:
    """`tip` is empty if git can't read the ref. `missing` says what is missing, as git puts it."""

    name: str
    tip: str
    missing: str


def find_broken_refs(git: Git) -> Iterator[BrokenRef]:
    """What the user's branches, remotes and tags have is not checked."""
    listing = git.run("for-each-ref", "--format=%(objectname) %(refname)")
    for name in _UNREADABLE.findall(listing.err):
        if _is_own(name):
            yield BrokenRef(name, "", "git can't read it")
    rows = listing.text.split("\n")  # a name may have other line ends
    refs = {name: tip for tip, name in (row.split(" ", 1) for row in rows if row)}
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


def commit_remains(git: Git, tip: str) -> str | None:
    """A commit without parents that has the files of a damaged commit that are still there; None if there are none.

    It has the date of the damaged one, so that all refs to that are saved as the same commit.
    """
    if git.resolve_commit(tip) is None:
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
    date = git.text("show", "--no-patch", "--no-show-signature", "--format=%ct +0000", tip)
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return git.with_options(variables={**PLAIT_IDENTITY, **dates}).commit_tree(tree, [], _MESSAGE)


def _find_existing(git: Git, objects: Collection[str]) -> set[str]:
    if not objects:
        return set()
    feed = "".join(f"{each}\n" for each in sorted(objects)).encode()
    rows = git.run("cat-file", "--batch-check", stdin=feed).text.splitlines()
    return {row.split(" ")[0] for row in rows if not row.endswith(" missing")}


def _is_own(name: str) -> bool:
    is_branch = name.startswith(_BRANCHES) and is_plait_branch(name.removeprefix(_BRANCHES))
    return is_branch or name.startswith(_OWN)
