"""Others write at the very moment when we do. What they saved is there afterwards, and so are the statuses."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from plait.system import file_exchange
from plait.system.status_files import SourceWriteError, WriteResult
from tests.support.status_file import StatusFileSetup, do_nothing

either_way = pytest.mark.usefixtures("_either_way")


def adds(site: StatusFileSetup, line: str, before: str = "") -> Callable[[], None]:
    """Somebody opens the file, puts a line in front of another or at the end, and saves."""

    def act() -> None:
        text = site.text
        place = text.index(before) if before else len(text)
        site.save(f"{text[:place]}{line}\n{text[place:]}")

    return act


@either_way
def test_what_somebody_saves_while_we_prepare_is_never_displaced(site: StatusFileSetup) -> None:
    exchanges: list[str] = []
    written = site.write(
        "two",
        applying=[adds(site, "a note", "two")],
        exchanging=[lambda: exchanges.append(site.text)] * 2,
    )
    assert written == WriteResult(changed=True)
    assert ["a note" in text for text in exchanges] == [True, True]
    assert site.text == "# Tasks\none: pending\na note\ntwo: completed\nthree: pending\n"
    assert site.hidden_files == []


@either_way
def test_somebody_saves_in_the_last_instant(site: StatusFileSetup) -> None:
    assert site.write("two", exchanging=[adds(site, "a note", "two")]) == WriteResult(changed=True)
    assert site.text == "# Tasks\none: pending\na note\ntwo: completed\nthree: pending\n"
    assert site.hidden_files == []


@either_way
def test_somebody_saves_an_edit_of_the_version_that_lacked_the_first_one(site: StatusFileSetup) -> None:
    written = site.write("two", exchanging=[adds(site, "first", "one"), adds(site, "second", "three")])
    assert written == WriteResult(changed=True)
    assert site.text == "# Tasks\nfirst\none: pending\ntwo: completed\nsecond\nthree: pending\n"
    assert site.hidden_files == []


@either_way
def test_both_add_at_one_place(site: StatusFileSetup) -> None:
    site.write("two", exchanging=[adds(site, "first"), adds(site, "second")])
    assert site.text.endswith("three: pending\nfirst\nsecond\n")


@either_way
def test_somebody_saves_an_edit_of_what_was_displaced(site: StatusFileSetup) -> None:
    """They had opened the file before our exchange, and save after it."""
    opened: list[str] = []

    def first() -> None:
        adds(site, "first")()
        opened.append(site.text)

    site.write("two", exchanging=[first, lambda: site.save(f"{opened[0]}second\n")])
    assert site.text == "# Tasks\none: pending\ntwo: completed\nthree: pending\nfirst\nsecond\n"


@either_way
def test_somebody_takes_out_again_what_was_displaced(site: StatusFileSetup) -> None:
    opened: list[str] = []

    def first() -> None:
        site.save(site.text.replace("# Tasks\n", ""))
        opened.append(site.text)

    site.write("two", exchanging=[first, lambda: site.save(f"{opened[0]}last\n")])
    assert site.text == "one: pending\ntwo: completed\nthree: pending\nlast\n"


@either_way
def test_an_edit_of_a_version_that_lacked_one_that_lacked_one(site: StatusFileSetup) -> None:
    """The third version was made from the second, which lacks the first: the first one's line was not taken out."""
    opened: list[str] = []

    def second() -> None:
        adds(site, "second", "one")()
        opened.append(site.text)

    site.write(
        "two",
        exchanging=[
            adds(site, "first", "# Tasks"),
            second,
            do_nothing,
            lambda: site.save(f"{opened[0]}third\n"),
        ],
    )
    assert site.text == "first\n# Tasks\nsecond\none: pending\ntwo: completed\nthree: pending\nthird\n"


@either_way
def test_their_status_of_another_task_stands_and_ours_is_put_in_again(site: StatusFileSetup) -> None:
    stale = site.text

    def saves() -> None:
        site.save(stale.replace("one: pending", "one: blocked").replace("two: pending", "two: failed"))

    site.write("two", exchanging=[saves])
    assert site.text == "# Tasks\none: blocked\ntwo: completed\nthree: pending\n"


@either_way
def test_lines_that_were_changed_twice_at_one_moment_are_kept(site: StatusFileSetup) -> None:
    ours = "# Tasks\none: pending\ntwo: completed\nthree: pending\n"
    site.write(
        "two",
        exchanging=[
            lambda: site.save(site.text.replace("# Tasks", "# Work")),
            lambda: site.save(ours.replace("# Tasks", "# Things")),
        ],
    )
    assert site.text == ours.replace("# Tasks", "# Work\n# Things")


@either_way
def test_a_task_that_somebody_takes_out_meanwhile_stays_out(site: StatusFileSetup) -> None:
    (problem,) = site.write("two", exchanging=[lambda: site.save(site.text.replace("two: pending\n", ""))]).problems
    assert "two was removed from the file or is ambiguous" in problem.message
    assert site.text == "# Tasks\none: pending\nthree: pending\n"
    assert site.hidden_files == []


@either_way
def test_somebody_changes_the_mode_meanwhile(site: StatusFileSetup) -> None:
    def saves() -> None:
        adds(site, "a note")()
        site.path.chmod(0o600)

    site.write("one", exchanging=[saves])
    assert stat.S_IMODE(site.path.stat().st_mode) == 0o600


@either_way
def test_somebody_removes_the_file_meanwhile(site: StatusFileSetup) -> None:
    (problem,) = site.write("one", exchanging=[site.path.unlink]).problems
    assert problem.message == "this file is not there any more: no status was written"
    assert not site.path.exists()
    assert site.hidden_files == []


