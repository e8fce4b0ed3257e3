"""What a commit says, and who it is by."""

from __future__ import annotations

import re

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.command import Git
from plait.store.interfaces import CommitInfo

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TRAILER = re.compile(r"[A-Za-z0-9-]+: \S")
_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [-+][0-9]+\Z")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str


PLAIT_IDENTITY = Identity("plait", "plait@localhost")


def format_commit_message(author: CommitInfo, attempt: Attempt) -> str:
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


def identity_variables(author: CommitInfo, git: Git) -> dict[str, str]:
    """The author and the committer as variables for git. Who is not named is the user; a user without a name is plait."""
    committer = _configured_user(git, "GIT_COMMITTER_IDENT")
    named = Identity(_clean_name(author.name), _clean_name(author.email))
    writer = named if named.name else _configured_user(git, "GIT_AUTHOR_IDENT") or committer or PLAIT_IDENTITY
    keeper = committer or (named if named.name else PLAIT_IDENTITY)
    return format_identity(writer, keeper)


def format_identity(author: Identity, committer: Identity) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": committer.name,
        "GIT_COMMITTER_EMAIL": committer.email,
    }


def _configured_user(git: Git, name: str) -> Identity | None:
    """As git would have it, but never guessed from the machine."""
    said = git.with_options(settings=("user.useConfigOnly=true",)).run("var", name, codes=(0, 128))
    found = _IDENT.match(said.text) if said.code == 0 else None
    return Identity(found["name"], found["email"]) if found and found["name"] else None


def _clean_name(text: str) -> str:
    return " ".join(_NOT_IN_NAMES.sub(" ", text).split())
