from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from tests.support.cli_runner import ask
from tests.support.running_server import EventFollower, ServerProcess, read_token, start_server
from tests.support.temp_project import TempProject, temp_project, use_environment
from tests.support.waiting import wait_until

WAITS = "echo $$ >> runs-{name}\nuntil [ -e go-{name} ]; do sleep 0.02; done"


def create_repository(project: TempProject, name: str) -> Path:
    top = project.top.parent / name
    project.git_in(project.top, "init", "--quiet", "-b", "main", str(top))
    return top


class FolderProject(TempProject):
    """The folder itself is the repository, or none."""

    @property
    def top(self) -> Path:
        return self.folder


def in_folder(project: TempProject, folder: Path) -> TempProject:
    """Another folder of the same user."""
    return FolderProject(folder, project.env, project.cli_processes, project.terminals)


@pytest.fixture(scope="module")
def shared_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TempProject, ServerProcess]]:
    """A project and its `plait serve`, for tests that neither stop it nor change its token."""
    with temp_project(tmp_path_factory.mktemp("shared"), forks=False) as project:
        server = start_server(project)
        project.forks = True
        yield project, server


def run(server: ServerProcess, *tasks: str, project_id: str = "", **settings: object) -> str:
    made = server.post(
        f"/api/batches?project={project_id}" if project_id else "/api/batches",
        {"taskIds": tasks, "settings": settings},
    )
    assert isinstance(made["id"], str)
    return made["id"]


def wait_until_completed(server: ServerProcess, batch: str, project_id: str = "") -> None:
    path = f"/api/batches/{batch}" + (f"?project={project_id}" if project_id else "")
    wait_until(lambda: server.get(path)["status"] == "completed")


def wait_until_done(project: TempProject, *tasks: str) -> None:
    wait_until(lambda: project.statuses() == dict.fromkeys(tasks, "done"))


# What it says


def test_one_login_link_and_no_token_are_printed(project: TempProject) -> None:
    front = project.start("serve", "--port", "0")
    assert front.stdout is not None
    lines = [front.stdout.readline() for _ in range(4)]
    assert lines[0].startswith(f"plait serves {project.top} at http://127.0.0.1:")
    assert ["/login?code=" in line for line in lines] == [False, False, True, False]
    os.kill(front.pid, signal.SIGTERM)
    out, err = front.communicate(timeout=60)
    assert (front.returncode, out, err) == (0, "", "")


def test_under_systemd_no_login_link_is_printed_but_its_command(project: TempProject) -> None:
    front = project.start("serve", "--port", "0", env={"JOURNAL_STREAM": "8:1234"})
    assert front.stdout is not None
    first, second = front.stdout.readline(), front.stdout.readline()
    url = first.split()[-1]
    assert first == f"plait serves {project.top} at {url}\n"
    assert second == f"  For a login link: plait token --link --url {url}\n"
    os.kill(front.pid, signal.SIGTERM)
    out, err = front.communicate(timeout=60)
    assert (front.returncode, out, err) == (0, "", "")


def test_on_a_terminal_one_login_link_is_printed_and_works_once(project: TempProject) -> None:
    terminal = project.terminal("serve", "--port", "0")
    terminal.wait_for("Ctrl+C stops the server")
    assert terminal.text.count("/login?code=") == 1
    assert f"plait serves {project.top} at http://127.0.0.1:" in terminal.text
    (link,) = (word for word in terminal.text.split() if "/login?" in word)
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
        page = browser.get(link)
        assert page.status_code == 200
        assert "<title>plait</title>" in page.text
        assert not re.search(r"<script(?![^>]* src=)|<style|style=", page.text)  # nothing inline
    assert httpx.get(link, trust_env=False, timeout=60).status_code == 410
    terminal.type("\x03")
    assert terminal.wait() == 130
    assert "Traceback" not in terminal.text


def test_json_output_is_one_line_with_url_and_link(project: TempProject) -> None:
    server = start_server(project)
    assert server.process.pid == server.pid
    assert server.link.startswith(f"{server.url}/login?code=")
    assert server.get("/health")["status"] == "ok"
    assert [each["path"] for each in server.get("/api/projects")["projects"]] == [str(project.top)]
    assert server.end() == 0


def test_open_starts_a_browser_with_the_link_and_ignores_its_failure(project: TempProject, tmp_path: Path) -> None:
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened.part && mv {tmp_path}/opened.part {tmp_path}/opened\n')
    script.chmod(0o755)
    server = start_server(project, "--open", env={"BROWSER": str(script)})
    wait_until((tmp_path / "opened").exists)
    assert (tmp_path / "opened").read_text() == f"{server.link}\n"
    other = start_server(project, "--open", env={"BROWSER": "/nowhere/browser"})
    assert other.get("/health")["status"] == "ok"
    assert other.end() == 0


