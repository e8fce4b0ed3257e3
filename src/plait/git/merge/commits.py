"""Commits as git stores them, and the ones plait makes: the same ingredients give the same commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_IDENTITY_LINE = re.compile(r"(?P<name>.*?) ?<(?P<email>.*)> (?P<at>\d+) (?P<zone>[+-]\d{4})\Z", re.DOTALL)
_PLAIT_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "plait"), ("EMAIL", "plait@localhost"))
}
_FIXED_DATE = "@1000000000 +0000"


@dataclass(frozen=True, slots=True)
class Commit:
    """`author` and `committer` are as git writes them: name, address, time and zone."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str

    @property
    def date(self) -> str:
        found = _IDENTITY_LINE.match(self.committer)
        return f"@{found['at']} {found['zone']}" if found else _FIXED_DATE

    @property
    def trailers(self) -> frozenset[str]:
        return frozenset(self.message.rstrip("\n").rpartition("\n\n")[2].split("\n"))


def is_commit_id(name: str) -> bool:
    return _COMMIT_ID.match(name) is not None


def read_commits(git: Git, names: Sequence[str]) -> dict[str, Commit]:
    """Those of the names (whole ids, refs) that are commits here, in one call."""
    names = [name for name in names if is_commit_id(name) or name.startswith("refs/")]
    told = git.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode()).out
    found, at = {}, 0
    for name in names:
        end = told.index(b"\n", at)
        head = told[at:end].decode("utf-8", "replace").split(" ")
        at = end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            if head[1] == "commit":
                found[name] = _parse_commit(head[0], told[at : at + size])
            at += size + 1
    return found


def _parse_commit(name: str, raw: bytes) -> Commit:
    head, _, message = raw.decode("utf-8", "surrogateescape").partition("\n\n")
    said = [line.partition(" ") for line in head.split("\n")]
    first = {word: value for word, _, value in reversed(said)}
    parents = tuple(value for word, _, value in said if word == "parent")
    return Commit(name, first["tree"], parents, first.get("author", ""), first.get("committer", ""), message)


def format_merge_message(message: str, trailers: Iterable[tuple[str, str]]) -> str:
    """The message with its trailers as the last paragraph, each on one line."""
    plain = message.replace("\0", "").strip() or "Merge"
    lines = [f"{name}: {' '.join(value.replace(chr(0), '').split())}" for name, value in trailers]
    return "\n\n".join((plain, "\n".join(lines))) + "\n"


class CommitMaker:
    """Makes commits in the user's name, signed if the user's are; without a name, in plait's."""

    def __init__(self, git: Git) -> None:
        self._git = git.with_options(settings=("i18n.commitEncoding=UTF-8",))
        self._identity: Mapping[str, str] | None = None
        self._sign: tuple[str, ...] = ()

    def make(self, tree: str, parents: Sequence[str], message: str, date: str) -> str:
        self._load_identity()
        return self._commit(tree, parents, message, {}, date)

    def recommit(self, tree: str, parents: Sequence[str], original: Commit) -> str:
        """The same author and words over another tree."""
        self._load_identity()
        author = _author_variables(original.author) or {"GIT_AUTHOR_DATE": original.date}
        return self._commit(tree, parents, original.message.replace("\0", "") or "\n", author, original.date)

    def _commit(self, tree: str, parents: Sequence[str], message: str, author: Mapping[str, str], date: str) -> str:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        git = self._git.with_options(variables={**(self._identity or {}), **dates, **author})
        words = [word for parent in parents for word in ("-p", parent)]
        feed = message.encode("utf-8", "surrogateescape")
        return git.text("commit-tree", *self._sign, tree, *words, stdin=feed)

    def _load_identity(self) -> None:
        """Once: whoever changes a name in the middle of a batch keeps the old one until the next engine."""
        if self._identity is not None:
            return
        strict = self._git.with_options(settings=("user.useConfigOnly=true",))
        if strict.run("config", "--type=bool", "commit.gpgSign", codes=(0, 1)).text == "true":
            self._sign = ("-S",)
        try:
            strict.run("var", "GIT_AUTHOR_IDENT")
            strict.run("var", "GIT_COMMITTER_IDENT")
        except GitError:
            self._identity = _PLAIT_IDENTITY
        else:
            self._identity = {}


def make_synthetic_commit(git: Git, tree: str, parent: str) -> str:
    """A commit that is only there to be merged: nobody's, and always the same."""
    dates = {"GIT_AUTHOR_DATE": _FIXED_DATE, "GIT_COMMITTER_DATE": _FIXED_DATE}
    return git.with_options(variables={**_PLAIT_IDENTITY, **dates}).text(
        "commit-tree", tree, "-p", parent, "-m", "stand-in"
    )


def _author_variables(said: str) -> dict[str, str]:
    found = _IDENTITY_LINE.match(said)
    if found is None or not found["name"]:
        return {}
    return {
        "GIT_AUTHOR_NAME": found["name"],
        "GIT_AUTHOR_EMAIL": found["email"],
        "GIT_AUTHOR_DATE": f"@{found['at']} {found['zone']}",
    }
