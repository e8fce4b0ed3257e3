from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.formats import load_format
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter

PATH = "plans/harbour.md"
STATUS = "docs/plan-outputs/harbour/status.json"
NOON = datetime(2026, 3, 14, 12, 0, 0, 123_456, tzinfo=UTC)
PLAN = """\
## Phase 1: Quay

- [ ] 1.1 Dig
- [x] 1.2 Pour
- [ ] 1.3 Paint
"""

Json = Any  # what a test looks up in a file that it wrote itself


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def change(name: str, mark: SourceStatus, minutes: float = 0, **more: Any) -> StatusChange:
    return StatusChange(name, mark, at(minutes), PATH, f"do {name}", **more)


def writer() -> StatusFileWriter:
    return next(writer for writer in load_format("plan").writers(PATH, ()) if writer.path == STATUS)


def write(text: str, *changes: StatusChange) -> str:
    rewrite = writer().apply(text, changes)
    assert rewrite.problems == ()
    return rewrite.text


def written(text: str, *changes: StatusChange) -> Json:
    return json.loads(write(text, *changes))


def read(status: str, plan: str = PLAN) -> Reading:
    material = SourceFiles(PATH, (Document(PATH, plan),), {STATUS: Document(STATUS, status)})
    return load_format("plan").read(material)


def read_task(**task: object) -> SourceEntry:
    """What is read of 1.1 when status.json says this of it."""
    return read(json.dumps({"tasks": [{"id": "1.1", **task}]})).entries[0]


def test_the_status_file_is_in_the_outputs_folder_of_the_plan() -> None:
    assert load_format("plan").companions("a/b/harbour.md") == (STATUS,)
    assert load_format("plan").companions("harbour") == (STATUS,)


class TestReading:
    @pytest.mark.parametrize(
        ("raw", "mark"),
        [
            ("pending", SourceStatus.TODO),
            ("in_progress", SourceStatus.DOING),
            ("completed", SourceStatus.DONE),
            ("failed", SourceStatus.FAILED),
            ("skipped", SourceStatus.SKIPPED),
            ("done", SourceStatus.DONE),
        ],
    )
    def test_gives_tasks_their_status(self, raw: str, mark: SourceStatus) -> None:
        entry = read_task(status=raw)
        assert (entry.status, entry.status_text) == (mark, raw)

    @pytest.mark.parametrize("raw", ["pending", "failed", "in_progress"])
    def test_gives_a_ticked_box_precedence(self, raw: str) -> None:
        entries = read(json.dumps({"tasks": [{"id": "1.2", "status": raw}]})).entries
        assert [entry.status for entry in entries] == [
            SourceStatus.TODO,
            SourceStatus.DONE,
            SourceStatus.TODO,
        ]

    def test_counts_for_the_phases(self) -> None:
        reading = read(json.dumps({"tasks": [{"id": "1.1", "status": "skipped"}]}))
        assert (reading.phases[0].total, reading.phases[0].settled) == (3, 2)

    def test_gives_time_retries_and_error(self) -> None:
        begun, ended = "2026-03-14T11:00:00.000Z", "2026-03-14T11:30:00.000Z"
        doing = read_task(status="in_progress", startedAt=begun, completedAt=ended)
        failed = read_task(status="failed", startedAt=begun, completedAt=ended, retryCount=2, error="no\ncement")
        assert doing.since == datetime(2026, 3, 14, 11, tzinfo=UTC)
        assert failed.since == datetime(2026, 3, 14, 11, 30, tzinfo=UTC)
        assert (failed.retries, failed.status_text) == (2, "failed: no cement")

    @pytest.mark.parametrize("odd", [None, 7, "yesterday", True, [], {}, "2026-13-45", -1, 1e400])
    def test_ignores_values_of_the_wrong_type(self, odd: object) -> None:
        entry = read_task(status="in_progress", startedAt=odd, retryCount=odd, error=odd)
        assert (entry.status, entry.since, entry.retries) == (SourceStatus.DOING, None, 7 if odd == 7 else 0)

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "7", '{"tasks": {}}', '{"tasks": [}', "[" * 5000, "\ufffd", '{"a": ' + "9" * 5000],
    )
    def test_of_a_broken_file_is_a_warning_and_the_boxes_count(self, text: str) -> None:
        reading = read(text)
        assert [entry.status for entry in reading.entries] == [
            SourceStatus.TODO,
            SourceStatus.DONE,
            SourceStatus.TODO,
        ]
        (problem,) = reading.problems
        assert (problem.severity, problem.at and problem.at.file) == (Severity.WARNING, STATUS)

    def test_says_in_which_line_it_is_broken(self) -> None:
        (problem,) = read('{\n  "tasks": [\n    oops\n  ]\n}').problems
        assert problem.at == Origin(STATUS, 3)

    def test_of_an_unknown_status_is_a_warning(self) -> None:
        reading = read(json.dumps({"tasks": [{"id": "1.1", "status": "jolly"}, 7, {"status": "failed"}]}))
        assert reading.entries[0].status is SourceStatus.TODO
        assert [problem.message for problem in reading.problems] == [
            "a task has a status that is not known (1.1: jolly); the boxes of the plan count"
        ]

    def test_of_no_file_is_no_problem(self) -> None:
        assert load_format("plan").read(SourceFiles(PATH, (Document(PATH, PLAN),))).problems == ()


