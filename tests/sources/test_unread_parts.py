"""Checkboxes and dependencies that were not read: each is reported with its line, and no box is called complete."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.sources.formats import load_format
from plait.sources.planning import PlanOptions, plan_tasks
from plait.sources.source_model import Document, Reading, SourceFiles
from plait.sources.source_set import combine_sources
from plait.sources.unread_parts import add_unread_notes
from plait.testing.contracts.source_format import mangled_texts


def read(format_name: str, text: str) -> Reading:
    source = SourceFiles("a.md", (Document("a.md", text),))
    return add_unread_notes(load_format(format_name).read(source), source.documents)


def notes(format_name: str, text: str) -> list[tuple[int, str]]:
    reading = read(format_name, text)
    return [(p.at.line if p.at else 0, p.message) for p in reading.problems if p.severity is Severity.INFO]


def unread_lines(format_name: str, text: str) -> list[int]:
    return [origin.line for origin in read(format_name, text).unread]


def test_boxes_of_a_section_share_a_note() -> None:
    text = "## Phase 1: A\n- [ ] 1.1 One\n\n## Success Criteria\n- [ ] fast\n- [x] small\n\n- [ ] cheap\n"
    assert notes("plan", text) == [
        (5, '3 checkboxes under "Success Criteria" are not read as tasks (lines 5-6, 8), 2 of them open')
    ]
    assert unread_lines("plan", text) == [5, 8]


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("kiro", "- [ ] 1. One\n- [ ] two\n"),
        ("speckit", "- [ ] T001 One\n- [ ] two\n"),
        ("plan", "## Phase 1: A\n- [ ] 1.1 One\n- [ ] two\n"),
        ("todo", "### 1. One\n- **Status**: open\n\n---\n\n- [ ] two\n"),
        ("checklist", "- [ ] one\n\n## Acceptance Criteria\n- [ ] two\n"),
    ],
)
def test_a_box_outside_all_tasks_is_reported(format_name: str, text: str) -> None:
    (note,) = notes(format_name, text)
    assert text.splitlines()[note[0] - 1] == "- [ ] two"
    assert "a checkbox" in note[1]
    assert "is not read as a task" in note[1]


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("kiro", "- [ ] 1. One\n  - [ ] with tests\n"),
        ("speckit", "- [ ] T001 One\n  - [ ] with tests\n"),
        ("plan", "## Phase 1: A\n- [ ] 1.1 One\n  - [ ] with tests\n"),
        ("todo", "### 1. One\n**Status**: open\n\n#### Acceptance\n- [ ] with tests\n"),
    ],
)
def test_a_box_in_the_text_of_an_open_task_is_part_of_it(format_name: str, text: str) -> None:
    assert notes(format_name, text) == []
    done = text.replace("[ ]", "[x]", 1) if format_name != "todo" else text.replace("open", "done")
    ((line, message),) = notes(format_name, done)
    assert "an open checkbox is in a task marked as done" in message
    assert unread_lines(format_name, done) == [line]


def test_a_box_in_a_group_is_reported() -> None:
    ((line, message),) = notes("kiro", "- [ ] 1. All\n  - [ ] unnumbered\n  - [ ] 1.1 Part\n")
    assert line == 2
    assert "a group of other tasks" in message


@pytest.mark.parametrize("line", ["- [] two", "-[ ] two", "[ ] two", "*[x] two", "> - [ ] two", "    - [ ] two"])
def test_what_only_looks_like_a_box_is_reported(line: str) -> None:
    text = f"- [ ] one\n\nText\n\n{line}\n"
    assert [at for at, _ in notes("checklist", text)] == [5]
    assert unread_lines("checklist", text) == ([] if "x" in line else [5])


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [ ] two\n```\n",
        "<!--\n- [ ] two\n-->\n",
        "## Legend\n\n- [ ] open\n- [x] done\n",
        "- [P] parallel\n- [1] a note\n- [ ](a-link)\n",
        "[x]: https://example.com\n\nSee [x] there.\n",
    ],
)
def test_examples_legends_and_links_are_no_boxes(text: str) -> None:
    assert notes("kiro", f"- [ ] 1. One\n\n{text}") == []


def plan_complete(text: str) -> tuple[bool, str]:
    planned = plan_tasks(combine_sources([("kiro", "a.md", read("kiro", text))]), PlanOptions())
    return planned.complete, planned.describe_complete()


def test_nothing_is_called_complete_while_an_unread_box_is_open() -> None:
    assert plan_complete("- [x] 1. a\n- [x] b\n") == (True, "Everything selected is complete: there is nothing to do.")
    complete, said = plan_complete("- [x] 1. a\n- [ ] b\n")
    assert complete
    assert said == "Every task that was read is complete, but 1 open checkbox is not read as a task: see the notes."


PIECES = st.sampled_from(
    [
        "- [ ] 1. a\n",
        "  - [ ] b\n",
        "- [] c\n",
        "> - [ ] d\n",
        "### 1. e\n",
        "**Status**: done\n",
        "    - [ ] f\n",
        "\n",
        "---\n",
    ]
)


@given(
    mangled_texts(st.lists(PIECES, max_size=12).map("".join)), st.sampled_from(["kiro", "todo", "checklist", "plan"])
)
def test_every_note_has_a_line_of_the_file(text: str, format_name: str) -> None:
    reading = read(format_name, text)
    last = text.count("\n") + text.count("\r") + 1
    assert all(problem.at is not None and problem.at.line <= last for problem in reading.problems)
    assert all(origin.line <= last for origin in reading.unread)


def test_deferred_tasks_are_not_called_complete() -> None:
    reading = read("checklist", "- [x] a\n\n## Deferred\n- [ ] b\n- [ ] c\n")
    planned = plan_tasks(combine_sources([("checklist", "a.md", reading)]), PlanOptions())
    assert planned.describe_complete() == "Everything selected is complete or deferred: there is nothing to do."
    assert [(str(p.at), p.message) for p in planned.problems] == [
        ("a.md:4", "2 tasks are deferred or abandoned in the source: left out")
    ]


@pytest.mark.parametrize(
    "words",
    [
        "(depends on 1.1)",
        "_Depends: 1.1_",
        "**Dependencies:** task 1.1",
        "blocked by 1.1",
        "Prerequisites: 1.1 and more",
    ],
)
def test_a_stated_dependency_that_is_not_read_is_reported(words: str) -> None:
    ((line, message),) = notes("openspec", f"## 1. a\n- [ ] 1.1 Dig\n- [ ] 1.2 Pour\n  - {words}\n")
    assert line == 4
    assert message.startswith("1.2: ")
    assert message.endswith("is not read as a dependency on 1.1")


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("openspec", "## 1. a\n- [ ] 1.1 Dig\n## 2. b\n- [ ] 2.1 Pour (depends on 1.1)\n"),
        ("openspec", "## 1. a\n- [x] 1.1 Dig\n- [ ] 1.2 Pour (depends on 1.1)\n"),
        ("openspec", "## 1. a\n- [ ] 1.1 Dig\n- [ ] 1.2 Pour, which does not depend on 1.1\n"),
        ("openspec", "## 1. a\n- [ ] 1.1 Dig\n- [ ] 1.2 Install dependencies of version 1.10\n"),
        ("kiro", "- [ ] 1. Dig\n- [ ] 2. Pour\n- [ ] 3. Paint\n  - Depends on 1\n"),
        ("speckit", "- [ ] T001 [P] Dig\n- [ ] T002 [P] Pour (depends on T001)\n"),
        ("plan", "## Phase 1: A\n- [ ] 1.1 Dig\n- [ ] 1.2 Pour (depends: 1.1)\n"),
        ("todo", "### 1. Dig\n**Status**: open\n\n### 2. Pour\n**Status**: open\n**Dependencies**: Task 1\n"),
    ],
)
def test_a_dependency_that_the_order_follows_is_not(format_name: str, text: str) -> None:
    assert notes(format_name, text) == []
