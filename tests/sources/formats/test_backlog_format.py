from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import Need, Origin
from plait.sources.formats import Confidence, load_format
from plait.sources.source_model import Reading, SourceEntry, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)
from tests.support.source_folders import (
    format_problems,
    get_single,
    index_by_id,
    make_source_files,
    read_needs,
)

BACKLOG = load_format("backlog")
PATH = "backlog/tasks/task-12 - Add-login.md"
TASK = """\
---
id: task-12
title: 'Add login: the form'
status: To Do
assignee: []
created_date: '2026-01-02 10:00'
labels: [web]
dependencies: []
priority: high
---

## Description

Change `src/login.ts`.

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 The form is there
- [x] #2 It is tested in `login.test.ts`
<!-- AC:END -->
"""
SUBJECT = FormatUnderTest(
    "backlog",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
        SourceStatus.BLOCKED: SourceStatus.TODO,
    },
)


def read(files: dict[str, str]) -> Reading:
    files = {name: dedent(text) for name, text in files.items()}
    return BACKLOG.read(make_source_files("backlog", "backlog/tasks", files))


def task(name: str, *lines: str, status: str = "To Do") -> str:
    return "\n".join(["---", f"id: {name}", f"title: Do {name}", f"status: {status}", *lines, "---", "", "Text", ""])


def write(text: str, mark: SourceStatus) -> str:
    change = StatusChange("task-12", mark, NOW, PATH, "Add login: the form")
    (writer,) = BACKLOG.writers("backlog/tasks", [change])
    assert writer.path == PATH
    rewrite = writer.apply(text, [change])
    assert rewrite.problems == ()
    return rewrite.text


def line(status: str) -> str:
    return TASK.replace("status: To Do", status)


class TestReading:
    def test_one_file_is_one_task_and_acceptance_boxes_are_not(self) -> None:
        entry = get_single(SUBJECT.read(TASK))
        assert (entry.task.id, entry.task.title) == ("task-12", "Add login: the form")
        assert (entry.status, entry.status_text, entry.task.priority) == (SourceStatus.TODO, "To Do", 0)
        assert entry.task.body.startswith("\n## Description")
        assert entry.mentions == ("src/login.ts", "login.test.ts")
        assert entry.task.origin == Origin(PATH, 1)
        assert entry.aliases == ("task-12 - Add-login", "12")

    @pytest.mark.parametrize(
        ("raw", "mark"),
        [
            ("In Progress", SourceStatus.DOING),
            ("Done", SourceStatus.DONE),
            ("'to-do'", SourceStatus.TODO),
            ("Blocked", SourceStatus.BLOCKED),
        ],
    )
    def test_statuses(self, raw: str, mark: SourceStatus) -> None:
        assert get_single(SUBJECT.read(line(f"status: {raw}"))).status is mark

    def test_a_custom_status_is_reported_and_counts_as_not_started(self) -> None:
        reading = SUBJECT.read(line("status: Waiting for Godot"))
        assert get_single(reading).status is SourceStatus.TODO
        assert format_problems(reading, Severity.WARNING) == [
            f"{PATH}:4: Waiting for Godot is not a known status; the task counts as not started"
        ]

    def test_dependencies_are_found_in_any_spelling(self) -> None:
        files = {
            "task-007 - A.md": task("TASK-007"),
            "task-8 - B.md": task("task-8"),
            "task-8.1 - C.md": task("task-8.1"),
            "task-9 - D.md": task("TASK-9", "dependencies: [task-7, TASK-8, '8.1', task-99]"),
        }
        assert list(read_needs(index_by_id(read(files))["TASK-9"])) == [
            "TASK-007",
            "task-8",
            "task-8.1",
            "task-99",
        ]

    def test_a_dependency_on_a_missing_task_does_not_mean_its_subtasks(self) -> None:
        found = index_by_id(read({"a.md": task("task-3.1"), "b.md": task("task-4", "dependencies:\n  - task-3")}))
        assert list(read_needs(found["task-4"])) == ["task-3"]

    def test_a_parent_comes_after_its_subtasks_and_may_be_empty(self) -> None:
        files = {"a.md": task("task-3"), "b.md": task("task-3.1", "parent_task_id: TASK-3")}
        found = index_by_id(read(files))
        at = Origin("backlog/tasks/b.md", 5)
        assert found["task-3"].task.needs == (Need("task-3.1", reason="parent_task_id: TASK-3", at=at),)
        assert found["task-3"].task.allow_empty
        assert not found["task-3.1"].task.allow_empty

    def test_a_subtask_that_waits_for_its_parent_comes_after_it(self) -> None:
        lines = ("parent_task_id: task-3", "dependencies: [task-3]")
        reading = read({"a.md": task("task-3"), "b.md": task("task-3.1", *lines)})
        assert build_checked_plan([entry.task for entry in reading.entries]).plan is not None

    def test_without_an_id_the_file_name_has_it(self) -> None:
        entry = get_single(read({"back-4.02 - Do-it-well.md": "---\nstatus: Done\n---\n"}))
        assert (entry.task.id, entry.task.title, entry.status) == (
            "back-4.02",
            "Do it well",
            SourceStatus.DONE,
        )

    @pytest.mark.parametrize("text", ["# No front matter\n", "---\nid: [\n---\n"])
    def test_an_unreadable_file_has_only_its_name(self, text: str) -> None:
        reading = read({"task-5 - X.md": text})
        assert (get_single(reading).task.id, get_single(reading).status) == (
            "task-5",
            SourceStatus.UNREADABLE,
        )
        assert len(reading.problems) == 1

    def test_an_empty_folder_is_an_error(self) -> None:
        assert [problem.severity for problem in read({"README.md": ""}).problems] == [Severity.ERROR]


