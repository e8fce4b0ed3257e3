"""Live events over HTTP: cursors, filters and invalid cursors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from random import Random
from threading import Semaphore
from urllib.parse import urlsplit

import pytest

from plait.core.settings import Settings
from plait.git.location import find_repo
from plait.server.event_buffer import EventCursor
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.generated_journal import batch_of, records_of
from tests.support.running_server import (
    RunningServer,
    ServerProcess,
    SseReader,
    expected_events,
    start_server,
)
from tests.support.temp_project import TempProject
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

LONG = bool(os.environ.get("PLAIT_CONTRACT_LONG"))
TASKS = 1_700 if LONG else 350  # with some six records each
CUTS = 200 if LONG else 50
WAIT = "while [ ! -e go ]; do sleep 0.05; done"


class EventClient:
    """Whoever comes to the real server, through its guard, to hear its events."""

    def __init__(self, server: ServerProcess, mark: EventCursor) -> None:
        self._server, self.reader = server, SseReader(str(mark))

    def read(self, limit: int, timeout: float, until: int) -> None:
        """At most so many bytes, or until there are so many events; then the connection is cut."""
        with closing(HTTPConnection(urlsplit(self._server.url).netloc, timeout=TIMEOUT_SECONDS)) as line:
            headers = {
                "Authorization": f"Bearer {self._server.token}",
                "Last-Event-ID": self.reader.last_event_id,
            }
            line.request("GET", "/api/events", headers=headers)
            if limit:
                answer = line.getresponse()
                assert answer.status == 200, answer.read()
                line.sock.settimeout(timeout)
                for data in _pieces(answer, limit):
                    self.reader.feed(data)
                    if len(self.reader.events) >= until:
                        break
        self.reader.disconnect()


def _pieces(answer: HTTPResponse, left: int) -> Iterator[bytes]:
    while left > 0:
        try:
            data = answer.read1(left)
        except TimeoutError:  # nothing is new: that is a place to be cut off, too
            return
        yield data
        left -= len(data)


def test_a_client_that_reconnects_often_gets_every_event_once(project: TempProject) -> None:
    records, chance, turn = records_of(batch_of(TASKS), Settings()), Random(7), Semaphore(0)
    location = find_repo(project.top)
    claim_state(location.state)
    with (
        closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal,
        ThreadPoolExecutor(1) as listening,
    ):
        wanted, step = expected_events(journal.id, records), len(records) // CUTS
        server = start_server(project)
        client = EventClient(server, EventCursor(journal.id, 0))

        def read_in_parts() -> None:
            for _ in range(CUTS):
                turn.release()
                client.read(chance.choice((0, 10, 300, 5_000, 60_000, 90_000)), 0.02, len(wanted))
            client.read(1 << 30, TIMEOUT_SECONDS, len(wanted))

        future = listening.submit(read_in_parts)
        for at in range(0, len(records), step):
            journal.append(records[at : at + step])  # as an engine does: a few at a time
            if at < step * CUTS:
                assert turn.acquire(timeout=TIMEOUT_SECONDS)
        future.result(TIMEOUT_SECONDS)
        assert client.reader.events == wanted
        assert server.end() == 0


def read_until(events: object, kind: str) -> list[dict[str, object]]:
    received = []
    for event in events:  # type: ignore[attr-defined]
        received.append(event)
        if event["type"] == kind:
            return received
    raise AssertionError(f"the stream ended before {kind}")


def test_events_after_a_response_s_cursor_have_no_gap(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    mark = server.client.get("/api/batches").headers["Plait-Mark"]
    batch = server.run("01-walls")
    with server.stream_events(last=mark) as events:
        received = read_until(events, "batch:completed")
    (created,) = [event for event in received if event["type"] == "batch:created"]
    assert created["tasks"] == [{"taskId": "01-walls", "title": "01-walls", "needs": [], "entrantOf": None}]
    assert created["total"] == 1
    assert received[-1]["batchId"] == batch
    middle = received[len(received) // 2]["id"]
    with server.stream_events(last=str(middle)) as events:
        again = read_until(events, "batch:completed")
    assert again == received[len(received) // 2 + 1 :]
    with server.stream_events(since=middle) as events:
        assert read_until(events, "batch:completed") == again


def test_a_stream_of_one_batch_has_all_its_events_and_no_others(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.project.task("02-roof", "true")
    first, second = server.run("01-walls"), server.run("02-roof")
    for batch in (first, second):
        server.wait_until_finished(batch)
    with server.stream_events(batch=second[:3] if first[:3] != second[:3] else second) as events:
        received = read_until(events, "batch:completed")
    assert {event["batchId"] for event in received} - {None} == {second}
    assert any(event["type"] == "batch:created" for event in received)


def test_a_stream_without_a_cursor_starts_now(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.project.task("02-roof", "true")
    server.wait_until_finished(server.run("01-walls"))
    with server.stream_events() as events:
        second = server.run("02-roof")
        received = read_until(events, "batch:completed")
    assert {event["batchId"] for event in received} - {None} == {second}


def test_agent_output_is_streamed_unless_turned_off(server: RunningServer) -> None:
    server.project.task("01-walls", f"echo hello; {WAIT}")
    batch = server.run("01-walls")
    with server.stream_events(batch=batch) as events:
        log_event = read_until(events, "execution:log")[-1]
    assert (log_event["id"], log_event["entry"]) == (None, {"kind": "activity", "text": "hello"})
    with server.stream_events(batch=batch) as events:  # a window that is opened later, while nothing new is printed
        assert read_until(events, "execution:log")[-1]["entry"] == log_event["entry"]
    with server.stream_events(batch=batch, logs="false") as events:
        server.project.write("go", "")
        assert not any(event["type"] == "execution:log" for event in read_until(events, "batch:completed"))


@pytest.mark.parametrize("mark", ["x", "1", ":5", "a:b", "a" * 100 + ":1", "0" * 250, "a:1\u00e4"])
def test_an_invalid_cursor_is_refused(server: RunningServer, mark: str) -> None:
    assert server.get("/api/events", 422, since=mark)["field"] == "since"
    answer = server.client.get("/api/events", headers=[(b"Last-Event-ID", mark.encode("latin-1"))])
    assert server.check_status(answer, 422)["field"] == "Last-Event-ID"


def test_events_of_an_unknown_batch_are_not_found(server: RunningServer) -> None:
    assert server.get("/api/events", 404, batch="nobody")["error"]


def test_a_damaged_journal_is_reported_and_its_replacement_is_read(fresh_server: RunningServer, tmp_path: Path) -> None:
    location = find_repo(fresh_server.project.top)
    claim_state(location.state)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(records_of(batch_of(3), Settings()))
    assert len(fresh_server.get("/api/batches")["batches"]) == 1
    with closing(sqlite3.connect(location.state / JOURNAL_FILE)) as damage, damage:
        damage.execute("UPDATE meta SET last = last + 1")
    for path in ("/api/batches", "/api/events", "/api/batches/b/tasks/t1/explain"):
        assert "is damaged" in fresh_server.get(path, 503)["error"]
    for file in list(location.state.glob(f"{JOURNAL_FILE}*")):
        file.rename(tmp_path / file.name)
    wait_until(lambda: fresh_server.client.get("/api/batches").status_code == 200)
    assert fresh_server.get("/api/batches")["batches"] == []


def test_metrics_are_served(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.wait_until_finished(server.run("01-walls"))
    answer = server.client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert 'plait_tasks_ended_total{project="' in answer.text
