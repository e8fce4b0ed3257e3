from __future__ import annotations

from plait.core.graph import PlanCheck, build_checked_plan
from plait.core.task import Need, Origin, Task


def held(*tasks: Task) -> dict[str, tuple[str, ...]]:
    plan = build_checked_plan(tasks).plan
    assert plan is not None
    return {task.id: tokens for task, tokens in zip(plan.tasks, plan.holds, strict=True)}


def format_problems(checked: PlanCheck) -> list[str]:
    return [f"{p.severity} {p.at or '-'}: {p.message}" for p in checked.problems]


def test_a_task_that_shares_nothing_has_no_locks() -> None:
    assert held(Task("1")) == {"1": ()}


def test_two_spellings_of_one_file_are_one_lock() -> None:
    assert held(Task("1", touches=("./src//a.py", "src/a.py")), Task("2", touches=("src/a.py",))) == {
        "1": ("file:src/a.py",),
        "2": ("file:src/a.py",),
    }


def test_a_folder_conflicts_with_its_files_and_they_do_not_conflict_with_each_other() -> None:
    assert held(Task("1", touches=("src",)), Task("2", touches=("src/a",)), Task("3", touches=("src/b",))) == {
        "1": ("file:src", "file:src/a", "file:src/b"),
        "2": ("file:src/a",),
        "3": ("file:src/b",),
    }


def test_exclusive_groups_and_conflicts_are_locks() -> None:
    assert held(Task("2", exclusive="db", conflicts_with=("1",)), Task("1", exclusive="db"), Task("3")) == {
        "2": ("group:db", "pair:1|2"),
        "1": ("group:db", "pair:1|2"),
        "3": (),
    }


def test_two_conflicts_of_one_task_do_not_keep_the_others_apart() -> None:
    assert held(Task("1", conflicts_with=("2", "3")), Task("2"), Task("3", conflicts_with=("1",))) == {
        "1": ("pair:1|2", "pair:1|3"),
        "2": ("pair:1|2",),
        "3": ("pair:1|3",),
    }


def test_a_conflict_outside_the_plan_takes_no_lock_and_an_unknown_one_is_reported() -> None:
    at = Origin("tasks/1.md", 4)
    checked = build_checked_plan(
        [Task("1", conflicts_with=("1", "2", "3", "4"), origin=at)], known=["2"], finished=["3"]
    )

    assert checked.plan is not None
    assert checked.plan.holds == ((),)
    assert format_problems(checked) == ["warning tasks/1.md:4: 1 conflicts with 4, which is not in any source"]


def test_paths_outside_the_repository_are_ignored_with_a_warning() -> None:
    at = Origin("tasks/1.md", 4)
    checked = build_checked_plan([Task("1", touches=("/etc/hosts", "../x", "src/a.py", ""), origin=at)])

    assert checked.plan is not None
    assert checked.plan.holds == (("file:src/a.py",),)
    assert format_problems(checked) == [
        "warning tasks/1.md:4: 1 touches /etc/hosts, which is not in the repository: ignored",
        "warning tasks/1.md:4: 1 touches ../x, which is not in the repository: ignored",
        "warning tasks/1.md:4: 1 touches a file without a name, which is not in the repository: ignored",
    ]


def sharing(many: int, of: int, *files: str, chained: bool = False) -> PlanCheck:
    needs = [(Need(f"{place - 1}"),) if chained and place else () for place in range(of)]
    return build_checked_plan(
        [Task(f"{place}", needs=needs[place], touches=files * (place < many)) for place in range(of)]
    )


def test_a_file_that_many_tasks_share_is_reported() -> None:
    assert format_problems(sharing(6, 20, "src/app.py")) == [
        "warning -: src/app.py forces 6 of 20 tasks to run one at a time"
    ]


def test_several_crowded_files_give_one_warning() -> None:
    assert format_problems(sharing(6, 20, "b.py", "a.py", "c.py")) == [
        "warning -: a.py forces 6 of 20 tasks to run one at a time, and so do 2 more files"
    ]
    assert format_problems(sharing(6, 20, "a.py", "b.py")) == [
        "warning -: a.py forces 6 of 20 tasks to run one at a time, and so does another file"
    ]


def test_few_tasks_a_small_share_or_a_chain_give_no_warning() -> None:
    assert format_problems(sharing(4, 4, "src/app.py")) == []
    assert format_problems(sharing(5, 20, "src/app.py")) == []
    assert format_problems(sharing(6, 20, "src/app.py", chained=True)) == []
