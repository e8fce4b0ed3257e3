"""What the commit says, who it is by, and whether it is signed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plait.git.interfaces import CommitInfo
from plait.git.worktrees.attempt_commit import SigningError
from tests.support.task_worktree import AUTHOR, TaskWorktree


def told(plot: TaskWorktree, author: CommitInfo) -> tuple[str, list[str]]:
    """The words of the commit above its trailers, and the trailers as git reads them."""
    plot.write("one.txt", "1\n")
    tip = plot.capture(author=author).tip
    trailers = plot.git("log", "-1", "--format=%(trailers:only)", tip).strip().splitlines()
    body = plot.git("log", "-1", "--format=%B", tip).strip()
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
def test_the_words_are_as_given_and_the_trailers_are_trailers(plot: TaskWorktree, message: str) -> None:
    assert told(plot, replace(AUTHOR, message=message)) == (message, TRAILERS)


def test_odd_characters_do_no_harm(plot: TaskWorktree) -> None:
    assert told(plot, replace(AUTHOR, message="\n\n Make\0 it\x1b[31m  \r\nbody\udcff\n\n")) == (
        "Make it[31m\nbody?",
        TRAILERS,
    )


def test_a_message_without_words_names_the_task(plot: TaskWorktree) -> None:
    assert told(plot, replace(AUTHOR, message=" \n")) == ("Work on 01-pages", TRAILERS)


def test_trailers_of_the_message_stay_trailers(plot: TaskWorktree) -> None:
    _, trailers = told(plot, replace(AUTHOR, message="Make it\n\nCo-authored-by: A <a@b>\nFixes: #3"))
    assert trailers == ["Co-authored-by: A <a@b>", "Fixes: #3", *TRAILERS]


def test_a_trailer_is_one_line(plot: TaskWorktree) -> None:
    author = CommitInfo("Make it", (("Plait-Task", "odd\nPlait-Batch: other\r\n name"),))
    assert told(plot, author) == ("Make it", ["Plait-Task: odd Plait-Batch: other name"])


def people(plot: TaskWorktree, author: CommitInfo = AUTHOR) -> list[str]:
    plot.write("one.txt", "1\n")
    tip = plot.capture(author=author).tip
    return plot.git("log", "-1", "--format=%an <%ae>%n%cn <%ce>", tip).splitlines()


def test_who_is_not_named_is_the_user(plot: TaskWorktree) -> None:
    assert people(plot) == ["Una User <una@example.org>"] * 2


def test_who_is_named_is_the_author_and_the_user_commits(plot: TaskWorktree) -> None:
    author = replace(AUTHOR, name="Agent <Smith>\n", email="agent@example.org")
    assert people(plot, author) == ["Agent Smith <agent@example.org>", "Una User <una@example.org>"]


def test_a_user_without_a_name_is_plait(plot: TaskWorktree) -> None:
    plot.git("config", "--unset", "user.name")
    plot.git("config", "--unset", "user.email")
    assert people(plot) == ["plait <plait@localhost>"] * 2


def test_without_a_user_the_named_author_commits(plot: TaskWorktree) -> None:
    plot.git("config", "--unset", "user.name")
    plot.git("config", "--unset", "user.email")
    author = replace(AUTHOR, name="Agent", email="agent@example.org")
    assert people(plot, author) == ["Agent <agent@example.org>"] * 2


def signer(plot: TaskWorktree, tmp_path: Path, script: str) -> None:
    program = tmp_path / "signer"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    program.chmod(0o755)
    plot.git("config", "gpg.program", str(program))
    plot.git("config", "commit.gpgsign", "true")


SIGNS = r"""printf '\n[GNUPG:] SIG_CREATED x\n' >&2; printf -- '-----BEGIN PGP SIGNATURE-----\nsigned\n-----END PGP SIGNATURE-----\n'"""


@pytest.mark.parametrize("hooks", [True, False])
def test_a_repository_that_wants_signatures_gets_them(plot: TaskWorktree, tmp_path: Path, *, hooks: bool) -> None:
    signer(plot, tmp_path, SIGNS)
    plot.write("one.txt", "1\n")
    tip = plot.capture(hooks=hooks).tip
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in plot.git("cat-file", "commit", tip)


@pytest.mark.parametrize("hooks", [True, False])
def test_a_signature_that_fails_is_told_and_nothing_is_lost(plot: TaskWorktree, tmp_path: Path, *, hooks: bool) -> None:
    signer(plot, tmp_path, "echo 'no secret key' >&2; exit 2")
    plot.write("one.txt", "1\n")
    with pytest.raises(SigningError, match="can't be signed") as caught:
        plot.capture(hooks=hooks)
    assert "commit.gpgsign" in caught.value.hint
    assert (plot.path / "one.txt").read_text() == "1\n"
    plot.git("config", "commit.gpgsign", "false")
    assert plot.capture(hooks=hooks).files == ("one.txt",)
