"""Git commands end: with an answer, when they are cancelled, or when a program that they run does not answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git import command
from plait.git.command import CommandControl, Git, GitCancelledError, GitError, control_commands
from plait.system import processes
from tests.support.git_repository import GitRepository
from tests.support.guarded_remote import serve_guarded_remote
from tests.support.waiting import wait_until


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "CHECK_SECONDS", 0.1)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(GitRepository(tmp_path / "repository").top)


@pytest.fixture
def guarded_remote() -> Iterator[str]:
    with serve_guarded_remote() as url:
        yield url


def make_signer(folder: Path, script: str) -> Path:
    signer = folder / "signer.sh"
    signer.write_text(f"#!/bin/sh\n{script}\n")
    signer.chmod(0o755)
    return signer


def test_a_cancelled_command_ends_with_everything_it_started(git: Git, tmp_path: Path) -> None:
    signer = make_signer(tmp_path, f"trap '' TERM\necho $$ > {tmp_path / 'pid'}\nsleep 3600")
    awaited: list[str] = []

    def cancel(program: str) -> None:
        awaited.append(program)
        control.cancel()

    control = CommandControl(cancel)
    signing = git.with_options(settings=(f"gpg.program={signer}",))
    tree = signing.text("write-tree")
    with control_commands(control), pytest.raises(GitCancelledError):
        signing.commit_tree(tree, [], b"x", "-S")
    assert awaited == ["signer.sh"]
    wait_until(lambda: processes.start_time(int((tmp_path / "pid").read_text())) is None)
    with control_commands(control), pytest.raises(GitCancelledError):
        git.run("version")
    git.run("version")


def test_a_signer_that_does_not_answer_ends_the_command(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SIGNING_TIMEOUT_SECONDS", 0.5)
    signing = git.with_options(settings=(f"gpg.program={make_signer(tmp_path, 'sleep 3600')}",))
    with pytest.raises(
        GitError, match=r"git commit-tree waited 0\.5s for signer.sh, which may be asking for a password"
    ):
        signing.commit_tree(signing.text("write-tree"), [], b"x", "-S")


def test_a_credential_helper_that_does_not_answer_ends_the_command(
    git: Git, guarded_remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "CREDENTIAL_TIMEOUT_SECONDS", 0.5)
    asking = git.with_options(settings=("credential.helper=!sleep 3600 #",))
    with pytest.raises(GitError, match=r"git ls-remote waited 0\.5s for sleep, which may be asking for a password"):
        asking.run("ls-remote", guarded_remote)


def test_a_wait_for_a_program_ends_with_its_answer(git: Git, guarded_remote: str, tmp_path: Path) -> None:
    """Git goes on with the answer, which may take long."""
    waits: list[str] = []

    def answer(program: str) -> None:
        waits.append(program)
        (tmp_path / "answered").touch()

    helper = make_signer(tmp_path, f"until [ -e {tmp_path}/answered ]; do sleep 0.05; done; echo password=none")
    asking = git.with_options(settings=(f"credential.helper=!{helper}", "credential.username=me"))
    with control_commands(CommandControl(answer)), pytest.raises(GitError):
        asking.run("ls-remote", guarded_remote)
    assert waits == [helper.name, ""]


def test_a_missing_password_is_an_error_at_once(git: Git, guarded_remote: str) -> None:
    with pytest.raises(GitError, match="could not read Username"):
        git.with_options(settings=("credential.helper=",)).run("ls-remote", guarded_remote)


def test_a_program_that_a_command_left_behind_is_not_waited_for(git: Git, tmp_path: Path) -> None:
    (tmp_path / "staying").write_text(
        "i=0\n"
        f"until [ -e {tmp_path}/go ] || [ $i = 1000 ]; do echo still here >&2; sleep 0.01; i=$((i + 1)); done\n"
        f"touch {tmp_path}/ended\n"
    )
    leaving = git.with_options(settings=(f"alias.leave=!sh {tmp_path}/staying & echo done",))
    assert leaving.text("leave") == "done"
    assert not (tmp_path / "ended").exists()
    (tmp_path / "go").touch()


def test_what_a_command_prints_last_is_read_when_it_exits_after_a_check_began(
    git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command._Process, "poll", lambda process: process.wait())  # it exits just before
    printing = git.with_options(settings=("alias.late=!sleep 0.3; echo done; echo why >&2; exit 3",))
    with pytest.raises(GitError, match="why"):
        printing.run("late")
    assert printing.run("late", codes=(3,)).out == b"done\n"


def test_this_machines_name_is_not_looked_up_for_an_address(tmp_path: Path) -> None:
    """Git would, in the network, for the log of each ref that it moves."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    assert "<plait@localhost>" in Git(tmp_path, environment=environment).text("var", "-l")
    assert "<me@home>" in Git(tmp_path, environment={**environment, "EMAIL": "me@home"}).text("var", "-l")
