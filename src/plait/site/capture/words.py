"""What a commit says, and who it is by."""

from __future__ import annotations

import re

from plait.core.frozen import dataclass
from plait.core.task import Attempt
from plait.ports import Author
from plait.site.git import Git

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S")
_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [-+][0-9]+\Z")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    email: str


PLAIT = Person("plait", "plait@localhost")


def message(author: Author, attempt: Attempt) -> str:
    """The words as they are, whatever they begin with, and below them the trailers as the last paragraph."""
    said = _CONTROL.sub("", author.message.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [line.rstrip() for line in said.strip().split("\n")]
    words = "\n".join(lines) or f"Work on {' '.join(attempt.task.split())}"
    trailers = [f"{key}: {_CONTROL.sub('', ' '.join(value.split()))}" for key, value in author.trailers]
    if not trailers:
        return f"{words}\n"
    _, gap, last = words.rpartition("\n\n")
    together = gap and all(_TRAILER.match(line) for line in last.split("\n"))
    return words + ("\n" if together else "\n\n") + "\n".join(trailers) + "\n"


def people(author: Author, git: Git) -> dict[str, str]:
    """The author and the committer as variables for git. Who is not named is the user; a user without a name is plait."""
    committer = _user(git, "GIT_COMMITTER_IDENT")
    named = Person(_clean(author.name), _clean(author.email))
    writer = named if named.name else _user(git, "GIT_AUTHOR_IDENT") or committer or PLAIT
    keeper = committer or (named if named.name else PLAIT)
    return variables(writer, keeper)


def variables(writer: Person, keeper: Person) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": writer.name,
        "GIT_AUTHOR_EMAIL": writer.email,
        "GIT_COMMITTER_NAME": keeper.name,
        "GIT_COMMITTER_EMAIL": keeper.email,
    }


def _user(git: Git, name: str) -> Person | None:
    """As git would have it, but never guessed from the machine."""
    said = git.with_(settings=("user.useConfigOnly=true",)).run("var", name, codes=(0, 128))
    found = _IDENT.match(said.text) if said.code == 0 else None
    return Person(found["name"], found["email"]) if found and found["name"] else None


def _clean(text: str) -> str:
    return " ".join(_NOT_IN_NAMES.sub(" ", text).split())
