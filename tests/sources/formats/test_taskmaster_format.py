"""Task Master's tasks.json: what is read from it, and that only statuses are written to it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.core.task import NeedKind
from plait.sources.formats import Confidence, taskmaster
from plait.sources.source_model import Document, Reading, ReadOptions, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.sources.text import TextLines
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    mangled_texts,
)

PATH = ".taskmaster/tasks/tasks.json"
TELLS = {
    SourceStatus.TODO: SourceStatus.TODO,
    SourceStatus.DOING: SourceStatus.DOING,
    SourceStatus.DONE: SourceStatus.DONE,
    SourceStatus.FAILED: SourceStatus.TODO,
    SourceStatus.BLOCKED: SourceStatus.BLOCKED,
    SourceStatus.SKIPPED: SourceStatus.SKIPPED,
}
SUBJECT = FormatUnderTest("taskmaster", PATH, TELLS)

FILE = """\
{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Set up the project",
        "description": "Make `pyproject.toml`.",
        "details": "1. Write \\"status\\": \\"done\\" nowhere",
        "testStrategy": "It builds.",
        "priority": "high",
        "dependencies": [],
        "status": "done",
        "subtasks": []
      },
      {
        "id": "2",
        "title": "Read\\nthe input",
        "description": "The reader.",
        "details": "In `src/reader.py`.",
        "priority": "low",
        "dependencies": [1, "4"],
        "status": "pending",
        "subtasks": [
          {
            "id": 1,
            "title": "Lexer",
            "description": "Write src/lexer.py",
            "dependencies": [],
            "status": "done"
          },
          {
            "id": 2,
            "title": "Parser",
            "dependencies": [1, "2.1", 4],
            "status": "pending",
            "priority": "high",
            "assignee": {"name": "\\ud83d\\ude00"}
          },
          {
            "id": 3,
            "title": "Both",
            "dependencies": ["1", 2, 3],
            "status": "pending"
          }
        ]
      },
      {"id": 3, "title": "Write the output", "status": "review", "dependencies": ["2.3", 2]},
      {"id": 4, "title": "Somebody else's", "status": "deferred"}
    ],
    "metadata": {"created": "2026-01-01T00:00:00.000Z"}
  }
}
"""


def tasks(*given: dict[str, Any], tag: str = "master") -> str:
    return json.dumps({tag: {"tasks": list(given)}}, indent=2)


def read(text: str, tag: str = "master") -> Reading:
    return taskmaster.FORMAT.read(SourceFiles(PATH, (Document(PATH, text),), options=ReadOptions(tag=tag)))


def by_id(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def needs(entry: SourceEntry) -> list[str]:
    return [need.on for need in entry.task.needs]


def write(text: str, **marks: SourceStatus) -> str:
    """`_2_1=Mark.DONE` for the subtask 2.1."""
    changes = [StatusChange(name[1:].replace("_", "."), mark, NOW, PATH, title="") for name, mark in marks.items()]
    return SUBJECT.write(text, changes)


def statuses(text: str) -> dict[str, Any]:
    found = {}
    for task in next(iter(json.loads(text).values()))["tasks"]:
        found[str(task["id"])] = task.get("status")
        for part in task.get("subtasks", ()):
            found[f"{task['id']}.{part['id']}"] = part.get("status")
    return found


def test_tasks_and_subtasks_are_read_in_the_order_of_the_file() -> None:
    reading = read(FILE)
    assert [entry.task.id for entry in reading.entries] == ["1", "2", "2.1", "2.2", "2.3", "3", "4"]
    assert reading.problems == ()
    assert reading.phases == ()


def test_each_task_has_its_line() -> None:
    lines = TextLines(FILE).all
    for entry in read(FILE).entries:
        assert entry.task.origin is not None
        assert entry.task.origin.file == PATH
        line = entry.task.origin.line - 1
        assert lines[line].lstrip().startswith("{")
        own = entry.task.id.rpartition(".")[2]
        assert re.search(rf'"id": "?{own}\b', lines[line] + lines[line + 1])


def test_a_task_with_subtasks_is_a_group() -> None:
    entries = by_id(FILE)
    assert entries["2"].parts == ("2.1", "2.2", "2.3")
    assert all(not entry.parts for name, entry in entries.items() if name != "2")
    assert entries["2"].task.title == "Read the input"


def test_statuses_are_read() -> None:
    entries = by_id(FILE)
    assert {name: entry.status for name, entry in entries.items()} == {
        "1": SourceStatus.DONE,
        "2": SourceStatus.TODO,
        "2.1": SourceStatus.DONE,
        "2.2": SourceStatus.TODO,
        "2.3": SourceStatus.TODO,
        "3": SourceStatus.DOING,
        "4": SourceStatus.SKIPPED,
    }
    assert entries["3"].status_text == "review"


def test_a_number_in_a_subtask_is_a_sibling_if_there_is_one() -> None:
    entries = by_id(FILE)
    assert needs(entries["2"]) == ["1", "4"]
    assert needs(entries["3"]) == ["2.3", "2"]
    assert needs(entries["2.1"]) == ["1", "4"], "inherited"
    assert needs(entries["2.2"]) == ["2.1", "2.1", "4", "1"], "its own first"
    assert needs(entries["2.3"]) == ["2.1", "2.2", "3", "1", "4"], "not a sibling of itself: task 3"


def test_a_need_has_its_reason_and_line() -> None:
    need = by_id(FILE)["2.1"].task.needs[0]
    assert need.kind is NeedKind.NEED
    assert need.reason == "dependencies: 1"
    assert need.at is not None
    assert '"dependencies": [1, "4"]' in TextLines(FILE).all[need.at.line - 1]


def test_a_subtask_can_not_wait_for_its_task() -> None:
    text = tasks(
        {
            "id": 7,
            "title": "Whole",
            "dependencies": ["7.1", 6],
            "subtasks": [{"id": 1, "title": "a"}, {"id": 2, "title": "b", "dependencies": ["7"]}],
        }
    )
    reading = read(text)
    entries = {entry.task.id: entry for entry in reading.entries}
    assert needs(entries["7.1"]) == ["6"]
    assert needs(entries["7.2"]) == ["6"]
    assert [problem.message for problem in reading.problems] == ["7.2 can't wait for 7, which it is a part of"]


def test_priorities_are_inherited() -> None:
    entries = by_id(FILE)
    assert [entries[name].task.priority for name in ("1", "2", "2.1", "2.2", "3")] == [0, 2, 2, 0, 1]


def test_the_body_has_details_and_a_subtask_has_its_context() -> None:
    entries = by_id(FILE)
    assert entries["1"].task.body == (
        'Make `pyproject.toml`.\n\n## Details\n\n1. Write "status": "done" nowhere\n\n## Test strategy\n\nIt builds.'
    )
    assert entries["2.1"].task.body == (
        "Write src/lexer.py\n\n"
        "# Context: this is a part of 2, Read the input\n\n"
        "The reader.\n\n## Details\n\nIn `src/reader.py`."
    )


def test_files_of_a_task_do_not_keep_its_subtasks_apart() -> None:
    entries = by_id(FILE)
    assert entries["2.1"].mentions == ("src/lexer.py",)
    assert entries["2.2"].mentions == ()
    assert entries["1"].task.touches == ()


@pytest.mark.parametrize(
    ("status", "mark"),
    [
        ("pending", SourceStatus.TODO),
        ("in-progress", SourceStatus.DOING),
        ("done", SourceStatus.DONE),
        ("completed", SourceStatus.DONE),
        ("review", SourceStatus.DOING),
        ("deferred", SourceStatus.SKIPPED),
        ("cancelled", SourceStatus.SKIPPED),
        ("blocked", SourceStatus.BLOCKED),
        (None, SourceStatus.TODO),
    ],
)
def test_the_statuses_of_task_master_are_read(status: str | None, mark: SourceStatus) -> None:
    reading = read(tasks({"id": 1, "title": "t", "status": status}))
    assert reading.entries[0].status is mark
    assert reading.problems == ()


@pytest.mark.parametrize("status", ["frozen", 3, ["done"], ""])
def test_an_unknown_status_is_reported_and_counts_as_pending(status: object) -> None:
    reading = read(tasks({"id": 1, "title": "t", "status": status}))
    assert reading.entries[0].status is SourceStatus.TODO
    [problem] = reading.problems
    assert problem.severity is Severity.WARNING
    assert problem.at is not None
    assert problem.at.line == 7


@pytest.mark.parametrize(
    ("above", "own", "expected"),
    [
        ("done", "pending", SourceStatus.DONE),
        ("cancelled", "in-progress", SourceStatus.SKIPPED),
        ("deferred", "pending", SourceStatus.SKIPPED),
        ("cancelled", "done", SourceStatus.DONE),
        ("done", "cancelled", SourceStatus.SKIPPED),
        ("in-progress", "pending", SourceStatus.TODO),
        ("blocked", "pending", SourceStatus.TODO),
    ],
)
def test_a_closed_task_closes_its_subtasks(above: str, own: str, expected: SourceStatus) -> None:
    text = tasks({"id": 5, "title": "w", "status": above, "subtasks": [{"id": 1, "title": "p", "status": own}]})
    assert by_id(text)["5.1"].status is expected


def test_a_task_whose_subtasks_are_done_is_done() -> None:
    parts = [{"id": 1, "title": "p", "status": "done"}, {"id": 2, "title": "q", "status": "cancelled"}]
    assert (
        by_id(tasks({"id": 5, "title": "w", "status": "pending", "subtasks": parts}))["5"].status is SourceStatus.DONE
    )


def test_an_older_file_has_its_tasks_at_the_top() -> None:
    text = json.dumps({"tasks": [{"id": 1, "title": "Old"}], "metadata": {}})
    assert [entry.task.title for entry in read(text).entries] == ["Old"]
    assert read(text).problems == ()
    changed = SUBJECT.write(text, [StatusChange("1", SourceStatus.DONE, NOW, PATH, "Old", tag="master")])
    assert json.loads(changed)["tasks"] == [{"id": 1, "title": "Old", "status": "done"}]


TAGS = json.dumps(
    {
        "master": {"tasks": [{"id": 1, "title": "Same", "status": "pending"}]},
        "feature": {"tasks": [{"id": 1, "title": "Same", "status": "pending"}, {"id": 2, "title": "New"}]},
        "note": {"text": "no tag"},
    },
    indent="\t",
)


def test_the_tag_chooses_the_tasks() -> None:
    assert [entry.task.title for entry in read(TAGS).entries] == ["Same"]
    assert [entry.task.title for entry in read(TAGS, tag="feature").entries] == ["Same", "New"]


def test_a_missing_tag_is_an_error_that_lists_the_tags() -> None:
    reading = read(TAGS, tag="featuer")
    assert reading.entries == ()
    [problem] = reading.problems
    assert problem.severity is Severity.ERROR
    assert problem.message == "there is no tag featuer in this file"
    assert problem.hint == "The tags are master, feature: choose one with --tag."


def test_the_only_tag_is_read_by_default() -> None:
    text = tasks({"id": 1, "title": "t"}, tag="v2")
    reading = read(text)
    assert [entry.task.id for entry in reading.entries] == ["1"]
    assert [(p.severity, p.message) for p in reading.problems] == [
        (Severity.INFO, "no tag master; reading the only one, v2")
    ]
    assert read(text, tag="v1").problems[0].severity is Severity.ERROR
    changed = SUBJECT.write(text, [StatusChange("1", SourceStatus.DONE, NOW, PATH, "t", tag="master")])
    assert statuses(changed) == {"1": "done"}


def test_a_status_goes_to_the_tag_that_the_task_was_read_from() -> None:
    for tag, other in (("master", "feature"), ("feature", "master")):
        changed = json.loads(SUBJECT.write(TAGS, [StatusChange("1", SourceStatus.DONE, NOW, PATH, "Same", tag=tag)]))
        assert changed[tag]["tasks"][0]["status"] == "done"
        assert changed[other] == json.loads(TAGS)[other]


def test_without_a_tag_only_an_unambiguous_task_is_changed() -> None:
    [writer] = taskmaster.FORMAT.writers(PATH, [StatusChange("1", SourceStatus.DONE, NOW, PATH, "Same")])
    rewrite = writer.apply(TAGS, [StatusChange("1", SourceStatus.DONE, NOW, PATH, "Same")])
    assert rewrite.text == TAGS
    assert len(rewrite.problems) == 1
    changed = SUBJECT.write(TAGS, [StatusChange("2", SourceStatus.DONE, NOW, PATH, "New")])
    assert json.loads(changed)["feature"]["tasks"][1]["status"] == "done"


def test_invalid_values_are_ignored_with_a_line() -> None:
    text = """{"tasks": [
{"title": "no id"},
{"id": true, "title": "no id either"},
7,
{"id": 1, "title": "good", "dependencies": [{}, 2, null, 1.5]},
{"id": 1, "title": "again"},
{"id": 3, "title": ["odd"], "details": ["a", "b"], "testStrategy": {"x": 1}, "priority": 9, "dependencies": "1"},
{"id": 4, "subtasks": {"id": 1}, "description": "\\nFirst line\\nsecond"},
{"id": 5, "title": "five", "subtasks": [null, {"id": "5.1", "title": "part", "subtasks": [{"id": 1}]}, {"id": 1}]}
]}"""
    reading = read(text)
    entries = {entry.task.id: entry for entry in reading.entries}
    assert list(entries) == ["1", "3", "4", "5", "5.1"]
    assert entries["1"].task.title == "good"
    assert needs(entries["1"]) == ["2", "1.5"]
    assert entries["3"].task.title == "3"
    assert entries["3"].task.body.startswith("## Details\n\n- a\n- b\n\n## Test strategy\n\n```json\n{")
    assert entries["4"].task.title == "First line"
    lines = [problem.at.line for problem in reading.problems if problem.at]
    assert lines == [2, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9, 9]
    assert {problem.severity for problem in reading.problems} == {Severity.WARNING}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tasks": 1}', '{"master": {"tasks": {}}}', '"x"', "{,}"])
def test_a_file_of_another_shape_is_an_error(text: str) -> None:
    [problem] = read(text).problems
    assert problem.severity is Severity.ERROR
    assert read(text).entries == ()


def test_a_file_that_is_not_json_is_an_error_with_its_line() -> None:
    [problem] = read(FILE.replace('"status": "done",\n', '"status": "done"\n', 1)).problems
    assert problem.at is not None
    assert problem.at.line == 13
    assert "a comma or the closing bracket is expected here" in problem.message


def test_only_the_status_is_written() -> None:
    assert write(FILE, _3=SourceStatus.DONE) == FILE.replace('"review"', '"done"')
    assert write(FILE, _4=SourceStatus.BLOCKED) == FILE.replace('"deferred"', '"blocked"')
    assert write(FILE, _1=SourceStatus.FAILED) == FILE.replace(
        '"status": "done",\n        "sub', '"status": "pending",\n        "sub'
    )


def test_a_task_follows_its_subtasks() -> None:
    doing = write(FILE, _2_2=SourceStatus.DOING)
    assert statuses(doing) == {**statuses(FILE), "2": "in-progress", "2.2": "in-progress"}
    done = write(doing, _2_2=SourceStatus.DONE, _2_3=SourceStatus.SKIPPED)
    assert statuses(done) == {**statuses(FILE), "2": "done", "2.2": "done", "2.3": "cancelled"}
    back = write(done, _2_2=SourceStatus.FAILED)
    assert statuses(back) == {**statuses(done), "2": "in-progress", "2.2": "pending"}
    assert by_id(back)["2.2"].status is SourceStatus.TODO


def test_a_task_without_started_subtasks_is_pending_again() -> None:
    parts = [{"id": 1, "title": "a", "status": "in-progress"}, {"id": 2, "title": "b", "status": "pending"}]
    text = tasks({"id": 5, "title": "w", "status": "in-progress", "subtasks": parts})
    assert statuses(write(text, _5_1=SourceStatus.FAILED)) == {
        "5": "pending",
        "5.1": "pending",
        "5.2": "pending",
    }
    reviewed = text.replace("in-progress", "review", 1)
    assert statuses(write(reviewed, _5_1=SourceStatus.FAILED))["5"] == "review"


@pytest.mark.parametrize("closed", ["done", "cancelled"])
def test_a_task_closed_before_its_subtasks_stays_closed(closed: str) -> None:
    parts = [{"id": 1, "title": "a", "status": "in-progress"}, {"id": 2, "title": "b", "status": "done"}]
    text = tasks({"id": 5, "title": "w", "status": closed, "subtasks": parts})
    assert statuses(write(text, _5_1=SourceStatus.FAILED)) == {"5": closed, "5.1": "pending", "5.2": "done"}


def test_a_cancelled_task_stays_cancelled_when_its_last_subtask_is_done() -> None:
    parts = [{"id": 1, "title": "a", "status": "in-progress"}]
    text = tasks({"id": 5, "title": "w", "status": "cancelled", "subtasks": parts})
    assert statuses(write(text, _5_1=SourceStatus.DONE)) == {"5": "cancelled", "5.1": "done"}


def test_an_unchanged_status_is_not_written() -> None:
    text = tasks({"id": 5, "title": "w", "status": "done", "subtasks": [{"id": 1, "title": "p"}]})
    assert write(text, _5_1=SourceStatus.FAILED) == text
    text = tasks({"id": 5, "title": "w", "status": "failed"}, {"id": 6, "title": "v", "status": "deferred"})
    assert write(text, _5=SourceStatus.FAILED, _6=SourceStatus.SKIPPED) == text


def test_a_task_finished_meanwhile_is_not_started() -> None:
    assert write(FILE, _1=SourceStatus.DOING) == FILE
    assert write(FILE, _2_1=SourceStatus.DOING) == FILE


@pytest.mark.parametrize("mark", [SourceStatus.PARTIAL, SourceStatus.STUCK, SourceStatus.UNREADABLE])
def test_statuses_that_task_master_lacks_change_nothing(mark: SourceStatus) -> None:
    assert write(FILE, _2_2=mark, _1=mark) == FILE


def test_a_task_without_a_status_gets_one_in_the_files_own_style() -> None:
    text = '{"tasks": [\r\n\t{\r\n\t\t"id": 1,\r\n\t\t"title": "a",\r\n\t\t"x": null\r\n\t},\r\n\t{"id":2}\r\n]}'
    assert write(text, _1=SourceStatus.TODO, _2=SourceStatus.FAILED) == text
    assert write(text, _1=SourceStatus.DONE) == text.replace('"a",', '"a",\r\n\t\t"status": "done",')
    assert write(text, _2=SourceStatus.DONE) == text.replace('"id":2', '"id":2,"status":"done"')


def test_a_renumbered_task_is_found_by_its_title() -> None:
    text = FILE.replace('"id": 3, "title": "Write', '"id": 9, "title": "Write')
    changed = SUBJECT.write(text, [StatusChange("3", SourceStatus.DONE, NOW, PATH, "Write the output")])
    assert changed == text.replace('"review"', '"done"')


def test_a_missing_task_is_reported_and_the_rest_is_written() -> None:
    changes = [
        StatusChange("77", SourceStatus.DONE, NOW, PATH, "Gone"),
        StatusChange("3", SourceStatus.DONE, NOW, PATH, "Write the output"),
    ]
    [writer] = taskmaster.FORMAT.writers(PATH, changes)
    rewrite = writer.apply(FILE, changes)
    assert rewrite.text == FILE.replace('"review"', '"done"')
    assert [problem.message.split()[0] for problem in rewrite.problems] == ["77"]


def test_a_broken_file_is_not_written() -> None:
    changes = [StatusChange("3", SourceStatus.DONE, NOW, PATH, "Write the output")]
    [writer] = taskmaster.FORMAT.writers(PATH, changes)
    rewrite = writer.apply(FILE[:-5], changes)
    assert rewrite.text == FILE[:-5]
    assert "not valid JSON" in rewrite.problems[0].message


def test_bytes_that_are_not_utf_8_survive() -> None:
    text = FILE.replace("Write the output", "Write\udcff\0\udcfe")
    [entry] = [entry for entry in SUBJECT.read(text).entries if entry.task.id == "3"]
    assert entry.task.title == "Write\ufffd\ufffd\ufffd"
    assert SUBJECT.write(text, [SUBJECT.change(entry, SourceStatus.DONE)]) == text.replace('"review"', '"done"')


@pytest.mark.parametrize(
    ("path", "text", "likeness"),
    [
        (PATH, FILE, Confidence.NAME),
        (f"/home/x/{PATH}", "{ broken", Confidence.NAME),
        ("tasks/tasks.json", '{"tasks": [{"id": 1, "title": "t"}]}', Confidence.CONTENT),
        ("my.json", FILE, Confidence.CONTENT),
        ("tasks.md", FILE, Confidence.NO),
        ("package.json", '{"name": "x", "scripts": {"tasks": "x"}}', Confidence.NO),
        (
            ".vscode/tasks.json",
            '{"version": "2.0.0", "tasks": [{"label": "x", "type": "shell"}]}',
            Confidence.NO,
        ),
        ("status.json", '{"tasks": [{"id": "1.1", "description": "d", "status": "pending"}]}', Confidence.NO),
        ("prd.json", '{"userStories": [{"id": 1, "title": "t", "tasks": []}]}', Confidence.NO),
        ("broken.json", '{"tasks": [{"id": 1, "title": "t"}', Confidence.NO),
        ("list.json", '["tasks"]', Confidence.NO),
    ],
)
def test_files_of_this_format_are_recognised(path: str, text: str, likeness: Confidence) -> None:
    assert taskmaster.FORMAT.detect(SourceFiles(path, (Document(path, text),))) is likeness


def test_a_folder_is_not_recognised() -> None:
    assert taskmaster.FORMAT.detect(SourceFiles(".taskmaster", (), folder=True)) is Confidence.NO
    assert taskmaster.FORMAT.read(SourceFiles(".taskmaster", (), folder=True)) == Reading()


STATUSES = st.sampled_from(
    ["pending", "in-progress", "done", "review", "deferred", "cancelled", "blocked", "completed", "odd"]
)
CLOSED = st.sampled_from(["done", "cancelled", "completed", "deferred"])
WORDS = st.sampled_from(["", "plain", 'a "status": "pending" b', "é\u2028\U0001f600", "`src/a.py` {", "- [ ] 1.1 x\n"])
IDS = st.integers(1, 6)


@st.composite
def task(draw: st.DrawFn, *, number: int, whole: bool, status: st.SearchStrategy[str] = STATUSES) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": draw(st.sampled_from([number, str(number)])),
        "title": f"Title {draw(IDS)}",
    }
    fields["status"] = draw(status)
    if draw(st.booleans()):
        fields |= {"description": draw(WORDS), "details": draw(WORDS), "unknown": draw(WORDS)}
    if draw(st.booleans()):
        ids = IDS | IDS.map(str) | st.sampled_from(["1.1", "2.2", 9])
        fields["dependencies"] = draw(st.lists(ids, max_size=3))
    if whole and draw(st.booleans()):
        parts = CLOSED if fields["status"] in {"done", "completed"} else STATUSES
        sizes = range(1, draw(st.integers(1, 4)))
        fields["subtasks"] = [draw(task(number=local, whole=False, status=parts)) for local in sizes]
    keys = draw(st.permutations(list(fields)))
    return {key: fields[key] for key in keys}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Files as Task Master writes them, and as people do."""
    found = [draw(task(number=number, whole=True)) for number in range(1, draw(st.integers(1, 5)))]
    shape = draw(st.sampled_from(["tagged", "old", "two"]))
    value: dict[str, Any] = {"tasks": found} if shape == "old" else {"master": {"tasks": found, "metadata": {}}}
    if shape == "two":
        value["other"] = {"tasks": [{"id": 1, "title": "Elsewhere", "status": "pending"}]}
    text = json.dumps(value, indent=draw(st.sampled_from([2, None, "\t"])), ensure_ascii=draw(st.booleans())).replace(
        "\n", draw(st.sampled_from(["\n", "\r\n"]))
    )
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n"]))


JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
KEYS = (
    "id",
    "title",
    "description",
    "details",
    "testStrategy",
    "status",
    "priority",
    "dependencies",
    "subtasks",
)


@st.composite
def junk(draw: st.DrawFn) -> str:
    """JSON in which anything may be of another type."""
    part = st.fixed_dictionaries({"id": IDS | JUNK}, optional=dict.fromkeys(KEYS[1:], JUNK)) | JUNK
    whole = st.fixed_dictionaries(
        {"id": IDS | JUNK},
        optional={**dict.fromkeys(KEYS[1:], JUNK), "subtasks": st.lists(part, max_size=3)},
    )
    value = draw(st.fixed_dictionaries({"tasks": st.lists(whole | JUNK, max_size=4)}))
    return json.dumps(draw(st.sampled_from([value, {"master": value}])), indent=1)


def masked(text: str) -> str:
    return re.sub(r'("status": )"[a-z-]*"', r'\1"?"', text)


@given(texts())
def test_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(SUBJECT, text)


@given(texts(), st.integers(0, 20), st.sampled_from(list(SourceStatus)))
def test_one_change_changes_one_status_and_that_of_its_task(text: str, index: int, mark: SourceStatus) -> None:
    before = SUBJECT.read(text).entries
    titles = [entry.task.title for entry in before]
    alone = [e for e in before if not e.parts and titles.count(e.task.title) == 1]
    if not alone:
        return
    entry = alone[index % len(alone)]
    change = SUBJECT.change(entry, mark)
    written = SUBJECT.write(text, [change])
    assert masked(written) == masked(text), "nothing but statuses"
    assert SUBJECT.write(written, [change]) == written, "writing twice is writing once"
    after = {e.task.id: e.status for e in SUBJECT.read(written).entries}
    whole = entry.task.id.partition(".")[0]
    expected = (
        entry.status
        if mark is SourceStatus.DOING and entry.status is SourceStatus.DONE
        else TELLS.get(mark, entry.status)
    )
    [above] = [e for e in before if e.task.id == whole]
    if entry is not above and above.status_text in {"cancelled", "deferred"} and not expected.is_closed:
        expected = SourceStatus.SKIPPED  # what a person has given up is not taken up again by its parts
    assert after[entry.task.id] is expected
    untouched = {e.task.id: e.status for e in before if e.task.id not in {entry.task.id, whole}}
    assert untouched.items() <= after.items()


@given(mangled_texts(texts() | junk()))
def test_no_text_makes_the_format_raise(text: str) -> None:
    check_any_text(SUBJECT, text)


@given(junk())
def test_wrong_types_neither_raise_nor_change_other_text(text: str) -> None:
    check_any_text(SUBJECT, text)
    entries = SUBJECT.read(text).entries
    written = SUBJECT.write(text, [SUBJECT.change(entry, SourceStatus.DONE) for entry in entries])
    json.loads(written)
    assert [e.task.id for e in SUBJECT.read(written).entries] == [e.task.id for e in entries]
