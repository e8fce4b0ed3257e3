"""Frames: golden ones at several widths, and what holds for every one.

After a change that is meant: PLAIT_WRITE_FRAMES=1 pytest tests/cli/live, and read the difference.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from plait.cli.format import format_elapsed
from plait.cli.live.frame import Viewport, render_frame
from plait.cli.live.task_selection import select_visible_tasks
from plait.cli.live.terminal_style import StyledLine, choose_terminal_style
from plait.cli.output import replace_control_chars
from plait.core.status import TaskStatus

HERE = Path(__file__).parent
WIDTHS = (30, 60, 80, 200)


def _frames() -> ModuleType:
    """Tests are no package: a neighbour is found by its path."""
    spec = importlib.util.spec_from_file_location("plait_sample_frames", HERE / "sample_frames.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


frames = _frames()
NAMES = sorted(frames.PICTURES)


@pytest.fixture(autouse=True, scope="module")
def in_greenwich() -> Iterator[None]:
    """Some frames tell the time of day."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@cache
def drawn(name: str, width: int, height: int) -> tuple[StyledLine, ...]:
    picture = made(name)
    now = picture.script.now + 1
    look = Viewport(
        now=now,
        width=width,
        height=height,
        activity=picture.activity,
        feed=picture.feed or tuple(picture.activity.items()),
        eta=None if picture.eta is None else now + picture.eta,
        keys=picture.keys,
        help=picture.help,
        notice=picture.notice,
        encoding=picture.encoding,
    )
    return tuple(render_frame(picture.scene, look))


def frame_to_text(lines: Sequence[StyledLine]) -> str:
    """The text alone."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


@cache
def made(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - a Picture of the sample frames
    return frames.PICTURES[name]()


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_equals_its_stored_text(name: str) -> None:
    path = HERE / "frames" / f"{name}.txt"
    shown = "\n".join(f"{width} columns\n{frame_to_text(drawn(name, width, 24))}" for width in WIDTHS)
    if os.environ.get("PLAIT_WRITE_FRAMES"):
        path.write_text(shown)
    assert shown == path.read_text()


def test_every_stored_frame_has_a_sample() -> None:
    assert sorted(path.stem for path in (HERE / "frames").glob("*.txt")) == NAMES


@given(st.sampled_from(NAMES), st.integers(1, 220), st.integers(1, 60))
def test_a_frame_fits_into_its_terminal(name: str, width: int, height: int) -> None:
    lines = drawn(name, width, height)
    assert 1 <= len(lines) <= max(1, height - 1)
    assert all(sum(cell_len(text) for text, _ in line) <= width for line in lines)


@given(st.sampled_from(NAMES), st.integers(24, 140))
def test_the_sides_of_the_box_are_straight(name: str, width: int) -> None:
    side = choose_terminal_style(made(name).encoding).side
    rows = [line for line in drawn(name, width, 40) if line[0][0].startswith(side)]
    assert rows
    assert {sum(cell_len(text) for text, _ in row) for row in rows} == {width}
    assert all(row[-1][0].endswith(side) for row in rows)


@given(st.sampled_from(NAMES), st.sampled_from(WIDTHS))
def test_a_frame_contains_no_control_characters(name: str, width: int) -> None:
    for line in drawn(name, width, 40):
        for text, _ in line:
            assert replace_control_chars(text) == text


def test_an_ascii_terminal_gets_only_ascii() -> None:
    assert frame_to_text(drawn("ascii_only", 80, 24)).isascii()


def test_every_sign_has_a_word_beside_it() -> None:
    shown = frame_to_text(drawn("troubles", 80, 24))
    for word in ("done", "failed", "conflicted", "blocked", "cancelled", "waiting", "running"):
        assert f" {word} " in shown


def test_all_signs_are_one_cell_wide() -> None:
    for encoding in ("utf-8", "ascii"):
        assert {cell_len(sign) for sign in choose_terminal_style(encoding).signs.values()} == {1}


@pytest.mark.parametrize("rows", [1, 2, 5, 10, 50, 299, 300])
def test_hidden_tasks_are_counted(rows: int) -> None:
    tasks = made("hundreds").scene.view.tasks
    found = select_visible_tasks(tasks, rows)
    assert len(found.shown) + bool(found.hidden) <= rows
    assert len(found.shown) + sum(count for _, count in found.hidden) == len(tasks)
    places = [tasks.index(task) for task in found.shown]
    assert places == sorted(places)


def test_without_room_for_all_failures_and_running_tasks_are_shown() -> None:
    found = select_visible_tasks(made("hundreds").scene.view.tasks, 8)
    counted = [task.status for task in found.shown]
    assert counted.count(TaskStatus.FAILED) == 2
    assert counted.count(TaskStatus.RUNNING) == 4
    assert counted.count(TaskStatus.QUEUED) == 1


def test_the_latest_failures_are_always_shown() -> None:
    found = select_visible_tasks(made("hundreds").scene.view.tasks, 4)
    assert [task.status.value for task in found.shown] == ["failed", "failed", "running"]


def test_tasks_that_wait_for_a_person_are_always_shown() -> None:
    (first,) = select_visible_tasks(made("questions").scene.view.tasks, 2).shown
    assert first.id == "01-pyproject-toml"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0s"), (59.9, "59s"), (60, "1m 00s"), (3599, "59m 59s"), (3960, "1h 06m"), (100_000, "1d 03h")],
)
def test_durations_have_two_units(seconds: float, shown: str) -> None:
    assert format_elapsed(seconds) == shown


@given(st.text(max_size=60), st.integers(0, 40))
def test_text_is_truncated_only_if_it_does_not_fit(text: str, width: int) -> None:
    pen = choose_terminal_style("utf-8")
    clean = pen.sanitize(text)
    for fitted in (pen.fit(clean, width), pen.fit_middle(clean, width)):
        assert cell_len(fitted) <= width
        assert fitted == clean or cell_len(clean) > width or len(clean) > 8 * width
    assert cell_len(pen.pad(clean, width)) == width


def test_a_predicted_conflict_is_a_warning_and_the_activity_is_shown_below() -> None:
    lines = drawn("landing", 80, 24)
    (warning,) = [text for line in lines for text, style in line if style == "yellow" and "04-views in" in text]
    assert warning.startswith("would conflict with 04-views in src/urls.")
    assert " 03  editing src/urls.py\n" in frame_to_text(lines)
    assert "editing src/urls.py; would conflict with 04-views in src/urls.py and 1 more " in frame_to_text(
        drawn("landing", 200, 24)
    )


@given(st.integers(1, 220))
def test_the_diffstat_is_dropped_before_the_activity_is_truncated(width: int) -> None:
    """It is shown if it fits beside what is always shown."""
    for line in drawn("landing", width, 24):
        text = "".join(piece for piece, _ in line)
        if "+1182" in text:
            assert "merged" in text


def test_the_title_and_a_note_show_a_running_gate_or_publishing() -> None:
    for name, word, note in (
        ("gated", "gate", " gate: make test (on 1 merge, 3s)"),
        ("published", "publishing", " publishing plait/batch-7f3a and its pull request"),
    ):
        shown = frame_to_text(drawn(name, 80, 24)).splitlines()
        assert f" · {word} ─" in shown[0]
        assert note in shown
