"""The identity and the signature of the commits that hold agents' work: by default the user's own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import PLAIT_IDENTITY, Git, GitCancelledError, GitError
from plait.git.interfaces import CommitInfo

_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [-+][0-9]+\Z")
_NOT_FOR_PEOPLE = ("[GNUPG:]", "(no gpg output)", "fatal: failed to write commit object")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")


class SigningError(WorldError):
    """The repository requires signed commits, and signing failed; the files were not changed."""


def make_signing_error(error: GitError) -> SigningError:
    lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
    why = (lines[0] if lines else error.message).removeprefix("error: ")
    if why.endswith(":"):  # newer git tells what the program printed, with lines that are for other programs
        printed = next((line for line in lines[1:] if not line.startswith(_NOT_FOR_PEOPLE)), "")
        why = f"{why} {printed}".removesuffix(": ")
    return SigningError(
        f"signing failed: {why}", hint="Unlock the key, or set commit.gpgsign to false in this repository."
    )


def commit_signed(git: Git, tree: str, parents: tuple[str, ...], message: bytes, *, may_sign: bool = True) -> str:
    """Make a commit that no ref holds yet, signed if the user's commits are, unless `may_sign` is False. Raises
    SigningError.
    """
    sign = ["-S"] if may_sign and git.read_bool("commit.gpgsign") else []
    try:
        return git.commit_tree(tree, parents, message, *sign)
    except GitCancelledError:
        raise
    except GitError as error:
        raise (make_signing_error(error) if sign else error) from error


def are_commits_signed(git_dir: Path) -> bool:
    return bool(Git(git_dir, variables={"GIT_DIR": str(git_dir)}).read_bool("commit.gpgsign"))


def sign_test_commit(git_dir: Path) -> None:
    """Sign a commit that is discarded. gpg may use the terminal to ask. Raises SigningError."""
    terminal = {name: os.environ[name] for name in ("GPG_TTY",) if name in os.environ}
    git = Git(git_dir, variables={"GIT_DIR": str(git_dir), **terminal})
    with tempfile.TemporaryDirectory(prefix="plait-signing-") as objects:
        elsewhere = {
            **find_committer(CommitInfo(""), git, git.text(*LIST_VARIABLES)).variables,
            "GIT_OBJECT_DIRECTORY": objects,
        }
        git = git.with_options(variables=elsewhere)
        tree = git.text("hash-object", "-t", "tree", "-w", "--stdin")
        commit_signed(git, tree, (), b"Test the signature\n")


@dataclass(frozen=True, slots=True)
class Committer:
    """Who makes a commit. `variables`: author and committer for git. `may_sign`: there is a setting about signatures."""

    variables: Mapping[str, str]
    may_sign: bool


LIST_VARIABLES = ("var", "-l")


def find_committer(author: CommitInfo, git: Git, variables: str) -> Committer:
    """Choose the named author, else the user, else plait.

    `variables` is git's output for LIST_VARIABLES, read at once because each question to git takes a process.
    """
    lines = variables.splitlines()
    values = {key: value for key, _, value in (line.partition("=") for line in lines)}
    name, email = (" ".join(_NOT_IN_NAMES.sub(" ", text).split()) for text in (author.name, author.email))
    named = {"NAME": name, "EMAIL": email} if name else None
    user = _find_user(git, values, "GIT_COMMITTER")
    people = {
        "GIT_AUTHOR": named or _find_user(git, values, "GIT_AUTHOR") or user,
        "GIT_COMMITTER": user or named,
    }
    given = {f"{role}_{key}": value for role, person in people.items() if person for key, value in person.items()}
    return Committer({**PLAIT_IDENTITY, **given}, "commit.gpgsign" in values)


def _find_user(git: Git, values: Mapping[str, str], role: str) -> dict[str, str] | None:
    """Return the user's name and email as configured; None if they are not. Git without settings would guess them from
    the machine.
    """
    section = role.removeprefix("GIT_").lower()
    name = git.find_variable(f"{role}_NAME")
    if name is None:
        name = values.get(f"{section}.name") or values.get("user.name")
    has_email = git.find_variable(f"{role}_EMAIL") is not None or not values.keys().isdisjoint(
        {f"{section}.email", "user.email"}
    )
    match = _IDENT.match(values.get(f"{role}_IDENT", "")) if name and has_email else None
    return {"NAME": match["name"], "EMAIL": match["email"]} if match and match["name"] else None
