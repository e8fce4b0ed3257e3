"""Others write at the very moment when we do. What they saved is there afterwards, and so are the statuses."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from plait.system import file_exchange
from plait.system.status_files import SourceWriteError, WriteResult
from tests.support.status_file import StatusFileSetup, do_nothing

either_way = pytest.mark.usefixtures("_either_way")


def adds(source: StatusFileSetup, line: str, before: str = "") -> Callable[[], None]:
    """A person opens the file, inserts or appends a line, and saves."""

    def act() -> None:
        text = source.text
        place = text.index(before) if before else len(text)
        source.save(f"{text[:place]}{line}\n{text[place:]}")

    return act


@either_way
def test_a_save_during_the_preparation_is_never_displaced(source: StatusFileSetup) -> None:
    exchanges: list[str] = []
    written = source.write(
        "two",
        applying=[adds(source, "a note", "two")],
        exchanging=[lambda: exchanges.append(source.text)] * 2,
    )
    assert written == WriteResult(changed=True)
    assert ["a note" in text for text in exchanges] == [True, True]
    assert source.text == "# Tasks\none: pending\na note\ntwo: completed\nthree: pending\n"
    assert source.hidden_files == []


@either_way
def test_a_save_in_the_last_instant_is_merged(source: StatusFileSetup) -> None:
    assert source.write("two", exchanging=[adds(source, "a note", "two")]) == WriteResult(changed=True)
    assert source.text == "# Tasks\none: pending\na note\ntwo: completed\nthree: pending\n"
    assert source.hidden_files == []


@either_way
def test_a_second_save_that_lacks_the_first_is_merged(source: StatusFileSetup) -> None:
    written = source.write("two", exchanging=[adds(source, "first", "one"), adds(source, "second", "three")])
    assert written == WriteResult(changed=True)
    assert source.text == "# Tasks\nfirst\none: pending\ntwo: completed\nsecond\nthree: pending\n"
    assert source.hidden_files == []


@either_way
def test_two_edits_at_one_place_are_both_kept(source: StatusFileSetup) -> None:
    source.write("two", exchanging=[adds(source, "first"), adds(source, "second")])
    assert source.text.endswith("three: pending\nfirst\nsecond\n")


@either_way
def test_a_save_of_the_displaced_version_is_merged(source: StatusFileSetup) -> None:
    """They had opened the file before our exchange, and save after it."""
    opened: list[str] = []

    def first() -> None:
        adds(source, "first")()
        opened.append(source.text)

    source.write("two", exchanging=[first, lambda: source.save(f"{opened[0]}second\n")])
    assert source.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nfirst\nsecond\n"


@either_way
def test_a_line_removed_again_by_its_author_stays_removed(source: StatusFileSetup) -> None:
    opened: list[str] = []

    def first() -> None:
        source.save(source.text.replace("# Tasks\n", ""))
        opened.append(source.text)

    source.write("two", exchanging=[first, lambda: source.save(f"{opened[0]}last\n")])
    assert source.text == "one: pending\ntwo: completed\nthree: pending\nlast\n"


@either_way
def test_three_saves_that_lack_each_other_are_merged(source: StatusFileSetup) -> None:
    """The third version was made from the second, which lacks the first: the first one's line was not taken out."""
    opened: list[str] = []

    def second() -> None:
        adds(source, "second", "one")()
        opened.append(source.text)

    source.write(
        "two",
        exchanging=[
            adds(source, "first", "# Tasks"),
            second,
            do_nothing,
            lambda: source.save(f"{opened[0]}third\n"),
        ],
    )
    assert source.text == "first\n# Tasks\nsecond\none: pending\ntwo: completed\nthree: pending\nthird\n"


@either_way
def test_a_status_that_a_person_set_for_another_task_is_kept(source: StatusFileSetup) -> None:
    stale = source.text

    def saves() -> None:
        source.save(stale.replace("one: pending", "one: blocked").replace("two: pending", "two: failed"))

    source.write("two", exchanging=[saves])
    assert source.text == "# Tasks\none: blocked\ntwo: completed\nthree: pending\n"


