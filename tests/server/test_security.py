"""The security of `plait serve` as it is, a batch at work, and everybody who should not get anywhere. After each of them the server
answers, and the agent goes on; at the end the batch is done.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil
import pytest

from plait.server.auth import SESSION_COOKIE
from tests.support.running_server import start_server
from tests.support.security_harness import SecurityHarness
from tests.support.temp_project import temp_project as make_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

HTML = "<script>alert(1)</script>"
ESCAPES = "\x1b]0;owned\x07\x1b[2J"
WORKS = "while [ ! -e go ]; do echo tick >> ticks; sleep 0.02; done"
PRINTS = rf"printf '\033]0;owned\007\033[2J{HTML}\n'"


@pytest.fixture(scope="module")
def shared_harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecurityHarness]:
    with make_project(tmp_path_factory.mktemp("security")) as project:
        project.task("01-work", WORKS)
        project.task("02-print", PRINTS, title=json.dumps(f"{HTML} {ESCAPES} title"))
        server = start_server(project)
        fresh = httpx.Limits(max_keepalive_connections=0)  # each request comes on a connection of its own
        with httpx.Client(
            base_url=server.url, timeout=TIMEOUT_SECONDS, trust_env=False, verify=False, limits=fresh
        ) as client:
            harness = SecurityHarness(project, server, client)
            made = harness.request_as_owner("POST", "/api/batches", {"taskIds": ["01-work", "02-print"]})
            harness.batch = made.raise_for_status().json()["id"]
            wait_until(lambda: harness.statuses()["02-print"] == "done" and harness.ticks())
            yield harness
            project.write("go", "")
            over = wait_until(
                lambda: (result := harness.get(f"/api/batches/{harness.batch}"))["completedAt"] and result
            )
        assert over["status"] == "completed"
        assert over["progress"]["completed"] == 2
        assert server.end() == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""  # nothing of what anybody sent, no token, and no bug


@pytest.fixture
def harness(shared_harness: SecurityHarness) -> Iterator[SecurityHarness]:
    known = shared_harness.batches()
    yield shared_harness
    before = shared_harness.ticks()
    assert shared_harness.get("/health")["status"] == "ok"
    assert shared_harness.batches() == known
    assert shared_harness.statuses() == {"01-work": "running", "02-print": "done"}
    wait_until(lambda: shared_harness.ticks() > before)


def routes(harness: SecurityHarness) -> Iterator[tuple[str, str]]:
    """Every method of every route, with a name wherever one belongs."""
    described: dict[str, dict[str, Any]] = harness.get("/api/openapi.json")["paths"]  # Any: as it is described
    for path, methods in described.items():
        yield from ((method.upper(), re.sub(r"\{\w+\}", harness.batch, path)) for method in methods)
    yield from (("GET", path) for path in ("/", "/api/docs", "/api/openapi.json", "/nothing"))
    yield from ((method, "/mcp") for method in ("GET", "POST", "DELETE"))
    yield "POST", "/logout"


def test_without_a_token_only_health_is_answered(harness: SecurityHarness) -> None:
    response = {(method, path): harness.request(method, path).status_code for method, path in routes(harness)}
    assert response.pop(("GET", "/health")) == 200
    assert len(response) > 30
    assert set(response.values()) == {401}


def test_by_default_the_server_binds_to_loopback_only(harness: SecurityHarness) -> None:
    sockets = psutil.Process(harness.server.pid).net_connections(kind="inet")
    assert {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_wrong_tokens_are_limited_without_locking_out_the_right_one(harness: SecurityHarness) -> None:
    wrong = ["x", "no", harness.server.token[:-1], harness.server.token.upper() + "0", "0" * 64, *"abcdef"]
    responses = [harness.request("GET", "/api/batches", Authorization=f"Bearer {each}") for each in wrong]
    assert [each.status_code for each in responses] == [401] * 10 + [429]
    assert int(responses[-1].headers["Retry-After"]) > 0
    assert harness.request("GET", f"/api/batches?token={harness.server.token}").status_code == 401
    assert harness.request_as_owner("GET", "/api/batches").status_code == 200


def test_an_expired_cookie_is_rejected(harness: SecurityHarness) -> None:
    now = time.time()
    assert harness.request("GET", "/api/batches", Cookie=harness.cookie(now - 1)).status_code == 401
    assert harness.request("GET", "/api/batches", Cookie=harness.cookie(now + 60)).status_code == 200
    _, nonce, signature = harness.cookie(now - 1).split(".")
    later = f"{SESSION_COOKIE}={int(now + 60)}.{nonce}.{signature}"
    assert harness.request("GET", "/api/batches", Cookie=later).status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_a_post_from_another_origin_is_rejected(harness: SecurityHarness, origin: str) -> None:
    cookie, own = harness.cookie(time.time() + 60), harness.server.url
    path = f"/api/batches/{harness.batch}/cancel"
    response = harness.request("POST", path, {}, Cookie=cookie, Origin=origin.format(port=harness.port))
    assert (response.status_code, "origin" in response.json()["error"]) == (403, True)
    assert harness.request("POST", path, {}, Cookie=cookie).status_code == 403  # a form that hides its page
    preflight = harness.request(
        "OPTIONS", path, Origin=origin.format(port=harness.port), Access_Control_Request_Method="POST"
    )
    assert preflight.status_code == 403
    assert not any(name.startswith("access-control") for name in preflight.headers)
    assert harness.request("POST", "/api/plan", {"taskIds": ["01-work"]}, Cookie=cookie, Origin=own).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.", "a@localhost"]
)
def test_a_foreign_host_name_is_rejected(harness: SecurityHarness, host: str) -> None:
    named = host.format(port=harness.port)
    response = harness.request_as_owner("GET", "/api/batches", Host=named, Origin=f"http://{named}")
    assert response.status_code == 421
    assert harness.request("GET", "/health", Host=named).status_code == 421


OUT = [
    "../../secret",
    "/etc/passwd",
    "..",
    "01-work/../../../secret",
    "..\\secret",
    "~/secret",
    "%2e%2e/secret",
]


@pytest.mark.parametrize("name", OUT)
def test_ids_are_never_used_as_paths(harness: SecurityHarness, name: str) -> None:
    harness.project.write("../secret", "the secret")
    spelt, ask = quote(name, safe="").replace(".", "%2E"), harness.request_as_owner
    paths = [
        f"/api/batches/{spelt}",
        f"/api/tasks/{spelt}",
        f"/api/projects/{spelt}",
        f"/{spelt}",
        f"/ui/{spelt}",
    ]
    paths += [f"/api/batches/{harness.batch}/tasks/{spelt}/{what}" for what in ("log", "diff", "explain")]
    paths += [f"/api/batches?project={spelt}", f"/api/events?batch={spelt}"]
    responses = [ask("GET", path) for path in paths]
    responses.append(ask("POST", f"/api/batches/{harness.batch}/tasks/{spelt}/feedback", {"text": "x"}))
    responses.append(ask("PATCH", f"/api/tasks/{spelt}", {"version": "0" * 32, "body": "mine"}))
    responses.append(ask("POST", "/api/batches", {"taskIds": [name]}))
    responses.append(ask("POST", "/api/projects", {"path": name}))
    assert {each.status_code for each in responses} <= {404, 405, 422}
    assert not any("the secret" in each.text or "root:" in each.text for each in responses)
    assert harness.project.read("../secret") == "the secret\n"


def test_a_title_never_creates_a_file_outside_the_task_folder(harness: SecurityHarness) -> None:
    def files() -> set[Path]:
        return set(harness.project.top.parent.rglob("*.md")) | set(harness.project.top.glob(".git/hooks/*"))

    before = files()
    harness.request_as_owner("POST", "/api/tasks", {"title": "../../../x/../.git/hooks/post-commit"})
    (new,) = files() - before
    new.unlink()
    assert new.parent == harness.project.top / "tasks"


def test_a_symlink_in_the_task_folder_is_not_followed(harness: SecurityHarness) -> None:
    looks = harness.project.plait("token", "--read-only").out.strip()
    (token,) = Path(harness.project.env["HOME"]).rglob("plait/token")
    link = harness.project.top / "tasks/03-link.md"
    link.symlink_to(token)
    try:
        response = harness.request("GET", "/api/tasks/03-link", Authorization=f"Bearer {looks}")
        assert response.status_code == 404
        listed = harness.request("GET", "/api/tasks", Authorization=f"Bearer {looks}")
        assert "tasks/03-link.md" in {problem["file"] for problem in listed.json()["problems"]}
    finally:
        link.unlink()
    assert harness.server.token not in response.text + listed.text


def test_html_and_terminal_escapes_in_titles_are_text(harness: SecurityHarness) -> None:
    responses = [
        harness.request_as_owner("GET", path) for path in ("/api/tasks", f"/api/batches/{harness.batch}", "/metrics")
    ]
    responses.append(harness.request_as_owner("GET", f"/api/batches/{harness.batch}/graph"))
    assert HTML in responses[1].json()["tasks"][1]["title"]
    assert ESCAPES in responses[1].json()["tasks"][1]["title"]
    for each in responses:
        assert each.headers["Content-Type"].partition(";")[0] in {"application/json", "text/plain"}
        assert each.headers["X-Content-Type-Options"] == "nosniff"
        assert "script-src 'self';" in each.headers["Content-Security-Policy"]
        assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", each.content)


def test_html_and_terminal_escapes_in_logs_are_text(harness: SecurityHarness) -> None:
    log = harness.request_as_owner("GET", f"/api/batches/{harness.batch}/tasks/02-print/log")
    assert (log.text, log.headers["Content-Type"]) == (f"{HTML}\n", "text/plain; charset=utf-8")
    received = ""
    path = f"/api/events?batch={harness.batch}"
    with harness.client.stream("GET", path, headers={"Authorization": harness.bearer}) as events:
        for line in events.iter_lines():
            received += line
            if "batch:task:completed" in line:
                break
    assert HTML in received
    assert received.isprintable()


def test_a_body_of_a_gigabyte_is_rejected_without_being_stored(harness: SecurityHarness) -> None:
    process, size = psutil.Process(harness.server.pid), 1 << 30
    before = process.memory_info().rss
    head = f"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nAuthorization: {harness.bearer}\r\n"
    response = harness.send_raw(f"{head}Content-Length: {size}\r\n\r\n".encode())
    assert response.startswith(b"HTTP/1.1 413 ")
    sent, chunk = 0, b"10000\r\n" + b" " * 65536 + b"\r\n"
    with harness.connect() as client:
        client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):
            while sent < size:
                client.sendall(chunk)
                sent += 65536
    assert sent < size >> 3
    assert process.memory_info().rss - before < 64 << 20
    stranger = harness.send_raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n")
    assert stranger.startswith(b"HTTP/1.1 401 ")


def test_silent_and_slow_connections_do_not_lock_out_others(harness: SecurityHarness) -> None:
    process = psutil.Process(harness.server.pid)
    with ExitStack() as stack:
        slow = [stack.enter_context(harness.connect()) for _ in range(300)]
        for client in slow[1::2]:
            client.sendall(b"GET /api/batches HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")

        def dripped() -> bool:
            for client in slow[1::2]:
                with suppress(ConnectionError):
                    client.sendall(b"x")
            assert harness.request_as_owner("GET", "/api/batches").status_code == 200
            return process.num_fds() < 150

        wait_until(dripped)


def test_request_smuggling_and_header_injection_are_rejected(harness: SecurityHarness) -> None:
    host, auth = "Host: localhost\r\n", f"Authorization: {harness.bearer}\r\n"
    inner = f"GET /api/batches HTTP/1.1\r\n{host}{auth}\r\n"
    hidden = f"POST /api/plan HTTP/1.1\r\n{host}{auth}"
    for data in (
        f"GET /api/batches/a%0d%0aSet-Cookie:%20x=y HTTP/1.1\r\n{host}{auth}Connection: close\r\n\r\n",
        f"GET /health\r\nX: y HTTP/1.1\r\n{host}\r\n",
        f"GET /health HTTP/1.1\r\n{host}X: a\rSet-Cookie: x=y\r\n\r\n",
        f"GET /health HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n",
        f"GET http://evil.example/health HTTP/1.1\r\n{host}Connection: close\r\n\r\n",
        f"{hidden}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{inner}",
        f"{hidden}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}",
        f"{hidden}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{inner}",
    ):
        received = harness.send_raw(data.encode())
        assert re.match(rb"HTTP/1.1 400 ", received), data
        assert received.count(b"HTTP/1.1 ") == 1
        assert b"set-cookie" not in received.lower()


def test_deeply_nested_and_malformed_json_is_refused(harness: SecurityHarness) -> None:
    bodies = [
        '{"taskIds":' + "[" * 200_000,
        '{"taskIds":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"taskIds":["a"],"settings":{"retries":' + "9" * 100_000 + "}}",
        '{"taskIds":["\\ud800"]}',
        "\ufeff{}",
        "\0",
    ]
    for body in bodies:
        client = http.client.HTTPConnection("127.0.0.1", harness.port, timeout=TIMEOUT_SECONDS)
        client.request(
            "POST",
            "/api/batches",
            body.encode(),
            {"Authorization": harness.bearer, "Content-Type": "application/json"},
        )
        response = client.getresponse()
        assert response.status in {400, 404, 422}, body[:40]
        assert json.loads(response.read())["error"]
        client.close()


def test_a_deeply_nested_task_file_is_reported_as_a_problem(harness: SecurityHarness) -> None:
    deep = harness.project.write("tasks/03-deep.md", "---\ntitle: " + "[" * 200_000 + "\n---\n# deep")
    try:
        result = harness.get("/api/tasks")
    finally:
        deep.unlink()
    assert any("nested too deep" in problem["message"] for problem in result["problems"])
