from __future__ import annotations

from datetime import UTC, datetime
from textwrap import dedent

import pytest

from plait.core.plan import Severity
from plait.core.task import Need, Origin
from plait.sources.formats import Confidence, load_format
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from tests.support.source_folders import format_problems, get_single, index_by_id, read_needs

TODO = load_format("todo")
PATH = "docs/TODO.md"

FILE = """\
---
next_project_number: 91
---
# TODO - Tidelog

**Last Updated:** 2026-01-12

## Overview

- **Total Tasks:** 17
- **Status**: [COMPLETED]

1. Mark a task by editing its status:

```markdown
### 500. An example
**Status**: [NOT STARTED]
**Dependencies**: 501
```

---

## High Priority

### 73. Read the tide tables
**Effort**: 18-23 hours
**Status**: Not Started
**Priority**: Medium (blocks the rest)
**Language**: python
**Blocking**: Tasks 74, 75, 1000
**Dependencies**: Task 72

**Description**: Read them in `src/tides/read.py`, one port at a time.

**Files Affected**:
- `src/tides/read.py` (lines 12, 40)
- src/tides/ports.toml
- Other tables (5-8 hours)

**Acceptance Criteria**:
- [ ] All ports are read
- [x] **Status**: of each port is shown
- **Status**: [BLOCKED] is never shown

---

### 74. Draw the curve ✅
- **Effort**: 2 hours (revised from 1 hour)
- **Status**: [COMPLETED]
- **Started**: 2026-01-02
- **Completed**: 2026-01-03
- **Dependencies**: 73
- **Files Affected**:
  - src/tides/draw.py (new)
  - `docs/curves/`
- **Acceptance Criteria**:
  - [x] It is drawn

### ✅ 75. Label the curve
**Status:** [COMPLETED]

### 76. ✅ Print the curve
No field at all.
---

### 77. Store the tables
* **Status**: [IN PROGRESS]
* **Started**: 2026-01-05T10:15:30Z
* **Dependencies**: Tasks 72-76

#### Step 1
**Status**: [COMPLETED]

### Long-term ideas

- [ ] not a task
- **Status**: [BLOCKED]

## Medium Priority Tasks

### 78. Phase 7: check the numbers
**Status**: PARTIAL (4/12 implemented)
**Dependencies**: Requires Layer 0 completion
**Blocking**: Charts

### 79. Warn of floods
**Status**: BLOCKED
**Priority**: Critical
**Dependencies**: Requires Task 73 (for the tables), Task #77

### 80. Old tables
**Status**: abandoned
**Dependencies**: None (independent of 73)

### 81. Ask the harbour
**Status**: IN PROGRESS (Started: 2026-01-07)
**Dependencies**: 212 (completed), 74 (completed), 77 (completed)

## Low Priority (within 6-12 months)

### 82. Small things
**Effort**: TBD
**Status**: DOCUMENTED LIMITATION
**Files Affected**: `a.py`, src/b.py and c.py

### 83. Twice told
**Status**: [PLANNED]
**Priority**: whenever
**Status**: [COMPLETED]

### 84. Without a status
Some text about tide.py.

> **Status**: [COMPLETED]
> ### 502. Quoted

    **Status**: [COMPLETED]

<!--
### 503. In a comment
**Status**: [NOT STARTED]
-->

### 85. Failed once
**Effort**: High
**Status**: failed
**Dependencies**:
- Task 84
- Task 83: the other one

### 86. Ticked, but under way ✅
**Status**: [IN PROGRESS]

### 86. The same number again
**Status**: [RESEARCHED]
**Dependencies**: 86, 84-83

## Notes

### 87. After the sections
**Status**: [IMPLEMENTED]
**Dependencies**: Benefits from Task 73
"""


def read(text: str, path: str = PATH) -> Reading:
    return TODO.read(SourceFiles(path, (Document(path, text),)))


def line(words: str) -> int:
    """The line of the file, from 1, on which these words first stand."""
    return FILE.count("\n", 0, FILE.index(words)) + 1


def task(*lines: str, title: str = "### 1. One") -> SourceEntry:
    return get_single(read("\n".join((title, *lines, ""))))