class TestMakingTheFile:
    def test_is_allowed(self) -> None:
        assert [(writer.path, writer.creates) for writer in load_format("plan").writers(PATH, ())] == [
            (PATH, False),
            (STATUS, True),
        ]

    @pytest.mark.parametrize("nothing", ["", "\n", " \r\n"])
    def test_writes_everything_that_is_known(self, nothing: str) -> None:
        assert written(nothing, change("1.1", SourceStatus.DOING, batch="b7")) == {
            "planPath": PATH,
            "planName": "harbour",
            "lastUpdatedAt": "2026-03-14T12:00:00.123Z",
            "currentPhase": "Phase 1",
            "tasks": [
                {
                    "id": "1.1",
                    "phase": "Phase 1",
                    "description": "do 1.1",
                    "status": "in_progress",
                    "dependencies": [],
                    "startedAt": "2026-03-14T12:00:00.123Z",
                }
            ],
            "runs": [
                {
                    "runId": "b7",
                    "startedAt": "2026-03-14T12:00:00.123Z",
                    "completedAt": None,
                    "tasksCompleted": 0,
                    "tasksFailed": 0,
                }
            ],
            "summary": {
                "totalTasks": 1,
                "completed": 0,
                "pending": 0,
                "in_progress": 1,
                "failed": 0,
                "skipped": 0,
            },
        }

    def test_writes_phase_and_dependencies_of_a_task(self) -> None:
        new = change("1.3", SourceStatus.DOING, phase="Phase 1: Quay", needs=("1.1", "1.2"))
        (task,) = written("", new)["tasks"]
        assert (task["phase"], task["dependencies"]) == ("Phase 1: Quay", ["1.1", "1.2"])
        known = json.dumps({"tasks": [{"id": "1.3", "dependencies": ["0.1"], "status": "pending"}]})
        assert written(known, new)["tasks"][0]["dependencies"] == ["0.1"]

    def test_is_laid_out_for_people(self) -> None:
        text = write("", change("1.1", SourceStatus.DONE))
        assert text.startswith('{\n  "planPath": "plans/harbour.md",\n')
        assert text.endswith("}\n")

    def test_keeps_tasks_in_the_order_of_their_numbers(self) -> None:
        data = written("", *(change(name, SourceStatus.DOING) for name in ("1.10", "2.1", "1.9", "1.9.2")))
        assert [task["id"] for task in data["tasks"]] == ["1.9", "1.9.2", "1.10", "2.1"]

    def test_needs_a_change(self) -> None:
        assert write("") == ""
        assert write("", StatusChange("1.1", SourceStatus.DONE, NOON, "other.md")) == ""