def test_a_server_that_is_started_in_no_project_serves_those_that_are_added(project: TempProject) -> None:
    home = in_folder(project, Path(project.env["HOME"]))
    process = home.start("serve", "--port", "0")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("plait serves no project yet at ")
    server = ServerProcess(url=line.split()[-1], link="", token=read_token(project), process=process, pid=process.pid)
    refused = server.request("GET", "/api/batches")
    assert refused.status_code == 404
    assert "not started in a project" in refused.json()["error"]
    added = server.post("/api/projects", {"path": str(project.top)})
    assert server.get(f"/api/batches?project={added['id']}")["batches"] == []
    assert server.get("/api/batches")["batches"] == []
    process = home.start("serve", "--port", "0")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("plait serves 1 project at ")


# Where it listens


def test_a_port_in_use_is_reported_with_its_process_and_a_hint(
    shared_process: tuple[TempProject, ServerProcess],
) -> None:
    project, server = shared_process
    port = server.url.rpartition(":")[2]
    completed = project.plait("serve", "--port", port)
    assert (completed.code, completed.out) == (2, "")
    assert f"port {port} is in use" in completed.err
    assert "--port 0" in completed.err
    if sys.platform == "linux":
        assert f"by another plait serve (process {server.pid})" in completed.err


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--host", "203.0.113.7"], "is not an address of this machine"),
        (["--host", "no such host"], "is not a host"),
        (["--port", "70000"], "70000"),
        (["--keyfile", "key.pem"], "--certfile"),
        (["--certfile", "nowhere.pem"], "can't be read"),
        (["--allow-host", "ftp://x"], "is not a host"),
    ],
)
def test_options_that_can_not_be_used_are_refused_before_anything_starts(
    project: TempProject, capsys: pytest.CaptureFixture[str], args: list[str], why: str
) -> None:
    with use_environment(project.env):
        result = ask(capsys, project.top, "serve", "--port", "0", *args)
    assert (result.code, result.out) == (2, "")
    assert why in result.err
    assert not (Path(project.env["XDG_STATE_HOME"]) / "plait" / "token").exists()


def test_listening_on_all_interfaces_prints_a_warning(project: TempProject) -> None:
    server = start_server(project, "--host", "0.0.0.0")
    assert server.url.startswith("http://127.0.0.1:")
    assert server.get("/health")["status"] == "ok"
    assert server.end() == 0
    assert server.process.stderr is not None
    output = server.process.stderr.read()
    assert "can be reached from the network" in output
    assert "no TLS" in output
    port = server.url.rpartition(":")[2]
    assert f"plait token --link --url http://ADDRESS:{port}\n" in output
    assert f"ssh -L {port}:127.0.0.1:{port} MACHINE\n" in output
    assert "code=" not in output


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_server_listens_on_ipv6(project: TempProject) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no address ::1")
    server = start_server(project, "--host", "[::1]")
    assert server.url.startswith("http://[::1]:")
    assert server.get("/api/projects")["projects"]


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    secret.chmod(0o600)
    return cert, secret