@pytest.fixture(scope="module")
def reading() -> Reading:
    return read(FILE)


@pytest.fixture(scope="module")
def entries(reading: Reading) -> dict[str, SourceEntry]:
    return index_by_id(reading)


def test_every_numbered_heading_is_a_task_and_nothing_else_is(entries: dict[str, SourceEntry]) -> None:
    assert {name: entry.task.title for name, entry in entries.items()} == {
        "73": "Read the tide tables",
        "74": "Draw the curve",
        "75": "Label the curve",
        "76": "Print the curve",
        "77": "Store the tables",
        "78": "Phase 7: check the numbers",
        "79": "Warn of floods",
        "80": "Old tables",
        "81": "Ask the harbour",
        "82": "Small things",
        "83": "Twice told",
        "84": "Without a status",
        "85": "Failed once",
        "86": "Ticked, but under way",
        "86.2": "The same number again",
        "87": "After the sections",
    }


def test_a_status_is_the_first_field_of_that_name_at_the_top_of_the_task(
    entries: dict[str, SourceEntry],
) -> None:
    marks = {name: entry.status for name, entry in entries.items()}
    assert marks == {
        "73": SourceStatus.TODO,
        "74": SourceStatus.DONE,
        "75": SourceStatus.DONE,
        "76": SourceStatus.DONE,
        "77": SourceStatus.DOING,
        "78": SourceStatus.PARTIAL,
        "79": SourceStatus.BLOCKED,
        "80": SourceStatus.SKIPPED,
        "81": SourceStatus.DOING,
        "82": SourceStatus.TODO,
        "83": SourceStatus.TODO,
        "84": SourceStatus.TODO,
        "85": SourceStatus.FAILED,
        "86": SourceStatus.DONE,
        "86.2": SourceStatus.TODO,
        "87": SourceStatus.DONE,
    }
    assert entries["78"].status_text == "PARTIAL (4/12 implemented)"
    assert entries["76"].status_text == "\u2705"
    assert entries["84"].status_text == ""


def test_needs_have_the_text_that_states_them(
    entries: dict[str, SourceEntry],
) -> None:
    assert {name: sorted(read_needs(entry)) for name, entry in entries.items() if entry.task.needs} == {
        "73": ["72"],
        "74": ["73"],
        "75": ["73"],
        "77": ["72", "73", "74", "75", "76"],
        "79": ["73", "77"],
        "81": ["77"],
        "85": ["83", "84"],
        "86.2": ["86"],
    }
    assert entries["73"].task.needs == (
        Need("72", reason="Dependencies: Task 72", at=Origin(PATH, line("**Dependencies**: Task 72"))),
    )
    assert read_needs(entries["74"]) == {"73": "Dependencies: 73"}
    assert read_needs(entries["75"]) == {"73": "Blocking: Tasks 74, 75, 1000"}


def test_a_task_called_finished_is_a_need_only_if_the_file_disagrees(
    entries: dict[str, SourceEntry],
) -> None:
    assert list(read_needs(entries["81"])) == ["77"]


def test_the_priority_is_the_tasks_own_or_its_sections(entries: dict[str, SourceEntry]) -> None:
    high, medium, low = 0, 1, 2
    assert entries["73"].task.priority == medium
    assert [entries[name].task.priority for name in ("74", "75", "76", "77")] == [high] * 4
    assert entries["78"].task.priority == medium
    assert entries["79"].task.priority < high
    assert entries["82"].task.priority == entries["83"].task.priority == low
    assert entries["87"].task.priority == medium


def test_effort_is_an_estimate_or_at_least_a_weight(entries: dict[str, SourceEntry]) -> None:
    assert entries["73"].task.estimate == 20.5 * 3600
    assert entries["74"].task.estimate == 2 * 3600
    assert (entries["82"].task.estimate, entries["82"].task.weight) == (None, 1.0)
    assert (entries["85"].task.estimate, entries["85"].task.weight) == (None, 4.0)