TWO_PHASES = """\
## Phase 1: Quay

- [ ] 1.1 Dig
- [x] 1.2 Pour

## Phase 2: Harbour

- [ ] 2.1 Paint (depends: 1.1)
"""


class TestTheTasksOfThePlan:
    def write(self, text: str, *changes: StatusChange, plan: str = TWO_PHASES) -> Json:
        bind = writer().bind_source
        assert bind is not None
        rewrite = bind(plan)(text, changes)
        assert bind(plan)(rewrite.text, changes) == rewrite
        return json.loads(rewrite.text)

    def test_are_all_listed_from_the_first_write(self) -> None:
        data = self.write("", change("1.1", SourceStatus.DOING))
        assert [(task["id"], task["phase"], task["status"]) for task in data["tasks"]] == [
            ("1.1", "Phase 1: Quay", "in_progress"),
            ("1.2", "Phase 1: Quay", "completed"),
            ("2.1", "Phase 2: Harbour", "pending"),
        ]
        assert (data["tasks"][2]["description"], data["tasks"][2]["dependencies"]) == ("Paint", ["1.1"])
        assert (data["summary"]["totalTasks"], data["summary"]["pending"]) == (3, 1)

    def test_are_added_to_a_file_that_lacks_some(self) -> None:
        text = json.dumps({"tasks": [{"id": "1.1", "phase": "1st", "status": "failed", "mine": 7}]})
        data = self.write(text, change("2.1", SourceStatus.DOING))
        assert [(task["id"], task["phase"]) for task in data["tasks"]] == [
            ("1.1", "1st"),
            ("1.2", "1st"),
            ("2.1", "Phase 2: Harbour"),
        ]
        assert data["tasks"][0]["mine"] == 7

    def test_have_their_times_though_their_boxes_are_ticked_first(self) -> None:
        ticked = TWO_PHASES.replace("[ ] 1.1", "[x] 1.1")
        data = self.write("", change("1.1", SourceStatus.DONE, 1, started=NOON), plan=ticked)
        assert data["tasks"][0]["duration"] == 60_000

    def test_decide_the_current_phase(self) -> None:
        running = self.write("", change("2.1", SourceStatus.DOING))
        first_done = self.write("", change("1.1", SourceStatus.DONE))
        first_failed = self.write("", change("1.1", SourceStatus.FAILED))
        all_done = self.write("", *(change(name, SourceStatus.DONE) for name in ("1.1", "2.1")))
        assert [data["currentPhase"] for data in (running, first_done, first_failed, all_done)] == [
            "Phase 2: Harbour",
            "Phase 2: Harbour",
            "Phase 1: Quay",
            "Phase 2: Harbour",
        ]


