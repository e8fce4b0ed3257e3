from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.core.task import Origin
from plait.sources.formats import Confidence, load_format
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = "docs/plans/harbour.md"
PLAN = FormatUnderTest(
    "plan",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
        SourceStatus.BLOCKED: SourceStatus.TODO,
    },
)

HARBOUR = """\
# Implementation Plan: Harbour

## Overview

- **Goal:** a harbour
- [ ] Everybody agrees

## Phase 0: Survey

**Objective:** know the ground.

**Tasks:**
- [x] 0.1 Measure the depth
- [ ] 0.2 Update `src/chart.py`:
  - Add soundings from docs/soundings.md
  - [ ] 0.9 A box in a body is no task
  ```markdown
  - [ ] 0.3 An example
  **Execution Note:** Tasks 0.1-0.2 are [SEQUENTIAL] - an example
  ```
* [X] 0.2.1 Draw the chart

```markdown
- [ ] 0.4 Another example
## Phase 7: An example
```

## Phase 1: Quay [HIGH]

- [ ] 1.1 Pour the foundation
- [ ] 1.2 LOW tide marks
- [ ] No id, no task
- [ ] 1.10 Fenders

## Success Criteria

- [ ] 1.3 metres of water at low tide
- [ ] Ships can land
"""


def read(text: str) -> Reading:
    return PLAN.read(text)


def ids(text: str) -> list[str]:
    return [entry.task.id for entry in read(text).entries]


def entry(text: str, name: str) -> SourceEntry:
    return next(entry for entry in read(text).entries if entry.task.id == name)


def messages(reading: Reading) -> list[tuple[int, str]]:
    return [(problem.at.line if problem.at else 0, problem.message) for problem in reading.problems]