def test_files_affected_are_declared_and_other_files_are_only_mentioned(
    entries: dict[str, SourceEntry],
) -> None:
    assert entries["73"].task.touches == ("src/tides/read.py", "src/tides/ports.toml")
    assert entries["74"].task.touches == ("src/tides/draw.py", "docs/curves/")
    assert entries["82"].task.touches == ("a.py", "src/b.py", "c.py")
    assert entries["84"].task.touches == ()
    assert entries["84"].mentions == ("tide.py",)


def test_a_body_goes_up_to_the_next_heading_or_rule(entries: dict[str, SourceEntry]) -> None:
    assert entries["73"].task.body.startswith("**Effort**: 18-23 hours")
    assert entries["73"].task.body.rstrip().endswith("is never shown")
    assert entries["76"].task.body == "No field at all."
    assert entries["77"].task.body.rstrip().endswith("#### Step 1\n**Status**: [COMPLETED]")
    assert "### 502. Quoted" in entries["84"].task.body


def test_the_status_time_is_the_date_of_the_status(entries: dict[str, SourceEntry]) -> None:
    assert entries["74"].since == datetime(2026, 1, 3, tzinfo=UTC)
    assert entries["77"].since == datetime(2026, 1, 5, 10, 15, 30, tzinfo=UTC)
    assert entries["81"].since == datetime(2026, 1, 7, tzinfo=UTC)
    assert entries["73"].since is None


def test_a_number_can_be_selected_with_a_hash(entries: dict[str, SourceEntry]) -> None:
    assert entries["73"].aliases == ("#73",)


def test_there_are_no_phases(reading: Reading) -> None:
    assert reading.phases == ()
    assert all(entry.task.phase is None and entry.task.gating for entry in reading.entries)


def test_oddities_are_reported_with_their_line(reading: Reading) -> None:
    first, second = line("### 86. Ticked"), line("### 86. The same")
    expected = {
        line("**Dependencies**: Requires Layer"): "read as a note, not as a dependency: Requires Layer 0 completion",
        line("**Status**: DOCUMENTED"): "the status of 82 is unknown; treated as not started: DOCUMENTED LIMITATION",
        line("**Priority**: whenever"): "not a priority: whenever",
        line("**Priority**: whenever")
        + 1: f"83 has a second status; the one on line {line('**Status**: [PLANNED]')} counts",
        first + 1: "86 is ticked, so it counts as done, but its status is [IN PROGRESS]",
        second: f"duplicate id 86 (first on line {first}); using 86.2",
        second + 2: "84-83 runs backwards; ignored",
        line("**Dependencies**: Benefits"): "read as a note, not as a dependency: Benefits from Task 73",
    }
    assert format_problems(reading) == [f"{PATH}:{number}: {message}" for number, message in expected.items()]
    assert all(problem.hint for problem in reading.problems)
    assert {problem.severity for problem in reading.problems} == {Severity.WARNING, Severity.INFO}


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_change_nothing(entries: dict[str, SourceEntry], ends: str) -> None:
    start = FILE.index("# TODO")
    plain, other = read(FILE[start:]), read("\ufeff" + FILE[start:].replace("\n", ends))
    assert [(e.task.id, e.status, e.task.needs, e.task.origin) for e in other.entries] == [
        (e.task.id, e.status, e.task.needs, e.task.origin) for e in plain.entries
    ]
    assert len(plain.entries) == len(entries)


STATUSES = {
    "not started": SourceStatus.TODO,
    "planned": SourceStatus.TODO,
    "planning": SourceStatus.TODO,
    "researched": SourceStatus.TODO,
    "revised": SourceStatus.TODO,
    "expanded": SourceStatus.TODO,
    "in progress": SourceStatus.DOING,
    "researching": SourceStatus.DOING,
    "implementing": SourceStatus.DOING,
    "revising": SourceStatus.DOING,
    "completed": SourceStatus.DONE,
    "complete": SourceStatus.DONE,
    "implemented": SourceStatus.DONE,
    "blocked": SourceStatus.BLOCKED,
    "abandoned": SourceStatus.SKIPPED,
    "failed": SourceStatus.FAILED,
    "partial": SourceStatus.PARTIAL,
}


