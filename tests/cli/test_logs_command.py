"""`plait logs`: what attempts print, however much and whatever it is."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.cli.format import format_size
from plait.client.logs.attempt_output import AnsiStripper
from plait.core.settings import Backoff
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import BatchInputs, write_batch_files
from plait.system.state_paths import StateFolder
from tests.support.cli_runner import Say
from tests.support.journal_writer import JournalWriter
from tests.support.temp_project import TempProject, temp_project


def transcript(place: RepoLocation, n: int = 1, step: Step = Step.WRITE, task: str = "a") -> Path:
    path = StateFolder(place.state).attempt(Attempt("beef", task, step, n)).transcript
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def tried(place: RepoLocation, writer: JournalWriter) -> None:
    """Written, checked in vain, and written again."""
    writer.submit("beef", "a", "b<a", retries=1, backoff=Backoff(base=0.0), verify="make test")
    writer.exit_attempt("a")
    writer.exit_attempt("a", Category.VERIFY, "2 tests failed")
    transcript(place, 1).write_text("first\n")
    transcript(place, 1, Step.VERIFY).write_text("2 tests failed\n")
    transcript(place, 2).write_text("second\nand on")


@pytest.mark.usefixtures("tried")
def test_the_newest_attempt_is_shown(say: Say) -> None:
    answer = say("logs", "beef", "a")
    assert (answer.code, answer.out) == (0, "second\nand on\n")
    assert answer.err == "plait: the verification has its own transcript: --step verify\n"


@pytest.mark.usefixtures("tried")
def test_the_check_that_failed_is_shown_instead_of_the_agent_that_ended_well(
    say: Say, writer: JournalWriter, place: RepoLocation
) -> None:
    writer.exit_attempt("a")
    writer.exit_attempt("a", Category.VERIFY, "1 test failed")
    transcript(place, 2, Step.VERIFY).write_text("1 test failed\n")
    answer = say("logs", "a")
    assert (answer.code, answer.out) == (0, "1 test failed\n")
    assert answer.err == (
        "plait: a is failed: verification failed: 1 test failed (after 2 attempts); to see the agent's output: --step write\n"
    )
    assert say("logs", "a", "--step", "write").out == "second\nand on\n"
    assert say("logs", "a", "--attempt", "1").out == "first\n"


@pytest.mark.usefixtures("tried")
def test_an_earlier_attempt_and_the_verification_can_be_chosen(say: Say) -> None:
    assert say("logs", "a", "--attempt", "1").out == "first\n"
    assert str(say("logs", "a", "--step", "verify")) == "2 tests failed\nexit 0\n"


@pytest.mark.usefixtures("tried")
def test_a_missing_attempt_or_task_is_reported(say: Say) -> None:
    assert str(say("logs", "a", "--attempt", "3")) == (
        "stderr: plait: a has no write attempt 3\nstderr:   It has 2.\nexit 2\n"
    )
    assert say("logs", "a", "--step", "verify", "--attempt", "0").code == 2
    assert say("logs", "a", "--step", "merge").err == (
        "plait: there is no step called merge\n  --step is write or verify.\n"
    )


@pytest.mark.usefixtures("tried")
def test_a_task_that_has_not_started_says_why(say: Say) -> None:
    assert str(say("logs", "b")) == (
        "stderr: plait: b has no write attempt yet\nstderr:   b is waiting: needs a.\nexit 1\n"
    )


def test_an_attempt_that_printed_nothing_says_so(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a")
    writer.exit_attempt("a")
    assert str(say("logs")) == "stderr: plait: a write-1 printed nothing\nexit 0\n"


@pytest.mark.usefixtures("tried")
def test_control_characters_in_the_output_are_removed(say: Say, place: RepoLocation) -> None:
    hostile = b"\x1b[31mred\x1b[0m \x1b]0;title\x07\r\n10%\r20%\r\n\x9b2J\xff\x00 \xe2\x80\xae\x1b[2Jend\tof it\x1b["
    transcript(place, 3).write_bytes(hostile)
    path = transcript(place, 2, Step.VERIFY)
    path.write_bytes(hostile)
    StateFolder(place.state).attempt(Attempt("beef", "a", Step.WRITE, 2)).transcript.write_bytes(hostile)
    assert say("logs", "a").out == "red \n10%\n20%\n\ufffd2J\ufffd\ufffd \ufffdend\tof it\ufffd[\n"


def test_json_output_of_a_tool_is_shown_as_a_summary(say: Say, place: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("beef", Task("a", agent="claude"))
    writer.exit_attempt("a")
    write_batch_files(project_files.open_state_paths(place), "beef", BatchInputs(str(place.top), (), ()), {})
    bash = {"type": "tool_use", "name": "Bash", "input": {"command": "make\x1b[2J test"}}
    last = "All is well.\n\n- one\n- two"
    events = [
        {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s-1"},
        {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "I look."}]}},
        {"type": "assistant", "message": {"id": "m2", "content": [bash]}},
        {"type": "assistant", "message": {"id": "m3", "content": [{"type": "text", "text": last}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": last, "session_id": "s-1"},
    ]
    printed = "".join(f"{json.dumps(each)}\n" for each in events) + "npm warn: old\n"
    transcript(place).write_text(printed)
    answer = say("logs", "a")
    lines = answer.out.splitlines()
    assert lines[:1] == ["I look."]
    assert lines[1].startswith("running make")
    assert "\x1b" not in answer.out
    assert "npm warn: old" in lines
    assert answer.out.endswith(f"\n{last}\n")
    assert answer.err == "plait: this is a summary; --raw shows the complete output\n"
    assert say("logs", "a", "--raw").out == printed


@pytest.mark.usefixtures("tried")
def test_raw_prints_the_output_byte_for_byte(place: RepoLocation) -> None:
    data = bytes(range(256)) * 1000
    StateFolder(place.state).attempt(Attempt("beef", "a", Step.WRITE, 2)).transcript.write_bytes(data)
    result = subprocess.run(plait(place, "logs", "a", "--raw"), capture_output=True, check=True)
    assert result.stdout == data


def plait(place: RepoLocation, *words: str) -> list[str]:
    return [sys.executable, "-m", "plait", "-C", str(place.top), *words]


@pytest.mark.usefixtures("tried")
def test_gaps_in_the_output_are_reported(say: Say, place: RepoLocation) -> None:
    path = StateFolder(place.state).attempt(Attempt("beef", "a", Step.WRITE, 2)).transcript
    with path.open("wb") as file:
        file.write(b"begin" + b"." * 4091)
        file.seek(1 << 20)
        file.write(b"the end\n")
    output = say("logs", "a").out
    assert re.fullmatch(r"begin\.+\n\[… 1\.0 MB left out here …\]\nthe end\n", output)
    raw = say("logs", "a", "--raw")
    assert raw.err.startswith("plait: 1.0 MB left out here\n")
    assert len(raw.out) == 4096 + 8
    lines = [json.loads(line) for line in say("logs", "a", "--json").out.splitlines()]
    assert [line["entry"]["kind"] for line in lines] == ["output", "skipped", "output"]
    assert [line["offset"] for line in lines] == [0, 4096, 1 << 20]


@pytest.mark.usefixtures("tried")
def test_json_lines_have_their_offsets(say: Say, place: RepoLocation) -> None:
    path = StateFolder(place.state).attempt(Attempt("beef", "a", Step.WRITE, 2)).transcript
    path.write_bytes(b"one\n\xff\x1b[1mtwo\n" + b"x" * 200_000 + b"\nlast")
    answer = say("logs", "a", "--json")
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert {line["type"] for line in lines} == {"execution:log"}
    assert (lines[0]["batchId"], lines[0]["taskId"], lines[0]["attempt"], lines[0]["step"]) == (
        "beef",
        "a",
        2,
        "write",
    )
    texts = [line["entry"]["text"] for line in lines]
    assert texts[:2] == ["one", "\ufffd\x1b[1mtwo"]
    assert "".join(texts[2:]) == "x" * 200_000 + "last"
    sizes = [len(text) for text in texts[2:-1]]
    offsets = [line["offset"] for line in lines[2:]]
    assert offsets == [13 + sum(sizes[:n]) for n in range(len(sizes))] + [13 + 200_001]


@pytest.mark.parametrize("more", [[], ["--raw"], ["--json"]])
@pytest.mark.usefixtures("tried")
def test_a_line_of_forty_megabytes_takes_no_more_memory_than_a_short_one(place: RepoLocation, more: list[str]) -> None:
    def peak(attempt: int) -> int:
        words = plait(place, "logs", "a", "--attempt", str(attempt), *more)
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return used.ru_maxrss >> (10 if sys.platform != "darwin" else 20)  # in MiB

    path = StateFolder(place.state).attempt(Attempt("beef", "a", Step.WRITE, 2)).transcript
    with path.open("wb") as file:
        for _ in range(400):
            file.write(b"\x1b[1m" + b"x" * 100_000)
    assert peak(2) < peak(1) + 20


_PIECES = st.sampled_from(
    [
        b"\x1b",
        b"[",
        b"31",
        b"m",
        b"]",
        b"0;t",
        b"\x07",
        b"\\",
        b"\r",
        b"\n",
        b"a",
        b"\xc3",
        b"\xa4",
        b"\x9b",
        b"\xff",
    ]
)


@pytest.mark.parametrize("flags", [(), ("--raw",), ("--json",)])
def test_a_secret_is_redacted_wherever_a_long_line_is_cut(
    place: RepoLocation, writer: JournalWriter, say: Say, flags: tuple[str, ...]
) -> None:
    key = "zebra-of-the-environment"
    writer.submit("beef", "a")
    inputs = BatchInputs(str(place.top), (Task("a"),))
    write_batch_files(project_files.open_state_paths(place), "beef", inputs, {"API_KEY": key})
    transcript(place).write_text(f"{key}." * 12_000)  # no piece ends between two
    out = say("logs", "a", *flags).out
    assert ".***." in out
    assert not re.search("zebr|-of-|ronment", out)


@pytest.mark.parametrize("whole", [b"\r\x1ba\n", b"\x1b\x7f[0mx", b"\r\x1b[0m\x1b[1m\nx"])
def test_a_sequence_or_a_line_end_may_be_split_anywhere(whole: bytes) -> None:
    stripper = AnsiStripper()
    apart = "".join(stripper.feed(bytes([byte])) for byte in whole) + stripper.end()
    assert apart == stripper.feed(whole) + stripper.end()


@given(st.lists(_PIECES, max_size=30), st.data())
def test_the_output_does_not_depend_on_how_it_is_split(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    neutral, text, at = AnsiStripper(), "", 0
    while at < len(whole):
        size = data.draw(st.integers(1, 5))
        text += neutral.feed(whole[at : at + size])
        at += size
    text += neutral.end()
    once = AnsiStripper()
    assert text == once.feed(whole) + once.end()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, "1 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (52_428_800, "52.4 MB"),
        (7 * 10**12, "7000.0 GB"),
    ],
)
def test_sizes_are_formatted_with_units(size: int, expected: str) -> None:
    assert format_size(size) == expected


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path) as made:
        yield made


def start(project: TempProject, *words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "plait", *words]
    out = subprocess.PIPE
    return subprocess.Popen(line, cwd=project.top, env=project.env, text=True, stdout=out, stderr=out)


def test_following_continues_across_attempts_until_the_task_ends(project: TempProject) -> None:
    wait = "while [ ! -e go ]; do sleep 0.02; done; rm go"
    project.task("01-walls", f"echo begun; {wait}; echo on; exit 1", retries=1)
    assert project.plait("run", "--detach", "--yes").code == 0
    front = start(project, "logs", "01-walls", "-f")
    assert front.stdout is not None
    assert front.stdout.readline() == "begun\n"
    (project.top / "go").touch()
    assert front.stdout.readline() == "on\n"
    assert [front.stdout.readline() for _ in range(3)] == ["\n", "── 01-walls write-2 ──\n", "begun\n"]
    (project.top / "go").touch()
    out, err = front.communicate(timeout=60)
    assert (front.returncode, out) == (0, "on\n")
    assert "01-walls is waiting: retrying soon" in err


def test_following_a_task_that_has_not_started_prints_why_and_waits(project: TempProject) -> None:
    project.task("01-walls", "while [ ! -e go ]; do sleep 0.02; done")
    project.task("02-paint", "echo painted", needs="[01-walls]")
    assert project.plait("run", "--detach", "--yes").code == 0
    front = start(project, "logs", "02", "--follow")
    assert front.stderr is not None
    assert front.stderr.readline() == "plait: 02-paint is waiting: needs 01-walls\n"
    (project.top / "go").touch()
    out, _ = front.communicate(timeout=60)
    assert (front.returncode, out) == (0, "painted\n")


def test_following_starts_an_engine_if_the_last_one_died(project: TempProject) -> None:
    project.task("01-walls", "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo on")
    assert project.plait("run", "--detach", "--yes").code == 0
    engine = project.find_engine()
    assert engine is not None
    os.kill(engine, signal.SIGKILL)
    front = start(project, "logs", "-f")
    (project.top / "go").touch()
    out, _ = front.communicate(timeout=60)
    assert (front.returncode, out) == (0, "begun\non\n")