class TestTasks:
    def test_are_the_boxes_with_an_id_at_the_margin_of_a_phase(self) -> None:
        assert ids(HARBOUR) == ["0.1", "0.2", "0.2.1", "1.1", "1.2", "1.10"]
        assert read(HARBOUR).problems == ()

    def test_have_their_line_as_origin(self) -> None:
        assert entry(HARBOUR, "0.2").task.origin == Origin(PATH, 14)

    def test_have_their_indented_lines_as_their_body(self) -> None:
        body = entry(HARBOUR, "0.2").task.body
        assert body.startswith("- [ ] 0.2 Update `src/chart.py`:\n  - Add soundings")
        assert body.endswith("  ```")

    def test_have_a_title_without_id_and_markup(self) -> None:
        assert entry(HARBOUR, "0.2").task.title == "Update src/chart.py:"

    def test_name_files_in_all_of_their_text(self) -> None:
        assert entry(HARBOUR, "0.2").mentions == ("src/chart.py", "docs/soundings.md")
        assert entry(HARBOUR, "0.2").task.touches == ()

    @pytest.mark.parametrize("tick", "xXvV✓✔")
    def test_with_a_tick_are_done(self, tick: str) -> None:
        assert entry(f"## Phase 1: A\n- [{tick}] 1.1 a\n", "1.1").status is SourceStatus.DONE

    @pytest.mark.parametrize(
        ("line", "name", "title"),
        [
            ("- [ ] 1.1 Text", "1.1", "Text"),
            ("* [ ] 1.1 Text", "1.1", "Text"),
            ("+ [ ] 1.1.12 Text", "1.1.12", "Text"),
            ("- [ ] **1.1** Text", "1.1", "Text"),
            ("- [ ] **1.1 Text** and more", "1.1", "Text and more"),
            ("- [ ] 1.1: Text", "1.1", "Text"),
            ("- [ ] 1.1. Text", "1.1", "Text"),
            ("- [ ] 1.1 - Text", "1.1", "Text"),
            ("- [ ]  1.1\tText", "1.1", "Text"),
            ("- [ ] 1.1 Text that\n  is wrapped", "1.1", "Text that is wrapped"),
            ("- [ ] 1.1 Text that\nis wrapped", "1.1", "Text that is wrapped"),
        ],
    )
    def test_are_written_in_many_ways(self, line: str, name: str, title: str) -> None:
        (found,) = read(f"## Phase 1: A\n\n{line}\n").entries
        assert (found.task.id, found.task.title) == (name, title)

    @pytest.mark.parametrize(
        "line",
        [
            "- [ ] 1 Text",
            "- [ ] 1. Text",
            "- [ ] 1.5x faster",
            "- [ ] 0.5% of all",
            "- [ ] 1.1-1.4 Several",
            "- [ ] 1.1.1.1 Too deep",
            "- [ ] v1.1 Release",
            "- [ ] T001 Text",
            " - [ ] 1.1 Indented",
            "1. [ ] 1.1 Ordered",
            "> - [ ] 1.1 Quoted",
            "<!--\n- [ ] 1.1 Comment\n-->",
            "    - [ ] 1.1 Code",
            "- 1.1 No box",
            "- [1.1] No box",
        ],
    )
    def test_are_not_made_from_other_lines(self, line: str) -> None:
        assert ids(f"## Phase 1: A\n\n{line}\n") == []

    def test_of_one_id_are_both_returned(self) -> None:
        assert ids("## Phase 1: A\n- [ ] 1.1 a\n- [ ] 1.1 b\n") == ["1.1", "1.1"]

    def test_without_a_text_are_reported(self) -> None:
        assert messages(read("## Phase 1: A\n- [ ] 1.1\n")) == [(2, "1.1 has no text")]

    def test_include_bullets_with_too_little_indentation(self) -> None:
        text = "## Phase 1: A\n- [ ] 1.1 a\n - detail\n - more\n- [ ] 1.2 b\n"
        assert entry(text, "1.1").task.body == "- [ ] 1.1 a\n - detail\n - more"

    def test_end_before_a_label_that_follows_without_a_blank_line(self) -> None:
        text = "## Phase 1: A\n- [ ] 1.1 a\n  - detail\n**Notes:** b\n- [ ] 1.2 c\n**More:** d\n"
        assert entry(text, "1.1").task.body == "- [ ] 1.1 a\n  - detail"
        assert entry(text, "1.2").task.title == "c"

    def test_are_read_without_changing_the_parsed_markdown(self) -> None:
        document = Document(PATH, "## Phase 1: A\n- [ ] 1.1 a\n**More:** b\n")
        load_format("plan").read(SourceFiles(PATH, (document,)))
        assert [block.text for block in document.markdown.blocks] == ["Phase 1: A", "[ ] 1.1 a\n**More:** b"]

    @pytest.mark.parametrize("line", ["- [] 1.2 b", "- [x]**1.2** b", "- [ ] 1.2.3.4 b"])
    def test_that_are_almost_tasks_are_reported(self, line: str) -> None:
        reading = read(f"## Phase 1: A\n- [ ] 1.1 a\n{line}\n- [ ] 1.5x faster\n- [ ] 99.9% there\n")
        assert [entry.task.id for entry in reading.entries] == ["1.1"]
        ((number, message),) = messages(reading)
        assert (number, message[:11]) == (3, "not a task:")

    def test_with_a_strange_mark_are_open_and_reported(self) -> None:
        text = "## Phase 1: A\n- [?] 1.1 a\n- [~] 1.2 b\n- [-] 1.3 c\n"
        assert [entry.status for entry in read(text).entries] == [
            SourceStatus.TODO,
            SourceStatus.DOING,
            SourceStatus.SKIPPED,
        ]
        ((line, message),) = messages(read(text))
        assert (line, message[:19]) == (2, "1.1 is marked [?], ")

    def test_have_their_own_priority_or_that_of_their_phase(self) -> None:
        assert {e.task.id: e.task.priority for e in read(HARBOUR).entries if e.task.phase == "1"} == {
            "1.1": 0,
            "1.2": 2,
            "1.10": 0,
        }

    @pytest.mark.parametrize(
        ("words", "priority"),
        [
            ("CRITICAL: fix it", -1),
            ("[MEDIUM] fix it", 1),
            ("fix it (HIGH)", 0),
            ("a critical fix", 1),
            ("LOW-level work", 1),
            ("set `HIGH`", 1),
            ("ALLOW it", 1),
        ],
    )
    def test_have_a_priority_only_in_capitals(self, words: str, priority: int) -> None:
        assert entry(f"## Phase 1: A\n- [ ] 1.1 {words}\n", "1.1").task.priority == priority