@pytest.mark.parametrize("raw", STATUSES)
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "[{}]",
        "**{}**",
        "`[{}]`",
        "{} (Started: 2026-01-02)",
        "[{}] (4/12 implemented)",
        "{} - so they say",
    ],
)
def test_a_status_is_read_in_any_case_and_style(raw: str, form: str) -> None:
    for spelt in (
        raw,
        raw.upper(),
        raw.title(),
        raw.capitalize(),
        raw.replace(" ", "-"),
        raw.replace(" ", "_"),
    ):
        assert task(f"**Status**: {form.format(spelt)}").status is STATUSES[raw]


@pytest.mark.parametrize(
    "line",
    [
        "**Status**: [BLOCKED]",
        "**Status:** [BLOCKED]",
        "**Status** : [BLOCKED]",
        "**STATUS**: [BLOCKED]",
        "- **Status**: [BLOCKED]",
        "* **Status:** [BLOCKED]",
        "+ **Status**: [BLOCKED]",
        "  - **Status**: [BLOCKED]",
        "**Effort**: 2h  \n**Status**: [BLOCKED]  ",
        "- **Effort**: 2h\n  **Status**: [BLOCKED]",
        "Some words\n**Status**: Blocked by Task 5\nand more words",
        "**Status**: [ ] BLOCKED",
    ],
)
def test_a_field_may_be_bare_or_a_bullet(line: str) -> None:
    assert task(line).status is SourceStatus.BLOCKED


@pytest.mark.parametrize(
    "line",
    [
        "> **Status**: [BLOCKED]",
        "> quoted words\n**Status**: [BLOCKED]",
        "```\n**Status**: [BLOCKED]\n```",
        "    **Status**: [BLOCKED]",
        "- Steps\n  - **Status**: [BLOCKED]",
        "1. **Status**: [BLOCKED]",
        "Say **Status**: [BLOCKED]",
        "- [ ] **Status**: [BLOCKED]",
        "#### Step\n**Status**: [BLOCKED]",
        "**Success Criteria**:\n- **Status**: [BLOCKED]",
        "---\n**Status**: [BLOCKED]",
        "| **Status**: [BLOCKED] | b |\n|---|---|",
    ],
)
def test_text_that_only_looks_like_a_field_is_not_one(line: str) -> None:
    assert task(line).status is SourceStatus.TODO


@pytest.mark.parametrize(
    ("heading", "title", "mark"),
    [
        ("### 7. Title", "Title", SourceStatus.TODO),
        ("### 7. Title \u2705", "Title", SourceStatus.DONE),
        ("### 7. Title \u2714\ufe0f ###", "Title", SourceStatus.DONE),
        ("### 7. \u2705 Title", "Title", SourceStatus.DONE),
        ("### \u2713 7. Title", "Title", SourceStatus.DONE),
        ("   ###\t7.\tTitle", "Title", SourceStatus.TODO),
        ("### 7. Put a \u2705 on it", "Put a \u2705 on it", SourceStatus.TODO),
        ("### 7. Warn \u26a0\ufe0f", "Warn \u26a0\ufe0f", SourceStatus.TODO),
        ("### 7. Learn C#", "Learn C#", SourceStatus.TODO),
        ("### 7. Change `src/x.py`", "Change src/x.py", SourceStatus.TODO),
        ("### 7.", "", SourceStatus.TODO),
    ],
)
def test_a_title_has_no_number_and_no_tick(heading: str, title: str, mark: SourceStatus) -> None:
    entry = task(title=heading)
    assert (entry.task.id, entry.task.title, entry.status) == ("7", title, mark)


@pytest.mark.parametrize(
    "heading",
    [
        "### 3.11 upgrade",
        "### Seven",
        "### 7 eggs",
        "#### 7. Deeper",
        "## 7. Higher",
        "### 1234567890. Long",
        "###7. No",
    ],
)
def test_other_headings_are_not_tasks(heading: str) -> None:
    reading = read(f"{heading}\n**Status**: [BLOCKED]\n")
    assert reading.entries == ()
    assert format_problems(reading) == [f"{PATH}:1: no task found"]


def test_dashes_below_text_are_a_rule_and_do_not_end_the_section() -> None:
    reading = read("## High Priority\n\n### 1. One\nSome words\n---\n\n### 2. Two\n")
    first, second = reading.entries
    assert first.task.body == "Some words"
    assert second.task.priority == 0