@either_way
def test_both_versions_of_a_line_changed_twice_are_kept(source: StatusFileSetup) -> None:
    ours = "# Tasks\none: pending\ntwo: completed\nthree: pending\n"
    source.write(
        "two",
        exchanging=[
            lambda: source.save(source.text.replace("# Tasks", "# Work")),
            lambda: source.save(ours.replace("# Tasks", "# Things")),
        ],
    )
    assert source.text == ours.replace("# Tasks", "# Work\n# Things")


@either_way
def test_a_task_removed_meanwhile_stays_removed(source: StatusFileSetup) -> None:
    (problem,) = source.write(
        "two", exchanging=[lambda: source.save(source.text.replace("two: pending\n", ""))]
    ).problems
    assert "two was removed from the file or is ambiguous" in problem.message
    assert source.text == "# Tasks\none: pending\nthree: pending\n"
    assert source.hidden_files == []


@either_way
def test_a_mode_changed_meanwhile_is_kept(source: StatusFileSetup) -> None:
    def saves() -> None:
        adds(source, "a note")()
        source.path.chmod(0o600)

    source.write("one", exchanging=[saves])
    assert stat.S_IMODE(source.path.stat().st_mode) == 0o600


@either_way
def test_a_file_removed_meanwhile_stays_removed(source: StatusFileSetup) -> None:
    (problem,) = source.write("one", exchanging=[source.path.unlink]).problems
    assert problem.message == "this file is not there any more: no status was written"
    assert not source.path.exists()
    assert source.hidden_files == []


@either_way
def test_a_file_moved_away_and_rewritten_meanwhile_is_merged(source: StatusFileSetup) -> None:
    text = source.text

    def moves() -> None:
        source.path.rename(source.checkout / "TODO.md~")

    written = source.write("one", exchanging=[moves], pausing=[lambda: source.save(f"{text}new\n")])
    assert written == WriteResult(changed=True)
    assert source.text == text.replace("one: pending", "one: completed") + "new\n"


@either_way
def test_an_unmerged_edit_of_a_removed_file_is_kept(source: StatusFileSetup) -> None:
    """One saves an edit, another removes the file before it is back in place: should the file come back, so does the edit."""
    text = source.text
    source.write("one", exchanging=[adds(source, "first"), source.path.unlink])
    assert not source.path.exists()
    assert len(source.hidden_files) == 1
    source.save(text)
    source.write("two")
    assert "first\n" in source.text
    assert "two: completed\n" in source.text
    assert source.hidden_files == []


@either_way
def test_a_file_created_at_the_same_moment_is_not_overwritten(source: StatusFileSetup) -> None:
    source.name = "status.json"
    written = source.write("one", creates=True, applying=[lambda: source.save("theirs\none: pending\n")])
    assert written == WriteResult(changed=True)
    assert source.text == "theirs\none: completed\n"
    assert source.hidden_files == []


@either_way
def test_a_late_save_that_lacks_an_edit_is_merged(source: StatusFileSetup) -> None:
    """They opened it between our exchanges, and save it when ours had been the last: it is waited for."""
    opened: list[str] = []
    written = source.write(
        "two",
        exchanging=[adds(source, "first", "one"), lambda: opened.append(source.text)],
        pausing=[do_nothing] * 4 + [lambda: source.save(f"{opened[0]}second\n")],
    )
    assert written == WriteResult(changed=True)
    assert source.text == "# Tasks\nfirst\none: pending\ntwo: completed\nthree: pending\nsecond\n"
    assert source.hidden_files == []


def counting(source: StatusFileSetup) -> Iterator[Callable[[], None]]:
    for number in count(1):
        yield adds(source, f"line {number}")


@either_way
def test_a_file_that_changes_all_the_time_is_not_written(source: StatusFileSetup) -> None:
    with pytest.raises(SourceWriteError, match="other programs keep writing it: it changes all the time"):
        source.write("one", applying=list(islice(counting(source), 200)))
    assert "one: pending" in source.text
    assert source.hidden_files == []
    assert sum(source.pauses) < 5