class TestPhases:
    def test_are_the_headings_that_have_tasks(self) -> None:
        loaded, quay = read(HARBOUR).phases
        assert (loaded.key, loaded.title, loaded.after, loaded.total, loaded.settled) == (
            "0",
            "Survey",
            (),
            3,
            2,
        )
        assert (quay.key, quay.after, quay.total, quay.settled) == ("1", ("0",), 3, 0)
        assert (quay.at, quay.reason, quay.gate) == (Origin(PATH, 28), "Phase 1: Quay [HIGH]", None)

    @pytest.mark.parametrize(
        ("heading", "key", "title"),
        [
            ("## Phase 3: Title", "3", "Title"),
            ("## Phase 3", "3", ""),
            ("## Phase 3 - Title", "3", "Title"),
            ("## Phase 3 \u2014 Title", "3", "Title"),
            ("## Phase 03: Title", "3", "Title"),
            ("## **Phase 3: Title**", "3", "Title"),
            ("## PHASE 3. Title", "3", "Title"),
            ("## Phase 2.5: Title", "2.5", "Title"),
            ("Phase 3: Title\n---", "3", "Title"),
        ],
    )
    def test_are_written_in_many_ways(self, heading: str, key: str, title: str) -> None:
        (phase,) = read(f"{heading}\n\n- [ ] 3.1 a\n").phases
        assert (phase.key, phase.title) == (key, title)

    @pytest.mark.parametrize(
        "heading",
        ["# Phase 3: A", "### Phase 3: A", "## Phases 3", "## Phase 1-3: All", "## Phase A", "> ## Phase 3"],
    )
    def test_are_not_made_from_other_lines(self, heading: str) -> None:
        assert read(f"{heading}\n\n- [ ] 3.1 a\n").phases == ()

    def test_wait_for_all_that_come_before_them_in_the_file(self) -> None:
        text = "".join(f"## Phase {n}: P\n- [ ] {n}.1 a\n" for n in (2, 0, 1))
        assert [(phase.key, phase.after) for phase in read(text).phases] == [
            ("2", ()),
            ("0", ("2",)),
            ("1", ("2", "0")),
        ]

    def test_with_two_headings_are_one_and_reported(self) -> None:
        reading = read("## Phase 1: A\n- [ ] 1.1 a\n## Phase 1: Again\n- [ ] 1.2 b\n")
        assert [(phase.title, phase.total) for phase in reading.phases] == [("A", 2)]
        assert messages(reading) == [(3, "phase 1 has a second heading here: the tasks of both are one phase")]