def test_a_section_may_be_underlined() -> None:
    first, second = read("### 1. One\ntext\n\nLow Priority\n------------\n\n### 2. Two\n").entries
    assert (first.task.priority, second.task.priority) == (1, 2)
    assert first.task.body.strip() == "text"


def test_a_number_of_several_tasks_means_all_of_them() -> None:
    text = "### 1. A\n### 1. B\n### 2. C\n**Dependencies**: Task 1\n"
    assert list(read_needs(index_by_id(read(text))["2"])) == ["1", "1.2"]


def test_a_task_that_needs_itself_is_reported_unless_by_a_range() -> None:
    assert task("**Dependencies**: Tasks 1-3").task.needs == (
        Need("2", reason="Dependencies: Tasks 1-3", at=Origin(PATH, 2)),
        Need("3", reason="Dependencies: Tasks 1-3", at=Origin(PATH, 2)),
    )
    reading = read("### 1. A\n**Dependencies**: Task 1\n")
    assert get_single(reading).task.needs == ()
    assert format_problems(reading) == [f"{PATH}:2: 1 can't depend on itself"]


def test_a_blocked_range_does_not_make_a_task_wait_for_itself() -> None:
    entries = index_by_id(read("### 1. A\n**Blocking**: Tasks 1-2\n### 2. B\n"))
    assert (list(read_needs(entries["1"])), list(read_needs(entries["2"]))) == ([], ["1"])


def test_leading_zeros_are_the_same_number() -> None:
    assert list(read_needs(index_by_id(read("### 007. A\n### 8. B\n**Depends on:** Task 7\n"))["8"])) == ["007"]


def test_a_range_that_is_too_wide_or_backwards_is_ignored() -> None:
    reading = read("### 1. A\n**Dependencies**: Tasks 1-999999999\n")
    assert get_single(reading).task.needs == ()
    assert format_problems(reading) == [f"{PATH}:2: 1-999999999 is too wide; ignored"]


def test_a_task_has_at_most_one_note() -> None:
    reading = read("### 1. A\n**Dependencies**: Requires Layer 0\n**Blocking**: Decidability\n")
    assert [problem.severity for problem in reading.problems] == [Severity.INFO]


def test_blocking_can_be_stated_with_a_verb() -> None:
    assert list(read_needs(index_by_id(read("### 1. A\n**Blocking**: Blocks Task 2\n### 2. B\n"))["2"])) == ["1"]


def test_a_field_right_below_a_list_is_not_part_of_it() -> None:
    lines = (
        "**Dependencies**:",
        "- Task 7",
        "- Task 8: the",
        "  second",
        "**Files Affected**:",
        "- `src/a.py`",
        "- docs/b.md",
        "**Acceptance Criteria**:",
        "- [ ] a",
        "  - [x] b",
        "**Status**: [IN PROGRESS]",
        "**Priority**: High",
    )
    entry = task(*lines)
    assert list(read_needs(entry)) == ["7", "8"]
    assert entry.task.touches == ("src/a.py", "docs/b.md")
    assert (entry.status, entry.task.priority) == (SourceStatus.DOING, 0)


@pytest.mark.parametrize("key", ["Dependencies", "Dependency", "Depends on", "Blocked by"])
def test_several_field_names_state_dependencies(key: str) -> None:
    entries = index_by_id(read(f"### 1. A\n**Blocks**: Task 3\n### 2. B\n**{key}**: Task 1\n### 3. C\n"))
    assert (list(read_needs(entries["2"])), list(read_needs(entries["3"]))) == (["1"], ["1"])


def test_the_label_of_files_can_have_a_count() -> None:
    assert task("**Files Affected** (2 modules):", "- `a.py`", "- b/c.py (2 hours)").task.touches == (
        "a.py",
        "b/c.py",
    )


