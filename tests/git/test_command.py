"""Git commands end: with an answer, when they are cancelled, or when a program that they run does not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from plait.git import command
from plait.git.command import CommandControl, Git, GitCancelledError, GitError, control_commands
from plait.system import processes
from tests.support.git_repository import GitRepository
from tests.support.waiting import wait_until


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "CHECK_SECONDS", 0.1)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(GitRepository(tmp_path / "repository").top)


@pytest.fixture
def guarded_remote() -> Iterator[str]:
    """The URL of a server that wants a password."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="here"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/repository.git"
        server.shutdown()


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


def test_a_missing_password_is_an_error_at_once(git: Git, guarded_remote: str) -> None:
    with pytest.raises(GitError, match="could not read Username"):
        git.with_options(settings=("credential.helper=",)).run("ls-remote", guarded_remote)


def test_a_program_that_a_command_left_behind_is_not_waited_for(git: Git) -> None:
    leaving = git.with_options(settings=("alias.leave=!sleep 20 & echo done",)).with_timeout(5)
    assert leaving.text("leave") == "done"