class TestTheLifeOfATask:
    def test_starts_and_ends_with_times(self) -> None:
        text = write("", change("1.1", SourceStatus.DOING))
        (task,) = written(text, change("1.1", SourceStatus.DONE, 2.5, started=NOON))["tasks"]
        assert task["status"] == "completed"
        assert (task["startedAt"], task["completedAt"], task["duration"]) == (
            "2026-03-14T12:00:00.123Z",
            "2026-03-14T12:02:30.123Z",
            150_000,
        )

    def test_can_fail_and_be_retried(self) -> None:
        text = write("", change("1.1", SourceStatus.DOING))
        text = write(text, change("1.1", SourceStatus.FAILED, 1, reason="no cement", started=NOON))
        (failed,) = json.loads(text)["tasks"]
        text = write(text, change("1.1", SourceStatus.DOING, 2, retries=1))
        (again,) = json.loads(text)["tasks"]
        (done,) = written(text, change("1.1", SourceStatus.DONE, 3, retries=1, started=at(2)))["tasks"]
        assert (failed["status"], failed["error"]) == ("failed", "no cement")
        assert again == {**_head("in_progress"), "startedAt": "2026-03-14T12:02:00.123Z", "retryCount": 1}
        assert done == {
            **again,
            "status": "completed",
            "completedAt": "2026-03-14T12:03:00.123Z",
            "duration": 60_000,
        }

    @pytest.mark.parametrize(
        ("mark", "raw"),
        [
            (SourceStatus.TODO, "pending"),
            (SourceStatus.BLOCKED, "pending"),
            (SourceStatus.SKIPPED, "skipped"),
            (SourceStatus.PARTIAL, "failed"),
            (SourceStatus.STUCK, "in_progress"),
        ],
    )
    def test_has_five_statuses(self, mark: SourceStatus, raw: str) -> None:
        (task,) = written("", change("1.1", mark))["tasks"]
        assert task["status"] == raw

    def test_restarts_when_it_is_pending_again(self) -> None:
        text = write("", change("1.1", SourceStatus.DOING))
        assert written(text, change("1.1", SourceStatus.TODO, 1))["tasks"] == [_head("pending")]

    def test_loses_a_start_that_it_should_not_have(self) -> None:
        text = json.dumps({"tasks": [{**_head("pending"), "startedAt": "2026-03-14T11:00:00.000Z"}]})
        assert written(text, change("1.1", SourceStatus.TODO, 1))["tasks"] == [_head("pending")]

    def test_is_not_set_back_by_a_late_start(self) -> None:
        text = write("", change("1.1", SourceStatus.DONE))
        assert write(text, change("1.1", SourceStatus.DOING, 1)) == text

    def test_takes_the_name_of_its_phase_from_its_neighbours(self) -> None:
        text = json.dumps({"tasks": [{"id": "1.2", "phase": "Phase 1: Quay", "status": "pending"}]})
        data = written(text, change("1.3", SourceStatus.DOING), change("2.1", SourceStatus.TODO))
        assert [task["phase"] for task in data["tasks"]] == ["Phase 1: Quay", "Phase 1: Quay", "Phase 2"]
        assert data["currentPhase"] == "Phase 1: Quay"

    def test_counts_retries_while_it_is_in_progress(self) -> None:
        text = write("", change("1.1", SourceStatus.DOING))
        (task,) = written(text, change("1.1", SourceStatus.DOING, 1, retries=2))["tasks"]
        assert (task["startedAt"], task["retryCount"]) == ("2026-03-14T12:01:00.123Z", 2)

    def test_has_a_start_and_a_duration_if_its_start_was_never_written(self) -> None:
        (task,) = written("", change("1.1", SourceStatus.DONE, 0.5, started=NOON))["tasks"]
        assert (task["startedAt"], task["duration"]) == ("2026-03-14T12:00:00.123Z", 30_000)

    @pytest.mark.parametrize("before", [SourceStatus.DOING, SourceStatus.FAILED])
    def test_keeps_no_start_of_an_earlier_run(self, before: SourceStatus) -> None:
        text = write("", change("1.1", before, started=at(-600), batch="a"))
        (doing,) = written(text, change("1.1", SourceStatus.DOING, 0, started=at(0), batch="b"))["tasks"]
        (ended,) = written(text, change("1.1", SourceStatus.FAILED, 1, started=at(0), batch="b"))["tasks"]
        (dropped,) = written(text, change("1.1", SourceStatus.SKIPPED, 1, batch="b"))["tasks"]
        assert doing["startedAt"] == ended["startedAt"] == "2026-03-14T12:00:00.123Z"
        assert ended["duration"] == 60_000
        assert "startedAt" not in dropped
        assert "duration" not in dropped

    def test_is_not_written_twice(self) -> None:
        text = write("", change("1.1", SourceStatus.FAILED, reason="a"))
        assert write(text, change("1.1", SourceStatus.FAILED, 5, reason="a")) == text


