from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.core.task import Need, Origin
from plait.sources.formats import Confidence, load_format
from plait.sources.source_model import Reading, SourceStatus
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

CCPM = load_format("ccpm")
EPIC = ".claude/epics/login"
PATH = f"{EPIC}/001.md"
TASK = """\
---
name: Add the form
status: open
created: 2026-01-02T10:00:00Z
updated: 2026-01-02T10:00:00Z
depends_on: [002]
parallel: true
conflicts_with: []
---

# Task: Add the form

- [ ] It is there, in `src/form.ts`
"""
SUBJECT = FormatUnderTest(
    "ccpm",
    PATH,
    {
        SourceStatus.DONE: SourceStatus.DONE,
        SourceStatus.TODO: SourceStatus.TODO,
        SourceStatus.FAILED: SourceStatus.TODO,
    },
)


def read(files: dict[str, str]) -> Reading:
    files = {name: dedent(text) for name, text in files.items()}
    return CCPM.read(make_source_files("ccpm", EPIC, files))


def task(*lines: str) -> str:
    return "\n".join(["---", "name: Do it", "status: open", *lines, "---", "", "Text", ""])


def write(text: str, mark: SourceStatus) -> str:
    change = StatusChange("001", mark, NOW, PATH, "Add the form")
    (writer,) = CCPM.writers(EPIC, [change])
    return writer.apply(text, [change]).text


class TestReading:
    def test_one_file_is_one_task(self) -> None:
        entry = get_single(SUBJECT.read(TASK))
        assert (entry.task.id, entry.task.title, entry.status) == ("001", "Add the form", SourceStatus.TODO)
        assert entry.task.needs == (Need("002", reason="depends_on: 002", at=Origin(PATH, 6)),)
        assert (entry.task.exclusive, entry.mentions) == (None, ("src/form.ts",))

    def test_files_about_the_epic_are_not_tasks(self) -> None:
        about = ("epic.md", "001-analysis.md", "execution-status.md", "github-mapping.md", "README.md")
        files = dict.fromkeys(about, task()) | {"notes.md": "# Notes\n", "001.md": task(), "extra.md": task()}
        assert list(index_by_id(read(files))) == ["001", "extra"]

    def test_tasks_are_referred_to_by_number_or_issue(self) -> None:
        files = {
            "001.md": task(),
            "12.md": task("github: https://example.org/o/r/issues/345"),
            "13.md": task("depends_on: [1, '#345', 012, 99]", "conflicts_with:\n  - 001.md"),
        }
        found = index_by_id(read(files))["13"]
        assert list(read_needs(found)) == ["001", "12", "99"]
        assert found.task.conflicts_with == ("001",)

    def test_tasks_that_are_not_parallel_share_one_group(self) -> None:
        assert get_single(read({"001.md": task("parallel: false")})).task.exclusive == "serial"

    @pytest.mark.parametrize(
        ("raw", "mark"),
        [
            ("in-progress", SourceStatus.DOING),
            ("closed", SourceStatus.DONE),
            ("completed", SourceStatus.DONE),
        ],
    )
    def test_statuses(self, raw: str, mark: SourceStatus) -> None:
        assert get_single(SUBJECT.read(TASK.replace("open", raw))).status is mark

    def test_an_unreadable_file_has_only_its_name(self) -> None:
        reading = read({"001.md": "# Task\n", "002.md": "---\nname: a: b\n---\n", "003.md": "---\nname: A\n---\n"})
        assert [entry.status for entry in reading.entries] == [
            SourceStatus.UNREADABLE,
            SourceStatus.UNREADABLE,
            SourceStatus.TODO,
        ]
        assert [text.partition(": ")[0] for text in format_problems(reading)] == [
            f"{EPIC}/001.md:1",
            f"{EPIC}/002.md:2",
            f"{EPIC}/003.md:1",
        ]

    def test_an_epic_without_tasks_is_an_error(self) -> None:
        assert [problem.severity for problem in read({"epic.md": task()}).problems] == [Severity.ERROR]


