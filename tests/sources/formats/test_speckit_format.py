from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.phases import is_held_by_phase
from plait.core.plan import Severity
from plait.core.task import NeedKind
from plait.sources.formats import Confidence, kiro, openspec, speckit
from plait.sources.formats.speckit_grammar import parse_orders
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.testing.contracts.source_format import (
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = "specs/003-accounts/tasks.md"
SPECKIT = FormatUnderTest(
    "speckit",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
        SourceStatus.BLOCKED: SourceStatus.TODO,
    },
)

TASKS = """\
# Tasks: Accounts

**Prerequisites**: plan.md (required), research.md

## Format: `[ID] [P?] [Story] Description`
- **[P]**: Can run in parallel (different files, no dependencies)
- [P]: the same
- [ ] T000 [P] [US1] how a task looks

## Phase 3.1: Setup
- [x] T001 Create the project
- [ ] T002 Install dependencies
- [ ] T003 [P] Configure linting in `ruff.toml`

## Phase 3.2: Tests First (TDD) \u26a0\ufe0f MUST COMPLETE BEFORE 3.3
**CRITICAL: These tests MUST FAIL before ANY implementation**
* [ ] T004 [P] [US1] Contract test in tests/test_a.py
* [ ] T005 [P] [US1] [US2] Contract test in tests/test_b.py

## Phase 3.3: Core
- [ ] T008 [P] [US1] Model in src/user.py
- [ ] t006 [P] [US1,US2] Service in src/service.py (depends on T008)
- [ ] **T007** Endpoint in src/api.py, which goes
  over two lines (requires a login)
  - [ ] an acceptance check
- [ ] T007a [P] Extra

**Checkpoint**: it works
- [ ] everything is green

## Phase N: Polish
- [ ] T009 [P] Docs
- [ ] TXXX [P] Whatever

## Dependencies
- Tests (T004-T005) before implementation (T006-T008)
- T001 blocks T002, T009
- US1 can start after Foundational

## Parallel Example
```
T009 -> T001
```
- [ ] T010 [P] Launch together

## Validation
- [ ] T001 is done
"""


def read(text: str, path: str = PATH) -> Reading:
    return speckit.FORMAT.read(SourceFiles(path, (Document(path, text),)))