def _head(status: str) -> Json:
    return {
        "id": "1.1",
        "phase": "Phase 1",
        "description": "do 1.1",
        "status": status,
        "dependencies": [],
    }


class TestRunsAndSummary:
    def test_a_run_counts_what_ended_since_it_began(self) -> None:
        text = write("", change("1.1", SourceStatus.DONE, 0, batch="a"))
        text = write(text, *(change(name, SourceStatus.DOING, 1, batch="b") for name in ("1.2", "1.3", "1.4")))
        text = write(text, change("1.2", SourceStatus.DONE, 2, batch="b"))
        before, now = json.loads(text)["runs"]
        data = written(
            text,
            change("1.3", SourceStatus.FAILED, 3, batch="b"),
            change("1.4", SourceStatus.DONE, 4, batch="b"),
        )
        assert (before["runId"], before["tasksCompleted"]) == ("a", 1)
        assert (now["completedAt"], now["tasksCompleted"], now["tasksFailed"]) == (None, 1, 0)
        assert data["runs"] == [
            before,
            {
                "runId": "b",
                "startedAt": "2026-03-14T12:01:00.123Z",
                "completedAt": "2026-03-14T12:04:00.123Z",
                "tasksCompleted": 2,
                "tasksFailed": 1,
            },
        ]
        assert data["summary"]["completed"] == 3
        assert data["lastUpdatedAt"] == "2026-03-14T12:04:00.123Z"

    def test_only_real_changes_count_as_an_update(self) -> None:
        text = write("", change("1.1", SourceStatus.DONE))
        data = written(text, change("1.2", SourceStatus.DONE, 1), change("1.1", SourceStatus.DONE, 9, batch="late"))
        assert (data["lastUpdatedAt"], data["runs"]) == ("2026-03-14T12:01:00.123Z", [])


EXISTING = {
    "_comment": "Grüße",
    "planPath": "elsewhere.md",
    "summary": {"totalTasks": 99, "percent": 12},
    "tasks": [
        {"notes": "n", "id": "1.2", "status": "pending", "phase": "Phase 1: Quay", "dependencies": ["1.1"]},
        "not a task",
        {"id": "1.1", "phase": "Phase 1: Quay", "status": "completed"},
    ],
    "extra": {"deep": [1, 2.5, None, True]},
}


class TestKeepingWhatIsThere:
    def test_unknown_keys_and_their_order_survive(self) -> None:
        data = written(json.dumps(EXISTING), change("1.2", SourceStatus.DOING))
        assert list(data) == [*EXISTING, "lastUpdatedAt", "currentPhase", "runs"]
        assert list(data["tasks"][0]) == ["notes", "id", "status", "phase", "dependencies", "startedAt"]
        assert data["tasks"][1:] == [
            "not a task",
            {"id": "1.1", "phase": "Phase 1: Quay", "status": "completed"},
        ]
        assert (data["extra"], data["summary"]["percent"], data["planPath"]) == (
            {"deep": [1, 2.5, None, True]},
            12,
            "elsewhere.md",
        )

    @pytest.mark.parametrize("indent", [2, 4, "\t", None])
    @pytest.mark.parametrize("ends", ["", "\n", "\r\n"])
    @pytest.mark.parametrize("start", ["", "\ufeff"])
    @pytest.mark.parametrize("escaped", [True, False])
    def test_the_layout_stays(self, indent: str | int | None, ends: str, start: str, escaped: bool) -> None:  # noqa: FBT001
        """A file that is written with the same layout differs only where the data do."""

        def laid_out(data: Json) -> str:
            text = json.dumps(data, indent=indent, ensure_ascii=escaped)
            return start + (text.replace("\n", "\r\n") if ends == "\r\n" else text) + ends

        text = write(laid_out(EXISTING), change("1.2", SourceStatus.DOING))
        assert text == laid_out(json.loads(text.removeprefix("\ufeff")))

    def test_a_lone_surrogate_stays_an_escape(self) -> None:
        text = write('{"odd": "\\ud83d \\u00e9", "tasks": []}', change("1.1", SourceStatus.DONE))
        assert text.startswith('{"odd": "\\ud83d \\u00e9", ')
        assert write('{"odd": "\\ud83d é", "tasks": []}', change("1.1", SourceStatus.DONE)).startswith(
            '{"odd": "\\ud83d é", '
        )

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            "[]",
            "null",
            '{"tasks": 7}',
            '{"tasks": []} trailing',
            "// comment\n{}",
            "[" * 5000,
            '{"bytes": "\udcff"}',
            '{"big": ' + "9" * 5000 + "}",
            '{"big": 1e999}',
        ],
    )
    def test_a_broken_file_is_never_written_over(self, text: str) -> None:
        rewrite = writer().apply(text, [change("1.1", SourceStatus.DONE)])
        assert rewrite.text == text
        (problem,) = rewrite.problems
        assert isinstance(problem, Problem)
        assert (problem.severity, problem.at and problem.at.file) == (Severity.WARNING, STATUS)
        assert "no status was written" in problem.message

    @pytest.mark.parametrize("key", ["runs", "summary"])
    def test_a_file_of_another_shape_is_left_alone(self, key: str) -> None:
        data = written(json.dumps({"tasks": [], key: "mine"}), change("1.1", SourceStatus.DONE, batch="b"))
        assert data[key] == "mine"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(("status", "startedAt", "completedAt", "duration", "error", "retryCount", "phase", "notes"))
