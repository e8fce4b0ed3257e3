"""`plait run -i`: keys in the list of tasks, what they include, and what runs in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from plait.cli.live.terminal_style import choose_terminal_style
from plait.cli.task_picker import Choice, TaskPicker, parse_numbers
from plait.core.errors import UserError
from tests.support.temp_project import TempProject, plait_command, temp_project as make_project
from tests.support.terminal import Terminal

HOUSE = (
    Choice("01-walls", "Build the walls"),
    Choice("02-roof", "Build the roof", needs=("01-walls",)),
    Choice("03-paint", "Paint it", needs=("02-roof", "elsewhere")),
    Choice("04-garden", "Plant a tree"),
)
KEYS = ("up", "down", "k", "j", "pageup", "pagedown", "home", "end", " ", "a", "x", "q", "\r", *"0123456789")


def press(*keys: str, choices: tuple[Choice, ...] = HOUSE) -> TaskPicker:
    picker = TaskPicker(choices)
    for key in keys:
        picker.press(key)
    return picker


def show(picker: TaskPicker, width: int = 80, height: int = 24, encoding: str = "utf-8") -> list[str]:
    lines = picker.render(width, height, choose_terminal_style(encoding))
    return ["".join(text for text, _ in line) for line in lines]


def test_space_chooses_and_what_the_task_needs_is_included() -> None:
    picker = press("down", "down", " ")
    assert picker.chosen == ("03-paint",)
    assert show(picker) == [
        "Which tasks? 1 of 4 tasks chosen and 2 that they need",
        "  1 [+] 01-walls   Build the walls · needed by 02-roof",
        "  2 [+] 02-roof    Build the roof · needed by 03-paint",
        "> 3 [x] 03-paint   Paint it",
        "  4 [ ] 04-garden  Plant a tree",
        " space choose · a all · number go to · Return run · q quit",
    ]
    picker.press(" ")
    assert not picker.chosen


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (["3", " ", "1", " "], ("01-walls", "03-paint")),
        (["end", " ", "home", " "], ("01-walls", "04-garden")),
        (["up", " ", "pagedown", "down", " "], ("01-walls", "04-garden")),
        (["9", "0", " "], ("01-walls",)),
        (["a"], ("01-walls", "02-roof", "03-paint", "04-garden")),
        (["a", "a"], ()),
        (["j", "j", "k", "\r"], ("02-roof",)),
        (["4", "\r"], ("04-garden",)),
        (["1", " ", "4", "\r", " "], ("01-walls",)),
    ],
)
def test_keys_move_and_choose(keys: list[str], chosen: tuple[str, ...]) -> None:
    assert press(*keys).chosen == chosen


def test_a_number_may_have_several_digits() -> None:
    many = tuple(Choice(f"t{n}", "") for n in range(1, 121))
    assert press("1", "1", "7", " ", "1", "9", "9", " ", choices=many).chosen == ("t9", "t117")


def test_return_ends_and_q_leaves() -> None:
    assert press("\n").is_done
    assert press("q").is_cancelled
    assert not press("x", "j").is_done


@given(st.lists(st.sampled_from(KEYS), max_size=30), st.integers(4, 120), st.integers(1, 40), st.integers(1, 60))
def test_the_list_fits_the_terminal_and_shows_the_cursor(keys: list[str], width: int, height: int, count: int) -> None:
    choices = tuple(Choice(f"t{n}-修复-name", f"title {n}", needs=(f"t{n - 1}-修复-name",)) for n in range(count))
    for encoding in ("utf-8", "ascii"):
        lines = show(press(*keys, choices=choices), width, height, encoding)
        assert all(cell_len(line) <= width for line in lines)
        assert len(lines) <= max(3, height - 1)
        assert any(line.startswith(">") for line in lines)


def test_numbers_and_ranges_are_parsed() -> None:
    assert parse_numbers(" 5, 1-3 2", 5) == [1, 2, 3, 5]
    for wrong in ("0", "6", "3-1", "x", "1-", "1 two"):
        with pytest.raises(UserError):
            parse_numbers(wrong, 5)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make_project(tmp_path) as made:
        made.task("01-walls", "touch walls")
        made.task("02-roof", "touch roof", needs="[01-walls]")
        made.task("03-paint", "touch paint")
        yield made


def test_the_chosen_tasks_run_with_what_they_need(project: TempProject) -> None:
    terminal = project.terminal("run", "-i")
    terminal.wait_for("Return run")
    terminal.type("\x1b[B \x1b[A")  # down, space, up
    terminal.wait_for("needed by 02-roof")
    terminal.type("\r")
    terminal.wait_for("Run these 2 tasks? [Y/n]")
    terminal.type("\n")
    assert terminal.wait() == 0
    assert project.statuses() == {"01-walls": "done", "02-roof": "done"}
    assert terminal.is_restored


def test_the_list_begins_with_what_select_names_and_ignore_needs_includes_nothing_else(project: TempProject) -> None:
    terminal = project.terminal("run", "-i", "--yes", "-s", "02-roof", "--ignore-needs")
    terminal.wait_for("Return run")
    terminal.type("3 \r")
    assert terminal.wait() == 0
    assert project.statuses() == {"02-roof": "done", "03-paint": "done"}


@pytest.mark.parametrize("keys", ["q", "\x03"])
def test_leaving_the_list_starts_nothing(project: TempProject, keys: str) -> None:
    terminal = project.terminal("run", "-i")
    terminal.wait_for("Return run")
    terminal.type(keys)
    assert terminal.wait() == 130
    assert "Nothing was started." in terminal.text
    assert not project.state().batches
    assert terminal.is_restored


def test_a_terminal_that_cannot_move_its_cursor_asks_for_numbers(project: TempProject) -> None:
    command = ["env", "TERM=dumb", *plait_command("run", "-i", "--yes")]
    terminal = Terminal(command, cwd=project.top, env=project.env)
    project.terminals.append(terminal)
    terminal.wait_for("Which tasks, such as 1 3-5?")
    terminal.type("4\n")
    terminal.wait_for("4 is no number or range from 1 to 3")
    terminal.type("2-3\n")
    assert terminal.wait() == 0
    assert set(project.statuses()) == {"01-walls", "02-roof", "03-paint"}


def test_without_a_terminal_it_says_what_to_use_instead(project: TempProject) -> None:
    answer = project.plait("run", "-i", "--yes")
    assert answer.code == 2
    assert "-i needs a terminal" in answer.err
    assert "-s '01 03-05'" in answer.err
    assert project.plait("run", "-i", "--resume").code == 2