class TestTasksOutsideOfThePhases:
    def test_belong_to_the_phase_of_their_number(self) -> None:
        text = "- [ ] 1.1 a\n## Phase 1: A\n- [ ] 1.2 b\n## Clean-up\n- [ ] 1.3 c\n# Part two\n- [ ] 1.4 d\n"
        reading = read(text)
        assert [entry.task.id for entry in reading.entries] == ["1.1", "1.2", "1.3", "1.4"]
        assert {entry.task.phase for entry in reading.entries} == {"1"}
        assert reading.problems == ()

    def test_are_reported_if_there_is_no_such_phase(self) -> None:
        reading = read("## Phase 1: A\n- [ ] 1.1 a\n## Later\n- [ ] 9.1 b\n")
        assert [entry.task.id for entry in reading.entries] == ["1.1"]
        assert messages(reading)[0][0] == 4
        assert reading.problems[0].severity is Severity.WARNING

    def test_are_noted_if_their_phase_has_them(self) -> None:
        reading = read("## Phase 1: A\n- [ ] 1.1 a\n## Progress\n- [x] 1.1 a\n")
        assert [entry.status for entry in reading.entries] == [SourceStatus.TODO]
        assert [problem.severity for problem in reading.problems] == [Severity.INFO]

    @pytest.mark.parametrize("title", ["Success Criteria", "Risks", "Notes", "Definition of Done", "Acceptance"])
    def test_are_not_read_in_sections_about_criteria_or_risks(self, title: str) -> None:
        reading = read(f"## Phase 1: A\n- [ ] 1.1 a\n## {title}\n- [ ] 1.2 b\n")
        assert [entry.task.id for entry in reading.entries] == ["1.1"]
        assert reading.problems == ()


class TestAnEmptyPlan:
    def test_says_how_tasks_are_written(self) -> None:
        (problem,) = read("# A plan\n\n- [ ] something\n").problems
        assert problem.message == "there is no task in this plan"
        assert "- [ ] 1.1 Text" in problem.hint

    def test_can_not_be_a_folder(self) -> None:
        reading = load_format("plan").read(SourceFiles("docs/plans", (), folder=True))
        assert [problem.severity for problem in reading.problems] == [Severity.ERROR]


class TestDetection:
    @pytest.mark.parametrize(
        ("path", "text", "likeness"),
        [
            ("docs/plans/x.md", HARBOUR, Confidence.NAME),
            ("x.md", HARBOUR, Confidence.CONTENT),
            ("x.md", "## Phase 1: A\n- [ ] T001 a\n", Confidence.NO),
            ("x.md", "## Phase 1: A\n- [ ] a\n", Confidence.NO),
            ("x.md", "## 1. A\n- [ ] 1.1 a\n", Confidence.NO),
            ("x.md", "```\n## Phase 1: A\n- [ ] 1.1 a\n```\n", Confidence.NO),
            ("x.json", HARBOUR, Confidence.NO),
            ("x.md", "", Confidence.NO),
        ],
    )
    def test_needs_phases_and_tasks(self, path: str, text: str, likeness: Confidence) -> None:
        assert load_format("plan").detect(SourceFiles(path, (Document(path, text),))) is likeness

    def test_does_not_match_a_folder(self) -> None:
        material = SourceFiles("docs/plans", (Document("docs/plans/x.md", HARBOUR),), folder=True)
        assert load_format("plan").detect(material) is Confidence.NO


class TestWriting:
    def test_ticks_as_the_file_does(self) -> None:
        written = PLAN.write("## Phase 1: A\n- [X] 1.1 a\n- [ ] 1.2 b\n", [change("1.2", "b", SourceStatus.DONE)])
        assert written == "## Phase 1: A\n- [X] 1.1 a\n- [X] 1.2 b\n"

    def test_takes_the_tick_from_what_is_not_done(self) -> None:
        written = PLAN.write("## Phase 1: A\n- [x] 1.1 a\n", [change("1.1", "a", SourceStatus.FAILED)])
        assert written == "## Phase 1: A\n- [ ] 1.1 a\n"

    def test_does_not_set_back_what_a_person_has_ticked(self) -> None:
        text = "## Phase 1: A\n- [x] 1.1 a\n"
        assert PLAN.write(text, [change("1.1", "a", SourceStatus.DOING)]) == text

    def test_finds_a_task_that_was_renumbered(self) -> None:
        written = PLAN.write("## Phase 1: A\n- [ ] 1.1 new\n- [ ] 1.2 a\n", [change("1.1", "a", SourceStatus.DONE)])
        assert written == "## Phase 1: A\n- [ ] 1.1 new\n- [x] 1.2 a\n"

    def test_reports_a_missing_task(self) -> None:
        (writer, _) = load_format("plan").writers(PATH, ())
        rewrite = writer.apply("## Phase 1: A\n- [ ] 1.1 a\n", [change("1.7", "z", SourceStatus.DONE)])
        assert rewrite.text == "## Phase 1: A\n- [ ] 1.1 a\n"
        assert [problem.message[:29] for problem in rewrite.problems] == ["1.7 was removed from the file"]

    def test_leaves_the_tasks_of_other_files_alone(self) -> None:
        text = "## Phase 1: A\n- [ ] 1.1 a\n"
        assert PLAN.write(text, [StatusChange("1.1", SourceStatus.DONE, NOW, "other.md", "a")]) == text


