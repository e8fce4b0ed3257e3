"""A session: what a front end reads and requests, with and without an engine."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest

from plait.client import engine_launcher, submission_files
from plait.client.session import Submission, open_session
from plait.core.errors import WorldError
from plait.core.reports import EngineTaken
from plait.core.requests import CancelBatch, Pause, Request, Resume, Retry, Submit
from plait.core.status import BatchStatus, Category
from plait.engine.daemon import LOG_FILE
from plait.git.location import RepoLocation
from plait.store import batch_files, project_files
from plait.store.batch_files import has_environment, write_batch_environment
from plait.store.inbox import open_inbox
from plait.store.interfaces import InboxError, JournalCorruptError
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE
from plait.system.state_paths import StateFolder
from tests.support.journal_writer import SETTINGS, JournalWriter, build_plan
from tests.support.stub_engine import StubEngines


def submission(*names: str) -> Submission:
    return Submission(build_plan(*(names or ("a",))), SETTINGS)


class Starter:
    """Starts clerks instead of engines. `lives` says on which request each of the next ones dies."""

    def __init__(self, engines: StubEngines) -> None:
        self._clerk = engines
        self.lives: list[int] = []
        self.count = 0

    def __call__(self, _: RepoLocation) -> int:
        self.count += 1
        return self._clerk.start(self.lives.pop(0) if self.lives else -1)


@pytest.fixture
def starter(monkeypatch: pytest.MonkeyPatch, engines: StubEngines) -> Starter:
    made = Starter(engines)
    monkeypatch.setattr(engine_launcher, "_start", made)
    return made


def test_opening_a_session_creates_no_files(location: RepoLocation) -> None:
    with open_session(location) as session:
        assert session.state.batches == {}
        assert (session.refresh(), session.wait(0), session.find_engine(), session.list_pending()) == (
            [],
            False,
            None,
            (),
        )
        session.ensure_engine()
    assert not location.state.exists()


def test_existing_records_are_folded_and_returned_once(location: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("b1")
    with open_session(location) as session:
        assert list(session.state.batches) == ["b1"]
        assert session.refresh() == []


def test_a_journal_that_appears_later_is_read(location: RepoLocation, engines: StubEngines) -> None:
    with open_session(location) as session:
        engines.start_and_wait()
        assert session.wait(30)
        assert [type(record.event) for record in session.refresh()] == [EngineTaken]
        assert session.state.seq == 1


def test_a_replaced_journal_is_folded_from_its_beginning(
    location: RepoLocation, writer: JournalWriter, engines: StubEngines
) -> None:
    writer.submit("b1")
    with open_session(location) as session:
        before = session.journal_id
        for path in location.state.glob(f"{JOURNAL_FILE}*"):
            path.rename(path.with_name(f"old-{path.name}"))
        session.refresh()
        assert (session.state.batches, session.journal_id) == ({}, None)
        engines.start_and_wait()
        assert session.wait(30)
        assert [record.seq for record in session.refresh()] == [1]
        assert session.journal_id not in {before, None}


def test_waiting_ends_when_the_journal_is_moved_away(location: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("b1")
    with open_session(location) as session:
        (location.state / JOURNAL_FILE).rename(location.state / "old")
        assert session.wait(0.01)
        session.refresh()
        assert session.state.batches == {}


def test_a_batch_is_in_the_state_when_submit_returns(location: RepoLocation, engines: StubEngines) -> None:
    engines.start_and_wait()
    with open_session(location) as session:
        batch = session.submit(submission("a", "b"))
        assert len(batch) == 4
        assert int(batch, 16) >= 0
        assert list(session.state.batches) == [batch]
        folder = StateFolder(location.state)
        assert [task.body for task in batch_files.read_batch_inputs(folder, batch).tasks] == [
            "Do a.",
            "Do b.",
        ]
        assert [task.task.body for task in session.state.batches[batch].tasks] == ["", ""]
        (secret,) = folder.batch(batch).glob("environment*")
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_records_read_while_waiting_for_an_answer_are_returned(location: RepoLocation, engines: StubEngines) -> None:
    engines.start_and_wait()
    with open_session(location) as session:
        session.refresh()
        session.submit(submission())
        assert session.wait(0)
        assert isinstance(session.refresh()[0].event, Submit)
        assert session.refresh() == []


def test_a_batch_has_the_environment_of_the_client(
    location: RepoLocation, engines: StubEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.start_and_wait()
    monkeypatch.setenv("TOKEN_OF_THE_FRONT", "yes")
    with open_session(location) as session:
        batch = session.submit(submission())
    assert batch_files.read_batch_environment(StateFolder(location.state), batch)["TOKEN_OF_THE_FRONT"] == "yes"


def test_two_clients_with_the_same_random_id_get_different_ones(
    location: RepoLocation, engines: StubEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.start_and_wait()
    with open_session(location) as one, open_session(location) as other:
        names = ["aaaa", "bbbb"]
        monkeypatch.setattr(submission_files, "_generate_ids", lambda: iter(names))
        assert (one.submit(submission()), other.submit(submission())) == ("aaaa", "bbbb")


def test_a_batch_id_is_never_a_task_id(
    location: RepoLocation, engines: StubEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.start_and_wait()
    monkeypatch.setattr(submission_files, "_generate_ids", lambda: iter(["0001", "0002"]))
    with open_session(location) as session:
        assert session.submit(submission("0001")) == "0002"


def test_a_refused_batch_leaves_no_files(location: RepoLocation, engines: StubEngines) -> None:
    engines.start_and_wait()
    with (
        open_session(location) as session,
        pytest.raises(WorldError, match="refused: agents must name at least one"),
    ):
        session.submit(Submission(build_plan("a"), replace(SETTINGS, agents=())))
    assert list(StateFolder(location.state).batches.iterdir()) == []


def test_a_request_is_granted_or_refused_with_the_reason(location: RepoLocation, engines: StubEngines) -> None:
    engines.start_and_wait()
    with open_session(location) as session:
        batch = session.submit(submission())
        first, second = session.send_all([Pause("p1", batch), Pause("p2", batch)])
        assert (first.granted, second.granted, second.why) == (
            True,
            False,
            f"batch {batch} is already paused",
        )
        paused = session.state.batches[batch].paused
        assert paused is not None
        assert paused.why == "paused by request"


def test_two_sessions_see_each_others_requests(location: RepoLocation, engines: StubEngines) -> None:
    engines.start_and_wait()
    with open_session(location) as one, open_session(location) as other:
        batch = one.submit(submission())
        other.refresh()
        assert other.send(CancelBatch("c1", batch)).granted
        one.refresh()
        assert one.state.batches[batch].cancelled


def test_a_request_without_an_answer_is_neither_granted_nor_refused(
    location: RepoLocation, writer: JournalWriter
) -> None:
    writer.submit("b1")
    with (
        closing(open_journal_writer(location.state / JOURNAL_FILE)),
        open_session(location) as session,
    ):  # somebody has it, and says nothing
        (result,) = session.send_all([Pause("p1", "b1")], timeout=0.05)
        assert result.granted is None
        assert [request.id for request in session.list_pending()] == ["p1"]


def test_a_batch_that_no_engine_has_taken_is_in_the_preview(location: RepoLocation) -> None:
    submit = Submit("s1", "beef", build_plan("a", "b").without_texts(), SETTINGS)
    with closing(open_inbox(location.state / INBOX_FILE)) as inbox:
        inbox.put(submit)
    with open_session(location) as session:
        assert session.state.batches == {}
        assert [task.task.id for task in session.preview_state().batches["beef"].tasks] == ["a", "b"]
        assert session.state.batches == {}


def test_an_engine_is_started_if_none_runs(location: RepoLocation, starter: Starter) -> None:
    with open_session(location) as session:
        batch = session.submit(submission())
        assert session.send(Pause("p1", batch)).granted
    assert starter.count == 1


def test_an_engine_that_dies_between_request_and_answer_is_replaced(location: RepoLocation, starter: Starter) -> None:
    starter.lives = [1, 2]  # on the first request, then on the second, then not at all
    with open_session(location) as session:
        batch = session.submit(submission())
        assert session.send(Pause("p1", batch)).granted
    assert starter.count == 3


def test_an_engine_that_makes_progress_is_always_restarted(location: RepoLocation, starter: Starter) -> None:
    starter.lives = [2] * 5
    with open_session(location) as session:
        batch = session.submit(submission())
        for number in range(4):
            request: Request = Retry(f"r{number}", batch, "a")
            assert session.send(request).why == "a has not ended"
    assert starter.count == 5


def test_engines_that_keep_exiting_are_not_restarted_forever(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []

    def start(location: RepoLocation) -> int:
        script = f"echo boom {len(starts)} >> {location.state / LOG_FILE}"
        starts.append(os.spawnvp(os.P_NOWAIT, "sh", ["sh", "-c", script]))
        return starts[-1]

    monkeypatch.setattr(engine_launcher, "_start", start)
    with open_session(location) as session, pytest.raises(WorldError) as raised:
        session.submit(submission())
    assert len(starts) == 3
    assert raised.value.message.startswith("the engine exited 3 times within 10 seconds")
    assert raised.value.hint == f"Its log {location.state / LOG_FILE} ends with:\n    boom 0\n    boom 1\n    boom 2"


def test_no_engine_is_started_for_a_batch_that_waits_for_a_person(
    location: RepoLocation, writer: JournalWriter, starter: Starter
) -> None:
    writer.submit("b1")
    writer.exit_attempt("a", Category.TASK)
    writer.submit("b2", "a", "b", max_parallel=1)
    writer.apply(Pause("p", "b2"))
    writer.exit_attempt("a")
    with open_session(location) as session:
        assert session.state.batches["b1"].ended is BatchStatus.FAILED
        assert list(session.state.open) == ["b2"]
        session.ensure_engine()
    assert starter.count == 0


def test_an_engine_is_started_for_attempts_left_running(
    location: RepoLocation, writer: JournalWriter, starter: Starter
) -> None:
    writer.submit("b1")
    with open_session(location) as session:
        session.ensure_engine()
        session.ensure_engine()
    assert starter.count == 1


def test_reopening_an_ended_batch_saves_the_callers_environment(
    location: RepoLocation, writer: JournalWriter, engines: StubEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.submit("b1")
    writer.exit_attempt("a", Category.TASK)
    engines.start_and_wait()
    monkeypatch.setenv("FRESH", "yes")
    with open_session(location) as session:
        assert session.send(Pause("p", "b1")).granted is False
        assert not has_environment(project_files.open_state_paths(location), "b1")
        assert session.send(Retry("r", "b1", "a")).granted
    assert batch_files.read_batch_environment(StateFolder(location.state), "b1")["FRESH"] == "yes"


def test_resuming_a_paused_batch_saves_the_callers_environment(
    location: RepoLocation, writer: JournalWriter, engines: StubEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that waits for a key gets the one of who goes on with it; asking to go on with one that runs changes nothing."""
    writer.submit("b1")
    write_batch_environment(project_files.open_state_paths(location), "b1", {"API_KEY": "wrong"})
    engines.start_and_wait()
    monkeypatch.setenv("API_KEY", "right")
    folder = StateFolder(location.state)
    with open_session(location) as session:
        assert session.send(Resume("r1", "b1")).granted is False
        assert batch_files.read_batch_environment(folder, "b1")["API_KEY"] == "wrong"
        assert session.send(Pause("p", "b1")).granted
        assert session.send(Resume("r2", "b1")).granted
    assert batch_files.read_batch_environment(folder, "b1")["API_KEY"] == "right"


