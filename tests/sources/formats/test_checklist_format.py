from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import NeedKind
from plait.sources.formats import Confidence, checklist
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.testing.contracts.source_format import (
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = "TODO.md"
CHECKLIST = FormatUnderTest(
    "checklist",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.SKIPPED: SourceStatus.SKIPPED,
    },
)

TODO = """\
# Harbour
Critical
- [ ] Fix README.md
- [x] (untested) Crane stops
TypeError: can't read 'length' of undefined

Non critical
- [v] Paint it

## Backend
 - [ ] Move boats
   - [ ] with `src/tug.py`
   - [x] without
 - [-] Sink boats
1. [ ] A numbered thing that goes on
   over two lines

## Legend
- [ ] open
- [/] under way

## Acceptance criteria
- [ ] all boats float

```
- [ ] not this
```
"""


def read(text: str, path: str = PATH) -> Reading:
    return checklist.FORMAT.read(SourceFiles(path, (Document(path, text),)))


def entries(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def ids(text: str) -> list[str]:
    return [entry.task.id for entry in read(text).entries]


def priorities(text: str) -> list[int]:
    return [entry.task.priority for entry in read(text).entries]


class TestTasks:
    def test_every_box_is_a_task(self) -> None:
        assert [(entry.task.id, entry.status) for entry in read(TODO).entries] == [
            ("fix-readme-md", SourceStatus.TODO),
            ("untested-crane-stops", SourceStatus.DONE),
            ("paint-it", SourceStatus.DONE),
            ("move-boats", SourceStatus.TODO),
            ("with-src-tug-py", SourceStatus.TODO),
            ("without", SourceStatus.DONE),
            ("sink-boats", SourceStatus.SKIPPED),
            ("a-numbered-thing-that-goes-on-over-two", SourceStatus.TODO),
        ]

    def test_indented_text_belongs_to_the_title_and_unindented_text_does_not(self) -> None:
        found = entries(TODO)
        assert (
            found["a-numbered-thing-that-goes-on-over-two"].task.title == "A numbered thing that goes on over two lines"
        )
        assert found["untested-crane-stops"].task.title == "(untested) Crane stops"
        assert "TypeError" in found["untested-crane-stops"].task.body

    @pytest.mark.parametrize(
        ("sign", "mark"),
        [
            *((sign, SourceStatus.DONE) for sign in "xXvV✓"),
            *((sign, SourceStatus.DOING) for sign in "/~"),
            *((sign, SourceStatus.TODO) for sign in " !?>*"),
            ("-", SourceStatus.SKIPPED),
        ],
    )
    def test_characters_in_boxes_are_statuses(self, sign: str, mark: SourceStatus) -> None:
        reading = read(f"- [{sign}] a\n- [ ] b\n")
        assert (reading.entries[0].status, reading.problems) == (mark, ())

    def test_a_space_behind_the_box_may_be_missing(self) -> None:
        text = "- [ ]Dig\n- [x]\uff08a\uff09Pour\n- [x](link)\n- [ ]: no\n"
        found = read(text).entries
        assert [(entry.task.title, entry.status) for entry in found] == [
            ("Dig", SourceStatus.TODO), ("\uff08a\uff09Pour", SourceStatus.DONE)
        ]  # fmt: skip
        assert CHECKLIST.write(text, [CHECKLIST.change(found[0], SourceStatus.DONE)]) == text.replace(
            "[ ]Dig", "[x]Dig"
        )

    def test_notes_and_options_in_brackets_are_not_boxes(self) -> None:
        assert ids("- [1] a note\n- [a] an option\n- [ ] a task\n- [x](a/link)\n") == ["a-task"]

    def test_a_box_without_text_is_ignored_with_a_warning(self) -> None:
        reading = read("- [ ] a\n- [ ]\n- [x] b\n")
        assert [entry.task.id for entry in reading.entries] == ["a", "b"]
        assert [(p.severity, p.at and p.at.line) for p in reading.problems] == [(Severity.WARNING, 2)]

    def test_the_body_names_the_headings(self) -> None:
        body = entries(TODO)["sink-boats"].task.body
        assert body == "Under: Harbour > Backend\n\n- [-] Sink boats"

    def test_mentioned_files_are_found(self) -> None:
        found = entries(TODO)
        assert found["with-src-tug-py"].mentions == ("src/tug.py",)
        assert found["move-boats"].mentions == ()

    def test_the_line_is_that_of_the_box(self) -> None:
        origin = entries(TODO)["without"].task.origin
        assert origin is not None
        assert TODO.splitlines()[origin.line - 1] == "   - [x] without"

    @pytest.mark.parametrize(
        "heading",
        [
            "## Acceptance Criteria",
            "### ✅ Success criteria:",
            "# Definition of Done",
            "## 4. Verification",
            "## Legend",
            "## Key",
            "**Acceptance criteria:**\n",
            "Acceptance Criteria (all of them):\n",
        ],
    )
    def test_criteria_and_legends_are_not_tasks(self, heading: str) -> None:
        assert ids(f"- [ ] a\n\n{heading}\n- [ ] b\n  - [ ] c\n") == ["a"]
        assert ids(f"{heading}\n- [ ] b\n\n# Next\n- [ ] a\n") == ["a"]

    def test_criteria_inside_a_task_are_not_tasks(self) -> None:
        text = "- [ ] a\n  - Acceptance criteria:\n    - [ ] x\n  - [ ] b\n\n    Done when:\n\n    - [ ] y\n- [ ] c\n"
        assert ids(text) == ["a", "b", "c"]

    def test_tasks_may_be_about_criteria(self) -> None:
        assert ids("## Key features\n- [ ] a\n## Verification of users\n- [ ] b\n") == ["a", "b"]

    def test_a_label_ends_with_the_next_one(self) -> None:
        assert ids("Legend:\n- [ ] open\n\nThings to do:\n- [ ] a\n") == ["a"]

    @pytest.mark.parametrize(
        ("text", "raw"),
        [
            ("- a\n- b\n", "plain bullets"),
            ("just text\n", "no boxes"),
            ("", "no boxes"),
            ("## Legend\n- [ ] open\n", "legend"),
        ],
    )
    def test_a_file_without_tasks_has_a_warning(self, text: str, raw: str) -> None:
        (problem,) = read(text).problems
        assert raw in problem.message
        assert problem.at is not None


class TestIds:
    def test_ids_have_no_markup_and_no_links(self) -> None:
        assert ids("- [ ] Add **bold** `code_x` and [a link](http://x.y/z)\n") == ["add-bold-code-x-and-a-link"]

    def test_equal_titles_are_prefixed_with_their_heading(self) -> None:
        assert ids("## Parser\n- [ ] Add tests\n## Lexer\n- [ ] Add tests\n") == [
            "parser-add-tests",
            "lexer-add-tests",
        ]

    def test_equal_titles_are_prefixed_with_the_box_around_them(self) -> None:
        text = "- [ ] Parser\n  - [ ] Add tests\n- [ ] Lexer\n  - [ ] Add tests\n"
        assert ids(text) == ["parser", "parser-add-tests", "lexer", "lexer-add-tests"]

    def test_identical_tasks_are_numbered(self) -> None:
        assert ids("- [ ] a\n- [ ] a\n- [ ] a 2\n- [ ] a\n") == ["a", "a-3", "a-2", "a-4"]

    def test_a_unique_title_keeps_its_id(self) -> None:
        text = "- [ ] Parser add tests\n## Parser\n- [ ] Add tests\n## Lexer\n- [ ] Add tests\n"
        assert ids(text) == ["parser-add-tests", "parser-add-tests-2", "lexer-add-tests"]

    @given(st.data())
    def test_ids_do_not_depend_on_other_tasks(self, data: st.DataObject) -> None:
        lines = [f"- [ ] task {n}" if n % 4 else f"## heading {n}" for n in range(12)]
        kept = data.draw(st.lists(st.sampled_from(lines), unique=True))
        ticked = [line.replace("[ ]", "[x]") for line in lines if line in kept]
        assert set(ids("\n".join(ticked))) <= set(ids("\n".join(lines)))


class TestParts:
    def test_a_box_needs_the_boxes_inside_it_and_may_be_empty(self) -> None:
        found = entries("- [ ] a\n  - [ ] b\n    - [ ] c\n  - not a box\n    - [ ] d\n")
        needs = {name: [(n.on, n.kind, n.reason) for n in entry.task.needs] for name, entry in found.items()}
        assert needs == {
            "a": [("b", NeedKind.NEED, "its part"), ("d", NeedKind.NEED, "its part")],
            "b": [("c", NeedKind.NEED, "its part")],
            "c": [],
            "d": [],
        }
        assert [entry.task.allow_empty for entry in found.values()] == [True, True, False, False]

    def test_the_body_includes_the_parts(self) -> None:
        assert "with `src/tug.py`" in entries(TODO)["move-boats"].task.body

    def test_the_tasks_make_a_plan(self) -> None:
        reading = read(TODO)
        tasks = [entry.task for entry in reading.entries if not entry.status.is_closed]
        done = [entry.task.id for entry in reading.entries if entry.status.is_closed]
        assert build_checked_plan(tasks, phases=reading.phases, finished=done).plan is not None


class TestPriority:
    @pytest.mark.parametrize(
        ("heading", "priority"),
        [
            ("## Critical", -1),
            ("## 🔥 High priority (this week)", 0),
            ("## Priority: High", 0),
            ("## High Priority Tasks", 0),
            ("## P0 - now", -1),
            ("## P2", 1),
            ("## Priority 3", 2),
            ("## Low", 2),
            ("## Non critical", 1),
            ("## High-level design", 1),
            ("## Low hanging fruit", 1),
            ("## P2P networking", 1),
            ("## Critical path", 1),
            ("## 1", 1),
            ("Critical\n", -1),
            ("**Low:**\n", 2),
            ("Urgent bugs:\n", -1),
            ("- Low\n\n<!-- -->\n", 1),
        ],
    )
    def test_a_heading_or_label_sets_the_priority(self, heading: str, priority: int) -> None:
        assert priorities(f"{heading}\n- [ ] a\n") == [priority]

    def test_inner_headings_inherit_the_priority_and_outer_ones_end_it(self) -> None:
        assert priorities("## High\n### Server\n- [ ] a\n### Low\n- [ ] b\n## Other\n- [ ] c\n") == [0, 2, 1]

    def test_a_label_holds_until_the_next_label_or_heading(self) -> None:
        assert priorities("Critical\n- [ ] a\n\n- [ ] b\n\nLow\n\nas raw:\n\n- [ ] c\n\nRest:\n- [ ] d\n") == [
            -1,
            -1,
            2,
            1,
        ]
        assert priorities("Critical\n- [ ] a\n## x\n- [ ] b\n") == [-1, 1]

    def test_a_bullet_may_be_the_label_of_those_inside_it(self) -> None:
        assert priorities("- High priority\n  - [ ] a\n    - [ ] b\n- [ ] c\n") == [0, 0, 1]


class TestPhases:
    def test_headings_that_name_phases_are_phases(self) -> None:
        text = "## Phase 1: Setup\n- [x] a\n- [ ] b\n## Other\n- [ ] c\n## Phase 2\n### Code\n- [-] d\n"
        reading = read(text)
        assert [(p.key, p.title, p.after, p.total, p.settled, p.gate) for p in reading.phases] == [
            ("1", "Setup", (), 2, 1, None),
            ("2", "", ("1",), 1, 1, None),
        ]
        assert [entry.task.phase for entry in reading.entries] == ["1", "1", None, "2"]

    @pytest.mark.parametrize("word", ["Milestone", "Stage", "Step", "phase", "🚀 Phase"])
    def test_phases_have_keys_and_titles(self, word: str) -> None:
        assert [phase.key for phase in read(f"## {word} 4 \u2014 x\n- [ ] a\n").phases] == ["4"]

    @pytest.mark.parametrize("heading", ["## Step by step", "## Stage a rollback", "## Phases", "## Milestones 1"])
    def test_other_headings_are_not_phases(self, heading: str) -> None:
        assert read(f"{heading}\n- [ ] a\n").phases == ()

    def test_a_phase_contains_no_other_phase(self) -> None:
        text = "## Milestone 1\n### Step 1\n- [ ] a\n### Step 2\n- [ ] b\n## Milestone 2\n### Step 1\n- [ ] c\n"
        assert [phase.key for phase in read(text).phases] == ["1", "2"]

    def test_headings_of_one_name_are_one_phase_and_of_other_names_are_not(self) -> None:
        text = "## Phase 1\n- [ ] a\n# Web\n## Phase 1\n- [ ] b\n## Stage 1\n- [ ] c\n"
        reading = read(text)
        assert [(phase.key, phase.total) for phase in reading.phases] == [("1", 2), ("1-2", 1)]


class TestDetection:
    def test_any_file_with_a_box_may_be_a_checklist(self) -> None:
        def likeness(text: str, path: str = PATH, *, folder: bool = False) -> Confidence:
            return checklist.FORMAT.detect(SourceFiles(path, (Document(path, text),), folder=folder))

        assert likeness(TODO) is Confidence.PERHAPS
        assert likeness(TODO, folder=True) is Confidence.NO
        assert likeness("- a\n- b\n") is Confidence.NO
        assert likeness("- [a] b\n- [1] c\n") is Confidence.NO
        assert likeness("```\n- [ ] a\n```\n") is Confidence.NO
        assert likeness("- [ ] a\n", "x.json") is Confidence.NO


def write(text: str, marks: dict[str, SourceStatus]) -> str:
    found = entries(text)
    return CHECKLIST.write(text, [CHECKLIST.change(found[name], mark) for name, mark in marks.items()])


class TestWriting:
    def test_ticks_are_as_in_the_file(self) -> None:
        assert write("- [v] a\n- [ ] b\n", {"b": SourceStatus.DONE}) == "- [v] a\n- [v] b\n"
        assert write("1. [ ] b\n", {"b": SourceStatus.DONE}) == "1. [x] b\n"

    def test_an_unfinished_task_is_unticked_and_a_skipped_one_stays(self) -> None:
        text = "- [x] a\n- [-] b\n- [?] c\n"
        for mark in (SourceStatus.FAILED, SourceStatus.BLOCKED, SourceStatus.PARTIAL):
            assert write(text, dict.fromkeys("abc", mark)) == "- [ ] a\n- [-] b\n- [?] c\n"
        assert write(text, dict.fromkeys("abc", SourceStatus.TODO)) == "- [ ] a\n- [ ] b\n- [?] c\n"

    def test_a_skipped_task_gets_a_dash(self) -> None:
        assert write("- [ ] a\n", {"a": SourceStatus.SKIPPED}) == "- [-] a\n"

    def test_in_progress_is_written_only_in_files_that_use_it(self) -> None:
        assert write("- [ ] a\n", {"a": SourceStatus.DOING}) == "- [ ] a\n"
        assert write("- [ ] a\n- [/] b\n", {"a": SourceStatus.DOING}) == "- [/] a\n- [/] b\n"
        assert write("- [ ] a\n- [~] b\n", {"a": SourceStatus.DOING}) == "- [~] a\n- [~] b\n"
        assert write("- [x] a\n- [/] b\n", {"a": SourceStatus.DOING, "b": SourceStatus.FAILED}) == "- [x] a\n- [ ] b\n"

    def test_criteria_of_a_done_task_stay_as_they_are(self) -> None:
        text = "- [ ] a\n\n  Acceptance criteria:\n  - [ ] x\n"
        assert write(text, {"a": SourceStatus.DONE}) == text.replace("[ ] a", "[x] a")

    def test_a_task_among_identical_ones_is_found_by_its_position(self) -> None:
        text = "## P\n- [ ] a\n## Q\n- [ ] a\n- [ ] b\n"
        assert write(text, {"q-a": SourceStatus.DONE}) == "## P\n- [ ] a\n## Q\n- [x] a\n- [ ] b\n"

    def test_a_missing_task_is_reported(self) -> None:
        change = CHECKLIST.change(entries("- [ ] a\n")["a"], SourceStatus.DONE)
        (writer,) = checklist.FORMAT.writers(PATH, [change])
        rewrite = writer.apply("- [ ] b\n", [change])
        assert (rewrite.text, len(rewrite.problems)) == ("- [ ] b\n", 1)


@st.composite
def lists(draw: st.DrawFn) -> str:
    """A look-alike: boxes at any depth, with every sign, under headings and labels, with noise between them."""
    lines = []
    depth = 0
    for n in range(draw(st.integers(1, 10))):
        lines += draw(st.lists(_BETWEEN, max_size=1))
        depth = draw(st.integers(0, depth + 1)) if lines and lines[-1].lstrip().startswith("-") else 0
        title = draw(st.sampled_from(("Same", f"Task {n}", f"`src/a{n}.py` [ ] {n}", f"Über **{n}**: [l](x)")))
        lines.append(f"{'  ' * depth}- [{draw(st.sampled_from(' xXv-/~!'))}] {title}")
        lines += draw(st.lists(st.sampled_from((f"{'  ' * depth}  more", "lazy line", "")), max_size=1))
    return draw(st.sampled_from(("\n", "\r\n"))).join(lines) + draw(st.sampled_from(("\n", "")))


_BETWEEN = st.sampled_from(
    (
        "",
        "# Title",
        "## High priority",
        "## Phase 1: x",
        "## Phase 2",
        "### Acceptance Criteria",
        "\nCritical\n",
        "```\n- [ ] no\n```",
        "> - [ ] no",
        "text",
        "---",
        "- plain",
        "1. [ ] numbered",
        "-\t[ ] tab",
        "- [ ]",
    )
)


@given(lists())
def test_reading_and_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(CHECKLIST, text)


@given(lists(), st.integers(0, 20), st.sampled_from(list(CHECKLIST.read_back)))
def test_a_change_touches_its_own_line(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(CHECKLIST, text, index, mark)


@given(mangled_texts(lists()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(CHECKLIST, text)


@given(lists())
def test_ids_are_unique_and_make_a_plan(text: str) -> None:
    reading = read(text)
    tasks = [entry.task for entry in reading.entries]
    assert len({task.id for task in tasks}) == len(tasks)
    assert not tasks or build_checked_plan(tasks, phases=reading.phases).plan is not None


@pytest.mark.parametrize(
    "heading",
    ["Deferred", "\u23f8\ufe0f Deferred", "Deferred (post-MVP)", "Deferred: after launch", "Won't do", "Icebox", "On hold", "Out of scope",
     "Deferred items", "Someday / maybe"],
)  # fmt: skip
def test_open_boxes_under_deferred_are_left_out(heading: str) -> None:
    text = f"- [ ] Dig\n\n## {heading}\n\n- [ ] Paint\n- [x] Sweep\n\n### Later\n- [ ] Polish\n\n## Next\n- [ ] Pour\n"
    assert {name: entry.status for name, entry in entries(text).items()} == {
        "dig": SourceStatus.TODO,
        "paint": SourceStatus.SKIPPED,
        "sweep": SourceStatus.DONE,
        "polish": SourceStatus.SKIPPED,
        "pour": SourceStatus.TODO,
    }


@pytest.mark.parametrize(
    "heading", ["Deferred rendering", "Handle rejected payments", "Backlog", "Cancel buttons", "Future"]
)
def test_other_headings_defer_nothing(heading: str) -> None:
    assert entries(f"## {heading}\n- [ ] Dig\n")["dig"].status is SourceStatus.TODO


def test_a_numbered_priority_may_have_a_name() -> None:
    text = (
        "## Priority 1 \u2014 Search\n- [ ] a\n## Priority 2: Layout\n- [ ] b\n## PRIORITY 0 - Now\n- [ ] c\n"
        "## Priority 3 (some day)\n- [ ] d\n## Priority 10 things\n- [ ] e\n"
    )
    assert priorities(text) == [0, 1, -1, 2, 1]


@pytest.mark.parametrize(
    "heading",
    ["Success Criteria", "Phase 1 Success Criteria", "Success criteria for launch", "Overall success metrics", "Definition of Done for v2",
     "Success Criteria \u2014 MVP"],
)  # fmt: skip
def test_success_criteria_are_no_tasks_whatever_they_are_for(heading: str) -> None:
    assert ids(f"- [ ] Dig\n\n## {heading}\n- [ ] It is deep\n") == ["dig"]