class TestWriting:
    @pytest.mark.parametrize(
        ("before", "mark", "after"),
        [
            ("status: To Do", SourceStatus.DOING, "status: In Progress"),
            ("status: To Do", SourceStatus.DONE, "status: Done"),
            ('status: "To Do"  # now', SourceStatus.DOING, 'status: "In Progress"  # now'),
            ("status:   'to do'", SourceStatus.DONE, "status:   'done'"),
            ("status: TODO", SourceStatus.DOING, "status: IN PROGRESS"),
            ("status: in-progress", SourceStatus.TODO, "status: to-do"),
            ("status: in_progress", SourceStatus.FAILED, "status: to_do"),
            ("status: In Progress", SourceStatus.BLOCKED, "status: To Do"),
            ("status: In Progress", SourceStatus.SKIPPED, "status: To Do"),
            ("status:", SourceStatus.DONE, "status: Done"),
            ("status: # none", SourceStatus.DONE, "status: Done # none"),
            ("Status: Done", SourceStatus.FAILED, "Status: To Do"),
        ],
    )
    def test_only_the_status_changes_in_the_files_own_style(self, before: str, mark: SourceStatus, after: str) -> None:
        assert write(line(before), mark) == line(after)

    @pytest.mark.parametrize(
        ("before", "mark"),
        [
            ("status: Done", SourceStatus.DOING),
            ("status: Review", SourceStatus.DOING),
            ("status: Blocked", SourceStatus.FAILED),
            ("status: Done", SourceStatus.SKIPPED),
            ("status: To Do", SourceStatus.PARTIAL),
            ("status: Waiting for Godot", SourceStatus.TODO),
        ],
    )
    def test_a_status_without_a_better_word_stays(self, before: str, mark: SourceStatus) -> None:
        assert write(line(before), mark) == line(before)

    def test_every_other_byte_stays_the_same(self) -> None:
        text = "\ufeff" + TASK.replace("\n", "\r\n") + "\udcff\x00 end"
        assert write(text, SourceStatus.DONE) == text.replace("status: To Do", "status: Done")

    @pytest.mark.parametrize(
        "before",
        [
            "stat: To Do",
            "status: &s To Do",
            "x: &s To Do\nstatus: *s",
            "status: |\n  To Do",
            "status: [a]",
            "}",
        ],
    )
    def test_without_a_plain_status_line_nothing_is_written_and_a_problem_is_reported(self, before: str) -> None:
        change = StatusChange("task-12", SourceStatus.DONE, NOW, PATH, "Add login: the form")
        (writer,) = BACKLOG.writers(PATH, [change])
        rewrite = writer.apply(line(before), [change])
        assert rewrite.text == line(before)
        assert [problem.severity for problem in rewrite.problems] == [Severity.WARNING]

    def test_a_file_with_another_task_is_left_alone(self) -> None:
        other = StatusChange("task-77", SourceStatus.DONE, NOW, PATH, "Something else")
        (writer,) = BACKLOG.writers("backlog/tasks", [other])
        rewrite = writer.apply(TASK, [other])
        assert rewrite.text == TASK
        assert "task-77 was removed from the file or is ambiguous" in rewrite.problems[0].message

    def test_each_file_has_its_writer(self) -> None:
        changes = [StatusChange(str(n), SourceStatus.DONE, NOW, f"backlog/tasks/{n}.md") for n in (1, 2, 1)]
        paths = [writer.path for writer in BACKLOG.writers("backlog/tasks", changes)]
        assert paths == ["backlog/tasks/1.md", "backlog/tasks/2.md"]


