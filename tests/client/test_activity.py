"""What agents are doing, read from real files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.agents.interface import Activity, AgentEvent, AgentSpec, OutputParser, PhaseStarted
from plait.client.event_types import StreamEvent
from plait.client.logs import activity
from plait.client.logs.activity import ActivityTracker, LogStream, make_parser_factory
from plait.core.reports import Outcome
from plait.core.settings import Isolation, Settings
from plait.core.state import AttemptState
from plait.core.status import Category
from plait.store.batch_files import BatchInputs, write_batch_environment
from plait.system.state_paths import StateFolder
from plait.testing.script import Script


class Agents:
    """A batch whose attempts run, and the files they print to."""

    def __init__(self, root: Path, *names: str, settings: Settings | None = None) -> None:
        self.script = Script(*names, settings=settings or Settings(isolation=Isolation.IN_PLACE))
        self.folder = StateFolder(root)

    @property
    def alive(self) -> list[AttemptState]:
        return list(self.script.batch().alive.values())

    def one(self, name: str) -> AttemptState:
        (found,) = [attempt for attempt in self.alive if attempt.name.task == name]
        return found

    def path(self, name: str) -> Path:
        path = self.folder.attempt(self.one(name).name).transcript
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def says(self, name: str, text: str | bytes) -> None:
        with self.path(name).open("ab") as transcript:
            transcript.write(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path, "a", "b")


def texts(events: Sequence[StreamEvent]) -> list[object]:
    return [entry["text"] if isinstance(entry := event.data["entry"], dict) else None for event in events]


def test_the_last_line_of_each_attempt_is_its_activity(agents: Agents) -> None:
    look = ActivityTracker(agents.folder).read_latest
    assert look(agents.alive) == {}
    agents.says("a", "reading\nediting src/app.py\n\n")
    agents.says("b", "no end yet")
    assert look(agents.alive) == {"a": "editing src/app.py", "b": "no end yet"}
    agents.says("a", "testing\n")
    assert look(agents.alive) == {"a": "testing", "b": "no end yet"}
    assert look([agents.one("b")]) == {"b": "no end yet"}


def test_a_batch_that_is_resumed_with_another_key_shows_neither(agents: Agents) -> None:
    batch, stream = agents.one("a").name.batch, LogStream(agents.folder)
    for task, key in (("a", "zebra-of-the-first-run"), ("b", "zebra-of-the-second-run")):
        write_batch_environment(agents.folder, batch, {"API_KEY": key})
        agents.says(task, f"with {key[:9]}\x1b[31m{key[9:]}\n")
        assert texts(stream.read([agents.one(task)], 0.0)) == ["with ***"]


def test_every_complete_line_is_new_once(agents: Agents) -> None:
    tracker = ActivityTracker(agents.folder)
    agents.says("a", "reading\nediting\n\ntes")
    agents.says("b", "looking\n")
    tracker.read_latest(agents.alive)
    assert tracker.list_new() == [("a", "reading"), ("a", "editing"), ("b", "looking")]
    assert tracker.read_latest(agents.alive)["a"] == "tes"
    assert tracker.list_new() == []
    agents.says("a", "ting\ntesting\n")
    tracker.read_latest(agents.alive)
    assert tracker.list_new() == [("a", "testing"), ("a", "testing")]
    agents.says("a", "".join(f"line {n}\n" for n in range(2000)))
    tracker.read_latest(agents.alive)
    new = tracker.list_new()
    assert new[-1] == ("a", "line 1999")
    assert len(new) < 1000  # of much output, only the end is read


def test_a_transcript_that_did_not_grow_is_not_read_again(agents: Agents) -> None:
    look = ActivityTracker(agents.folder).read_latest
    agents.says("a", "one\n")
    look(agents.alive)
    agents.path("a").write_text("two\n")
    assert look(agents.alive) == {"a": "one"}
    agents.says("a", "three\n")
    assert look(agents.alive) == {"a": "three"}


def test_only_the_end_of_a_long_transcript_is_read(agents: Agents) -> None:
    with agents.path("a").open("wb") as transcript:
        transcript.truncate(300 << 20)  # a hole, which takes no room
        transcript.seek(0, os.SEEK_END)
        transcript.write(b"x" * activity.TAIL_BYTES + b"\nthe end\n")
    assert ActivityTracker(agents.folder).read_latest(agents.alive) == {"a": "the end"}


def test_an_endless_line_and_invalid_utf8_are_harmless(agents: Agents) -> None:
    agents.says("a", b"\x00\xff\xfe" * 100_000 + b"the end of it")
    agents.says("b", "\x1b[31m10%\r\x1b[32m90% of it\x1b[0m")
    result = ActivityTracker(agents.folder).read_latest(agents.alive)
    assert result["b"] == "90% of it"
    assert len(result["a"]) <= 160
    assert result["a"].isprintable()


def test_an_empty_line_keeps_the_last_activity(agents: Agents) -> None:
    look = ActivityTracker(agents.folder).read_latest
    agents.says("a", "working\n")
    look(agents.alive)
    agents.says("a", "\n" * activity.TAIL_BYTES)
    assert look(agents.alive) == {"a": "working"}


class Structured:
    """A listener that hears only lines of its own kind."""

    def feed(self, line: str) -> Sequence[AgentEvent]:
        if line.startswith("do:"):
            return (PhaseStarted("p"), Activity(line.removeprefix("do:")))
        return ()

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:  # noqa: ARG002 - the protocol's
        return Outcome(Category.OK)


def structured(_attempt: AttemptState) -> OutputParser:
    return Structured()


def test_output_is_parsed_by_the_agents_own_parser(agents: Agents) -> None:
    agents.says("a", 'do:editing\n{"noise": 1}\n')
    assert ActivityTracker(agents.folder, structured).read_latest(agents.alive) == {"a": "editing"}


def test_the_end_of_a_secret_is_not_shown_where_a_long_line_is_cut(agents: Agents) -> None:
    key = "zebra-of-the-environment"
    write_batch_environment(agents.folder, agents.one("a").name.batch, {"API_KEY": key})
    for cut in range(len(key)):
        agents.path("a").write_text(f"{key} and more".rjust(activity.TAIL_BYTES + cut, "."))
        with agents.path("a").open("a") as transcript:
            transcript.write("." * (activity.TAIL_BYTES - len(key) - len(" and more") + cut))
        seen = ActivityTracker(agents.folder).read_latest(agents.alive)["a"]
        assert seen.startswith("and more.")


def test_a_line_whose_beginning_was_not_read_is_skipped(agents: Agents) -> None:
    wrong = b"do:wrong\n"
    agents.says("a", b"not to " + wrong + b"." * (activity.TAIL_BYTES - len(wrong)))
    assert ActivityTracker(agents.folder, structured).read_latest(agents.alive) == {}


def test_output_is_parsed_by_the_agents_in_the_batch_inputs(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "a", "b", settings=Settings(isolation=Isolation.IN_PLACE, verify="true"))
    kit = BatchInputs(str(tmp_path), (), (AgentSpec("shell"),))
    agents.script.exit_attempt("b")
    agents.says("a", "\x1b[1mwriting\x1b[0m\n")
    agents.says("b", "checking\n")
    assert ActivityTracker(agents.folder, make_parser_factory(kit)).read_latest(agents.alive) == {
        "a": "writing",
        "b": "checking",
    }


def test_output_of_an_unknown_agent_is_shown_as_it_is(tmp_path: Path) -> None:
    settings = Settings(isolation=Isolation.IN_PLACE, agents=("from-the-future",))
    agents = Agents(tmp_path, "a", settings=settings)
    agents.says("a", "writing\n")
    assert ActivityTracker(agents.folder, make_parser_factory(BatchInputs(str(tmp_path), ()))).read_latest(
        agents.alive
    ) == {"a": "writing"}


def test_each_line_is_logged_once_with_its_offset(agents: Agents) -> None:
    logs = LogStream(agents.folder)
    agents.says("a", "one\ntwö\nthr")
    first = logs.read(agents.alive, 5.0)
    agents.says("a", "ee\n")
    second = logs.read(agents.alive, 6.0)
    assert texts(first) == ["one", "twö"]
    assert texts(second) == ["three"]
    assert [event.data["offset"] for event in (*first, *second)] == [0, 4, 9]
    assert first[0].to_json() == {
        "seq": None,
        "at": "1970-01-01T00:00:05.000Z",
        "type": "execution:log",
        "batchId": "b1",
        "taskId": "a",
        "attempt": 1,
        "step": "write",
        "offset": 0,
        "entry": {"kind": "activity", "text": "one"},
    }
    assert logs.read(agents.alive, 7.0) == []


def test_all_remaining_output_of_an_ended_attempt_is_logged(agents: Agents) -> None:
    logs = LogStream(agents.folder)
    lines = [f"line {n}" for n in range(40_000)]
    agents.says("a", "\n".join(lines))
    over = agents.one("a")
    result = logs.read(agents.alive, 1.0)
    assert 0 < len(result) < len(lines)
    result += logs.finish(over, 2.0)
    assert texts(result) == lines


def test_a_reader_far_behind_gets_an_entry_about_the_skipped_bytes(agents: Agents) -> None:
    logs = LogStream(agents.folder)
    size = activity.MAX_LAG_BYTES + activity.CHUNK_BYTES
    agents.says("a", b"x" * (size - 5) + b"\nend\n")
    skipped, cut, end = logs.read(agents.alive, 1.0)
    assert skipped.data["entry"] == {"kind": "skipped", "bytes": size - activity.CHUNK_BYTES}
    assert skipped.data["offset"] == 0
    assert cut.data["offset"] == size - activity.CHUNK_BYTES
    assert end.data == {"step": "write", "offset": size - 4, "entry": {"kind": "activity", "text": "end"}}


def test_a_line_of_megabytes_is_cut_and_the_next_one_has_its_true_offset(agents: Agents) -> None:
    logs = LogStream(agents.folder)
    agents.says("a", b"y" * 500_000 + b"\nnext\n")
    result = logs.finish(agents.one("a"), 1.0)
    assert [event.data["offset"] for event in result] == [0, 500_001]
    assert texts(result)[1] == "next"


def test_a_missing_transcript_has_no_output(agents: Agents) -> None:
    logs = LogStream(agents.folder)
    assert logs.read(agents.alive, 1.0) == []
    assert logs.finish(agents.one("a"), 1.0) == []