def test_two_documents_are_not_read_as_one() -> None:
    documents = (Document("a.md", "### 1. A\n"), Document("b.md", "### 2. B\n"))
    assert [problem.severity for problem in TODO.read(SourceFiles(".", documents)).problems] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("path", "text", "likeness"),
    [
        ("TODO.md", "### 1. A\n**Status**: x\n", Confidence.NAME),
        ("docs/todo.md", "### 1. A \u2705\n", Confidence.NAME),
        ("work.md", "### 1. A\n- **Effort**: 2h\n", Confidence.CONTENT),
        ("work.md", "\ufeff### 1. A\r- **Effort**: 2h\r", Confidence.CONTENT),
        ("TODO.md", "### 1. A\nonly text\n", Confidence.PERHAPS),
        ("TODO.md", "### 1. A\n- [ ] b\n", Confidence.NO),
        ("work.md", "### 1. A\nonly text\n", Confidence.NO),
        ("TODO.md", "- [ ] a box\n", Confidence.NO),
        ("TODO.md", "```\n### 1. A\n**Status**: x\n```\n", Confidence.NO),
        ("TODO.md", "## Phase 1: A\n\n- [ ] 1.1 B\n", Confidence.NO),
        ("todo.json", '"\n### 1. A\n**Status**: x\n"', Confidence.NO),
        ("TODO.md", "", Confidence.NO),
    ],
)
def test_numbered_headings_with_a_field_or_a_tick_make_the_format(path: str, text: str, likeness: Confidence) -> None:
    assert TODO.detect(SourceFiles(path, (Document(path, text),))) is likeness


def test_a_folder_is_another_format() -> None:
    document = Document("x/TODO.md", dedent(FILE))
    assert TODO.detect(SourceFiles("x", (document,), folder=True)) is Confidence.NO
    assert TODO.detect(SourceFiles("x", ())) is Confidence.NO


MIXED = """\
# TODO

## Priority 1 \u2014 Ground

### 1. Dig
**Status**: [NOT STARTED]

### 2. Pour
**Status**: [COMPLETED]

## Deferred

### 3. Paint
Some day.

### 4. Polish
**Status**: [NOT STARTED]

## Recommended Order

### 1. First the ground
Then the rest.

### 2. Then the walls

## Backlog

### 1. A tower
"""


def read_text(text: str, path: str = PATH) -> Reading:
    return TODO.read(SourceFiles(path, (Document(path, text),)))


def test_numbered_headings_of_an_order_or_a_backlog_are_no_tasks_and_are_noted() -> None:
    reading = read_text(MIXED)
    assert [(entry.task.id, entry.task.title) for entry in reading.entries] == [
        ("1", "Dig"), ("2", "Pour"), ("3", "Paint"), ("4", "Polish")
    ]  # fmt: skip
    notes = format_problems(reading, Severity.INFO)
    assert [note.partition(": ")[0] for note in notes] == [f"{PATH}:{line}" for line in (21, 24, 28)]
    assert '"First the ground" is not read as a task: it is listed under "Recommended Order"' in notes[0]


def test_where_no_heading_has_a_field_a_backlog_is_the_list_of_tasks() -> None:
    assert [entry.task.id for entry in read_text("# TODO\n\n## Backlog\n\n### 1. Dig\n\n### 2. Pour\n").entries] == [
        "1",
        "2",
    ]


def test_what_is_under_deferred_is_left_out_unless_it_has_a_status() -> None:
    found = index_by_id(read_text(MIXED))
    assert (found["3"].status, found["4"].status) == (SourceStatus.SKIPPED, SourceStatus.TODO)


def test_a_section_called_priority_and_a_number_sets_the_priority() -> None:
    assert index_by_id(read_text(MIXED))["1"].task.priority == 0


def test_more_boxes_than_numbered_tasks_are_a_checklist_and_the_headings_an_order() -> None:
    boxes = "## Now\n\n- [ ] Dig\n- [ ] Pour\n\n## Order\n\n### 1. Ground \u2705\n\n### 2. Walls\n"
    for path in ("TODO.md", "notes/work.md"):
        assert TODO.detect(SourceFiles(path, (Document(path, boxes),))) is Confidence.NO
    criteria = "### 1. Dig\n**Status**: open\n\n- [ ] deep\n- [ ] dry\n\n## Success Criteria\n\n- [ ] a\n- [ ] b\n"
    assert TODO.detect(SourceFiles("TODO.md", (Document("TODO.md", criteria),))) is Confidence.NAME