def entries(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def needs(text: str) -> dict[str, list[str]]:
    return {name: [need.on for need in entry.task.needs] for name, entry in entries(text).items()}


def detect_confidence(text: str, path: str = "tasks.md") -> Confidence:
    return speckit.FORMAT.detect(SourceFiles(path, (Document(path, text),)))


class TestIds:
    def test_an_id_may_have_a_suffix(self) -> None:
        text = "- [ ] T031 a\n- [ ] T031-MIN [P] b\n- [ ] T032-MIN c (depends on T031-MIN)\n- [ ] T033 d, depends on T032\n"
        found = {entry.task.id: entry for entry in read(text).entries}
        assert list(found) == ["T031", "T031-MIN", "T032-MIN", "T033"]
        assert found["T031-MIN"].task.title == "b"
        assert [need.on for need in found["T032-MIN"].task.needs] == ["T031-MIN"]
        assert [need.on for need in found["T033"].task.needs] == ["T032-MIN"]  # the only one of that number

    def test_a_range_is_no_id_with_a_suffix(self) -> None:
        assert [entry.task.id for entry in read("- [ ] T001 a\n- [ ] T002-T004 b\n").entries] == ["T001"]

    @pytest.mark.parametrize(
        "line",
        ["T022 (abc-8z6.1) [P] Dig", "T022 [P] (abc-8z6.1) Dig", "T022 (abc-8z6.1) [P] [US1] Dig", "T022 Dig [P]"],
    )
    def test_p_counts_beside_another_id_and_at_the_end(self, line: str) -> None:
        (entry, other) = read(f"- [ ] {line}\n- [ ] T023 [P] Pour\n").entries
        assert entry.task.title in {"(abc-8z6.1) Dig", "Dig"}
        assert other.task.needs == ()


HEADINGS = """\
# Tasks: Cellar

### Phase 1: Ground

#### T001: Mark the corners [P]
**File**: `src/corners.py`
**Dependencies**: None

- [ ] four corners

---

#### T002 [P] Order stones \u2705

### Phase 2: Walls

#### Task T003 - Dig
**Priority**: high
**Dependencies**: T001, T002
**Status**: \u23f3 Pending

##### Details
Deep.

#### [ ] T004: Pour

## Success Criteria
- [ ] it is dry
"""
HEADED = FormatUnderTest("speckit", "specs/004-cellar/tasks.md", SPECKIT.read_back)


class TestHeadings:
    def test_a_heading_with_an_id_is_a_task(self) -> None:
        found = read(HEADINGS).entries
        assert [(entry.task.id, entry.task.title, entry.task.phase) for entry in found] == [
            ("T001", "Mark the corners", "1"),
            ("T002", "Order stones", "1"),
            ("T003", "Dig", "2"),
            ("T004", "Pour", "2"),
        ]
        assert [entry.status for entry in found] == [
            SourceStatus.TODO, SourceStatus.DONE, SourceStatus.TODO, SourceStatus.TODO
        ]  # fmt: skip

    def test_its_text_goes_up_to_the_next_one(self) -> None:
        found = {entry.task.id: entry for entry in read(HEADINGS).entries}
        assert "four corners" in found["T001"].task.body
        assert "T002" not in found["T001"].task.body
        assert "Deep." in found["T003"].task.body
        assert found["T001"].mentions == ("src/corners.py",)

    def test_its_fields_are_its_dependencies(self) -> None:
        found = {entry.task.id: [need.on for need in entry.task.needs] for entry in read(HEADINGS).entries}
        assert found == {"T001": [], "T002": [], "T003": ["T001", "T002"], "T004": ["T003"]}

    def test_a_heading_over_listed_tasks_or_about_one_is_none(self) -> None:
        text = "## T001: Ground\n- [ ] T001.1 Dig\n- [ ] T002 Pour\n\n## Notes\n\n### T002: why\nText\n"
        assert [entry.task.id for entry in read(text).entries] == ["T001.1", "T002"]

    def test_a_file_of_such_headings_is_one_if_it_is_called_tasks(self) -> None:
        text = "#### T001: Stolen passwords\n\n#### T002: Replay\n"
        names = {
            path: SourceFiles(path, (Document(path, text),))
            for path in ("specs/1-x/tasks.md", "tasks.md", "threats.md")
        }
        assert [speckit.FORMAT.detect(files) for files in names.values()] == [
            Confidence.NAME, Confidence.CONTENT, Confidence.NO
        ]  # fmt: skip

    def test_statuses_go_to_the_field_the_box_or_behind_the_heading(self) -> None:
        found = {entry.task.id: entry for entry in HEADED.read(HEADINGS).entries}
        done = HEADED.write(
            HEADINGS, [HEADED.change(found[name], SourceStatus.DONE) for name in ("T001", "T003", "T004")]
        )
        expected = HEADINGS.replace("corners [P]", "corners [P] \u2705").replace("\u23f3 Pending", "Completed")
        assert done == expected.replace("[ ] T004", "[x] T004")
        after = {entry.task.id: entry for entry in HEADED.read(done).entries}
        assert {entry.status for entry in after.values()} == {SourceStatus.DONE}
        undone = HEADED.write(done, [HEADED.change(entry, SourceStatus.TODO) for entry in after.values()])
        assert {entry.status for entry in HEADED.read(undone).entries} == {SourceStatus.TODO}
        assert "\u2705" not in undone


HEADING_PIECES = st.sampled_from(
    ["#### T001: a\n", "#### T002 b \u2705 ##\n", "### \u2705 T003: c\n", "### [x] T004 d\n", "text\n", "\n", "---\n", "- [ ] T005 e\n",
     "## Phase 1: f\n", "  - [ ] g\n"]
)  # fmt: skip


@given(
    mangled_texts(st.lists(HEADING_PIECES, max_size=10).map("".join)), st.integers(0, 9), st.sampled_from(SourceStatus)
)
def test_headings_are_written_without_loss(text: str, index: int, mark: SourceStatus) -> None:
    check_lossless(HEADED, text)
    check_any_text(HEADED, text)
    if mark in HEADED.read_back:
        check_status_change(HEADED, text, index, mark)


class TestTasks:
    def test_boxes_with_an_id_are_tasks_in_the_order_of_the_file(self) -> None:
        assert " ".join(entries(TASKS)) == "T001 T002 T003 T004 T005 T008 T006 T007 T007a T009"

    def test_titles_have_no_tags_and_no_asides_about_needs(self) -> None:
        titles = {name: entry.task.title for name, entry in entries(TASKS).items()}
        assert titles["T005"] == "Contract test in tests/test_b.py"
        assert titles["T006"] == "Service in src/service.py"
        assert titles["T007"] == "Endpoint in src/api.py, which goes over two lines (requires a login)"

    @pytest.mark.parametrize(
        ("line", "title"),
        [
            ("- [ ] T012 [P] [US1] Text", "Text"),
            ("- [ ] **T012**: Text", "Text"),
            ("- [ ] **T012** [P] Text", "Text"),
            ("- [ ] T012: [P] Text", "Text"),
            ("- [ ] T012 \u2014 Text", "Text"),
            ("- [ ] [T012] [P] Text", "Text"),
            ("- [ ] [P] T012 Text", "Text"),
            ("- [ ] **T012** `[api] [P]` Text", "[api] Text"),
            ("- [ ] T012 [Docs](x.md) of it", "Docs of it"),
            ("- [ ] T012", "T012"),
            ("1. [ ] T012 [P?] [Story] Text", "Text"),
        ],
    )
    def test_many_spellings_of_a_task_are_read(self, line: str, title: str) -> None:
        assert {name: entry.task.title for name, entry in entries(line).items()} == {"T012": title}

    @pytest.mark.parametrize(
        "line",
        [
            "- [ ] Text T012",
            "- T012 Text",
            "- [ ] T012-T015 Text",
            "- [ ] Today",
            "- [ ] TXXX a",
            "> - [ ] T001 a",
        ],
    )
    def test_other_boxes_are_not_tasks(self, line: str) -> None:
        assert entries(line) == {}

    def test_bodies_and_files(self) -> None:
        found = entries(TASKS)
        assert "an acceptance check" in found["T007"].task.body
        assert found["T003"].mentions == ("ruff.toml",)
        assert found["T008"].mentions == ("src/user.py",)

    def test_a_repeated_id_outside_the_phases_is_not_a_task(self) -> None:
        assert len(read(TASKS).entries) == 10
        assert len(read("## Phase 1: a\n- [ ] T001 a\n- [ ] T001 b\n").entries) == 2

    def test_a_file_without_tasks_has_a_warning(self) -> None:
        reading = read("- [ ] a\n")
        assert [(p.severity, p.at and p.at.line) for p in reading.problems] == [(Severity.WARNING, 1)]


class TestPhases:
    def test_phases_are_barriers_in_the_order_of_the_file(self) -> None:
        assert [(p.key, p.title, p.after, p.total, p.settled, p.gate) for p in read(TASKS).phases] == [
            ("3.1", "Setup", (), 3, 1, 1.0),
            ("3.2", "Tests First (TDD) \u26a0\ufe0f MUST COMPLETE BEFORE 3.3", ("3.1",), 2, 0, 1.0),
            ("3.3", "Core", ("3.1", "3.2"), 4, 0, 1.0),
            ("N", "Polish", ("3.1", "3.2", "3.3"), 1, 0, 1.0),
        ]

    def test_other_headings_between_them_are_barriers_too_if_they_have_tasks(self) -> None:
        reading = read("## Phase 1\n- [ ] T001 a\n## Polish it\n- [ ] T002 b\n## Notes\n")
        assert [(phase.key, phase.after) for phase in reading.phases] == [("1", ()), ("polish-it", ("1",))]

    def test_without_phases_there_are_no_barriers(self) -> None:
        reading = read("## Wave 1\n- [ ] T001 a\n## Wave 2\n- [ ] T002 [P] b\n")
        assert reading.phases == ()
        assert needs("## Wave 1\n- [ ] T001 a\n## Wave 2\n- [ ] T002 [P] b\n")["T002"] == ["T001"]

    def test_headings_inside_a_phase_may_be_phases(self) -> None:
        text = "## Phase 1: a\n### Phase 1.1: b\n- [ ] T001 x\n### Phase 1.2: c\n- [ ] T002 x\n### Phase 1 d\n- [ ] T003 y\n"
        reading = read(text)
        assert [(phase.key, phase.total) for phase in reading.phases] == [("1.1", 1), ("1.2", 1), ("1", 1)]

    def test_a_heading_of_the_same_name_continues_its_phase(self) -> None:
        text = "## Phase 2: a\n- [ ] T001 x\n### Phase 2 tests\n- [ ] T002 x\n## Phase 2: again\n- [ ] T003 y\n"
        assert [(phase.key, phase.total) for phase in read(text).phases] == [("2", 2), ("2-2", 1)]

    def test_examples_inside_a_phase_are_tasks(self) -> None:
        assert list(entries("## Phase 1: a\n### Format code\n- [ ] T001 x\n### Parallel\n- [ ] T002 y\n")) == [
            "T001",
            "T002",
        ]


class TestWrittenOrder:
    def test_a_task_without_p_follows_all_above_and_precedes_all_below(self) -> None:
        text = "".join(
            f"- [ ] T{n} {'[P] ' if parallel else ''}x\n" for n, parallel in enumerate((1, 1, 0, 0, 1, 1, 1, 0, 1))
        )
        assert needs(text) == {
            "T0": [],
            "T1": [],
            "T2": ["T0", "T1"],
            "T3": ["T2"],
            "T4": ["T3"],
            "T5": ["T3"],
            "T6": ["T3"],
            "T7": ["T4", "T5", "T6"],
            "T8": ["T7"],
        }

    def test_written_order_restarts_in_each_phase(self) -> None:
        assert needs("## Phase 1\n- [ ] T001 a\n## Phase 2\n- [ ] T002 b\n- [ ] T003 c\n") == {
            "T001": [],
            "T002": [],
            "T003": ["T002"],
        }

    def test_written_order_makes_chain_needs(self) -> None:
        found = entries("- [ ] T001 a\n- [ ] T002 b\n")
        assert [need.kind for need in found["T002"].task.needs] == [NeedKind.CHAIN]


def find_orders(text: str) -> list[tuple[str, str]]:
    """The earlier and the later tasks of each statement."""

    def shown(refs: tuple[object, ...]) -> str:
        return " ".join(f"{ref.first}..{ref.last}" if ref.last else ref.first for ref in refs)  # type: ignore[attr-defined]

    return [(shown(order.earlier), shown(order.later)) for order in parse_orders(text)]


class TestStatements:
    @pytest.mark.parametrize(
        ("text", "order"),
        [
            ("T002 before T003", [("T002", "T003")]),
            ("T004 depends on T001", [("T001", "T004")]),
            ("T004 depends on T001, T002 and T003.", [("T001 T002 T003", "T004")]),
            ("T001 -> T002", [("T001", "T002")]),
            ("T001 (see T009) -> T002", [("T001", "T002")]),
            ("T001 \u2192 T002 \u2192 T003", [("T001", "T002"), ("T002", "T003")]),
            ("**T001 --> T002** (first)", [("T001", "T002")]),
            ("T005 \u2192 {T006, T007} \u2192 T008", [("T005", "T006 T007"), ("T006 T007", "T008")]),
            ("T003 [P] T004 \u2192 T005", [("T003 T004", "T005")]),
            ("T001\n  \u2192 T002\n  \u2192 T003", [("T001", "T002"), ("T002", "T003")]),
            ("T001 \u2192\nT002", [("T001", "T002")]),
            ("T001 \u2192 T002\nT003 \u2192 T004", [("T001", "T002"), ("T003", "T004")]),
            ("Tests (T004-T007) before implementation (T008-T014)", [("T004..T007", "T008..T014")]),
            ("Tests (T004\u2013T007) must fail before (T008 through T009)", [("T004..T007", "T008..T009")]),
            ("T004-007 block T008", [("T004..T007", "T008")]),
            ("T016 blocks T017", [("T016", "T017")]),
            ("T012 the executor blocks T013 the service", [("T012", "T013")]),
            ("T008 precedes T009-T011 (same file)", [("T008", "T009..T011")]),
            ("**T009** (`x.py`): requires T008 (see T001)", [("T008", "T009")]),
            ("T014a (edges) after T014 and T010a", [("T014 T010a", "T014a")]),
            ("T003 cannot start before T002", [("T002", "T003")]),
            ("US1: T009 \u2192 T010. US2: T011 \u2192 T012.", [("T009", "T010"), ("T011", "T012")]),
            ("T001 and T003 run together; T004 depends on T003", [("T003", "T004")]),
            ("T004 depends on T003 and T005 depends on T004", [("T003", "T004"), ("T004", "T005")]),
            ("T004 depends on T003, which depends on T001", [("T003", "T004"), ("T001", "T003")]),
            ("Tests T005 first, then T008\u2192T009, then T012", [("T008", "T009")]),
            ("T004: models (depends on T001), T005 (after T004)", [("T001", "T004"), ("T004", "T005")]),
            ("T005 depends on\nT004", [("T004", "T005")]),
            ("T002 \u2190 T001", [("T001", "T002")]),
            ("T003 <-- T001, T002", [("T001 T002", "T003")]),
            ("T001 \u2192 T003 \u2190 T002", [("T001", "T003"), ("T002", "T003")]),
        ],
    )
    def test_statements_about_order_are_read(self, text: str, order: list[tuple[str, str]]) -> None:
        assert find_orders(text) == order

    @pytest.mark.parametrize(
        "text",
        [
            "US1 can start after Foundational",
            "Implementation before polish (T019-T023)",
            "T001 before all tests",
            "T010 and T011 can start any time after Phase 2",
            "T002 does not depend on T001",
            "T002 has no hard dependency on T001",
            "T003 and T004 can run in parallel",
            "T004 depends on the API being ready, though T005 is nice to have",
            "T015 can start before T014",
            "Write the test (T002) \u2192 see it fail",
            "T002 runs after the tests but is independent of T003",
            "Setup (Phase 1): no dependencies",
            "T002 \u2190 parallel with T001",
            "T002 \u2190 blocks T001",
            "T001 > T002, T002 - T003, T003 = T004",
        ],
    )
    def test_other_prose_is_not_a_statement(self, text: str) -> None:
        assert find_orders(text) == []

    def test_in_a_fence_each_line_is_separate_and_only_arrows_count(self) -> None:
        text = "T001 -> T002\nT003\nT004 depends on T001\n  \u2514\u2500> T005\nPhase 2: T006 -> T007"
        found = [
            (order.earlier[0].first, order.later[0].first, order.line) for order in parse_orders(text, fenced=True)
        ]
        assert found == [("T001", "T002", 0), ("T006", "T007", 4)]


class TestDependencies:
    def test_an_aside_in_the_text_of_a_task_states_a_need(self) -> None:
        text = "- [ ] T001 [P] a\n- [ ] T002 [P] b\n- [ ] T003 [P] c (depends on T001,\n  T002) more\n- [ ] T004 [P] d *(Blocks T001.)*\n"
        assert needs(text) == {"T001": ["T004"], "T002": [], "T003": ["T001", "T002"], "T004": []}
        assert entries(text)["T003"].task.title == "c more"

    @pytest.mark.parametrize(
        ("said", "on"),
        [
            ("c, depends on T001 and T002", ["T001", "T002"]),
            ("c \u2014 Depends on T001-T002.", ["T001", "T002"]),
            ("c (see x). Depends on task T001; then more", ["T001"]),
            ("c that no longer depends on T001", []),
            ("fix what depends on T001 being there", []),
        ],
    )
    def test_the_end_of_a_sentence_states_a_need(self, said: str, on: list[str]) -> None:
        text = f"- [ ] T001 [P] a\n- [ ] T002 [P] b\n- [ ] T003 [P] {said}\n"
        assert needs(text)["T003"] == on

    def test_a_repeated_id_loses_no_task(self) -> None:
        text = "## Phase 1\n- [ ] T001 a\n- [ ] T001 [P] b\n- [ ] T002 c (depends on T001)\n"
        reading = read(text)
        assert [entry.task.id for entry in reading.entries] == ["T001", "T001-2", "T002"]
        assert needs(text) == {"T001": [], "T001-2": ["T001"], "T002": ["T001", "T001-2"]}
        (problem,) = reading.problems
        assert "duplicate id T001 (first on line 2); using T001-2" in problem.message
        assert str(problem.at).endswith(":3")

    def test_a_line_below_the_task_states_a_need(self) -> None:
        text = "- [ ] T001 [P] a\n- [ ] T002 [P] b\n  - **Depends on**: T001\n  - after lunch\n"
        assert needs(text)["T002"] == ["T001"]

    @pytest.mark.parametrize(
        "section",
        [
            "## Dependencies\n- T001 before T002\n",
            "## Dependencies & Execution Order\n### Within the story\n1. T002 after T001\n",
            "### Task dependencies\nT001 \u2192 T002\n",
            "## Dependency Graph\n```text\nT001 --> T002\n```\n",
            "## Dependencies\n| Task | Title | Depends on |\n|---|---|---|\n| T002 | x | T001, none |\n",
            "## Dependencies\n| Task | Blocks |\n|---|---|\n| T001 | T002 (the second) |\n",
            "## Critical path\nT001 -> T002\n",
            "## Dependencies\n- **T002**: T001\n",
            "## Dependencies\n- T002 \u2190 T001\n",
        ],
    )
    def test_a_section_on_dependencies_is_read(self, section: str) -> None:
        text = f"## Phase 1\n- [ ] T001 [P] a\n- [ ] T002 [P] b\n\n{section}"
        assert needs(text) == {"T001": [], "T002": ["T001"]}

    @pytest.mark.parametrize(
        "section",
        [
            "## Notes\nT001 -> T002\n",
            "## Dependencies\n### Parallel Example\nT001 -> T002\n",
            "## Dependencies\n> T001 -> T002\n",
            "## Dependencies\n| x | y |\n|---|---|\n| T001 | T002 |\n",
            "## Phase 2: Dependencies\nT001 -> T002\n",
            "```\n## Dependencies\nT001 -> T002\n```\n",
        ],
    )
    def test_other_sections_state_no_dependencies(self, section: str) -> None:
        assert needs(f"## Phase 1\n- [ ] T001 [P] a\n- [ ] T002 [P] b\n\n{section}")["T002"] == []

    def test_a_need_has_the_text_and_line_of_its_statement(self) -> None:
        text = "- [ ] T001 [P] a\n- [ ] T002 [P] b\n\n## Dependencies\n\n- so: T001 before\n  T002 (always)\n"
        (need,) = entries(text)["T002"].task.needs
        assert (need.reason, need.at and need.at.line) == ("so: T001 before T002 (always)", 6)

    def test_ranges_are_over_the_ids_that_exist_whatever_their_case(self) -> None:
        text = "- [ ] T001 [P] a\n- [ ] t003a [P] b\n- [ ] T007 [P] c\n- [ ] T009 [P] d\n## Dependencies\nt009 depends on T001-T003, T005\n"
        assert needs(text)["T009"] == ["T001", "T003a", "T005"]

    def test_a_range_leaves_out_the_task_itself(self) -> None:
        text = "- [ ] T001 [P] a\n- [ ] T002 [P] b\n## Dependencies\nT002 depends on T001-T002\n"
        assert needs(text)["T002"] == ["T001"]

    def test_dependencies_do_not_lift_a_barrier(self) -> None:
        reading = read(TASKS)
        phases = {phase.key: phase for phase in reading.phases}
        assert all(is_held_by_phase(entry.task, phases[entry.task.phase or ""]) for entry in reading.entries)
        assert entries(TASKS)["T002"].task.needs[0].kind is NeedKind.NEED

    def test_a_statement_against_the_written_order_is_ignored_with_a_warning(self) -> None:
        text = (
            "## Phase 1\n- [ ] T001 a\n- [ ] T002 [P] b (depends on T003)\n- [ ] T003 [P] c\n## Phase 2\n- [ ] T004 d\n"
        )
        statements = "## Dependencies\n- T001 depends on T002\n- T003 depends on T004\n- T004 depends on T001\n"
        reading = read(text + statements)
        assert [(p.severity, p.at and p.at.line) for p in reading.problems] == [
            (Severity.WARNING, 8),
            (Severity.WARNING, 9),
        ]
        assert needs(text + statements) == {
            "T001": [],
            "T002": ["T003", "T001"],
            "T003": ["T001"],
            "T004": ["T001"],
        }

    def test_an_unknown_id_is_reported(self) -> None:
        reading = read("- [ ] T001 a (depends on T099)\n## Dependencies\n- T050 depends on T001\n")
        assert [need.on for need in reading.entries[0].task.needs] == ["T099"]
        assert [(p.severity, p.at and p.at.line) for p in reading.problems] == [(Severity.INFO, 3)]

    def test_too_many_edges_are_refused_with_a_message(self) -> None:
        boxes = "".join(f"- [ ] T{n:04} [P] x\n" for n in range(2000))
        reading = read(f"{boxes}\n## Dependencies\nT0000-T0999 before T1000-T1999\n")
        assert len(reading.problems) == 1
        assert all(not entry.task.needs for entry in reading.entries)

    def test_all_dependencies_make_a_plan(self) -> None:
        reading = read(TASKS)
        assert reading.problems == ()
        done = [entry.task.id for entry in reading.entries if entry.status.is_closed]
        tasks = [entry.task for entry in reading.entries if not entry.status.is_closed]
        assert build_checked_plan(tasks, phases=reading.phases, finished=done).plan is not None


class TestDetection:
    def test_the_usual_path_is_recognised(self) -> None:
        assert detect_confidence(TASKS, PATH) is Confidence.NAME
        assert detect_confidence(TASKS, f"x/.specify/{PATH}") is Confidence.NAME

    def test_content_alone_is_recognised(self) -> None:
        assert detect_confidence(TASKS) is Confidence.CONTENT
        material = SourceFiles("tasks.md", (Document("tasks.md", TASKS),))
        assert kiro.FORMAT.detect(material) is openspec.FORMAT.detect(material) is Confidence.NO

    @pytest.mark.parametrize(
        "text",
        [
            "- [ ] a\n",
            "- T001 a\n",
            "- [ ] 1.1 a\n",
            "- [ ] T800 film\n" + "- [ ] a\n" * 5,
            "```\n- [ ] T001 a\n```\n",
        ],
    )
    def test_other_content_is_not_recognised(self, text: str) -> None:
        assert detect_confidence(text) is Confidence.NO


class TestWriting:
    def test_only_boxes_are_ticked_and_unticked(self) -> None:
        found = entries(TASKS)
        changes = [
            SPECKIT.change(found["T001"], SourceStatus.FAILED),
            SPECKIT.change(found["T006"], SourceStatus.DONE),
            SPECKIT.change(found["T002"], SourceStatus.DOING),
            SPECKIT.change(found["T003"], SourceStatus.SKIPPED),
        ]
        expected = TASKS.replace("[x] T001 C", "[ ] T001 C").replace("[ ] t006", "[x] t006")
        assert SPECKIT.write(TASKS, changes) == expected

    def test_the_validation_list_is_not_ticked(self) -> None:
        written = SPECKIT.write(TASKS, [SPECKIT.change(entries(TASKS)["T001"], SourceStatus.DONE)])
        assert "- [ ] T001 is done" in written


@st.composite
def files(draw: st.DrawFn) -> str:
    """A look-alike: phases with tasks in any order of ids, asides, criteria, and sections about dependencies."""
    numbers = draw(st.permutations(range(1, 13)))
    lines = ["# Tasks", "", "## Format: `[ID] [P?] Description`", "- **[P]**: parallel"]
    for phase in range(1, draw(st.integers(1, 3)) + 1):
        lines.append(f"## Phase {phase}: {draw(st.sampled_from(('Setup', 'Dependencies', 'Tests ⚠')))}")
        for _ in range(draw(st.integers(0, 3))):
            number = numbers.pop()
            mark, bullet = draw(st.sampled_from(" xX")), draw(st.sampled_from("-*"))
            tags = draw(st.sampled_from(("", "[P] ", "[P] [US1] ", "[US1] [US2] ")))
            aside = draw(st.sampled_from(("", "", f" (depends on T{draw(_NUMBERS):03})", " (after lunch)")))
            lines.append(f"{bullet} [{mark}] T{number:03} {tags}Task {number} in src/a.py{aside}")
            lines += draw(
                st.lists(
                    st.sampled_from(("  goes on", "  - [ ] check", f"  - Blocks: T{number:03}", "")),
                    max_size=1,
                )
            )
    lines += ["", "## Dependencies", *draw(st.lists(_STATEMENTS, max_size=4))]
    return draw(st.sampled_from(("\n", "\r\n"))).join(lines) + draw(st.sampled_from(("\n", "")))


_NUMBERS = st.integers(1, 12)
_STATEMENTS = st.builds(
    lambda form, a, b, c: form.format(a, b, c),
    st.sampled_from(
        (
            "- T{:03} before T{:03}",
            "- T{:03} depends on T{:03}, T{:03}",
            "T{:03} -> T{:03} -> T{:03}",
            "- Tests (T{:03}-T{:03}) before T{:03}",
            "```\nT{:03} -> T{:03}\n```",
            "\n| Task | Depends on |\n|--|--|\n| T{:03} | T{:03} |\n",
            "prose about T{:03} (T{:03}",
        )
    ),
    *[_NUMBERS] * 3,
)


@given(files())
def test_reading_and_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(SPECKIT, text)


@given(files(), st.integers(0, 20), st.sampled_from(list(SPECKIT.read_back)))
def test_a_change_touches_its_own_line(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(SPECKIT, text, index, mark)


@given(mangled_texts(files()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(SPECKIT, text)


@given(files())
def test_every_text_keeps_the_order_of_barriers_and_tasks_without_p(text: str) -> None:
    """Whatever is said on top, a task comes after all before the last point above it, and is held by its phase."""
    reading = read(text)
    places = {entry.task.id: n for n, entry in enumerate(reading.entries)}
    ancestors: list[set[int]] = []
    phases = {phase.key: phase for phase in reading.phases}
    for entry in reading.entries:
        earlier = {places[need.on] for need in entry.task.needs if places.get(need.on, len(places)) < len(ancestors)}
        ancestors.append(earlier.union(*(ancestors[n] for n in earlier)))
        assert entry.task.phase is None or is_held_by_phase(entry.task, phases[entry.task.phase])
    for n, entry in enumerate(reading.entries):
        mine = [m for m in range(n) if reading.entries[m].task.phase == entry.task.phase]
        points = [m for m in mine if "[P]" not in reading.entries[m].task.body]
        if "[P]" not in entry.task.body:
            assert ancestors[n] >= set(mine)
        elif points:
            assert ancestors[n] >= {m for m in mine if m <= points[-1]}
