from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.core.task import Need, Origin, Phase, Task
from plait.sources.selectors import Selection, add_needs, select_ids, select_tasks
from plait.sources.source_model import Reading, SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet, combine_sources


def entry(
    name: str, title: str = "", mark: SourceStatus = SourceStatus.TODO, *needs: str, phase: str | None = None
) -> SourceEntry:
    edges = tuple(Need(on) for on in needs)
    task = Task(name, title or f"Do {name}", needs=edges, phase=phase, origin=Origin("TODO.md", 3))
    return SourceEntry(task, mark)


def make_source_set(*entries: SourceEntry, phases: tuple[Phase, ...] = (), path: str = "TODO.md") -> SourceSet:
    return combine_sources([("todo", path, Reading(entries, phases))])


TODO = make_source_set(
    *(entry(str(number), f"Task number {number}") for number in (63, 64, 65, 66, 67, 88)),
    entry("90", "Already there", SourceStatus.DONE),
    entry("91", "Not wanted", SourceStatus.SKIPPED),
)
PLAN = make_source_set(
    entry("1.1", "Create api", phase="1"),
    entry("1.2", "Write docs", phase="1"),
    entry("1.10", "Ship it", phase="1"),
    entry("2.1", "Test the api", phase="2"),
    phases=(Phase("1"), Phase("2", after=("1",))),
    path="plan.md",
)
FOLDER = make_source_set(entry("01-pyproject"), entry("08-identity"), entry("08-batch"), path="tasks")


def list_messages(selection: Selection, severity: Severity) -> list[str]:
    return [problem.message for problem in selection.problems if problem.severity is severity]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("63", ["63"]),
        ("63, 64, 65", ["63", "64", "65"]),
        ("65-67", ["65", "66", "67"]),
        ("65 - 67", ["65", "66", "67"]),
        ("65–67", ["65", "66", "67"]),  # noqa: RUF001 - as a word processor writes it
        ("63, 65-67, 88", ["63", "65", "66", "67", "88"]),
        ("88 63,63 63-64", ["63", "64", "88"]),
        ("task number", ["63", "64", "65", "66", "67", "88"]),
        ("6*", ["63", "64", "65", "66", "67"]),
    ],
)
def test_numbers_and_ranges_select_tasks(text: str, ids: list[str]) -> None:
    assert list(select_tasks(TODO, text).ids) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("1.1", ["1.1"]),
        ("1.1 1.2", ["1.1", "1.2"]),
        ("1.1, 2.1", ["1.1", "2.1"]),
        ("phase:1", ["1.1", "1.2", "1.10"]),
        ("p:2", ["2.1"]),
        ("all", ["1.1", "1.2", "1.10", "2.1"]),
        ("1.2-1.10", ["1.2", "1.10"]),
        ("api", ["1.1", "2.1"]),
        ("test API", ["2.1"]),
    ],
)
def test_ids_phases_and_words_select_tasks(text: str, ids: list[str]) -> None:
    assert list(select_tasks(PLAN, text).ids) == ids


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("67-65", "67-65 runs backwards"),
        ("63-", "63- is a range with one end"),
        ("-63", "-63 is a range with one end"),
        ("abc", "no task is called abc, and no title contains it"),
        ("63, abc", "abc is neither a task nor a range, a phase or a pattern"),
        ("", "nothing is selected"),
        (" , ", "nothing is selected"),
        ("x*", "no task's id matches x*"),
        ("phase:3", "there is no phase 3"),
        ("70", "none of the selected tasks exists"),
    ],
)
def test_invalid_selectors_are_reported(text: str, message: str) -> None:
    selection = select_tasks(TODO, text)
    assert list_messages(selection, Severity.ERROR) == [message]
    assert selection.failed


def test_a_missing_task_is_a_warning_and_the_others_run() -> None:
    selection = select_tasks(TODO, "63, 70, 67-69")
    assert list(selection.ids) == ["63", "67"]
    assert list_messages(selection, Severity.WARNING) == [
        "there is no task 70: skipped",
        "there is no task 68: skipped",
        "there is no task 69: skipped",
    ]


def test_a_finished_task_is_reported_and_skipped() -> None:
    selection = select_tasks(TODO, "63, 90, 91")
    assert list(selection.ids) == ["63"]
    assert list_messages(selection, Severity.INFO) == [
        "90 is complete already: skipped",
        "91 is skipped already: skipped",
    ]
    assert not selection.complete


def test_a_selection_of_finished_tasks_is_complete() -> None:
    selection = select_tasks(TODO, "90, 91")
    assert selection.complete
    assert not selection.failed
    assert selection.ids == ()


