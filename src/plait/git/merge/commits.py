"""Commits as git stores them, and the ones plait makes: the same input gives the same commit id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from plait.core.fast_dataclass import dataclass
from plait.git.command import PLAIT_IDENTITY, Git, GitError
from plait.git.objects import read_objects

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_IDENTITY_LINE = re.compile(r"(?P<name>.*?) ?<(?P<email>.*)> (?P<at>\d+) (?P<zone>[+-]\d{4})\Z", re.DOTALL)
_FIXED_DATE = "@1000000000 +0000"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; `author` and `committer` as git stores them: name, email, time and zone."""

    id: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str

    @property
    def date(self) -> str:
        match = _IDENTITY_LINE.match(self.committer)
        return f"@{match['at']} {match['zone']}" if match else _FIXED_DATE

    @property
    def trailers(self) -> frozenset[str]:
        return frozenset(self.message.rstrip("\n").rpartition("\n\n")[2].split("\n"))


def read_commits(git: Git, names: Sequence[str]) -> dict[str, Commit]:
    """Read those of the names (full ids, full refs) that are commits, in one call."""
    names = [name for name in names if _COMMIT_ID.match(name) or name.startswith("refs/")]
    objects = zip(names, read_objects(git, names), strict=True)
    return {
        name: _parse_commit(found.id, found.data)
        for name, found in objects
        if found is not None and found.kind == "commit"
    }


def _parse_commit(name: str, raw: bytes) -> Commit:
    head, _, message = raw.decode("utf-8", "surrogateescape").partition("\n\n")
    fields = [line.partition(" ") for line in head.split("\n")]
    headers = {key: value for key, _, value in reversed(fields)}
    parents = tuple(value for key, _, value in fields if key == "parent")
    return Commit(name, parents, headers.get("author", ""), headers.get("committer", ""), message)


class CommitMaker:
    """Makes commits in the user's name, signed if the user's are; without a name, in plait's."""

    def __init__(self, git: Git) -> None:
        self._git = git.with_options(settings=("i18n.commitEncoding=UTF-8",))

    def make(self, tree: str, parents: Sequence[str], message: str, date: str) -> str:
        return self._commit(tree, parents, message, {}, date)

    def recommit(self, tree: str, parents: Sequence[str], original: Commit) -> str:
        """Make a commit with the same author and message as the original and another tree."""
        author = _author_variables(original.author) or {"GIT_AUTHOR_DATE": original.date}
        return self._commit(tree, parents, original.message.replace("\0", "") or "\n", author, original.date)

    def _commit(self, tree: str, parents: Sequence[str], message: str, author: Mapping[str, str], date: str) -> str:
        identity, sign = self._identity
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        git = self._git.with_options(variables={**identity, **dates, **author})
        return git.commit_tree(tree, parents, message.encode("utf-8", "surrogateescape"), *sign)

    @cached_property
    def _identity(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """Return the variables and options for commits in the user's name, read once: a changed setting takes effect
        with the next engine.
        """
        strict = self._git.with_options(settings=("user.useConfigOnly=true",))
        sign = ("-S",) if strict.read_bool("commit.gpgSign") else ()
        try:
            strict.run("var", "GIT_AUTHOR_IDENT")
            strict.run("var", "GIT_COMMITTER_IDENT")
        except GitError:
            return PLAIT_IDENTITY, sign
        return {}, sign


def make_synthetic_commit(git: Git, tree: str, parent: str) -> str:
    """Make a commit that exists only to be merged; the same input gives the same id."""
    dates = {"GIT_AUTHOR_DATE": _FIXED_DATE, "GIT_COMMITTER_DATE": _FIXED_DATE}
    return git.with_options(variables={**PLAIT_IDENTITY, **dates}).commit_tree(tree, [parent], b"stand-in\n")


def _author_variables(author: str) -> dict[str, str]:
    match = _IDENTITY_LINE.match(author)
    if match is None or not match["name"]:
        return {}
    return {
        "GIT_AUTHOR_NAME": match["name"],
        "GIT_AUTHOR_EMAIL": match["email"],
        "GIT_AUTHOR_DATE": f"@{match['at']} {match['zone']}",
    }
