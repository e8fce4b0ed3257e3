from __future__ import annotations

import os
import re
import signal
import socket
import sys
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
from tests.support.running_server import EventFollower, ServerProcess, start_server
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

WAITS = "echo $$ >> runs-{name}\nuntil [ -e go-{name} ]; do sleep 0.02; done"


def repository(project: TempProject, name: str) -> Path:
    top = project.top.parent / name
    project.git_in(project.top, "init", "--quiet", "-b", "main", str(top))
    return top


def beside(project: TempProject, top: Path) -> TempProject:
    """The same home, another repository."""
    return TempProject(top, project.env, project.cli_processes, project.terminals)


def run(server: ServerProcess, *tasks: str, project_id: str = "", **settings: object) -> str:
    made = server.post(
        f"/api/batches?project={project_id}" if project_id else "/api/batches",
        {"taskIds": tasks, "settings": settings},
    )
    assert isinstance(made["id"], str)
    return made["id"]


def until_completed(server: ServerProcess, batch: str, project_id: str = "") -> None:
    path = f"/api/batches/{batch}" + (f"?project={project_id}" if project_id else "")
    wait_until(lambda: server.get(path)["status"] == "completed")


def until_done(project: TempProject, *tasks: str) -> None:
    wait_until(lambda: project.statuses() == dict.fromkeys(tasks, "done"))


# What it says


def test_one_link_is_printed_and_nothing_else_that_lets_in(project: TempProject) -> None:
    front = project.start("serve", "--port", "0")
    assert front.stdout is not None
    said = [front.stdout.readline() for _ in range(4)]
    assert said[0].startswith(f"plait serves {project.top} at http://127.0.0.1:")
    assert ["/login?code=" in line for line in said] == [False, False, True, False]
    os.kill(front.pid, signal.SIGTERM)
    out, err = front.communicate(timeout=60)
    assert (front.returncode, out, err) == (0, "", "")


def test_where_a_journal_keeps_what_is_printed_there_is_no_link_but_how_to_get_one(project: TempProject) -> None:
    front = project.start("serve", "--port", "0", env={"JOURNAL_STREAM": "8:1234"})
    assert front.stdout is not None
    first, second = front.stdout.readline(), front.stdout.readline()
    url = first.split()[-1]
    assert first == f"plait serves {project.top} at {url}\n"
    assert second == f"  For a login link: plait token --link --url {url}\n"
    os.kill(front.pid, signal.SIGTERM)
    out, err = front.communicate(timeout=60)
    assert (front.returncode, out, err) == (0, "", "")


def test_on_a_terminal_there_is_one_link_and_it_logs_in_once(project: TempProject) -> None:
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


def test_programs_are_told_on_one_line(project: TempProject) -> None:
    server = start_server(project)
    assert server.process.pid == server.pid
    assert server.link.startswith(f"{server.url}/login?code=")
    assert server.get("/health")["status"] == "ok"
    assert [each["path"] for each in server.get("/api/projects")["projects"]] == [str(project.top)]
    assert server.end() == 0


def test_a_browser_is_opened_with_the_link_and_one_that_fails_is_no_matter(
    project: TempProject, tmp_path: Path
) -> None:
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened.part && mv {tmp_path}/opened.part {tmp_path}/opened\n')
    script.chmod(0o755)
    server = start_server(project, "--open", env={"BROWSER": str(script)})
    wait_until((tmp_path / "opened").exists)
    assert (tmp_path / "opened").read_text() == f"{server.link}\n"
    other = start_server(project, "--open", env={"BROWSER": "/nowhere/browser"})
    assert other.get("/health")["status"] == "ok"
    assert other.end() == 0


def test_a_server_in_no_project_serves_those_that_are_added(project: TempProject) -> None:
    home = Path(project.env["HOME"])
    front = beside(project, home).start("serve", "--port", "0")
    assert front.stdout is not None
    assert front.stdout.readline().startswith("plait serves no project yet at ")
    server = start_server(beside(project, home))
    refused = server.request("GET", "/api/batches")
    assert refused.status_code == 404
    assert "not started in a project" in refused.json()["error"]
    added = server.post("/api/projects", {"path": str(project.top)})
    assert server.get(f"/api/batches?project={added['id']}")["batches"] == []
    assert server.get("/api/batches")["batches"] == []
    front = beside(project, home).start("serve", "--port", "0")
    assert front.stdout is not None
    assert front.stdout.readline().startswith("plait serves 1 project at ")


# Where it listens


def test_a_port_that_is_taken_is_told_with_who_has_it_and_the_way_out(project: TempProject) -> None:
    server = start_server(project)
    port = server.url.rpartition(":")[2]
    told = project.plait("serve", "--port", port)
    assert (told.code, told.out) == (2, "")
    assert f"port {port} is in use" in told.err
    assert "--port 0" in told.err
    if sys.platform == "linux":
        assert f"by another plait serve (process {server.pid})" in told.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--host", "203.0.113.7"], "is not an address of this machine"),
        (["--host", "no such host"], "is not a host"),
        (["--port", "70000"], "70000"),
        (["--keyfile", "key.pem"], "--certfile"),
        (["--certfile", "nowhere.pem"], "can't be read"),
        (["--allow-host", "ftp://x"], "is not a host"),
    ],
)
def test_what_can_t_be_listened_at_is_refused_before_anything_starts(
    project: TempProject, words: list[str], why: str
) -> None:
    told = project.plait("serve", "--port", "0", *words)
    assert (told.code, told.out) == (2, "")
    assert why in told.err
    assert not (Path(project.env["XDG_STATE_HOME"]) / "plait" / "token").exists()


