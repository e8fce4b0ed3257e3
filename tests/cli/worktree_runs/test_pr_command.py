"""`plait pr` with words of a person's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.guarded_remote import serve_guarded_remote
from tests.support.local_forge import REPOSITORY, LocalForge, local_forge
from tests.support.temp_project import TempProject, plait_command
from tests.support.waiting import wait_until


@pytest.fixture
def remote(tmp_path: Path, project: TempProject) -> Iterator[LocalForge]:
    """One task is merged, and the remote is the forge's."""
    with local_forge(tmp_path / "forge") as made:
        project.git("remote", "set-url", "origin", f"{made.url}/{REPOSITORY}.git")
        project.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        project.task("01-walls", "echo walls > walls.txt")
        project.commit_all()
        assert project.plait("run", "tasks", "--yes", "--no-pr").code == 0
        yield made


def test_title_and_description_can_be_given(project: TempProject, remote: LocalForge, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("As agreed.\n")
    answer = project.plait("pr", "--title", "Four walls", "--body-file", str(text))
    assert answer.code == 0, answer.err
    (pull,) = remote.pulls
    assert pull["title"] == "Four walls"
    assert "As agreed." in pull["body"]
    assert project.plait("pr").code == 0
    assert (pull["title"], "As agreed." in pull["body"]) == ("Four walls", True)


def test_the_description_can_be_read_from_standard_input(project: TempProject, remote: LocalForge) -> None:
    terminal = project.popen(
        ["sh", "-c", 'printf "From a pipe.\\n" | "$0" "$@"', *plait_command("pr", "--body-file", "-")]
    )
    assert project.finish(terminal).code == 0
    assert "From a pipe." in remote.pulls[0]["body"]
    assert remote.pulls[0]["title"] == "01-walls"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--title", ""), "the title is blank"),
        (("--title", "two\nlines"), "the title must be one line of text"),
        (("--title", "x" * 256), "a title has at most 255 characters"),
        (("--body-file", "none.md"), "none.md can't be read: No such file or directory"),
        (("--body-file", "latin.md"), "latin.md is not UTF-8 text"),
    ],
)
def test_an_invalid_title_or_description_is_reported_and_nothing_is_published(
    project: TempProject, remote: LocalForge, words: tuple[str, ...], why: str
) -> None:
    (project.top / "latin.md").write_bytes(b"caf\xe9")
    answer = project.plait("pr", *words)
    assert (answer.code, remote.pulls) == (2, [])
    assert why in answer.err


def test_a_program_that_asks_for_a_password_is_named_while_it_is_waited_for(
    project: TempProject, tmp_path: Path
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    assert project.plait("run", "tasks", "--yes", "--no-pr").code == 0
    vault, answer = tmp_path / "git-credential-vault", tmp_path / "answer"
    vault.write_text(f"#!/bin/sh\nuntil [ -e {answer} ]; do sleep 0.1; done\necho password=wrong\n")
    vault.chmod(0o755)
    with serve_guarded_remote() as url:
        project.git("remote", "set-url", "origin", url)
        project.git("config", "credential.helper", str(vault))
        publishing = project.start("pr", "--push")
        wait = "waiting for a password from git-credential-vault, which may be asking you for it"
        wait_until(lambda: f", being published: {wait}" in project.plait("status", project.batch().id).out)
        answer.touch()
        result = project.finish(publishing)
    assert (result.code, wait in result.err) == (1, True), result
    assert wait not in project.plait("status", project.batch().id).out


def test_a_password_that_no_one_gives_is_not_waited_for_when_the_batch_is_cancelled(
    project: TempProject, tmp_path: Path
) -> None:
    vault = tmp_path / "git-credential-vault"
    vault.write_text("#!/bin/sh\nsleep 120\n")
    vault.chmod(0o755)
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    with serve_guarded_remote() as url:
        project.git("remote", "set-url", "origin", url)
        project.git("config", "credential.helper", str(vault))
        running = project.start("run", "tasks", "--yes", "--push", "--no-preflight")
        wait_until(lambda: project.state().batches and project.batch().awaited_program)
        assert project.plait("cancel").code == 0
        result = project.finish(running)
    assert "it was cancelled" in result.out
    assert "waited 20s" not in result.out


NO_PULL_REQUEST = "no pull request: this remote is not on GitHub, GitLab or Gitea"


def test_a_remote_that_is_no_forge_gets_the_branch(project: TempProject) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    run = project.plait("run", "tasks", "--yes", "--no-pr")
    assert "   pushes the branch" in run.out
    answer = project.plait("pr")
    assert (answer.code, answer.out.splitlines()[-1].endswith(f"; {NO_PULL_REQUEST}.")) == (0, True), answer.err
    assert project.branch in project.git("ls-remote", "origin", project.branch)
    assert f"pushed; {NO_PULL_REQUEST}" in project.plait("status", project.batch().id).out
    assert json.loads(project.plait("pr", "--json").out)["note"] == NO_PULL_REQUEST


def test_a_run_with_a_pull_request_pushes_to_a_remote_that_is_no_forge(project: TempProject, tmp_path: Path) -> None:
    project.git("init", "--quiet", "--bare", "-b", "empty", str(tmp_path / "empty.git"))
    project.git("remote", "set-url", "origin", os.path.relpath(tmp_path / "empty.git", project.top))
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    run = project.plait("run", "tasks", "--yes", "--pr")
    assert run.code == 0, run.err
    assert "the branch will be pushed, without a pull request" in run.err
    assert NO_PULL_REQUEST in run.out
    assert project.branch in project.git("ls-remote", "origin", project.branch)


def test_without_a_remote_nothing_is_offered(project: TempProject) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.git("remote", "remove", "origin")
    assert "plait pr" not in project.plait("run", "tasks", "--yes").out
