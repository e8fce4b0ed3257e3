from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.sources.formats import Confidence, kiro, openspec
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.testing.contracts.source_format import (
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = "openspec/changes/add-login/tasks.md"
OPENSPEC = FormatUnderTest(
    "openspec",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
        SourceStatus.BLOCKED: SourceStatus.TODO,
    },
)

TASKS = """\
# Tasks: add login

Intro with a [link](x).

## 1. Prepare the schema
- [x] 1.1 Add the `users` table in db/schema.sql
  - keep the old one
- [X] 1.2 Migrate

## 2. Implement
* [ ] 2.1 Form
  wrapped
  - [ ] a step of it
* [ ] 2.2 Service
  * [ ] 2.2.1 Tokens
  * [x] 2.2.2 Expiry
* [ ] Tell the **team** about `login`

```
- [ ] 2.9 example
```

## 3. Verification
- [ ] 3.1 Run `npm test`

## Acceptance Criteria
- [ ] people can log in

## Afterwards
- [ ] Archive the change
"""


def read(text: str, path: str = PATH) -> Reading:
    return openspec.FORMAT.read(SourceFiles(path, (Document(path, text),)))


def entries(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def detect_confidence(text: str, path: str = "tasks.md") -> Confidence:
    return openspec.FORMAT.detect(SourceFiles(path, (Document(path, text),)))


class TestTasks:
    def test_numbered_boxes_and_boxes_at_the_margin_are_tasks(self) -> None:
        assert list(entries(TASKS)) == [
            *("1.1", "1.2", "2.1", "2.2", "2.2.1", "2.2.2", "2.tell-the-team-about-login", "3.1"),
            "afterwards.archive-the-change",
        ]

    def test_titles_have_no_number(self) -> None:
        titles = [entry.task.title for entry in entries(TASKS).values()]
        assert titles[:3] == ["Add the users table in db/schema.sql", "Migrate", "Form wrapped"]
        assert titles[6] == "Tell the team about login"

    def test_statuses(self) -> None:
        done = [name for name, entry in entries(TASKS).items() if entry.status is SourceStatus.DONE]
        assert done == ["1.1", "1.2", "2.2.2"]

    def test_bodies_and_files(self) -> None:
        found = entries(TASKS)
        assert "keep the old one" in found["1.1"].task.body
        assert "a step of it" in found["2.1"].task.body
        assert "Tokens" not in found["2.2"].task.body
        assert found["1.1"].mentions == ("db/schema.sql",)

    def test_a_task_with_numbered_parts_is_a_group(self) -> None:
        assert entries(TASKS)["2.2"].parts == ("2.2.1", "2.2.2")

    def test_a_plain_number_counts_within_its_section(self) -> None:
        assert list(entries("## 1. a\n- [ ] 1. x\n## 2. b\n- [ ] 1) y\n")) == ["1.1", "2.1"]

    def test_equal_texts_in_a_section_are_numbered(self) -> None:
        assert list(entries("## 1. a\n- [ ] x\n- [ ] x\n## 2. b\n- [ ] x\n")) == ["1.x", "1.x-2", "2.x"]

    def test_a_section_with_a_number_has_tasks_whatever_its_name(self) -> None:
        assert list(entries("## 1. Acceptance Criteria\n- [ ] x\n## Acceptance Criteria\n- [ ] y\n")) == ["1.x"]

    @pytest.mark.parametrize("heading", ["Verification", "Verification Checklist", "Validation", "✅ Verification"])
    def test_boxes_under_verification_are_tasks_that_come_last_and_may_change_nothing(self, heading: str) -> None:
        text = f"## 1. Code\n- [ ] 1.1 Dig\n\n## {heading}\n- [ ] All tests pass\n- [x] Docs are built\n"
        dig, tests, docs = read(text).entries
        assert [entry.task.title for entry in (dig, tests, docs)] == ["Dig", "All tests pass", "Docs are built"]
        assert (dig.task.allow_empty, tests.task.allow_empty) == (False, True)
        assert docs.status is SourceStatus.DONE
        (_, last) = read(text).phases
        assert (last.key, last.after) == (tests.task.phase, ("1",))

    def test_a_file_without_tasks_has_a_warning(self) -> None:
        reading = read("## 1. a\n- b\n")
        assert reading.entries == ()
        assert [(p.severity, p.at and p.at.line) for p in reading.problems] == [(Severity.WARNING, 1)]


class TestSections:
    def test_phases_are_barriers_in_the_order_of_the_file(self) -> None:
        phases = read(TASKS).phases
        assert [(p.key, p.title, p.after, p.gate) for p in phases] == [
            ("1", "Prepare the schema", (), 1.0),
            ("2", "Implement", ("1",), 1.0),
            ("3", "Verification", ("1", "2"), 1.0),
            ("afterwards", "Afterwards", ("1", "2", "3"), 1.0),
        ]

    def test_groups_do_not_count_in_sections(self) -> None:
        assert [(p.total, p.settled) for p in read(TASKS).phases] == [(2, 2), (4, 1), (1, 0), (1, 0)]

    def test_tasks_of_one_section_are_independent(self) -> None:
        assert all(entry.task.needs == () for entry in read(TASKS).entries)

    def test_a_task_is_in_the_section_of_its_heading_whatever_its_number(self) -> None:
        assert [entry.task.phase for entry in entries("## 1. a\n- [ ] 7.1 x\n").values()] == ["1"]

    def test_two_sections_of_one_number_are_separate(self) -> None:
        reading = read("## 1. a\n- [ ] 1.1 x\n## 1. b\n- [ ] 1.2 y\n")
        assert [phase.key for phase in reading.phases] == ["1", "1-2"]
        assert [entry.task.phase for entry in reading.entries] == ["1", "1-2"]

    def test_headings_inside_a_section_are_only_headings(self) -> None:
        reading = read("## 1. a\n### 2. inside\n- [ ] 1.1 x\n### More\n- [ ] 1.2 y\n")
        assert [phase.key for phase in reading.phases] == ["1"]

    def test_the_tasks_make_a_plan(self) -> None:
        reading = read(TASKS)
        tasks = [entry.task for entry in reading.entries if not entry.parts and not entry.status.is_closed]
        assert build_checked_plan(tasks, phases=reading.phases).plan is not None


class TestDetection:
    def test_the_usual_path_is_recognised_with_any_box(self) -> None:
        assert detect_confidence(TASKS, PATH) is Confidence.NAME
        assert detect_confidence("- [ ] a\n", "x/openspec/changes/archive/y/tasks.md") is Confidence.NAME
        assert detect_confidence("- a\n", PATH) is Confidence.NO

    def test_content_alone_is_recognised(self) -> None:
        assert detect_confidence(TASKS) is Confidence.CONTENT
        assert kiro.FORMAT.detect(SourceFiles("tasks.md", (Document("tasks.md", TASKS),))) is Confidence.NO

    @pytest.mark.parametrize(
        "text",
        ["## 1. a\n- [ ] x\n", "- [ ] 1.1 x\n", "### 1. a\n- [ ] 1.1 x\n", "## Phase 1: a\n- [ ] 1.1 x\n"],
    )
    def test_other_content_is_not_recognised(self, text: str) -> None:
        assert detect_confidence(text) is Confidence.NO


def test_a_repeated_number_loses_no_task() -> None:
    reading = read("## 1. A\n- [ ] 1.1 a\n- [ ] b\n- [ ] 1.1 c\n  - [ ] 1.1.1 d\n")
    assert [(entry.task.id, entry.parts) for entry in reading.entries] == [
        ("1.1", ()),
        ("1.b", ()),
        ("1.1-2", ("1.1.1",)),
        ("1.1.1", ()),
    ]
    (problem,) = reading.problems
    assert problem.message == "duplicate id 1.1 (first on line 2); using 1.1-2"


def write(text: str, marks: dict[str, SourceStatus]) -> str:
    found = entries(text)
    return OPENSPEC.write(text, [OPENSPEC.change(found[name], mark) for name, mark in marks.items()])


class TestWriting:
    def test_boxes_are_ticked_and_unticked(self) -> None:
        text = "## 1. a\n* [ ] 1.1 x\n* [X] 1.2 y\n- [ ] z\n"
        written = write(text, {"1.1": SourceStatus.DONE, "1.2": SourceStatus.FAILED, "1.z": SourceStatus.DONE})
        assert written == "## 1. a\n* [X] 1.1 x\n* [ ] 1.2 y\n- [X] z\n"

    def test_statuses_without_a_character_change_nothing(self) -> None:
        for mark in (
            SourceStatus.DOING,
            SourceStatus.SKIPPED,
            SourceStatus.FAILED,
            SourceStatus.BLOCKED,
            SourceStatus.TODO,
        ):
            assert write("## 1. a\n- [ ] 1.1 x\n", {"1.1": mark}) == "## 1. a\n- [ ] 1.1 x\n"

    def test_a_group_is_ticked_with_its_last_part_and_unticked_with_any(self) -> None:
        text = write(TASKS, {"2.2.1": SourceStatus.DONE})
        assert "* [x] 2.2 Service" in text
        text = write(text, {"2.2.2": SourceStatus.BLOCKED})
        assert "* [ ] 2.2 Service" in text

    def test_a_half_done_group_keeps_its_character(self) -> None:
        text = "## 1. a\n- [?] 1.1 g\n  - [ ] 1.1.1 x\n  - [ ] 1.1.2 y\n"
        assert write(text, {"1.1.1": SourceStatus.DONE}) == text.replace("[ ] 1.1.1", "[x] 1.1.1")

    def test_steps_inside_a_task_are_left_alone(self) -> None:
        assert "  - [ ] a step of it" in write(TASKS, {"2.1": SourceStatus.DONE})


@st.composite
def changes(draw: st.DrawFn) -> str:
    """A look-alike: numbered sections with numbered and other boxes, parts, steps, fences and criteria."""
    lines = draw(st.sampled_from(([], ["# Tasks", ""], ["\ufeff# Tasks"])))[:]
    for section in range(1, draw(st.integers(1, 4)) + 1):
        lines.append(f"## {section}. {draw(st.sampled_from(('Setup', 'Code `x`', 'Verification')))}")
        for n in range(1, draw(st.integers(0, 4)) + 1):
            bullet, mark = draw(st.sampled_from("-*")), draw(st.sampled_from(" xX"))
            number = draw(st.sampled_from((f"{section}.{n} ", f"{section}.{n} ", "")))
            lines.append(f"{bullet} [{mark}] {number}Do {section} {n} in src/a{n}.py")
            lines += draw(st.lists(_inside(bullet, f"{section}.{n}"), max_size=2, unique=True))
        lines += draw(st.lists(_BETWEEN, max_size=1))
    return draw(st.sampled_from(("\n", "\r\n"))).join(lines) + "\n"


def _inside(bullet: str, number: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        (
            f"  {bullet} [ ] a step",
            f"  {bullet} [x] {number}.1 part",
            f"  {bullet} [ ] {number}.2 part",
            "  more",
            "",
        )
    )


_BETWEEN = st.sampled_from(
    ("```\n- [ ] 1.1 no\n```", "> - [ ] 1.1 no", "## Acceptance Criteria\n- [ ] no", "text", "---", "### Sub")
)


@given(changes())
def test_reading_and_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(OPENSPEC, text)


@given(changes(), st.integers(0, 20), st.sampled_from(list(OPENSPEC.read_back)))
def test_a_change_touches_its_own_lines_and_groups(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(OPENSPEC, text, index, mark)


@given(mangled_texts(changes()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(OPENSPEC, text)
