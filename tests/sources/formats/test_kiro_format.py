from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import NeedKind
from plait.sources.formats import Confidence, kiro
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.testing.contracts.source_format import (
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = ".kiro/specs/import/tasks.md"
KIRO = FormatUnderTest(
    "kiro",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
        SourceStatus.BLOCKED: SourceStatus.TODO,
    },
)

PLAN = """\
# Implementation Plan

- [x] 1. Set up the importer
  - Create `src/importer.py`
  - _Requirements: 1.1, 1.2_

- [ ]* 1.1 Write property test for the importer
  - **Validates: Requirements 1.1**

- [-] 2. Data models
  - [x] 2.1 Define types
    - In src/types.ts
    - _Requirements: 2.1_
  - [ ] 2.2 Validate them
    - [ ] with unit tests
  - [ ]* 2.3 Write tests for the types
- [ ] 3) Wire it up
- [ ] 4. Release
- [ ] 4.1. Build
- [ ] 4.2 Publish
  - [ ] 4.2.1 Tag
  - [ ] 4.2.2 Upload

```markdown
- [ ] 9. An example
```

> - [ ] 8. Quoted

## Notes

- Tasks marked with `*` are optional
"""


def read(text: str, path: str = PATH) -> Reading:
    return kiro.FORMAT.read(SourceFiles(path, (Document(path, text),)))