@either_way
def test_saves_at_every_exchange_are_merged(source: StatusFileSetup) -> None:
    """We give up in the end; what we had displaced by then is put back by the next write."""
    with pytest.raises(SourceWriteError, match="other programs keep writing it"):
        source.write("one", exchanging=list(islice(counting(source), 1_000)))
    lines = source.text.count("line")
    assert lines > 50
    source.write("one")
    assert {f"line {number}" for number in range(1, lines + 1)} <= {*source.text.splitlines()}
    assert "one: completed" in source.text
    assert source.hidden_files == []


def test_an_atomic_exchange_loses_nothing(tmp_path: Path) -> None:
    one, path = tmp_path / "one", tmp_path / "path"
    one.write_text("ours")
    path.write_text("theirs")
    if not file_exchange._exchange_atomically(one, path):
        pytest.skip("not on this system")
    assert (one.read_text(), path.read_text()) == ("theirs", "ours")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        file_exchange.exchange_files(one, path)
    assert one.read_text() == "theirs"


@pytest.mark.parametrize("links", [True, False])
def test_an_exchange_in_three_steps_keeps_a_complete_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(file_exchange, "_system_call", lambda: None)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    one, path = tmp_path / "one", tmp_path / "path"
    one.write_text("ours")
    path.write_text("theirs")
    file_exchange.exchange_files(one, path)
    assert (one.read_text(), path.read_text()) == ("theirs", "ours")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        file_exchange.exchange_files(one, path)
    file_exchange.link_new_file(one, path)
    assert path.read_text() == "theirs"
    one.unlink(missing_ok=True)
    one.write_text("more")
    with pytest.raises(FileExistsError):
        file_exchange.link_new_file(one, path)
    assert path.read_text() == "theirs"


# How long a person waits before opening the file, how long it stays open, and what they do then.
SESSIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 40), st.sampled_from(["add", "change", "remove"])),
    max_size=12,
)


class People:
    """They take turns: one opens the file when the last one has saved, and saves some moments later."""

    def __init__(self, source: StatusFileSetup, sessions: list[tuple[int, int, int, str]]) -> None:
        self.source, self.sessions = source, iter(sessions)
        self.added: set[str] = set()
        self.removed: set[str] = set()
        self.work = self.session()

    def session(self) -> Iterator[None]:
        for number, (rest, work, place, what) in enumerate(self.sessions):
            for _ in range(rest):
                yield
            lines = self.source.text.splitlines()
            for _ in range(work):
                yield
            own = [line for line in lines if line.startswith("line")]
            gone = own[place % len(own)] if own and what != "add" else ""
            at = lines.index(gone) if gone else place % (len(lines) + 1)
            lines[at : at + bool(gone)] = [f"line {number}"] if what != "remove" else []
            self.source.save("".join(f"{line}\n" for line in lines))
            self.added |= {f"line {number}"} if what != "remove" else set()
            self.removed |= {gone}

    def tick(self) -> None:
        next(self.work, None)


@given(st.booleans(), SESSIONS)
def test_saves_at_any_time_are_never_lost(
    in_one_step: bool,  # noqa: FBT001 - hypothesis gives them by place
    sessions: list[tuple[int, int, int, str]],
) -> None:
    """A moment is whenever we look at a text, or wait."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(dir=memory) as name, pytest.MonkeyPatch.context() as patch:
        if not in_one_step:
            patch.setattr(file_exchange, "_system_call", lambda: None)
        source = StatusFileSetup(Path(name))
        source.save("# Tasks\none: pending\ntwo: pending\nthree: pending\n")
        people = People(source, sessions)
        problems = source.write(
            "one",
            "three",
            applying=[people.tick] * 500,
            exchanging=[people.tick] * 500,
            pausing=[people.tick] * 500,
        ).problems
        assert problems == ()
        for _ in range(100):  # who has it open still was not shown less than had been saved
            people.tick()
        saved = people.added - people.removed
        assert saved <= {*source.text.splitlines()}
        source.write("one", "three")
        assert saved | {"one: completed", "three: completed"} <= {*source.text.splitlines()}
        assert source.hidden_files == []
