"""What the commit says, who it is by, and whether it is signed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plait.git.command import GitError
from plait.git.interfaces import CommitInfo
from plait.git.worktrees.signing import SigningError, make_signing_error
from tests.support.task_worktree import AUTHOR, TaskWorktree


def captured_message(worktree: TaskWorktree, author: CommitInfo) -> tuple[str, list[str]]:
    """The words of the commit above its trailers, and the trailers as git reads them."""
    worktree.write("one.txt", "1\n")
    tip = worktree.capture(author=author).tip
    trailers = worktree.git("log", "-1", "--format=%(trailers:only)", tip).strip().splitlines()
    body = worktree.git("log", "-1", "--format=%B", tip).strip()
    return body.removesuffix("\n".join(trailers)).strip("\n"), trailers


TRAILERS = ["Plait-Batch: 7f3a", "Plait-Task: 01-pages", "Plait-Attempt: write-1"]


@pytest.mark.parametrize(
    "message",
    [
        "Make it",
        "# Make it",
        "- Make it",
        "-m Make it",
        "Make it\n\nwith a body",
        "Make\nit",
        "Make it: now",
        "ümläut ✓",
        "a\n---\nb",
    ],
)
def test_the_message_is_unchanged_and_git_reads_the_trailers(worktree: TaskWorktree, message: str) -> None:
    assert captured_message(worktree, replace(AUTHOR, message=message)) == (message, TRAILERS)


def test_control_characters_are_removed_from_the_message(worktree: TaskWorktree) -> None:
    assert captured_message(worktree, replace(AUTHOR, message="\n\n Make\0 it\x1b[31m  \r\nbody\udcff\n\n")) == (
        "Make it[31m\nbody?",
        TRAILERS,
    )


def test_an_empty_message_names_the_task(worktree: TaskWorktree) -> None:
    assert captured_message(worktree, replace(AUTHOR, message=" \n")) == ("Work on 01-pages", TRAILERS)


def test_trailers_of_the_message_stay_trailers(worktree: TaskWorktree) -> None:
    _, trailers = captured_message(worktree, replace(AUTHOR, message="Make it\n\nCo-authored-by: A <a@b>\nFixes: #3"))
    assert trailers == ["Co-authored-by: A <a@b>", "Fixes: #3", *TRAILERS]


def test_a_trailer_is_one_line(worktree: TaskWorktree) -> None:
    author = CommitInfo("Make it", (("Plait-Task", "odd\nPlait-Batch: other\r\n name"),))
    assert captured_message(worktree, author) == ("Make it", ["Plait-Task: odd Plait-Batch\u200b: other name"])


def people(worktree: TaskWorktree, author: CommitInfo = AUTHOR) -> list[str]:
    worktree.write("one.txt", "1\n")
    tip = worktree.capture(author=author).tip
    return worktree.git("log", "-1", "--format=%an <%ae>%n%cn <%ce>", tip).splitlines()


def test_without_a_named_author_the_user_is_the_author(worktree: TaskWorktree) -> None:
    assert people(worktree) == ["Una User <una@example.org>"] * 2


def test_a_named_author_is_the_author_and_the_user_the_committer(worktree: TaskWorktree) -> None:
    author = replace(AUTHOR, name="Agent <Smith>\n", email="agent@example.org")
    assert people(worktree, author) == ["Agent Smith <agent@example.org>", "Una User <una@example.org>"]


def test_without_a_configured_user_the_author_is_plait(worktree: TaskWorktree) -> None:
    worktree.git("config", "--unset", "user.name")
    worktree.git("config", "--unset", "user.email")
    assert people(worktree) == ["plait <plait@localhost>"] * 2


def test_an_empty_name_is_none(worktree: TaskWorktree) -> None:
    worktree.git("config", "user.name", "")
    assert people(worktree) == ["plait <plait@localhost>"] * 2


def test_without_a_user_the_named_author_commits(worktree: TaskWorktree) -> None:
    worktree.git("config", "--unset", "user.name")
    worktree.git("config", "--unset", "user.email")
    author = replace(AUTHOR, name="Agent", email="agent@example.org")
    assert people(worktree, author) == ["Agent <agent@example.org>"] * 2


def signer(worktree: TaskWorktree, tmp_path: Path, script: str) -> None:
    program = tmp_path / "signer"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    program.chmod(0o755)
    worktree.git("config", "gpg.program", str(program))
    worktree.git("config", "commit.gpgsign", "true")


SIGNS = r"""printf '\n[GNUPG:] SIG_CREATED x\n' >&2; printf -- '-----BEGIN PGP SIGNATURE-----\nsigned\n-----END PGP SIGNATURE-----\n'"""


@pytest.mark.parametrize("hooks", [True, False])
def test_commits_are_signed_if_the_repository_requires_it(
    worktree: TaskWorktree, tmp_path: Path, *, hooks: bool
) -> None:
    signer(worktree, tmp_path, SIGNS)
    worktree.write("one.txt", "1\n")
    tip = worktree.capture(hooks=hooks).tip
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in worktree.git("cat-file", "commit", tip)


@pytest.mark.parametrize("hooks", [True, False])
def test_a_failed_signature_is_reported_and_nothing_is_lost(
    worktree: TaskWorktree, tmp_path: Path, *, hooks: bool
) -> None:
    signer(worktree, tmp_path, "echo 'no secret key' >&2; exit 2")
    worktree.write("one.txt", "1\n")
    with pytest.raises(SigningError, match="signing failed") as caught:
        worktree.capture(hooks=hooks)
    assert "commit.gpgsign" in caught.value.hint
    assert (worktree.path / "one.txt").read_text() == "1\n"
    worktree.git("config", "commit.gpgsign", "false")
    assert worktree.capture(hooks=hooks).files == ("one.txt",)


FAILED = "error: gpg failed to sign the data"


@pytest.mark.parametrize(
    ("stderr", "why"),
    [
        (f"{FAILED}\nfatal: failed to write commit object\n", ""),
        (f"{FAILED}:\n(no gpg output)\nfatal: failed to write commit object\n", ""),
        (
            f"{FAILED}:\n[GNUPG:] KEY_CONSIDERED 1 0\ngpg: signing failed: No secret key\n",
            ": gpg: signing failed: No secret key",
        ),
    ],
)
def test_a_failed_signature_says_what_the_program_printed(stderr: str, why: str) -> None:
    """Git 2.41 and newer tells it, in lines of their own."""
    error = make_signing_error(GitError("git commit-tree: failed", stderr=stderr))
    assert error.message == f"signing failed: gpg failed to sign the data{why}"
