"""The identity and the signature of the commits that hold agents' work: the user's own."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.command import PLAIT_IDENTITY, Git, GitCancelledError, GitError
from plait.git.interfaces import CommitInfo

_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [-+][0-9]+\Z")
_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]+")


class SigningError(WorldError):
    """The repository requires signed commits, and signing failed; the files were not changed."""


def make_signing_error(error: GitError) -> SigningError:
    lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
    why = (lines[0] if lines else error.message).removeprefix("error: ")
    return SigningError(
        f"signing failed: {why}", hint="Unlock the key, or set commit.gpgsign to false in this repository."
    )


def commit_signed(git: Git, tree: str, parents: tuple[str, ...], message: bytes) -> str:
    """A commit that no ref holds yet, signed if the user's commits are. Raises SigningError."""
    sign = ["-S"] if git.read_bool("commit.gpgsign") else []
    try:
        return git.commit_tree(tree, parents, message, *sign)
    except GitCancelledError:
        raise
    except GitError as error:
        raise (make_signing_error(error) if sign else error) from error


def are_commits_signed(git_dir: Path) -> bool:
    return bool(Git(git_dir, variables={"GIT_DIR": str(git_dir)}).read_bool("commit.gpgsign"))


def sign_test_commit(git_dir: Path) -> None:
    """Sign a commit that is thrown away. gpg may use the terminal to ask. Raises SigningError."""
    terminal = {name: os.environ[name] for name in ("GPG_TTY",) if name in os.environ}
    git = Git(git_dir, variables={"GIT_DIR": str(git_dir), **terminal})
    with tempfile.TemporaryDirectory(prefix="plait-signing-") as objects:
        elsewhere = {**find_identity(CommitInfo(""), git), "GIT_OBJECT_DIRECTORY": objects}
        git = git.with_options(variables=elsewhere)
        tree = git.text("hash-object", "-t", "tree", "-w", "--stdin")
        commit_signed(git, tree, (), b"Test the signature\n")


def find_identity(author: CommitInfo, git: Git) -> dict[str, str]:
    """Author and committer as variables for git: the named author, else the user, else plait."""
    name, email = (" ".join(_NOT_IN_NAMES.sub(" ", text).split()) for text in (author.name, author.email))
    named = {"NAME": name, "EMAIL": email} if name else None
    committer = _read_user(git, "GIT_COMMITTER_IDENT")
    people = {
        "GIT_AUTHOR": named or _read_user(git, "GIT_AUTHOR_IDENT") or committer,
        "GIT_COMMITTER": committer or named,
    }
    given = {f"{role}_{key}": value for role, person in people.items() if person for key, value in person.items()}
    return {**PLAIT_IDENTITY, **given}


def _read_user(git: Git, variable: str) -> dict[str, str] | None:
    """The user's name and email as configured, never guessed from the machine."""
    output = git.with_options(settings=("user.useConfigOnly=true",)).run("var", variable, codes=(0, 128))
    match = _IDENT.match(output.text) if output.code == 0 else None
    return {"NAME": match["name"], "EMAIL": match["email"]} if match and match["name"] else None