def change(name: str, title: str, mark: SourceStatus) -> StatusChange:
    return StatusChange(name, mark, NOW, PATH, title)


LINES = st.sampled_from(
    (
        "",
        "text",
        "  - indented bullet",
        "  - [ ] 1.1 indented box",
        " - [ ] 1.2 nearly at the margin",
        "- [ ] a criterion",
        "- a bullet",
        "```\n- [ ] 1.1 an example\n```",
        "  ```\n  **VERIFY Phase 1:**\n  ```",
        "**Tasks:**",
        "**VERIFY Phase 1:**",
        "**VERIFY Phase 2:** (non-blocking)",
        "**Execution Note:** Tasks 1.1-1.3 are [SEQUENTIAL] - one file",
        "**Execution Note:** Phases 1-2 are [PARALLEL]",
        "**pipeline-start:** when 1.1 completes",
        "> - [ ] 1.3 quoted",
        "## Success Criteria",
        "### A part",
        "---",
        "<!-- a comment -->",
    )
)


@st.composite
def tasks(draw: st.DrawFn) -> str:
    bullet = draw(st.sampled_from(("-", "*")))
    box = draw(st.sampled_from((" ", " ", "x", "X")))
    number = f"{draw(st.integers(0, 3))}.{draw(st.integers(1, 30))}"
    words = draw(st.sampled_from(("Dig", "Build é", "Paint `a.py` HIGH", "Sweep [x] it", "Ship ✅", "[ ] box")))
    more = draw(st.sampled_from(("", "", " (depends: 1.1)", "  ", "\n  wrapped", "\nat the margin")))
    return f"{bullet} [{box}] {number} {words} {draw(st.integers(0, 99))}{more}"


PLANS = st.lists(
    st.one_of(tasks(), tasks(), st.integers(0, 3).map(lambda n: f"## Phase {n}: Part"), LINES), max_size=14
).map(lambda lines: "\n".join(("## Phase 1: First", *lines, "")))


class TestTheContract:
    @given(mangled_texts(PLANS))
    def test_every_byte_is_kept(self, text: str) -> None:
        check_lossless(PLAN, text)

    @given(PLANS, st.integers(0, 20), st.sampled_from([*PLAN.read_back, SourceStatus.DOING, SourceStatus.SKIPPED]))
    def test_only_its_own_lines_change(self, text: str, index: int, mark: SourceStatus) -> None:
        check_status_change(PLAN, text, index, mark)

    @given(mangled_texts(PLANS))
    def test_no_text_makes_it_fail(self, text: str) -> None:
        check_any_text(PLAN, text)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("start", ["", "\ufeff"])
    def test_line_ends_and_byte_order_marks_make_no_difference(self, end: str, start: str) -> None:
        text = start + HARBOUR.replace("\n", end)
        assert ids(text) == ids(HARBOUR)
        assert PLAN.write(text, [change("1.1", "Pour the foundation", SourceStatus.DONE)]) == text.replace(
            "[ ] 1.1 P", "[x] 1.1 P"
        )