def test_a_server_with_a_certificate_speaks_only_tls(project: TempProject, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    server = start_server(project, "--certfile", str(cert), "--keyfile", str(key))
    assert server.url.startswith("https://")
    assert server.link.startswith("https://")
    server.certificate = str(cert)
    assert server.get("/api/projects")["projects"]
    with server.client() as browser:
        cookie = browser.get(server.link).headers["set-cookie"]
    assert "Secure" in cookie
    with pytest.raises(httpx.HTTPError):
        httpx.get(server.url.replace("https", "http"), trust_env=False, timeout=60)
    assert server.end() == 0


def test_rotating_the_token_invalidates_the_old_one(project: TempProject) -> None:
    first = start_server(project)
    assert first.request("GET", "/api/projects").status_code == 200
    second = start_server(project, "--rotate-token")
    assert second.token != first.token
    assert second.request("GET", "/api/projects").status_code == 200
    assert first.request("GET", "/api/projects").status_code == 401


# How it ends


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_server_ends_at_once_with_open_streams_and_its_batch_continues(
    project: TempProject, number: signal.Signals, code: int
) -> None:
    project.task("one", WAITS.format(name="one"))
    server = start_server(project)
    with server.client() as client:
        headers = {"Authorization": f"Bearer {server.token}"}
        with client.stream("GET", "/api/events", headers=headers) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry:")
            run(server, "one")
            project.wait_for_file("runs-one")
            assert server.end(number) == code
            assert any(line.startswith("event:") for line in lines)  # and then it ends, as if it were whole
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""
    project.write("go-one", "")
    wait_until_done(project, "one")
    assert project.read("runs-one").count("\n") == 1


def test_a_second_interrupt_ends_the_server_without_a_traceback(project: TempProject) -> None:
    server = start_server(project)
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as client:
        client.sendall(
            f"POST /api/bulk HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.token}\r\n"
            "Content-Length: 9\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert client.recv(100).startswith(b"HTTP/1.1 100 ")
        os.kill(server.pid, signal.SIGINT)
        wait_until(lambda: not listens(host, int(port)))
        assert server.end(signal.SIGINT) == 130
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""


def listens(host: str, port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def test_the_event_stream_of_a_removed_project_ends(
    shared_process: tuple[TempProject, ServerProcess],
) -> None:
    project, server = shared_process
    added = server.post("/api/projects", {"path": str(create_repository(project, "removed"))})
    with server.client() as client:
        headers = {"Authorization": f"Bearer {server.token}"}
        with client.stream("GET", f"/api/events?project={added['id']}", headers=headers) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry:")
            assert server.request("DELETE", f"/api/projects/{added['id']}").status_code == 204
            list(lines)
    assert server.request("GET", f"/api/batches?project={added['id']}").status_code == 404


# Projects


def test_two_projects_run_batches_at_the_same_time(shared_process: tuple[TempProject, ServerProcess]) -> None:
    project, server = shared_process
    other = in_folder(project, create_repository(project, "other"))
    for each in (project, other):
        each.task("one", WAITS.format(name="one"))
    project_id = server.post("/api/projects", {"path": str(other.top)})["id"]
    follower = EventFollower(server.url, server.token, f"/api/events?project={project_id}")
    follower.wait_until(lambda: follower.connections)
    own_batch, other_batch = run(server, "one"), run(server, "one", project_id=project_id)
    for each in (project, other):
        each.wait_for_file("runs-one")
    assert find_engine(find_repo(project.top)) != find_engine(find_repo(other.top))
    assert server.request("GET", f"/api/batches/{other_batch}").status_code == 404
    result = server.get(f"/api/batches/{other_batch}?project={project_id}")
    assert result["projectId"] == project_id
    assert server.get(f"/api/batches/{own_batch}")["projectId"] != project_id
    for each in (other, project):
        each.write("go-one", "")
    wait_until_completed(server, own_batch)
    wait_until_completed(server, other_batch, project_id)
    follower.wait_for_event("batch:completed")
    follower.close()
    assert {each.data["batchId"] for each in follower.events} <= {None, other_batch}


def test_a_project_by_url_runs_in_its_mirror_from_the_remote_s_current_state(
    worktree_project: TempProject,
) -> None:
    worktree_project.task("one", "echo 1 > one")
    worktree_project.commit_all()
    server = start_server(in_folder(worktree_project, Path(worktree_project.env["HOME"])))
    added = server.post("/api/projects", {"url": worktree_project.remote.as_uri()})
    assert added["url"] == worktree_project.remote.as_uri()
    worktree_project.task("two", "echo 2 > two")
    worktree_project.commit_all()  # after it was added
    before = worktree_project.snapshot_user_files()
    batch = run(server, "one", "two", isolation="in-place")  # a mirror has no place to be worked in
    wait_until_completed(server, batch)
    result = server.get(f"/api/batches/{batch}")
    mirror = find_repo(Path(added["path"])).state.parent
    assert result["settings"]["isolation"] == "worktree"
    assert worktree_project.git_in(mirror, "show", f"{result['branch']}:two") == "2"
    assert worktree_project.snapshot_user_files() == before


def test_a_started_server_resumes_the_batches_of_all_projects(
    project: TempProject,
) -> None:
    other = in_folder(project, create_repository(project, "other"))
    for each in (project, other):
        each.task("one", WAITS.format(name="one"))
        each.task("two", WAITS.format(name="two"))
    server = start_server(project)
    project_id = server.post("/api/projects", {"path": str(other.top)})["id"]
    batches = [
        run(server, "one", "two", maxBatchSize=1),
        run(server, "one", "two", project_id=project_id, maxBatchSize=1),
    ]
    engines = []
    for each in (project, other):
        each.wait_for_file("runs-one")
        engine = find_engine(find_repo(each.top))
        assert engine is not None
        engines.append(engine.pid)
    server.kill()
    for pid in engines:
        os.kill(pid, signal.SIGKILL)
    for each in (project, other):
        each.write("go-one", "")
        each.write("go-two", "")
    again = start_server(project, token=server.token)  # and nobody asks it for anything
    for each in (project, other):
        wait_until_done(each, "one", "two")
        assert each.read("runs-one").count("\n") == 1
    assert again.get(f"/api/batches/{batches[0]}")["status"] == "completed"
    assert again.get(f"/api/batches/{batches[1]}?project={project_id}")["status"] == "completed"


def test_a_missing_project_is_reported_when_the_server_starts(
    project: TempProject,
) -> None:
    gone = create_repository(project, "gone")
    server = start_server(project)
    server.post("/api/projects", {"path": str(gone)})
    assert server.end() == 0
    gone.rename(gone.with_name("elsewhere"))
    server = start_server(project)
    assert server.process.stderr is not None
    assert "can't open gone" in server.process.stderr.readline()
    assert server.get("/api/batches")["batches"] == []


def test_other_commands_do_not_import_the_web_framework(project: TempProject) -> None:
    code = "import sys, plait.cli.app; print([m for m in ('fastapi', 'uvicorn', 'pydantic', 'starlette') if m in sys.modules])"
    completed = project.finish(project.popen([sys.executable, "-P", "-c", code]))
    assert (completed.code, completed.out) == (0, "[]\n")
