"""Slots and refusals that the engines of one user share."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from plait.system import engine_slots
from plait.system.engine_slots import identify_process
from plait.system.shared_state import OtherEngines, ProviderRefusals, SharedState
from tests.support.waiting import wait_until

Child = Callable[..., Popen[str]]
Opened = Callable[..., SharedState]

FOREIGN = [
    "",
    "{",
    "null",
    "[[[[" * 50_000,
    '{"engine": 1}',
    "\xff\x00",
    '{"engine": "x", "pid": 1, "boot": "", "slots": "9"}',
]


@pytest.fixture
def engine(folder: Path) -> Iterator[Opened]:
    opened: list[SharedState] = []

    def start(name: str) -> SharedState:
        opened.append(SharedState(folder, engine=name))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def read_others(shared: SharedState) -> OtherEngines:
    with shared.lock() as others:
        return others


def hold(shared: SharedState, slots: int, *pids: int) -> None:
    with shared.lock():
        shared.record_usage(slots, pids)


def printed(process: Popen[str]) -> list[int]:
    """A line of numbers."""
    assert process.stdout
    return [int(word) for word in process.stdout.readline().split()]


def end(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def dead(pid: int) -> bool:
    return identify_process(pid) is None


def test_a_single_engine_sees_no_others(engine: Opened) -> None:
    shared = engine("/a")
    assert read_others(shared) == OtherEngines()
    hold(shared, 3)
    assert read_others(shared) == OtherEngines()
    assert shared.problem == ""


def test_other_engines_see_slots_and_names(engine: Opened) -> None:
    one, two, three = engine("/a"), engine("/b"), engine("/c")
    hold(one, 2)
    hold(two, 3)
    assert read_others(three) == OtherEngines(5, "/b (3), /a (2)")
    assert read_others(one) == OtherEngines(3, "/b (3)")
    hold(two, 0)
    assert read_others(one) == OtherEngines()


def test_the_busiest_engines_are_named(engine: Opened) -> None:
    for number in range(1, 6):
        hold(engine(f"/{number}"), number)
    assert read_others(engine("/mine")) == OtherEngines(15, "/5 (5), /4 (4), /3 (3), 2 more")


def test_unprintable_characters_of_a_name_are_replaced(engine: Opened) -> None:
    hold(engine("/a\x1b[2J\udcff\nb"), 1)
    assert read_others(engine("/b")).who == "/a\N{REPLACEMENT CHARACTER}[2J" + "\N{REPLACEMENT CHARACTER}" * 2 + "b (1)"


def test_an_engine_that_exits_holds_no_slots(engine: Opened, folder: Path) -> None:
    one, two = engine("/a"), engine("/b")
    hold(one, 2)
    one.close()
    one.close()
    assert read_others(two) == OtherEngines()
    two.close()
    assert list((folder / "engines").iterdir()) == []


def test_a_dead_engine_counts_with_its_living_attempts(engine: Opened, child: Child, folder: Path) -> None:
    other = child("hold", folder, "/dead", 4, 3)
    _, *attempts = printed(other)
    mine = engine("/mine")
    assert read_others(mine).slots == 4
    other.kill()
    other.wait()
    assert read_others(mine) == OtherEngines(4, "/dead (4)"), "all of them run"
    end(attempts[0])
    wait_until(lambda: dead(attempts[0]))
    assert read_others(mine).slots == 3, "which of them had two is not known"
    end(*attempts[1:])
    wait_until(lambda: all(map(dead, attempts)))
    assert read_others(mine) == OtherEngines()
    assert len(list((folder / "engines").iterdir())) == 1, "its entry is gone"


def test_slots_of_running_attempts_count_after_their_engine_exited(engine: Opened, child: Child, folder: Path) -> None:
    other = child("hold", folder, "/left", 2, 2)
    _, *attempts = printed(other)
    other.communicate()
    mine = engine("/mine")
    assert read_others(mine).slots == 2
    end(*attempts)
    wait_until(lambda: all(map(dead, attempts)))
    assert read_others(mine).slots == 0


def test_the_next_engine_of_the_same_name_replaces_a_dead_one(engine: Opened, child: Child, folder: Path) -> None:
    other = child("hold", folder, "/same", 2, 2)
    _, *attempts = printed(other)
    other.kill()
    other.wait()
    watcher, successor = engine("/watcher"), engine("/same")
    assert read_others(successor) == OtherEngines(), "what it inherits is its own"
    assert read_others(watcher).slots == 2, "not four, and not none"
    hold(successor, 1, attempts[0])
    assert read_others(watcher).slots == 1
    end(*attempts)


def test_an_engine_that_exits_at_once_keeps_the_entry_it_found(engine: Opened, child: Child, folder: Path) -> None:
    other = child("hold", folder, "/same", 2, 2)
    _, *attempts = printed(other)
    other.kill()
    other.wait()
    engine("/same").close()
    assert read_others(engine("/watcher")).slots == 2
    end(*attempts)


def test_a_second_engine_of_the_same_name_is_a_problem_and_sees_the_others(engine: Opened) -> None:
    hold(engine("/other"), 2)
    hold(engine("/same"), 1)
    second = engine("/same")
    assert read_others(second).slots == 2
    assert "another engine of the same name is running" in second.problem


def test_processes_from_before_a_reboot_do_not_count(engine: Opened, folder: Path) -> None:
    me = identify_process(os.getpid())
    assert me
    entry = {
        "engine": "/old",
        "pid": 1,
        "boot": "earlier",
        "slots": 3,
        "attempts": [{"pid": me.pid, "start": me.start}],
    }
    mine = engine("/mine")
    (folder / "engines" / "old.json").write_text(json.dumps(entry))
    assert read_others(mine) == OtherEngines()
    assert not (folder / "engines" / "old.json").exists()


def test_a_reused_pid_does_not_count(engine: Opened, child: Child, folder: Path) -> None:
    other = child("hold", folder, "/dead", 1, 1)
    _, attempt = printed(other)
    other.kill()
    other.wait()
    (path,) = (folder / "engines").iterdir()
    text = path.read_text()
    mine = engine("/mine")
    assert read_others(mine).slots == 1
    path.write_text(text.replace('"start":', '"start":1'))
    assert read_others(mine).slots == 0
    end(attempt)


def test_a_zombie_attempt_does_not_count(
    engine: Opened,
) -> None:
    over = Popen(["true"])
    os.waitid(os.P_PID, over.pid, os.WEXITED | os.WNOWAIT)
    gone = engine("/gone")
    hold(gone, 1, over.pid)
    gone.close()
    assert read_others(engine("/mine")) == OtherEngines()
    over.wait()


@pytest.mark.parametrize("text", FOREIGN)
def test_an_unreadable_entry_is_skipped(text: str, engine: Opened, folder: Path) -> None:
    one, two = engine("/a"), engine("/b")
    hold(one, 2)
    one.report_refusal("anthropic", 1e12)
    for name in ("foreign.json", "a note.txt"):
        (folder / "engines" / name).write_text(text, encoding="latin-1")
    assert read_others(two) == OtherEngines(2, "/a (2)", refusals={"anthropic": 1e12})
    assert not (folder / "engines" / "foreign.json").exists()
    assert (folder / "engines" / "a note.txt").exists(), "it is not ours"
    (folder / "refusals.json").write_text(text, encoding="latin-1")
    assert read_others(two) == OtherEngines(2, "/a (2)")
    one.report_refusal("anthropic", 1e12)
    assert read_others(two).refusals == {"anthropic": 1e12}
    assert two.problem == ""


def test_an_entry_that_is_not_a_file_is_skipped(engine: Opened, folder: Path) -> None:
    shared = engine("/a")
    os.mkfifo(folder / "engines" / "pipe.json")
    (folder / "engines" / "folder.json").mkdir()
    (folder / "engines" / "link.json").symlink_to(__file__)
    assert read_others(shared) == OtherEngines()
    assert shared.problem == ""
    assert len(list((folder / "engines").iterdir())) == 4


def test_a_live_engine_rewrites_its_damaged_entry(engine: Opened, folder: Path) -> None:
    one, two = engine("/a"), engine("/b")
    hold(one, 2)
    for path in (folder / "engines").iterdir():
        path.write_text("{")
    assert read_others(two) == OtherEngines()
    hold(one, 3)
    assert read_others(two).slots == 3


def test_an_engine_replaces_an_unreadable_entry_of_its_name(engine: Opened, folder: Path) -> None:
    engine("/a").close()
    one = engine("/a")
    (path,) = (folder / "engines").iterdir()
    one.close()
    path.write_bytes(b"[" * 3_000_000)
    hold(engine("/a"), 2)
    assert read_others(engine("/b")).slots == 2
    assert path.stat().st_size < 4096


def test_a_folder_that_was_removed_is_made_again(engine: Opened, folder: Path) -> None:
    one, two = engine("/a"), engine("/b")
    hold(one, 2)
    for path in (folder / "engines").iterdir():
        path.unlink()
    (folder / "engines").rmdir()
    (folder / "lock").unlink()
    assert read_others(one) == OtherEngines()
    assert read_others(two).slots == 2
    assert one.problem == two.problem == ""


def test_shared_files_are_private(engine: Opened, folder: Path) -> None:
    shared = engine("/a")
    hold(shared, 1)
    shared.report_refusal("anthropic", 1e12)
    shared.lease_ports("b", "t")
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert sum(path.is_file() for path in modes) == 4


def test_an_engine_runs_alone_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("this is no folder")
    shared = SharedState(tmp_path / "home" / "commons", engine="/a")
    hold(shared, 2)
    shared.report_refusal("anthropic", 1e12)
    assert read_others(shared) == OtherEngines()
    one, two = shared.lease_ports("b", "one"), shared.lease_ports("b", "two")
    assert len(one) == len(two) == 10
    assert not {*one} & {*two}, "within this engine, ports are kept apart all the same"
    assert shared.lease_ports("b", "one") == one
    shared.release_ports("b", "one")
    shared.close()
    assert shared.problem.startswith(
        f"slots and ports are not shared with your other engines, since {tmp_path / 'home' / 'commons'} cannot be used: "
    )
    assert "Not a directory" in shared.problem


def test_an_error_of_the_caller_is_raised(engine: Opened) -> None:
    shared = engine("/a")
    with pytest.raises(OSError, match="mine"), shared.lock():
        raise OSError("mine")
    assert shared.problem == ""
    assert read_others(engine("/b")) == OtherEngines(), "the turn is over"


def test_all_calls_work_while_the_lock_is_held(engine: Opened) -> None:
    one, two = engine("/a"), engine("/b")
    with one.lock():
        one.record_usage(1, [])
        one.report_refusal("anthropic", 1e12)
        assert one.lease_ports("b", "t")
        one.release_ports("b", "t")
        with one.lock() as inside:
            assert inside.slots == 0
    assert read_others(two) == OtherEngines(1, "/a (1)", refusals={"anthropic": 1e12})
    assert (one.problem, two.problem) == ("", "")


def test_waiting_for_a_stopped_engine_is_bounded(
    engine: Opened, child: Child, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_slots, "LOCK_TIMEOUT_SECONDS", 0.05)
    mine = engine("/mine")
    other = child("stop", folder, "/stopped")
    assert other.stdout
    assert other.stdout.readline() == "held\n"
    os.waitpid(other.pid, os.WUNTRACED)
    with mine.lock() as others:
        assert others == OtherEngines(3, "/stopped (3)"), "what it holds is known"
        mine.record_usage(1, [])
    assert mine.problem.startswith(f"process {other.pid} has held {folder / 'lock'} for over ")
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    assert read_others(mine).slots == 3
    assert pauses == [], "it is not waited for a second time"
    monkeypatch.undo()
    os.kill(other.pid, signal.SIGCONT)
    assert other.stdout.readline() == "over\n"
    assert read_others(mine).slots == 3
    assert mine.problem == ""


def test_refusals_reach_other_engines_and_outlast_their_own(engine: Opened) -> None:
    one, two, three = engine("/a"), engine("/b"), engine("/c")
    one.report_refusal("anthropic", 2e12)
    two.report_refusal("anthropic", 1e12)
    two.report_refusal("openai", 1e12)
    assert read_others(three).refusals == {"anthropic": 2e12, "openai": 1e12}
    assert read_others(one).refusals == {"anthropic": 1e12, "openai": 1e12}, "its own it knows"
    one.close()
    assert read_others(three).refusals["anthropic"] == 2e12
    assert read_others(engine("/a")).refusals == {"anthropic": 1e12, "openai": 1e12}


def test_refusals_expire(tmp_path: Path) -> None:
    path = tmp_path / "refusals.json"
    one, two = ProviderRefusals(path, "one"), ProviderRefusals(path, "two")
    one.record("anthropic", 100, now=10)
    one.record("openai", 50, now=10)
    two.record("gemini", 70, now=20)
    one.record("anthropic", 60, now=30)
    assert two.read_others(40, clean_up=True) == {"anthropic": 60, "openai": 50}
    assert two.read_others(55, clean_up=True) == {"anthropic": 60}
    assert one.read_others(65, clean_up=True) == {"gemini": 70}
    assert two.read_others(70, clean_up=False) == {}
    assert path.exists()
    assert two.read_others(70, clean_up=True) == {}
    assert not path.exists()
    one.record("anthropic", float("inf"), now=80)
    one.record("anthropic", float("nan"), now=80)
    assert two.read_others(80, clean_up=True) == {}


def test_an_invalid_refusal_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "refusals.json"
    good = {"engine": "e", "provider": "p", "until": 9, "later": "versions may say more"}
    path.write_text(json.dumps([1, {"engine": "x"}, good, {**good, "until": "soon"}]))
    assert ProviderRefusals(path, "mine").read_others(1, clean_up=True) == {"p": 9}
