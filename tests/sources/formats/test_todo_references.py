from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from plait.sources.formats.todo_references import parse_references
from plait.sources.references import TaskRange

Numbers = list[int | tuple[int, int]]

NAMED: list[tuple[str, Numbers]] = [
    ("63", [63]),
    ("132, 133", [132, 133]),
    ("132 and 133", [132, 133]),
    ("132; 133 & 134", [132, 133, 134]),
    ("#72", [72]),
    ("#72, #68", [72, 68]),
    ("Task 72", [72]),
    ("task 72.", [72]),
    ("TASK #72", [72]),
    ("Task#72", [72]),
    ("Task-72", [72]),
    ("Task #72, Task #68", [72, 68]),
    ("Tasks 74, 75", [74, 75]),
    ("Tasks #74 and #75", [74, 75]),
    ("Tasks: 63, 64", [63, 64]),
    ("Tasks 72-77", [(72, 77)]),
    ("Tasks 72\u201377", [(72, 77)]),
    ("Tasks 72 - 77", [(72, 77)]),
    ("Tasks 72 through 77, 80", [(72, 77), 80]),
    ("65-67", [(65, 67)]),
    ("63, 65-67, 88", [63, (65, 67), 88]),
    ("77-72", [(77, 72)]),
    ("Requires Task 9 (completeness proofs for correctness)", [9]),
    ("Requires 9", [9]),
    ("Depends on 63, 64", [63, 64]),
    ("Blocked by Task 12 until the release", [12]),
    ("Requires Tasks 74, 75 before starting", [74, 75]),
    ("Task 232 (labels, phase 2), Task 233 (S5 rules)", [232, 233]),
    ("63: Create docs, 64: More docs", [63, 64]),
    ("63 - Create docs", [63]),
    ("63 must be done first", [63]),
    ("Task 5's output", [5]),
    ("**Task 72**", [72]),
    ("`72`, `73`", [72, 73]),
    ("[72, 73]", [72, 73]),
    ("[Task 72](#72-a-title), [Task 73: more](x.md)", [72, 73]),
    ("Soundness (Task 5)", [5]),
    ("Phase 2 of Task 9", [9]),
    ("Python 3.11, 63", [63]),
    ("Lean 4 upgrade, 63", [63]),
    ("Task 72 [NOT STARTED], Task 73", [72, 73]),
    ("Task 5 is not ready, Task 6", [5, 6]),
    ("Task 72 (never closed, Task 73", [72, 73]),
    ("Task 72, Task 72, 72", [72]),
    ("Tasks 72, 73 and 3 others", [72, 73]),
]

SOFT = [
    "Requires Layer 0 completion",
    "Requires Layers 0, 1 and 2",
    "Phase 2",
    "Phases 1, 2",
    "PARTIAL 4/12",
    "4/12",
    "4 / 12",
    "Task 4/12",
    "Task 1.2",
    "Python 3.11",
    "Python 3",
    "v2",
    "Node >= 20",
    "2025-01-03",
    "2025-12",
    "since 2025-01-03, 10:15",
    "3 hours",
    "5-10 hours",
    "50%",
    "PR #12, #13",
    "issue #5",
    "Subtask 3",
    "42a",
    "12-step plan",
    "all earlier tasks",
    "Soundness (Complete), Deduction Theorem (Complete)",
    "Benefits from completed soundness proofs",
    "Benefits from Task 2",
    "Benefits from what reports need, Task 5",
    "Benefits from Tasks 2, 5 and 7",
    "Task 5 (optional)",
    "Can run in parallel with Task 5",
    "does not depend on Task 5",
    "see Task 5",
    "9999999999",
    "?",
]

NOTHING = [
    "",
    "  ",
    "None",
    "none.",
    "None (independent of 63)",
    "None (tasks 284, 285 all completed)",
    "None blocking. Sequencing interaction with task 507",
    "N/A",
    "-",
    "\u2014",
    "TBD",
    "No dependencies",
    "Independent (benefits from Task 2)",
]


def bounds(text: str) -> Numbers:
    ranges = [(int(ref.first), int(ref.last)) for ref in parse_references(text).refs]
    return [first if first == last else (first, last) for first, last in ranges]


@pytest.mark.parametrize(("text", "numbers"), NAMED)
def test_numbers_of_tasks_are_references(text: str, numbers: Numbers) -> None:
    assert bounds(text) == numbers
    assert not parse_references(text).has_note


@pytest.mark.parametrize("text", SOFT)
def test_other_numbers_and_prose_are_a_note(text: str) -> None:
    assert bounds(text) == []
    assert parse_references(text).has_note


@pytest.mark.parametrize("text", NOTHING)
def test_none_gives_no_references_and_no_note(text: str) -> None:
    assert bounds(text) == []
    assert not parse_references(text).has_note


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("212 (completed)", [True]),
        ("626 (completed), 632, 633 (done)", [True, False, True]),
        ("Task 717 (cite implementation, complete)", [True]),
        ("Task 564 completed (agent removal)", [True]),
        ("Task 986 [ARCHIVED]", [True]),
        ("189 \u2014 completed", [True]),
        ("Task 5 \u2705", [True]),
        ("Task 5 (not completed)", [False]),
        ("Task 5 (to be completed first)", [False]),
        ("Requires Task 9 completion", [False]),
    ],
)
def test_a_task_that_the_text_calls_finished_is_settled(text: str, settled: list[bool]) -> None:
    assert [ref.is_settled for ref in parse_references(text).refs] == settled


def test_required_and_optional_tasks_are_distinguished_in_one_text() -> None:
    found = parse_references("Requires Task 3, benefits from Tasks 5 and 6, requires Task 7; Task 8")
    assert [ref.first for ref in found.refs] == ["3", "7", "8"]
    assert found.has_note


PIECES = """Task Tasks task #72 72 73-77 77-72 ( ) [ ] , ; . and - \u2013 to none not requires benefits from completed
Layer 0 4/12 3.11 2025-01-03 hours ` ** : & + ]( \u2705 999999999999"""
WORDS = st.sampled_from([*re.split(r"\s", PIECES), "\n"])
TEXTS = st.one_of(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map("".join), st.text())


@given(TEXTS)
def test_references_use_only_numbers_of_the_text(text: str) -> None:
    written = {int(number) for number in re.findall(r"[0-9]+", text)}
    for ref in parse_references(text).refs:
        assert {int(ref.first), int(ref.last)} <= written


@given(TEXTS, st.sampled_from(("None", "None (", "N/A: ")))
def test_after_none_nothing_is_a_reference(text: str, none: str) -> None:
    assert parse_references(f"{none} {text}").refs == ()


@given(
    st.lists(st.integers(0, 10**9 - 1), min_size=1, max_size=20, unique=True),
    st.sampled_from((", ", " and ", "; ")),
)
def test_a_plain_list_of_numbers_is_read_whole(numbers: list[int], between: str) -> None:
    text = between.join(map(str, numbers))
    assert parse_references(text).refs == tuple(TaskRange(str(number), str(number)) for number in numbers)
    assert parse_references(f"Tasks {text}").refs == parse_references(text).refs


@pytest.mark.parametrize("piece", ["(", "[", "1,", "Task 1 ", "((1))", "[1](", "1-", "9", "*", "`", " ", "(Task 1"])
def test_a_very_long_text_takes_linear_time(piece: str) -> None:
    """Anything that goes back over the text for each of its pieces would not come to an end here."""
    parse_references(piece * 40_000)