@either_way
def test_somebody_moves_the_file_away_and_writes_a_new_one(site: StatusFileSetup) -> None:
    text = site.text

    def moves() -> None:
        site.path.rename(site.checkout / "TODO.md~")

    written = site.write("one", exchanging=[moves], pausing=[lambda: site.save(f"{text}new\n")])
    assert written == WriteResult(changed=True)
    assert site.text == text.replace("one: pending", "one: completed") + "new\n"


@either_way
def test_a_removed_file_with_an_edit_that_was_not_put_back_is_not_forgotten(site: StatusFileSetup) -> None:
    """One saves an edit, another removes the file before it is back in place: should the file come back, so does the edit."""
    text = site.text
    site.write("one", exchanging=[adds(site, "first"), site.path.unlink])
    assert not site.path.exists()
    assert len(site.hidden_files) == 1
    site.save(text)
    site.write("two")
    assert "first\n" in site.text
    assert "two: completed\n" in site.text
    assert site.hidden_files == []


@either_way
def test_a_file_that_somebody_makes_at_the_same_moment_is_not_overwritten(site: StatusFileSetup) -> None:
    site.name = "status.json"
    written = site.write("one", creates=True, applying=[lambda: site.save("theirs\none: pending\n")])
    assert written == WriteResult(changed=True)
    assert site.text == "theirs\none: completed\n"
    assert site.hidden_files == []


@either_way
def test_somebody_saves_a_version_that_lacked_an_edit_when_all_seemed_well(site: StatusFileSetup) -> None:
    """They opened it between our exchanges, and save it when ours had been the last: it is waited for."""
    opened: list[str] = []
    written = site.write(
        "two",
        exchanging=[adds(site, "first", "one"), lambda: opened.append(site.text)],
        pausing=[do_nothing] * 4 + [lambda: site.save(f"{opened[0]}second\n")],
    )
    assert written == WriteResult(changed=True)
    assert site.text == "# Tasks\nfirst\none: pending\ntwo: completed\nthree: pending\nsecond\n"
    assert site.hidden_files == []


def counting(site: StatusFileSetup) -> Iterator[Callable[[], None]]:
    for number in count(1):
        yield adds(site, f"line {number}")


@either_way
def test_a_file_that_changes_all_the_time_is_let_be(site: StatusFileSetup) -> None:
    with pytest.raises(SourceWriteError, match="other programs keep writing it: it changes all the time"):
        site.write("one", applying=list(islice(counting(site), 200)))
    assert "one: pending" in site.text
    assert site.hidden_files == []
    assert sum(site.pauses) < 5


@either_way
def test_programs_that_save_at_every_exchange(site: StatusFileSetup) -> None:
    """We give up in the end; what we had displaced by then is put back by the next write."""
    with pytest.raises(SourceWriteError, match="other programs keep writing it"):
        site.write("one", exchanging=list(islice(counting(site), 1_000)))
    lines = site.text.count("line")
    assert lines > 50
    site.write("one")
    assert {f"line {number}" for number in range(1, lines + 1)} <= {*site.text.splitlines()}
    assert "one: completed" in site.text
    assert site.hidden_files == []


def test_in_one_step_nothing_that_was_put_there_is_lost(tmp_path: Path) -> None:
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
def test_in_three_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool) -> None:
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


# How long somebody waits before they open the file, how long they have it open, and what they do then.
SESSIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 40), st.sampled_from(["add", "change", "remove"])),
    max_size=12,
)


class People:
    """They take turns: one opens the file when the last one has saved, and saves some moments later."""

    def __init__(self, site: StatusFileSetup, sessions: list[tuple[int, int, int, str]]) -> None:
        self.site, self.sessions = site, iter(sessions)
        self.added: set[str] = set()
        self.removed: set[str] = set()
        self.work = self.session()

    def session(self) -> Iterator[None]:
        for number, (rest, work, place, what) in enumerate(self.sessions):
            for _ in range(rest):
                yield
            lines = self.site.text.splitlines()
            for _ in range(work):
                yield
            own = [line for line in lines if line.startswith("line")]
            gone = own[place % len(own)] if own and what != "add" else ""
            at = lines.index(gone) if gone else place % (len(lines) + 1)
            lines[at : at + bool(gone)] = [f"line {number}"] if what != "remove" else []
            self.site.save("".join(f"{line}\n" for line in lines))
            self.added |= {f"line {number}"} if what != "remove" else set()
            self.removed |= {gone}

    def tick(self) -> None:
        next(self.work, None)


@settings(max_examples=400, deadline=None)
@given(st.booleans(), SESSIONS)
def test_whenever_people_open_and_save_nothing_is_lost(
    in_one_step: bool,  # noqa: FBT001 - hypothesis gives them by place
    sessions: list[tuple[int, int, int, str]],
) -> None:
    """A moment is whenever we look at a text, or wait."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(dir=memory) as name, pytest.MonkeyPatch.context() as patch:
        if not in_one_step:
            patch.setattr(file_exchange, "_system_call", lambda: None)
        site = StatusFileSetup(Path(name))
        site.save("# Tasks\none: pending\ntwo: pending\nthree: pending\n")
        people = People(site, sessions)
        problems = site.write(
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
        assert saved <= {*site.text.splitlines()}
        site.write("one", "three")
        assert saved | {"one: completed", "three: completed"} <= {*site.text.splitlines()}
        assert site.hidden_files == []
