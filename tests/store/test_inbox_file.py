"""The inbox's file: many processes at once, and requests that can't be read."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest

from plait.core.requests import Pause, Request
from plait.store import checksums, codec, inbox
from plait.store.inbox import open_inbox
from plait.store.interfaces import InboxError

Child = Callable[..., Popen[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "inbox.db"


def test_requests_of_eight_processes_arrive_once(path: Path, child: Child) -> None:
    processes, count = 8, 50
    asking = [child("ask", path, who, count) for who in range(processes)]
    expected = {f"{who}-{n}" for who in range(processes) for n in range(1, count // 2, 2)}
    expected |= {f"all-{n}" for n in range(0, count // 2, 2)}
    arrived: list[Request] = []
    with closing(open_inbox(path)) as inbox:
        deadline = time.monotonic() + 60
        while len(arrived) < len(expected):
            assert time.monotonic() < deadline
            new = inbox.pending()
            arrived += new
            inbox.mark_taken([request.id for request in new])
        for each in asking:
            assert each.communicate()[0] == "done\n"
        assert inbox.pending() == ()
    ids = [request.id for request in arrived]
    assert len(ids) == len(expected)
    assert set(ids) == expected
    for who in range(processes):
        own = [int(id_.split("-")[1]) for id_ in ids if id_.startswith(f"{who}-")]
        assert own == sorted(own), "the requests of a client keep their order"


def test_fifty_clients_at_once_see_no_lock_error(path: Path) -> None:
    def front(who: int) -> None:
        for number in range(4):
            with closing(open_inbox(path)) as inbox:
                inbox.put(Pause(f"{who}-{number}", "batch"))

    with ThreadPoolExecutor(50) as fronts:
        list(fronts.map(front, range(50)))
    with closing(open_inbox(path)) as inbox:
        assert len(inbox.pending()) == 200


def put_raw(path: Path, id_: str, version: int, kind: str, body: bytes) -> None:
    """As another plait would."""
    check = checksums.digest_request(id_, version, kind, body)
    with closing(sqlite3.connect(path)) as db, db:
        columns = 'id, version, kind, body, "check"'
        db.execute(f"INSERT INTO waiting ({columns}) VALUES (?, ?, ?, ?, ?)", (id_, version, kind, body, check))


def test_an_unreadable_request_does_not_affect_others(path: Path) -> None:
    with closing(open_inbox(path)) as inbox:
        inbox.put(Pause("first", "b"))
        put_raw(path, "newer", codec.VERSION + 1, "pause", b'{"id":"newer"}')
        put_raw(path, "unknown", codec.VERSION, "sing", b"{}")
        put_raw(path, "torn", codec.VERSION, "pause", b'{"id":')
        put_raw(path, "report", codec.VERSION, "engine-taken", b'{"pid":7}')
        inbox.put(Pause("damaged", "b"))
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE waiting SET body = CAST(replace(body, 'b', 'c') AS BLOB) WHERE id = 'damaged'")
        inbox.put(Pause("last", "b"))

        assert list(inbox.pending()) == [Pause("first", "b"), Pause("last", "b")]
        reasons = inbox.unreadable()
        assert list(reasons) == ["newer", "unknown", "torn", "report", "damaged"]
        assert "written by a newer plait" in reasons["newer"]
        assert "no record of kind 'sing' is known" in reasons["unknown"]
        assert "can't be read" in reasons["torn"]
        assert reasons["report"] == "engine-taken is not a request"
        assert reasons["damaged"] == "it is damaged; ask again"


def test_an_unreadable_request_is_not_pending(path: Path) -> None:
    with closing(open_inbox(path)) as inbox:
        put_raw(path, "newer", codec.VERSION + 1, "pause", b"{}")
        assert inbox.pending() == ()
        inbox.put(Pause("1", "b"))
        assert [request.id for request in inbox.pending()] == ["1"]
        inbox.mark_taken(["1", "newer"])
        assert inbox.unreadable() == {}


def test_taken_requests_leave_only_their_ids(path: Path) -> None:
    with closing(open_inbox(path)) as inbox:
        inbox.put(Pause("an id", "a secret batch"))
        inbox.mark_taken(["an id"])
        inbox.put(Pause("an id", "a secret batch"))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM waiting").fetchone() == (0,)
        assert db.execute("SELECT id FROM taken").fetchall() == [("an id",)]


def by_bytes(data: bytes) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.parent.mkdir()
        path.write_bytes(data)

    return spoil


def by_sql(statement: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        open_inbox(path).close()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)

    return spoil


LEFT = "the file was not changed; move it away"
CASES = {
    "empty": (by_bytes(b""), "the inbox {path} is not one of plait's: the file is empty", LEFT),
    "text": (
        by_bytes(b"dear diary\n" * 100),
        "the inbox {path} is damaged (file is not a database)",
        "move it away: plait creates a new one; then repeat the requests that were in it",
    ),
    "foreign": (
        by_sql("PRAGMA application_id = 7"),
        "the inbox {path} is not one of plait's: it is a database of another program",
        LEFT,
    ),
    "newer": (
        by_sql("PRAGMA user_version = 2"),
        "the inbox {path} was made by a newer plait (schema 2; this one knows 1)",
        "upgrade plait, or use the version that made it",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_why_and_changes_nothing(path: Path, case: str) -> None:
    spoil, message, hint = CASES[case]
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(InboxError) as refused:
        open_inbox(path)
    assert str(refused.value) == f"{message.format(path=path)}\n  {hint}"
    assert path.read_bytes() == before


def delete(path: Path) -> None:
    path.unlink()


def delete_with_wal(path: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    open_inbox(other).close()
    other.rename(path)


@pytest.mark.parametrize("lose", [delete, delete_with_wal, replace])
def test_an_inbox_that_is_deleted_or_replaced_under_an_engine_loses_no_request(
    path: Path, lose: Callable[[Path], None]
) -> None:
    with closing(open_inbox(path)) as engine, closing(open_inbox(path)) as server:
        engine.put(Pause("taken", "b1"))
        engine.mark_taken(["taken"])
        engine.put(Pause("before", "b1"))
        lose(path)
        with closing(open_inbox(path)) as client:
            client.put(Pause("after", "b1"))
        server.put(Pause("from-a-server", "b1"))
        assert {request.id for request in engine.pending()} == {"before", "after", "from-a-server"}
        engine.mark_taken(["before", "after", "from-a-server"])
        assert engine.pending() == ()
    with closing(open_inbox(path)) as inbox:
        assert inbox.pending() == ()


def test_an_inbox_that_is_replaced_by_something_else_first_loses_no_request(path: Path) -> None:
    """For example by a copy that is just being written."""
    with closing(open_inbox(path)) as engine:
        engine.put(Pause("before", "b1"))
        delete_with_wal(path)
        path.touch()
        for _ in range(2):
            with pytest.raises(InboxError, match="the file is empty"):
                engine.pending()
        path.unlink()
        assert [request.id for request in engine.pending()] == ["before"]


def test_what_waited_is_carried_over_even_if_the_new_inbox_is_busy_at_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "ENGINE_TIMEOUT_SECONDS", 0.0)
    with closing(open_inbox(path)) as engine:
        engine.put(Pause("before", "b1"))
        delete_with_wal(path)
        open_inbox(path).close()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(InboxError):
                engine.pending()
            other.execute("ROLLBACK")
        assert [request.id for request in engine.pending()] == ["before"]