WORDS = st.sampled_from(("pending", "in_progress", "completed", "failed", "skipped", "2026-03-14T11:00:00Z", ""))
TASKS = st.dictionaries(KEYS, WORDS | VALUES, max_size=5).flatmap(
    lambda task: st.sampled_from(("1.1", "1.2", "2.1", "x", 7)).map(lambda name: {"id": name, **task})
)
FILES = st.dictionaries(
    st.sampled_from(("tasks", "runs", "summary", "lastUpdatedAt", "currentPhase", "mine")), VALUES, max_size=4
).flatmap(lambda root: st.lists(TASKS | VALUES, max_size=4).map(lambda tasks: {**root, "tasks": tasks}))
CHANGES = st.lists(
    st.builds(
        change,
        st.sampled_from(("1.1", "1.2", "2.1", "9.9")),
        st.sampled_from(SourceStatus),
        st.integers(0, 5),
        reason=st.sampled_from(("", "why", "\udcff")),
        retries=st.integers(0, 2),
        batch=st.sampled_from(("", "a", "b")),
    ),
    max_size=5,
)


@given(FILES, CHANGES)
def test_writing_twice_equals_writing_once(root: Json, changes: list[StatusChange]) -> None:
    text = json.dumps(root)
    once = writer().apply(text, changes)
    assert writer().apply(once.text, changes) == Rewrite(once.text, once.problems)
    assert writer().apply(text, []).text == text


@given(FILES, CHANGES)
def test_tasks_without_changes_stay_the_same(root: Json, changes: list[StatusChange]) -> None:
    asked = {change.id for change in changes}
    after = json.loads(writer().apply(json.dumps(root), changes).text)
    others = [task for task in root["tasks"] if not (isinstance(task, dict) and task.get("id") in asked)]
    kept = [task for task in after["tasks"] if not (isinstance(task, dict) and task.get("id") in asked)]
    assert sorted(map(json.dumps, kept)) == sorted(map(json.dumps, others))
    assert after.get("mine") == root.get("mine")


@given(
    st.text(max_size=40) | FILES.map(json.dumps).flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n]))
)
def test_no_text_makes_it_fail(text: str) -> None:
    for problem in read(text).problems:
        assert problem.at is not None
    rewrite = writer().apply(text, [change("1.1", SourceStatus.DONE)])
    assert rewrite.text == text or rewrite.problems == ()