def test_without_a_selector_the_finished_ones_are_counted() -> None:
    selection = select_tasks(TODO)
    assert len(selection.ids) == 6
    assert list_messages(selection, Severity.INFO) == [
        "1 of 8 tasks is complete already",
        "1 task is deferred or abandoned in the source: left out",
    ]


def test_a_number_alone_is_enough_where_one_id_begins_with_it() -> None:
    assert list(select_tasks(FOLDER, "01").ids) == ["01-pyproject"]
    assert list_messages(select_tasks(FOLDER, "08"), Severity.ERROR) == ["08 could be 08-identity or 08-batch"]


def test_a_stuck_task_runs_only_on_request() -> None:
    stuck = make_source_set(entry("a", mark=SourceStatus.STUCK), entry("b"))
    assert list(select_tasks(stuck).ids) == ["b"]
    assert list(select_tasks(stuck, resume=True).ids) == ["a", "b"]


def test_an_unreadable_task_never_runs() -> None:
    selection = select_tasks(make_source_set(entry("a", mark=SourceStatus.UNREADABLE), entry("b")), "a b")
    assert list(selection.ids) == ["b"]
    assert list_messages(selection, Severity.WARNING) == ["a can't be read: skipped"]


def test_selecting_a_group_selects_its_parts() -> None:
    group = SourceEntry(Task("1", "Whole", origin=Origin("t.md", 1)), parts=("1.1", "1.2"))
    whole = make_source_set(group, entry("1.1"), entry("1.2", mark=SourceStatus.DONE), entry("2"))
    assert list(select_tasks(whole, "1").ids) == ["1.1"]
    assert list(select_tasks(whole).ids) == ["1.1", "2"]


def test_an_id_of_two_sources_must_be_qualified() -> None:
    both = combine_sources(
        [
            ("todo", "a.md", Reading((entry("1.1"), entry("9")))),
            ("todo", "docs/b.md", Reading((entry("1.1"),))),
        ]
    )
    assert list_messages(select_tasks(both, "1.1"), Severity.ERROR) == ["1.1 could be a:1.1 or b:1.1"]
    assert list(select_tasks(both, "b:1.1 9").ids) == ["9", "b:1.1"]
    assert list(select_tasks(both, "a:9").ids) == ["9"]


def test_a_file_selects_its_tasks() -> None:
    one = SourceEntry(Task("x", origin=Origin("tasks/x.md", 1)))
    two = SourceEntry(Task("y", origin=Origin("tasks/y.md", 1)))
    assert list(select_tasks(make_source_set(one, two, path="tasks"), "tasks/y.md").ids) == ["y"]


def test_files_of_any_format_can_be_named() -> None:
    one = SourceEntry(Task("x", origin=Origin("docs/TODO.org", 1)))
    two = SourceEntry(Task("y", origin=Origin("docs/OTHER.org", 1)))
    source_set = make_source_set(one, two, path="docs")
    for name in ("TODO.org", "./TODO.org", "docs/TODO.org"):
        assert list(select_tasks(source_set, name).ids) == ["x"]
    assert select_tasks(source_set, "DO.org").failed


def test_needs_are_added_however_far_back() -> None:
    chain = make_source_set(
        entry("a", "", SourceStatus.DONE),
        entry("b", "", SourceStatus.TODO, "a"),
        entry("c", "", SourceStatus.TODO, "b", "z"),
        entry("d"),
    )
    assert add_needs(chain, ["c"]) == ("b", "c")


@given(
    st.text(max_size=30) | st.text("0123456789.-, *?[]p:all", max_size=30),
    st.sampled_from([TODO, PLAN, FOLDER]),
)
def test_no_selector_raises_and_an_empty_selection_has_a_problem(text: str, where: SourceSet) -> None:
    selection = select_tasks(where, text)
    assert selection.ids or selection.failed or selection.complete
    assert set(selection.ids) <= where.by_id.keys()


def test_programs_name_tasks_by_their_exact_ids_and_in_their_order() -> None:
    assert select_ids(TODO, ["66", "63"]).ids == ("66", "63")
    assert select_ids(FOLDER, ["01-pyproject"]).ids == ("01-pyproject",)


@pytest.mark.parametrize("name", ["6", "63-65", "all", "*", "01", "Task", "", "63,64"])
def test_a_missing_id_is_an_error_that_names_it(name: str) -> None:
    found = select_ids(TODO, ["63", name])
    assert list_messages(found, Severity.ERROR) == [f"there is no task {name}"]


def test_a_named_task_that_is_finished_is_reported_and_left_out() -> None:
    found = select_ids(TODO, ["63", "90"])
    assert (found.ids, list_messages(found, Severity.INFO)) == (("63",), ["90 is complete already: skipped"])
    assert select_ids(TODO, ["90"]).complete