class TestDetection:
    def detect_confidence(self, folder: str, text: str) -> Confidence:
        return BACKLOG.detect(make_source_files("backlog", folder, {"a.md": text}))

    def test_path_and_content_are_recognised(self) -> None:
        assert self.detect_confidence("backlog/tasks", task("a")) is Confidence.NAME
        assert self.detect_confidence("/home/me/x/backlog/tasks", task("a")) is Confidence.NAME

    def test_content_alone_is_recognised(self) -> None:
        assert self.detect_confidence("elsewhere", task("a", "created_date: today")) is Confidence.CONTENT
        assert self.detect_confidence("elsewhere", task("a")) is Confidence.NO
        assert self.detect_confidence("backlog/tasks", "# A\n") is Confidence.NO


_STATUS = st.sampled_from(["To Do", "In Progress", "Done", "'To Do'", '"in progress"', "done", "DONE", "to-do"])
_KEYS = st.lists(
    st.sampled_from(["assignee: []", "labels: [a, b]", "dependencies:\n  - task-1", "priority: low", "ordinal: 7"]),
    unique=True,
)


@st.composite
def _file(draw: st.DrawFn) -> str:
    before, after = draw(_KEYS), draw(_KEYS)
    after = [key for key in after if key not in before]
    lines = ["---", "id: task-12", "title: T", *before, f"status: {draw(_STATUS)}", *after, "---"]
    body = draw(st.lists(st.sampled_from(["", "Text", "- [ ] #1 box", "status: Done", "---", "```"]), max_size=6))
    return "\n".join([*lines, *body])


@given(_file(), st.sampled_from(("\n", "\r\n", "\r")))
def test_writing_the_current_status_changes_nothing(text: str, eol: str) -> None:
    check_lossless(SUBJECT, text.replace("\n", eol))


@given(_file(), st.sampled_from([*SUBJECT.read_back, SourceStatus.STUCK, SourceStatus.UNREADABLE]))
def test_only_the_status_line_changes(text: str, mark: SourceStatus) -> None:
    check_status_change(SUBJECT, text, 0, mark)


@given(_file(), st.sampled_from(list(SourceStatus)))
def test_at_most_one_line_differs(text: str, mark: SourceStatus) -> None:
    entry: SourceEntry = get_single(SUBJECT.read(text))
    written = SUBJECT.write(text, [SUBJECT.change(entry, mark)])
    pairs = zip(text.split("\n"), written.split("\n"), strict=True)
    assert all(old == new or old.startswith("status:") for old, new in pairs)


@given(mangled_texts(_file()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(SUBJECT, text)