class TestWriting:
    def test_the_status_and_its_time_change(self) -> None:
        now = "updated: 2026-03-14T09:26:53Z"
        expected = TASK.replace("open", "in-progress").replace("updated: 2026-01-02T10:00:00Z", now)
        assert write(TASK, SourceStatus.DOING) == expected
        assert write(expected, SourceStatus.DONE) == expected.replace("in-progress", "closed")
        assert write(expected, SourceStatus.FAILED) == expected.replace("in-progress", "open")

    def test_no_time_is_added_and_none_changed_without_a_new_status(self) -> None:
        bare = TASK.replace("updated: 2026-01-02T10:00:00Z\n", "")
        assert write(bare, SourceStatus.DONE) == bare.replace("open", "closed")
        assert write(TASK, SourceStatus.TODO) == TASK

    def test_a_task_closed_meanwhile_is_not_started(self) -> None:
        closed = TASK.replace("open", "closed")
        assert write(closed, SourceStatus.DOING) == closed


class TestDetection:
    def detect_confidence(self, folder: str, text: str) -> Confidence:
        return CCPM.detect(make_source_files("ccpm", folder, {"001.md": text}))

    def test_path_and_content_are_recognised(self) -> None:
        assert self.detect_confidence(EPIC, task()) is Confidence.NAME
        assert self.detect_confidence(f"/home/me/{EPIC}", task()) is Confidence.NAME
        assert self.detect_confidence(EPIC, "# A\n") is Confidence.NO

    def test_content_alone_is_recognised(self) -> None:
        assert self.detect_confidence("tasks", task("parallel: true", "conflicts_with: []")) is Confidence.CONTENT
        assert self.detect_confidence("tasks", task("parallel: true")) is Confidence.NO


@st.composite
def _file(draw: st.DrawFn) -> str:
    keys = [
        "depends_on: [1]",
        "parallel: false",
        "conflicts_with: [2]",
        "updated: x",
        "updated: '2026'",
        "github: ",
    ]
    lines = draw(st.lists(st.sampled_from(keys), unique_by=lambda key: key[:7]))
    lines.insert(draw(st.integers(0, len(lines))), f"status: {draw(st.sampled_from(['open', 'closed', 'Open']))}")
    return "\n".join(["---", "name: T", *lines, "---", draw(st.sampled_from(["", "status: open\n", "# H\n---\n"]))])


@given(_file(), st.sampled_from(("\n", "\r\n", "\r")), st.sampled_from([*SUBJECT.read_back, SourceStatus.STUCK]))
def test_only_the_status_and_its_time_change(text: str, eol: str, mark: SourceStatus) -> None:
    text = text.replace("\n", eol)
    check_lossless(SUBJECT, text)
    check_status_change(SUBJECT, text, 0, mark)


@given(mangled_texts(_file()))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    check_any_text(SUBJECT, text)


def make_task(**keys: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in {"name": "a", "status": "open", **keys}.items())
    return f"---\n{lines}parallel: true\nconflicts_with: []\n---\n"


def test_dependencies_are_read_whatever_their_key() -> None:
    files = {
        "324.md": make_task(),
        "325.md": make_task(dependencies="[324]"),
        "326.md": make_task(blocked_by="[325]"),
        "327.md": make_task(depends_on="task-326", dependencies="[324]"),
    }
    found = index_by_id(CCPM.read(make_source_files("ccpm", EPIC, files)))
    assert {name: list(read_needs(entry)) for name, entry in found.items()} == {
        "324": [], "325": ["324"], "326": ["325"], "327": ["326", "324"]
    }  # fmt: skip


@pytest.mark.parametrize("key", ["task_number", "task", "id", "task_id"])
def test_a_task_is_found_by_its_own_number(key: str) -> None:
    files = {"40.md": make_task(**{key: "1"}), "41.md": make_task(**{key: "002", "depends_on": "[1]"})}
    found = index_by_id(CCPM.read(make_source_files("ccpm", EPIC, files)))
    assert list(read_needs(found["41"])) == ["40"]


def test_a_task_is_found_by_the_number_of_its_file() -> None:
    files = {
        "001-setup.md": make_task(),
        "002a-build.md": make_task(depends_on="[001]"),
        "3-ship.md": make_task(depends_on="[2a]"),
    }
    found = index_by_id(CCPM.read(make_source_files("ccpm", EPIC, files)))
    assert list(read_needs(found["002a-build"])) == ["001-setup"]
    assert list(read_needs(found["3-ship"])) == ["002a-build"]


def test_a_key_that_means_an_order_and_is_not_read_is_noted_with_its_line() -> None:
    reading = CCPM.read(make_source_files("ccpm", EPIC, {"1.md": make_task(blocks="[2]"), "2.md": make_task()}))
    assert format_problems(reading, Severity.INFO) == [f"{EPIC}/1.md:4: blocks is not read as a dependency"]
