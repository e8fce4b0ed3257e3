"""Over HTTP: secrets come from git's helpers and stay there, and a clone that was killed is begun again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from plait.core.errors import WorldError
from plait.git.mirror import Mirror, open_mirror
from tests.support.waiting import TIMEOUT_SECONDS

Open = Callable[[str | Path], Mirror]

USER, SECRET = "ann", "hunter2-very-secret"
HELPER = '!f() { test "$1" = get && echo "username=$HELPER_USER" && echo "password=$HELPER_SECRET"; }; f'


class Server(ThreadingHTTPServer):
    """`git http-backend` behind a password. Packs wait for `open`; `asked` says that somebody wants one."""

    daemon_threads = True

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.env = root, env
        self.open, self.asked = Event(), Event()
        self.open.set()

    def handle_error(self, *_: object) -> None:
        """Somebody was killed while he was being answered: that is what these tests are for."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/site.git"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if b"command=fetch" in body:
            self.server.asked.set()
            self.server.open.wait(TIMEOUT_SECONDS)
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        known = "Basic " + b64encode(f"{USER}:{SECRET}".encode()).decode()
        if self.headers.get("Authorization") != known:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="site"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            **self.server.env,
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        completed = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=True).stdout
        head, _, content = completed.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            name, _, value = line.partition(": ")
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's own name
        """Nobody reads it."""


@pytest.fixture
def server(bare: Path, commit: Callable[..., str], env: dict[str, str]) -> Iterator[Server]:
    commit("two.txt")
    made = Server(bare.parent, dict(env))
    thread = Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.open.set()
    made.shutdown()
    made.server_close()
    thread.join(TIMEOUT_SECONDS)


def lend(env: dict[str, str], user: str = USER) -> None:
    env.update(
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="credential.helper",
        GIT_CONFIG_VALUE_0=HELPER,
        HELPER_USER=user,
        HELPER_SECRET=SECRET,
    )


def test_credentials_are_passed_to_git_and_stored_nowhere(
    mirror: Open, server: Server, env: dict[str, str], cache: Path, tmp_path: Path
) -> None:
    lend(env)
    trace = tmp_path / "trace"
    env["GIT_TRACE"] = str(trace)
    made = mirror(server.url)
    made.checkout(made.resolve())
    again = mirror(server.url)
    assert again.git.text("remote", "get-url", "origin") == server.url
    commands = trace.read_text()
    assert "fetch" in commands
    assert SECRET not in commands
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]
    assert SECRET not in repr(made)


def test_a_user_name_in_the_url_is_passed_to_credential_helpers(
    mirror: Open, server: Server, env: dict[str, str], tmp_path: Path
) -> None:
    lend(env)
    asked = tmp_path / "asked"
    env["GIT_CONFIG_VALUE_0"] = f'!f() {{ cat >> {asked}; test "$1" = get && echo "password=$HELPER_SECRET"; }}; f'
    made = mirror(server.url.replace("://", f"://{USER}@"))
    assert f"username={USER}\n" in asked.read_text()
    assert made.url == server.url
    assert "@" not in made.git.text("config", "--get-all", "remote.origin.url")
    assert made.git_dir == mirror(server.url.replace("://", f"://{USER}@").removesuffix(".git")).git_dir


@pytest.mark.parametrize("user", ["", "bob"])
def test_a_failed_authentication_says_how_to_log_in(
    mirror: Open, server: Server, env: dict[str, str], cache: Path, user: str
) -> None:
    if user:
        lend(env, user)
    with pytest.raises(WorldError, match="can't be cloned") as caught:
        mirror(server.url)
    assert "credential helper" in caught.value.hint
    assert SECRET not in str(caught.value)
    assert not list(cache.glob("*/*.git"))


CHILD = (
    "import os, sys; from pathlib import Path; from plait.git.mirror import open_mirror; "
    "open_mirror(sys.argv[1], Path(sys.argv[2]), environment=os.environ)"
)


@pytest.mark.parametrize("whom", [os.kill, os.killpg])
def test_a_killed_clone_is_started_again(
    server: Server, env: dict[str, str], cache: Path, whom: Callable[[int, int], None]
) -> None:
    """Its git may be killed with it, or live on."""
    lend(env)
    server.open.clear()
    command = [sys.executable, "-c", CHILD, server.url, str(cache)]
    with subprocess.Popen(command, env=env, start_new_session=True) as child:
        assert server.asked.wait(TIMEOUT_SECONDS)
        whom(child.pid, signal.SIGKILL)
    assert list(cache.glob("*/incoming-*"))
    assert not list(cache.glob("*/*.git"))
    server.open.set()
    made = open_mirror(server.url, cache, environment=env)
    assert made.resolve()
    assert made.git.run("fsck", "--strict", "--no-progress").code == 0


def test_a_killed_fetch_does_not_prevent_the_next(
    server: Server, env: dict[str, str], cache: Path, commit: Callable[..., str]
) -> None:
    lend(env)
    made = open_mirror(server.url, cache, environment=env)
    before = made.resolve()
    new = commit("three.txt")
    server.asked.clear()
    server.open.clear()
    command = [sys.executable, "-c", CHILD, server.url, str(cache)]
    with subprocess.Popen(command, env=env, start_new_session=True) as child:
        assert server.asked.wait(TIMEOUT_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)
    assert made.resolve() == before
    server.open.set()
    assert open_mirror(server.url, cache, environment=env).resolve() == new
