"""Beads' issues.jsonl: what is read from it, and that a status changes nothing but its own line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.sources.formats import Confidence, beads
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.sources.text import TextLines, to_printable
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = ".beads/issues.jsonl"
TELLS = {
    SourceStatus.TODO: SourceStatus.TODO,
    SourceStatus.DOING: SourceStatus.DOING,
    SourceStatus.DONE: SourceStatus.DONE,
    SourceStatus.FAILED: SourceStatus.TODO,
    SourceStatus.BLOCKED: SourceStatus.BLOCKED,
    SourceStatus.SKIPPED: SourceStatus.SKIPPED,
}
SUBJECT = FormatUnderTest("beads", PATH, TELLS)


def line(name: str, **fields: Any) -> str:
    """An issue as Beads writes it; `on` and `child_of` make edges."""
    edges = [(on, "blocks") for on in fields.pop("on", ())]
    edges += [(parent, "parent-child") for parent in fields.pop("child_of", ())]
    issue = {
        "id": name,
        "title": f"Do {name}",
        "status": "open",
        "priority": 2,
        "issue_type": "task",
    } | fields
    issue["updated_at"] = "2026-01-21T01:00:56.811932631Z"
    if edges:
        issue["dependencies"] = [{"issue_id": name, "depends_on_id": on, "type": kind} for on, kind in edges]
    return json.dumps(issue, separators=(",", ":")) + "\n"


def read(text: str) -> Reading:
    return SUBJECT.read(text)


def by_id(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def needs(text: str) -> dict[str, list[str]]:
    return {name: [need.on for need in entry.task.needs] for name, entry in by_id(text).items()}


def write(text: str, name: str, mark: SourceStatus, at: datetime = NOW) -> str:
    return SUBJECT.write(text, [StatusChange(name, mark, at, PATH)])


def test_every_line_is_an_issue() -> None:
    text = line("bd-1", description="Make `src/a.py`.", notes="Soon.") + "\n" + line("bd-2", status="closed")
    reading = read(text)
    assert reading.problems == ()
    one, two = reading.entries
    assert (one.task.id, one.task.title, one.status, one.status_text) == (
        "bd-1",
        "Do bd-1",
        SourceStatus.TODO,
        "open",
    )
    assert str(one.task.origin) == f"{PATH}:1"
    assert (two.task.id, two.status, str(two.task.origin)) == ("bd-2", SourceStatus.DONE, f"{PATH}:3")
    assert one.mentions == ("src/a.py",)
    assert one.task.touches == ()


def test_the_body_has_description_design_and_notes() -> None:
    fields = {
        "description": "What.\nMore.",
        "design": "How.",
        "acceptance_criteria": "- [ ] a box",
        "notes": "",
    }
    assert by_id(line("a", **fields))["a"].task.body == (
        "What.\nMore.\n\n## Design\n\nHow.\n\n## Acceptance criteria\n\n- [ ] a box"
    )


@pytest.mark.parametrize(
    ("status", "mark"),
    [
        ("open", SourceStatus.TODO),
        ("in_progress", SourceStatus.DOING),
        ("hooked", SourceStatus.DOING),
        ("closed", SourceStatus.DONE),
        ("blocked", SourceStatus.BLOCKED),
        ("deferred", SourceStatus.SKIPPED),
        ("pinned", SourceStatus.SKIPPED),
        (None, SourceStatus.TODO),
    ],
)
def test_the_statuses_of_beads_are_read(status: str | None, mark: SourceStatus) -> None:
    reading = read(line("a", status=status))
    assert reading.entries[0].status is mark
    assert reading.problems == ()


@pytest.mark.parametrize("status", ["frozen", 3, ["closed"], ""])
def test_an_unknown_status_is_reported_and_counts_as_open(status: object) -> None:
    reading = read(line("a") + line("b", status=status))
    assert reading.entries[1].status is SourceStatus.TODO
    assert [str(problem.at) for problem in reading.problems] == [f"{PATH}:2"]


def test_an_issue_in_progress_has_its_start_time() -> None:
    entries = by_id(line("a", status="in_progress") + line("b"))
    assert entries["a"].since == datetime(2026, 1, 21, 1, 0, 56, 811932, tzinfo=UTC)
    assert entries["b"].since is None


@pytest.mark.parametrize(("raw", "priority"), [(0, -1), (1, 0), (2, 1), (3, 2), (4, 3), ("P1", 0), (None, 1)])
def test_priorities_go_from_0_to_4(raw: object, priority: int) -> None:
    reading = read(line("a", priority=raw))
    assert reading.entries[0].task.priority == priority
    assert reading.problems == ()


@pytest.mark.parametrize("raw", [5, -1, True, 1.5, "soon", []])
def test_an_invalid_priority_is_ignored_with_a_warning(raw: object) -> None:
    reading = read(line("a", priority=raw))
    assert reading.entries[0].task.priority == 1
    assert len(reading.problems) == 1


def test_an_estimate_is_in_minutes() -> None:
    assert by_id(line("a", estimated_minutes=90))["a"].task.estimate == 5400
    assert by_id(line("a", estimated_minutes="90"))["a"].task.estimate is None


def test_blocks_dependencies_are_edges_and_others_are_not() -> None:
    other = json.dumps(
        {
            "id": "c",
            "title": "c",
            "dependencies": [
                {"issue_id": "c", "depends_on_id": "a", "type": "related"},
                {"issue_id": "c", "depends_on_id": "a", "type": "discovered-from"},
                {"issue_id": "b", "depends_on_id": "c", "type": "blocks"},
                {"depends_on_id": "d"},
            ],
        }
    )
    text = line("a") + line("b", on=["a", "x", "a"]) + other
    assert needs(text) == {"a": [], "b": ["a", "x", "c"], "c": ["d"]}
    need = by_id(text)["b"].task.needs[0]
    assert (need.reason, str(need.at)) == ("blocks: a", f"{PATH}:2")


def test_a_parent_waits_for_its_children_and_may_find_nothing_left_to_do() -> None:
    text = line("epic", issue_type="epic") + line("p") + line("p.1", child_of=["p"]) + line("p.2", child_of=["p"])
    assert needs(text) == {"epic": [], "p": ["p.1", "p.2"], "p.1": [], "p.2": []}
    assert {name: entry.task.allow_empty for name, entry in by_id(text).items()} == {
        "epic": True,
        "p": True,
        "p.1": False,
        "p.2": False,
    }
    assert all(not entry.parts for entry in read(text).entries)


def test_a_child_that_is_blocked_by_its_parent_waits_for_it() -> None:
    assert needs(line("p") + line("c", on=["p"], child_of=["p"])) == {"p": [], "c": ["p"]}


def test_tombstones_are_not_tasks_and_are_not_waited_for() -> None:
    text = line("a", on=["t", "b"]) + line("t", status="tombstone", child_of=["a"]) + line("b")
    assert needs(text) == {"a": ["b"], "b": []}


@pytest.mark.parametrize("fields", [{"issue_type": "message"}, {"is_template": True}])
def test_messages_and_templates_are_not_tasks(fields: dict[str, Any]) -> None:
    assert needs(line("a", on=["m"]) + line("m", **fields)) == {"a": []}


def test_other_kinds_of_records_are_ignored() -> None:
    text = '{"_type":"memory","key":"k","value":"v"}\n' + line("a", _type="issue")
    assert list(by_id(text)) == ["a"]
    assert read(text).problems == ()


def test_a_bad_line_is_skipped_alone() -> None:
    text = line("a") + '{"id":"b","title":\n' + "7\n" + '{"title":"no id"}\n' + line("c", dependencies=3) + line("d")
    reading = read(text)
    assert [(entry.task.id, entry.status) for entry in reading.entries] == [
        ("a", SourceStatus.TODO),
        ("b", SourceStatus.UNREADABLE),
        ("c", SourceStatus.TODO),
        ("d", SourceStatus.TODO),
    ]
    assert [str(problem.at) for problem in reading.problems] == [f"{PATH}:{n}" for n in (2, 3, 4, 5)]
    assert {problem.severity for problem in reading.problems} == {Severity.WARNING}


def test_an_issue_on_a_bad_line_does_not_count_as_finished() -> None:
    text = line("a", on=["b"]) + line("b").rstrip("}\n") + "\n"
    assert needs(text)["a"] == ["b"]
    assert by_id(text)["b"].status is SourceStatus.UNREADABLE


def test_conflict_markers_are_reported_as_such() -> None:
    text = "<<<<<<< HEAD\n" + line("a", status="closed") + "=======\n" + line("a") + ">>>>>>> theirs\n"
    reading = read(text)
    assert [(entry.task.id, entry.status) for entry in reading.entries] == [("a", SourceStatus.TODO)]
    assert [problem.hint for problem in reading.problems if problem.hint.startswith("Resolve")] == [
        "Resolve the conflict first."
    ] * 3


def test_of_two_lines_with_one_id_the_later_counts() -> None:
    text = line("a", title="First") + line("b") + line("a", title="Second", status="in_progress")
    reading = read(text)
    assert [(entry.task.id, entry.task.title) for entry in reading.entries] == [
        ("b", "Do b"),
        ("a", "Second"),
    ]
    assert [str(problem.at) for problem in reading.problems] == [f"{PATH}:1"]
    assert TextLines(write(text, "a", SourceStatus.DONE)).all[:2] == TextLines(text).all[:2]
    assert list(by_id(text + line("a", status="tombstone"))) == ["b"]


def test_closing_writes_the_status_and_the_times() -> None:
    text = line("a") + line("b")
    assert write(text, "a", SourceStatus.DONE) == text.replace('"open"', '"closed"', 1).replace(
        '"updated_at":"2026-01-21T01:00:56.811932631Z"',
        '"updated_at":"2026-03-14T09:26:53Z","closed_at":"2026-03-14T09:26:53Z"',
        1,
    )


def test_a_reopened_issue_loses_its_closing_time() -> None:
    """Beads refuses an open issue that has a closed_at."""
    text = line("a")
    back = write(write(text, "a", SourceStatus.DONE), "a", SourceStatus.FAILED)
    assert back == text.replace("2026-01-21T01:00:56.811932631Z", "2026-03-14T09:26:53Z")


def test_missing_keys_are_inserted() -> None:
    assert write('{"id": "a", "x": 1}\r\n', "a", SourceStatus.DONE) == (
        '{"id": "a", "status": "closed", "updated_at": "2026-03-14T09:26:53Z", '
        '"closed_at": "2026-03-14T09:26:53Z", "x": 1}\r\n'
    )


@pytest.mark.parametrize(
    ("mark", "status"),
    [
        (SourceStatus.DOING, "in_progress"),
        (SourceStatus.DONE, "closed"),
        (SourceStatus.BLOCKED, "blocked"),
        (SourceStatus.SKIPPED, "deferred"),
    ],
)
def test_every_status_is_written_as_beads_does(mark: SourceStatus, status: str) -> None:
    assert json.loads(write(line("a"), "a", mark))["status"] == status


@pytest.mark.parametrize("status", ["in_progress", "blocked", "deferred", "closed"])
@pytest.mark.parametrize("mark", [SourceStatus.TODO, SourceStatus.FAILED])
def test_failed_and_returned_issues_are_open(status: str, mark: SourceStatus) -> None:
    assert json.loads(write(line("a", status=status), "a", mark))["status"] == "open"


@pytest.mark.parametrize(
    ("status", "mark"),
    [
        ("closed", SourceStatus.DONE),
        ("hooked", SourceStatus.DOING),
        ("pinned", SourceStatus.SKIPPED),
        ("open", SourceStatus.FAILED),
        ("failed", SourceStatus.FAILED),
        ("closed", SourceStatus.DOING),
        ("open", SourceStatus.PARTIAL),
        ("open", SourceStatus.STUCK),
    ],
)
def test_unchanged_and_unknown_statuses_change_nothing(status: str, mark: SourceStatus) -> None:
    text = line("a", status=status)
    assert write(text, "a", mark) == text


def test_times_keep_their_zone() -> None:
    at = datetime.fromisoformat("2026-03-14T09:26:53.123456+11:00")
    assert json.loads(write(line("a"), "a", SourceStatus.DOING, at))["updated_at"] == "2026-03-14T09:26:53.123456+11:00"


def test_a_missing_task_is_reported_and_the_rest_is_written() -> None:
    text = line("a") + line("t", status="tombstone")
    changes = [StatusChange(name, SourceStatus.DONE, NOW, PATH, f"Do {name}") for name in ("a", "t", "x")]
    [writer] = beads.FORMAT.writers(PATH, changes)
    rewrite = writer.apply(text, changes)
    assert json.loads(TextLines(rewrite.text).all[0])["status"] == "closed"
    assert TextLines(rewrite.text).all[1] == TextLines(text).all[1]
    assert [problem.message.split()[0] for problem in rewrite.problems] == ["t", "x"]


def test_an_issue_that_two_changes_find_is_written_once() -> None:
    changes = [
        StatusChange("old", SourceStatus.DOING, NOW, PATH, "Do a"),
        StatusChange("a", SourceStatus.DONE, NOW, PATH, "Do a"),
    ]
    assert json.loads(SUBJECT.write(line("a"), changes))["status"] == "closed"


def test_bytes_that_are_not_utf_8_survive() -> None:
    text = "\ufeff" + line("a", title="X").replace("X", "\udcff\udcfe") + line("b")
    assert write(text, "b", SourceStatus.DOING).startswith(TextLines(text).all[0])
    written = write(text, "a", SourceStatus.BLOCKED)
    assert "\udcff\udcfe" in written
    assert by_id(written)["a"].status is SourceStatus.BLOCKED


@pytest.mark.parametrize(
    ("path", "text", "likeness"),
    [
        (PATH, line("a"), Confidence.NAME),
        (PATH, "", Confidence.NAME),
        ("/home/x/.beads/beads.jsonl", "broken", Confidence.NAME),
        ("issues.jsonl", line("a"), Confidence.NAME),
        ("issues.jsonl", '{"id": 1, "event": "x"}', Confidence.NO),
        ("export.jsonl", "\n" + line("a"), Confidence.CONTENT),
        (".beads/interactions.jsonl", '{"id": "int-1", "kind": "x"}', Confidence.NO),
        ("log.jsonl", '{"level": "info"}', Confidence.NO),
        ("issues.json", line("a"), Confidence.NO),
        ("issues.md", line("a"), Confidence.NO),
    ],
)
def test_files_of_this_format_are_recognised(path: str, text: str, likeness: Confidence) -> None:
    assert beads.FORMAT.detect(SourceFiles(path, (Document(path, text),))) is likeness


def test_a_folder_is_not_recognised() -> None:
    assert beads.FORMAT.detect(SourceFiles(".beads", (), folder=True)) is Confidence.NO
    assert beads.FORMAT.read(SourceFiles(".beads", (), folder=True)) == Reading()


STATUSES = st.sampled_from(
    ["open", "in_progress", "closed", "blocked", "deferred", "pinned", "hooked", "odd", "tombstone"]
)
WORDS = st.sampled_from(["", "plain", '"status":"open"', "é\u2028\U0001f600", "`src/a.py` {", "- [ ] 1.1 x\n"])
NAMES = st.sampled_from(["bd-1", "bd-1.1", "bd-2", "bd-x", "bd-y"])


@st.composite
def issue(draw: st.DrawFn, name: str) -> str:
    fields: dict[str, Any] = {"id": name, "title": f"Title of {name} {draw(WORDS)}", "status": draw(STATUSES)}
    if draw(st.booleans()):
        fields |= {"description": draw(WORDS), "priority": draw(st.integers(0, 5)), "unknown": draw(WORDS)}
    if draw(st.booleans()):
        fields["updated_at"] = "2026-01-01T00:00:00Z"
    if fields["status"] == "closed" and draw(st.booleans()):
        fields |= {"closed_at": "2026-01-01T00:00:00Z", "close_reason": draw(WORDS)}
    if draw(st.booleans()):
        kinds = st.sampled_from(["blocks", "parent-child", "related"])
        fields["dependencies"] = [
            {"issue_id": name, "depends_on_id": draw(NAMES), "type": draw(kinds)} for _ in range(2)
        ]
    keys = draw(st.permutations(list(fields)))
    style = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    return json.dumps({key: fields[key] for key in keys}, separators=style, ensure_ascii=draw(st.booleans()))


@st.composite
def texts(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAMES, unique=True, max_size=5))
    lines = [draw(issue(name)) for name in names]
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "  ", '{"_type":"memory"}', "broken"])))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end]))


JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | WORDS | NAMES,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["depends_on_id", "type", "issue_id"]), inner, max_size=3)
    ),
    max_leaves=4,
)
KEYS = [
    "_type",
    "title",
    "status",
    "priority",
    "issue_type",
    "dependencies",
    "description",
    "notes",
    "is_template",
    "updated_at",
    "closed_at",
    "estimated_minutes",
]


@st.composite
def junk(draw: st.DrawFn) -> str:
    """Lines in which anything may be of another type."""
    lines = draw(
        st.lists(
            st.fixed_dictionaries(
                {"id": NAMES | JUNK},
                optional={**dict.fromkeys(KEYS, JUNK), "dependencies": st.lists(JUNK, max_size=3) | JUNK},
            ),
            max_size=4,
        )
    )
    return "\n".join(json.dumps(value) for value in lines)


@given(texts())
def test_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(SUBJECT, text)


@given(
    texts(),
    st.integers(0, 20),
    st.sampled_from([mark for mark in SourceStatus if mark is not SourceStatus.DOING]),
)
def test_one_change_changes_one_line(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(SUBJECT, text, index, mark)


@given(texts(), st.integers(0, 20), st.sampled_from(list(SourceStatus)))
def test_only_the_status_and_its_times_change(text: str, index: int, mark: SourceStatus) -> None:
    entries = [entry for entry in read(text).entries if entry.status is not SourceStatus.UNREADABLE]
    if not entries:
        return
    entry = entries[index % len(entries)]
    before, after = TextLines(text).all, TextLines(SUBJECT.write(text, [SUBJECT.change(entry, mark)])).all
    assert entry.task.origin is not None
    number = entry.task.origin.line - 1
    assert before[:number] + before[number + 1 :] == after[:number] + after[number + 1 :]
    old, new = (json.loads(lines[number].removeprefix("\ufeff")) for lines in (before, after))
    owned = {"status", "updated_at", "closed_at"}
    assert [(k, v) for k, v in old.items() if k not in owned] == [(k, v) for k, v in new.items() if k not in owned]
    assert ("closed_at" in new) is (new["status"] == "closed") or old == new
    assert TextLines(text).line_end(number) == TextLines("".join(after)).line_end(number)


@given(mangled_texts(texts() | junk()))
def test_no_text_makes_the_format_raise(text: str) -> None:
    check_any_text(SUBJECT, text)


@given(junk())
def test_wrong_types_neither_raise_nor_break_a_line(text: str) -> None:
    check_any_text(SUBJECT, text)
    entries = read(text).entries
    written = SUBJECT.write(text, [SUBJECT.change(entry, SourceStatus.DONE) for entry in entries])
    for each in TextLines(to_printable(written)).all:
        json.loads(each)
    assert [e.task.id for e in read(written).entries] == [e.task.id for e in entries]


def read_backup(issues: str, dependencies: str) -> Reading:
    path, other = ".beads/backup/issues.jsonl", ".beads/backup/dependencies.jsonl"
    assert beads.FORMAT.companions(path) == (other,)
    return beads.FORMAT.read(SourceFiles(path, (Document(path, issues),), {other: Document(other, dependencies)}))


def test_a_backup_has_its_dependencies_in_a_file_of_their_own() -> None:
    edges = [("b", "a", "blocks"), ("c", "b", "waits-for"), ("p", "c", "parent-child"), ("c", "a", "related")]
    rows = "".join(f"{json.dumps({'issue_id': x, 'depends_on_id': y, 'type': kind})}\n" for x, y, kind in edges)
    reading = read_backup("".join(line(name) for name in "abcp"), rows)
    needs = {entry.task.id: [(need.on, str(need.at)) for need in entry.task.needs] for entry in reading.entries}
    where = ".beads/backup/dependencies.jsonl"
    assert needs == {"a": [], "b": [("a", f"{where}:1")], "c": [("b", f"{where}:2"), ("p", f"{where}:3")], "p": []}


def test_dependencies_that_are_not_read_are_reported_with_their_lines() -> None:
    rows = (
        '{"issue_id": "a", "depends_on_id": "b", "type": "odd"}\n'
        '{"issue_id": "x", "depends_on_id": "y", "type": "blocks"}\n'
        '{"issue_id": "a"}\n'
        "{\n"
    )
    problems = [str(p.at) for p in read_backup(line("a") + line("b"), rows).problems]
    where = ".beads/backup/dependencies.jsonl"
    assert {f"{where}:{number}" for number in (1, 2, 3, 4)} <= set(problems)


def test_a_backup_is_never_written_and_a_template_is_no_task() -> None:
    reading = read_backup(line("a", is_template=1) + line("b", is_template=0), "")
    assert [entry.task.id for entry in reading.entries] == ["b"]
    change = StatusChange("b", SourceStatus.DONE, NOW, ".beads/backup/issues.jsonl")
    assert beads.FORMAT.writers(".beads/backup/issues.jsonl", [change]) == []


@pytest.mark.parametrize("text", ["", "{", "7", "null", '{"data": {}}'])
def test_what_is_no_list_of_issues_is_refused(text: str) -> None:
    assert beads.convert_list_to_lines(text) is None