def test_an_existing_environment_is_kept(location: RepoLocation, writer: JournalWriter, engines: StubEngines) -> None:
    writer.submit("b1")
    write_batch_environment(project_files.open_state_paths(location), "b1", {"OLD": "yes"})
    engines.start_and_wait()
    with open_session(location) as session:
        session.send(Retry("r", "b1", "a"))
        session.send(Retry("r2", "nobody", "a"))
    assert batch_files.read_batch_environment(StateFolder(location.state), "b1") == {"OLD": "yes"}
    assert not StateFolder(location.state).batch("nobody").exists()


def test_a_damaged_inbox_is_reported(location: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("b1")
    (location.state / INBOX_FILE).write_bytes(b"no database at all" * 500)
    with open_session(location) as session:
        with pytest.raises(InboxError, match="is damaged"):
            session.send(Pause("p", "b1"))
        with pytest.raises(InboxError, match="is damaged"):
            session.submit(submission())
    assert list(StateFolder(location.state).batches.iterdir()) == []


def test_a_damaged_journal_is_reported(location: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("b1")
    (location.state / JOURNAL_FILE).write_bytes(b"no database at all" * 500)
    with pytest.raises(JournalCorruptError, match="is not a plait journal"):
        open_session(location)


@pytest.fixture
def read_only_location(monkeypatch: pytest.MonkeyPatch) -> Iterator[RepoLocation]:
    """Its state can only be read. Root may write everywhere, so another user id is used for a while."""
    top = Path(mkdtemp())
    (top / ".plait").mkdir(mode=0o555)
    top.chmod(0o755)
    root = not os.geteuid()
    if root:
        os.chown(top / ".plait", 65534, -1)
        os.seteuid(65534)
    monkeypatch.setenv("XDG_STATE_HOME", mkdtemp())
    (top / ".plait").chmod(0o555)
    yield RepoLocation(top, top / ".plait", repository=False)
    if root:
        os.seteuid(0)
    (top / ".plait").chmod(0o755)
    shutil.rmtree(top)


def test_a_read_only_state_folder_is_reported(read_only_location: RepoLocation) -> None:
    with open_session(read_only_location) as session:
        with pytest.raises(WorldError, match=r"can't write its state to .*Permission denied"):
            session.submit(submission())
        with pytest.raises(WorldError, match="can't write its state to"):
            session.send(Pause("p", "b1"))