def entries(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def follows(text: str) -> dict[str, list[str]]:
    return {name: [need.on for need in entry.task.needs] for name, entry in entries(text).items()}


def detect_confidence(text: str, path: str = "tasks.md") -> Confidence:
    return kiro.FORMAT.detect(SourceFiles(path, (Document(path, text),)))


class TestTasks:
    def test_every_numbered_box_is_one_indented_or_not(self) -> None:
        numbers = "1 1.1 2 2.1 2.2 2.3 3 4 4.1 4.2 4.2.1 4.2.2"
        assert list(entries(PLAN)) == numbers.split()

    def test_titles_have_no_number_and_no_markup(self) -> None:
        found = entries("- [ ] **1. Add `x`**\n- [ ] **1.1** See [the docs](http://x.y)\n- [ ] 2.\n")
        assert [entry.task.title for entry in found.values()] == ["Add x", "See the docs", "2"]

    def test_statuses(self) -> None:
        marks = {
            name: entry.status
            for name, entry in entries("- [x] 1. a\n- [X] 2. b\n- [-] 3. c\n- [~] 4. d\n- [ ] 5. e\n").items()
        }
        assert marks == {
            "1": SourceStatus.DONE,
            "2": SourceStatus.DONE,
            "3": SourceStatus.DOING,
            "4": SourceStatus.TODO,
            "5": SourceStatus.TODO,
        }

    def test_requirements_and_bullets_stay_in_the_body_and_parts_do_not(self) -> None:
        found = entries(PLAN)
        assert found["1"].task.body.endswith("_Requirements: 1.1, 1.2_")
        assert "2.1" not in found["2"].task.body.replace("Requirements: 2.1", "")
        assert "with unit tests" in found["2.2"].task.body

    def test_a_part_gets_the_text_of_its_group(self) -> None:
        found = entries("- [ ] 1. Models\n  - Use pydantic\n  - [ ] 1.1 Users\n")
        assert "Use pydantic" in found["1.1"].task.body
        assert "Users" not in found["1"].task.body

    def test_a_long_group_is_only_named_to_its_parts(self) -> None:
        found = entries(f"- [ ] 1. Models\n  - {'x ' * 2000}\n  - [ ] 1.1 Users\n")
        assert "1. Models" in found["1.1"].task.body
        assert len(found["1.1"].task.body) < 200

    def test_mentioned_files_are_found(self) -> None:
        found = entries(PLAN)
        assert found["1"].mentions == ("src/importer.py",)
        assert found["2.1"].mentions == ("src/types.ts",)
        assert found["2"].mentions == ()

    def test_the_line_is_that_of_the_box(self) -> None:
        origin = entries(PLAN)["2.1"].task.origin
        assert origin is not None
        assert PLAN.splitlines()[origin.line - 1] == "  - [x] 2.1 Define types"

    def test_a_number_without_a_full_stop_is_not_an_id(self) -> None:
        assert list(entries("- [ ] 1. Cake\n- [ ] 2 eggs\n")) == ["1"]

    def test_a_checkpoint_may_change_nothing(self) -> None:
        found = entries("- [ ] 1. Checkpoint - all green\n- [ ] 2. Final checkpoint\n- [ ] 3. Add checkpoints\n")
        assert [entry.task.allow_empty for entry in found.values()] == [True, True, False]

    @pytest.mark.parametrize("box", ["[ ]*", "[ ]\\*", "[ ] *", "[ ] \\*"])
    def test_a_star_may_be_escaped_or_apart(self, box: str) -> None:
        text = f"- [ ] 1. Dig\n  - [ ] 1.1 By hand\n  - {box} 1.2 Measure\n    the depth\n    - _Requirements: 1.1_\n"
        found = entries(text)
        assert list(found) == ["1", "1.1", "1.2"]
        assert found["1.2"].task.title == "Measure the depth"
        assert not found["1.2"].task.gating
        done = KIRO.write(text, [KIRO.change(found["1.2"], SourceStatus.DONE)])
        assert done == text.replace(f"- {box} 1.2", f"- {box.replace(' ', 'x', 1)} 1.2")

    def test_a_star_behind_the_number_makes_it_optional_too(self) -> None:
        found = entries("- [ ] 1. a\n- [ ] 1.1* b\n- [ ] 1.2\\* c\n- [ ] **1.3** d\n")
        assert [name for name, entry in found.items() if not entry.task.gating] == ["1.1", "1.2"]

    def test_a_file_without_numbers_has_a_warning_and_no_tasks(self) -> None:
        reading = read("- [ ] a\n")
        assert reading.entries == ()
        assert [problem.severity for problem in reading.problems] == [Severity.WARNING]

    def test_a_folder_is_refused_with_a_message(self) -> None:
        reading = kiro.FORMAT.read(SourceFiles("specs", ()))
        assert [problem.severity for problem in reading.problems] == [Severity.ERROR]


class TestOrder:
    def test_leaves_are_a_chain_and_nothing_follows_an_optional_task(self) -> None:
        assert follows(PLAN) == {
            "1": [],
            "1.1": ["1"],
            "2": [],
            "2.1": ["1"],
            "2.2": ["2.1"],
            "2.3": ["2.2"],
            "3": ["2.2"],
            "4": [],
            "4.1": ["3"],
            "4.2": [],
            "4.2.1": ["4.1"],
            "4.2.2": ["4.2.1"],
        }

    def test_written_order_makes_chain_needs(self) -> None:
        kinds = {need.kind for entry in read(PLAN).entries for need in entry.task.needs}
        assert kinds == {NeedKind.CHAIN}

    def test_optional_tasks_gate_nothing(self) -> None:
        waits = {name: entry.task.gating for name, entry in entries(PLAN).items()}
        assert [name for name, gating in waits.items() if not gating] == ["1.1", "2.3"]

    def test_a_parent_with_a_required_part_is_a_group_of_those(self) -> None:
        parts = {name: entry.parts for name, entry in entries(PLAN).items() if entry.parts}
        assert parts == {"2": ("2.1", "2.2"), "4": ("4.1", "4.2"), "4.2": ("4.2.1", "4.2.2")}

    def test_parts_of_an_optional_group_are_optional(self) -> None:
        text = "- [ ] 1. a\n- [ ]* 2. b\n- [ ] 2.1 c\n- [ ] 3. d\n"
        assert follows(text) == {"1": [], "2": [], "2.1": ["1"], "3": ["1"]}
        assert not entries(text)["2.1"].task.gating

    def test_a_missing_parent_is_skipped(self) -> None:
        assert entries("- [ ] 1. a\n- [ ] 1.2.3 b\n")["1"].parts == ("1.2.3",)

    def test_a_ticked_parent_does_not_finish_its_parts(self) -> None:
        found = entries("- [x] 1. a\n  - [ ] 1.1 b\n")
        assert (found["1"].status, found["1.1"].status) == (SourceStatus.DONE, SourceStatus.TODO)

    def test_the_tasks_make_a_plan(self) -> None:
        tasks = [entry.task for entry in read(PLAN).entries if not entry.parts]
        assert build_checked_plan(tasks).plan is not None


class TestDetection:
    def test_the_usual_path_is_recognised(self) -> None:
        assert detect_confidence(PLAN, PATH) is Confidence.NAME
        assert detect_confidence(PLAN, f"a/b/{PATH}") is Confidence.NAME
        assert detect_confidence(f"## Phase 1: x\n{PLAN}", ".kiro/specs/_archived/x/tasks.md") is Confidence.NAME
        assert detect_confidence(PLAN, "specs/import/tasks.md") is Confidence.CONTENT

    @pytest.mark.parametrize(
        "text",
        [
            "- [ ] a\n",
            "- 1. a\n",
            "no boxes",
            "## Phase 1: x\n\n- [ ] 1.1 a\n",
            "## 1. Section\n\n- [ ] 1.1 a\n",
            "- [ ] 1. a\n- [ ] b\n- [ ] c\n",
            "```\n- [ ] 1. a\n```\n",
        ],
    )
    def test_other_content_is_not_recognised(self, text: str) -> None:
        assert detect_confidence(text) is Confidence.NO

    def test_folders_and_data_files_are_not_recognised(self) -> None:
        document = Document("tasks.json", "- [ ] 1. a\n")
        assert kiro.FORMAT.detect(SourceFiles("tasks.json", (document,))) is Confidence.NO
        assert kiro.FORMAT.detect(SourceFiles("x", (document,), folder=True)) is Confidence.NO
        assert kiro.FORMAT.detect(SourceFiles("x", ())) is Confidence.NO


def test_a_repeated_number_loses_no_task() -> None:
    text = "## A\n- [ ] 1. a\n  - [ ] 1.1 b\n- [ ] 2. c\n\n## B\n- [ ] 1. d\n  - [ ] 1.1 e\n"
    reading = read(text)
    assert [(entry.task.id, entry.parts) for entry in reading.entries] == [
        ("1", ("1.1",)),
        ("1.1", ()),
        ("2", ()),
        ("1-2", ("1.1-2",)),
        ("1.1-2", ()),
    ]
    assert follows(text)["1.1-2"] == ["2"]
    assert [problem.at.line for problem in reading.problems if problem.at] == [7, 8]
    changes = [KIRO.change(reading.entries[-1], SourceStatus.DONE)]
    assert KIRO.write(text, changes) == text[: text.index("## B")] + "## B\n- [x] 1. d\n  - [x] 1.1 e\n"


def write(text: str, **marks: SourceStatus) -> str:
    """`_1_1` is task 1.1."""
    found = entries(text)
    ids = {name: name.strip("_").replace("_", ".") for name in marks}
    return KIRO.write(text, [KIRO.change(found[ids[name]], mark) for name, mark in marks.items()])


class TestWriting:
    GROUP = "- [ ] 1. a\n  - [ ] 1.1 b\n  - [ ] 1.2 c\n  - [ ]* 1.3 d\n- [ ] 2. e\n"

    def test_boxes_are_started_ticked_and_unticked(self) -> None:
        text = "- [ ] 1. a\r\n* [ ]* 1.1 b\r\n"
        text = write(text, _1=SourceStatus.DOING)
        assert text == "- [-] 1. a\r\n* [ ]* 1.1 b\r\n"
        text = write(text, _1=SourceStatus.DONE, _1_1=SourceStatus.DOING)
        assert text == "- [x] 1. a\r\n* [-]* 1.1 b\r\n"
        assert write(text, _1=SourceStatus.TODO, _1_1=SourceStatus.FAILED) == "- [ ] 1. a\r\n* [ ]* 1.1 b\r\n"

    def test_a_group_starts_with_its_first_part_and_ends_with_its_last_required_one(self) -> None:
        text = write(self.GROUP, _1_1=SourceStatus.DOING)
        assert text.startswith("- [-] 1. a\n  - [-] 1.1 b\n")
        text = write(text, _1_1=SourceStatus.DONE)
        assert text.startswith("- [-] 1. a\n")
        text = write(text, _1_2=SourceStatus.DONE)
        assert text == "- [x] 1. a\n  - [x] 1.1 b\n  - [x] 1.2 c\n  - [ ]* 1.3 d\n- [ ] 2. e\n"

    def test_a_group_is_reopened_with_its_part(self) -> None:
        text = "- [x] 1. a\n  - [x] 1.1 b\n  - [x] 1.2 c\n"
        text = write(text, _1_2=SourceStatus.FAILED)
        assert text == "- [-] 1. a\n  - [x] 1.1 b\n  - [ ] 1.2 c\n"
        assert write(text, _1_1=SourceStatus.TODO).startswith("- [ ] 1. a\n")

    def test_groups_of_groups_follow_their_parts(self) -> None:
        text = "- [ ] 1. a\n- [ ] 1.1 b\n- [ ] 1.1.1 c\n- [x] 1.2 d\n"
        assert write(text, _1_1_1=SourceStatus.DONE) == text.replace("[ ]", "[x]")

    def test_an_optional_part_does_not_change_its_group(self) -> None:
        assert write(self.GROUP, _1_3=SourceStatus.DONE) == self.GROUP.replace("[ ]*", "[x]*")

    def test_a_group_stays_as_it_is_while_its_parts_do_not_change(self) -> None:
        text = "- [x] 1. a\n  - [ ] 1.1 b\n"
        assert write(text, _1_1=SourceStatus.TODO) == text

    def test_a_group_with_the_right_status_keeps_its_character(self) -> None:
        assert write("- [~] 1. a\n  - [-] 1.1 b\n", _1_1=SourceStatus.FAILED) == "- [~] 1. a\n  - [ ] 1.1 b\n"

    def test_a_ticked_box_is_not_set_back_to_in_progress(self) -> None:
        assert write("- [x] 1. a\n", _1=SourceStatus.DOING) == "- [x] 1. a\n"

    def test_a_skipped_task_is_not_in_progress_any_more(self) -> None:
        assert (
            write("- [-] 1. a\n- [ ] 2. b\n", _1=SourceStatus.SKIPPED, _2=SourceStatus.SKIPPED)
            == "- [ ] 1. a\n- [ ] 2. b\n"
        )

    def test_a_renumbered_task_is_found_by_its_title_and_a_missing_one_is_reported(self) -> None:
        change = KIRO.change(entries("- [ ] 1. a\n")["1"], SourceStatus.DONE)
        (writer,) = kiro.FORMAT.writers(PATH, [change])
        assert writer.apply("- [ ] 1. new\n- [ ] 2. a\n", [change]).text == "- [ ] 1. new\n- [x] 2. a\n"
        rewrite = writer.apply("- [ ] 3. b\n", [change])
        assert rewrite.text == "- [ ] 3. b\n"
        assert len(rewrite.problems) == 1

    def test_the_usual_tick_of_the_file_is_used(self) -> None:
        assert write("- [X] 1. a\n- [ ] 2. b\n", _2=SourceStatus.DONE) == "- [X] 1. a\n- [X] 2. b\n"


@st.composite
def plans(draw: st.DrawFn) -> str:
    """A look-alike: tasks down to three levels, indented or not, with details, fences, quotes and notes between them."""
    lines = ["# Implementation Plan", ""]
    counts = [0, 0, 0]
    for n in range(draw(st.integers(1, 9))):
        level = draw(st.integers(0, min(2, sum(1 for count in counts if count))))
        counts[level] += 1
        counts[level + 1 :] = [0] * (2 - level)
        number = ".".join(str(count) for count in counts[: level + 1])
        indent = "  " * draw(st.sampled_from((level, level, 0)))
        mark, star = draw(st.sampled_from(" xX-~")), draw(st.sampled_from(("", "", "*")))
        dot = draw(st.sampled_from((".", "") if level else (".", ")")))
        lines.append(f"{indent}- [{mark}]{star} {number}{dot} {draw(_TITLES)} {n}")
        lines += [f"{indent}  {detail}" for detail in draw(st.lists(_DETAILS, max_size=2))]
        lines += draw(st.lists(_BETWEEN, max_size=1))
    return draw(st.sampled_from(("\n", "\r\n"))).join(lines) + draw(st.sampled_from(("\n", "")))


_TITLES = st.sampled_from(("Add `src/a.py`", "Write **tests**", "Über alles [x] [ ]", "Fix it: 1.2", "\tTab"))
_DETAILS = st.sampled_from(
    (
        "- Create x",
        "- [ ] a part of it",
        "- _Requirements: 1.1, 2.3_",
        "and goes on",
        "",
        "- **Validates: 1.2**",
    )
)
_BETWEEN = st.sampled_from(
    (
        "",
        "```\n- [ ] 7. no\n```",
        "> - [ ] 8. no",
        "## Notes",
        "- plain",
        "text",
        "* * *",
        "<!-- - [ ] 6. no -->",
    )
)


@given(plans())
def test_reading_and_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(KIRO, text)


@given(plans(), st.integers(0, 20), st.sampled_from(list(KIRO.read_back)))
def test_a_change_touches_its_own_lines_and_groups(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(KIRO, text, index, mark)


@given(mangled_texts(plans()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(KIRO, text)


@given(plans())
def test_the_leaves_always_make_a_plan(text: str) -> None:
    tasks = [entry.task for entry in read(text).entries if not entry.parts]
    assert not tasks or build_checked_plan(tasks).plan is not None