def test_another_address_says_who_can_reach_it(project: TempProject) -> None:
    server = start_server(project, "--host", "0.0.0.0")
    assert server.url.startswith("http://127.0.0.1:")
    assert server.get("/health")["status"] == "ok"
    assert server.end() == 0
    assert server.process.stderr is not None
    told = server.process.stderr.read()
    assert "can be reached from the network" in told
    assert "no TLS" in told
    port = server.url.rpartition(":")[2]
    assert f"plait token --link --url http://ADDRESS:{port}\n" in told
    assert f"ssh -L {port}:127.0.0.1:{port} MACHINE\n" in told
    assert "code=" not in told


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_it_listens_by_ipv6(project: TempProject) -> None:
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


def test_it_speaks_tls_with_a_certificate_and_nothing_else_then(project: TempProject, tmp_path: Path) -> None:
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


def test_a_new_token_makes_the_old_one_worthless(project: TempProject) -> None:
    first = start_server(project)
    assert first.request("GET", "/api/projects").status_code == 200
    second = start_server(project, "--rotate-token")
    assert second.token != first.token
    assert second.request("GET", "/api/projects").status_code == 200
    assert first.request("GET", "/api/projects").status_code == 401


# How it ends


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_at_once_though_somebody_listens_and_its_batch_goes_on(
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
    until_done(project, "one")
    assert project.read("runs-one").count("\n") == 1


def test_who_can_t_wait_for_its_end_is_shown_nothing_of_what_is_cut_short(project: TempProject) -> None:
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


def test_who_listens_to_a_project_that_is_removed_hears_that_it_is_over(project: TempProject) -> None:
    server = start_server(project)
    added = server.post("/api/projects", {"path": str(repository(project, "other"))})
    with server.client() as client:
        headers = {"Authorization": f"Bearer {server.token}"}
        with client.stream("GET", f"/api/events?project={added['id']}", headers=headers) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry:")
            assert server.request("DELETE", f"/api/projects/{added['id']}").status_code == 204
            list(lines)
    assert server.request("GET", f"/api/batches?project={added['id']}").status_code == 404


# Projects


def test_two_projects_have_batches_at_once_each_of_its_own(project: TempProject) -> None:
    other = beside(project, repository(project, "other"))
    for each in (project, other):
        each.task("one", WAITS.format(name="one"))
    server = start_server(project)
    project_id = server.post("/api/projects", {"path": str(other.top)})["id"]
    follower = EventFollower(server.url, server.token, f"/api/events?project={project_id}")
    follower.wait_until(lambda: follower.connections)
    mine, theirs = run(server, "one"), run(server, "one", project_id=project_id)
    for each in (project, other):
        each.wait_for_file("runs-one")
    assert find_engine(find_repo(project.top)) != find_engine(find_repo(other.top))
    assert server.request("GET", f"/api/batches/{theirs}").status_code == 404
    told = server.get(f"/api/batches/{theirs}?project={project_id}")
    assert told["projectId"] == project_id
    assert server.get(f"/api/batches/{mine}")["projectId"] != project_id
    for each in (other, project):
        each.write("go-one", "")
    until_completed(server, mine)
    until_completed(server, theirs, project_id)
    follower.wait_for_event("batch:completed")
    follower.close()
    assert {each.data["batchId"] for each in follower.events} <= {None, theirs}


def test_a_project_by_url_is_worked_on_in_its_mirror_from_what_the_remote_has_now(
    worktree_project: TempProject,
) -> None:
    worktree_project.task("one", "echo 1 > one")
    worktree_project.commit_all()
    server = start_server(beside(worktree_project, Path(worktree_project.env["HOME"])))
    added = server.post("/api/projects", {"url": worktree_project.remote.as_uri()})
    assert added["url"] == worktree_project.remote.as_uri()
    worktree_project.task("two", "echo 2 > two")
    worktree_project.commit_all()  # after it was added
    before = worktree_project.snapshot_user_files()
    batch = run(server, "one", "two", isolation="in-place")  # a mirror has no place to be worked in
    until_completed(server, batch)
    told = server.get(f"/api/batches/{batch}")
    mirror = find_repo(Path(added["path"])).state.parent
    assert told["settings"]["isolation"] == "worktree"
    assert worktree_project.git_in(mirror, "show", f"{told['branch']}:two") == "2"
    assert worktree_project.snapshot_user_files() == before


def test_after_a_reboot_the_work_of_all_projects_goes_on_as_soon_as_the_server_is_there(
    project: TempProject,
) -> None:
    other = beside(project, repository(project, "other"))
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
        until_done(each, "one", "two")
        assert each.read("runs-one").count("\n") == 1
    assert again.get(f"/api/batches/{batches[0]}")["status"] == "completed"
    assert again.get(f"/api/batches/{batches[1]}?project={project_id}")["status"] == "completed"


def test_a_project_that_is_gone_is_told_when_the_server_starts_and_costs_nothing_else(
    project: TempProject,
) -> None:
    gone = repository(project, "gone")
    server = start_server(project)
    server.post("/api/projects", {"path": str(gone)})
    assert server.end() == 0
    gone.rename(gone.with_name("elsewhere"))
    server = start_server(project)
    assert server.process.stderr is not None
    assert "can't open gone" in server.process.stderr.readline()
    assert server.get("/api/batches")["batches"] == []


def test_other_verbs_do_not_wait_for_what_only_the_server_needs(project: TempProject) -> None:
    words = "import sys, plait.cli.app; print([m for m in ('fastapi', 'uvicorn', 'pydantic', 'starlette') if m in sys.modules])"
    told = project.finish(project.popen([sys.executable, "-P", "-c", words]))
    assert (told.code, told.out) == (0, "[]\n")
