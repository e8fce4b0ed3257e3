"""The verification list of a batch runner: which tasks run, in which order, how many at once, and what is printed about them."""

from __future__ import annotations

import json
import re

from tests.support.temp_project import TempProject

# Waits until two have begun, so that a batch that runs one at a time would never end; then tells when it is over.
MEET = """
echo "+ $PLAIT_TASK_ID" >> ../log
until [ $(grep -c + ../log) -ge 2 ]; do sleep 0.02; done
sleep 0.1
echo "- $PLAIT_TASK_ID" >> ../log
"""


def at_once(log: str) -> int:
    """The most that had begun and not ended."""
    now = most = 0
    for line in log.splitlines():
        now += 1 if line.startswith("+") else -1
        most = max(most, now)
    return most


def test_all_tasks_of_a_folder_are_done(project: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"echo {name} > {name}.txt")
    answer = project.plait("run", "tasks")
    assert answer.code == 0, answer
    assert project.statuses() == {"01-walls": "done", "02-roof": "done", "03-door": "done"}
    assert [project.read(f"{name}.txt") for name in ("01-walls", "03-door")] == ["01-walls\n", "03-door\n"]
    assert "completed · 3 done" in answer.out


def test_only_the_named_files_run(project: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"touch {name}.made")
    assert project.plait("run", "tasks/01-walls.md", "tasks/03-door.md").code == 0
    assert sorted(path.name for path in project.top.glob("*.made")) == ["01-walls.made", "03-door.made"]


def test_only_selected_tasks_run(project: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, f"touch {name}.made")
    assert project.plait("run", "-s", "02-03").code == 0
    assert sorted(path.name for path in project.top.glob("*.made")) == ["02-roof.made", "03-door.made"]


def test_no_more_tasks_run_at_once_than_allowed(project: TempProject) -> None:
    for number in range(1, 7):
        project.task(f"0{number}-task", MEET)
    assert project.plait("run", "--max-parallel", "2").code == 0
    log = (project.top.parent / "log").read_text()
    assert (log.count("+"), at_once(log)) == (6, 2)


def test_dependencies_run_first(project: TempProject) -> None:
    project.task("01-paint", "echo paint >> order", needs="[02-walls, 03-colour]")
    project.task("02-walls", "sleep 0.2; echo walls >> order")
    project.task("03-colour", "echo colour >> order")
    assert project.plait("run").code == 0
    assert project.read("order").split() == ["colour", "walls", "paint"]


def test_tasks_that_share_a_file_take_turns(project: TempProject) -> None:
    write = "echo + >> log; sleep 0.1; echo - >> log"
    for name in ("01-walls", "02-paint", "03-door"):
        project.task(name, write, touches="[house.txt]")
    assert project.plait("run", "-p", "3").code == 0
    assert at_once(project.read("log")) == 1


def test_a_failure_is_shown_with_its_reason_and_duration(project: TempProject) -> None:
    project.task("01-good", "true")
    project.task("02-bad", "echo the wall fell down >&2; exit 3", retries=0)
    answer = project.plait("run")
    assert answer.code == 1
    assert project.statuses() == {"01-good": "done", "02-bad": "failed"}
    (line,) = [line for line in answer.out.splitlines() if "02-bad" in line and "the wall fell down" in line][-1:]
    assert re.search(r"\d+s", answer.out), answer.out
    assert f"plait logs {project.batch().id[:4]}" in answer.out, line


def test_a_failure_blocks_only_what_needs_it(project: TempProject) -> None:
    project.task("01-bad", "exit 1", retries=0)
    project.task("02-lost", "true", needs="[01-bad]")
    project.task("03-good", "true")
    answer = project.plait("run")
    assert answer.code == 1
    assert project.statuses() == {"01-bad": "failed", "02-lost": "blocked", "03-good": "done"}


def test_stop_on_fail_starts_nothing_more(project: TempProject) -> None:
    project.task("01-bad", "exit 1", retries=0, priority=0)
    project.task("02-after", "touch after", priority=3)
    assert project.plait("run", "-p", "1", "--stop-on-fail").code == 1
    assert not (project.top / "after").exists()
    assert project.statuses()["02-after"] == "skipped"


def test_every_json_line_is_an_event_of_the_batch(project: TempProject) -> None:
    project.task("01-walls", "echo brick")
    answer = project.plait("run", "--json")
    events = [json.loads(line) for line in answer.out.splitlines()]
    batch = project.batch().id
    assert answer.code == 0
    assert {event["batchId"] for event in events if event["type"].startswith("batch:")} == {batch}
    types = [event["type"] for event in events if event["type"].startswith("batch:")]
    assert types[0] == "batch:created"
    assert types[-1] == "batch:completed"
    assert types.index("batch:task:started") < types.index("batch:task:completed")
    numbers = [event["seq"] for event in events if event.get("seq") is not None]
    assert numbers == sorted(numbers)


def test_a_dry_run_shows_the_plan_and_starts_nothing(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.task("02-paint", "touch paint", needs="[01-walls]")
    answer = project.plait("run", "--dry-run")
    assert answer.code == 0
    assert "wave 2 of 2" in answer.out
    assert "in place" in answer.out
    assert json.loads(project.plait("run", "--dry-run", "--json").out)["waves"] == [["01-walls"], ["02-paint"]]
    assert not project.state().batches
    assert not project.processes()


def test_the_engine_exits_when_nothing_is_left_to_do(project: TempProject) -> None:
    project.task("01-walls", "true")
    assert project.plait("run").code == 0
    project.wait_for_exit()


def test_batches_of_one_repository_share_the_limit(project: TempProject) -> None:
    own = project.top.parent / "home" / "config" / "plait"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[engine]\nparallel_limit = 1\n")
    for folder in ("house", "garden"):
        for number in (1, 2):
            project.task(f"{folder}-{number}", "echo + >> log; sleep 0.1; echo - >> log", folder=folder)
    fronts = [project.start("run", folder) for folder in ("house", "garden")]
    assert [project.finish(front).code for front in fronts] == [0, 0]
    assert (project.read("log").count("+"), at_once(project.read("log"))) == (4, 1)


def test_a_larger_parallel_limit_raises_the_engines(project: TempProject) -> None:
    for number in range(1, 7):
        project.task(f"0{number}-task", MEET.replace("-ge 2", "-ge 6"))
    assert project.plait("run", "-p", "6").code == 0
    assert at_once((project.top.parent / "log").read_text()) == 6
    assert project.plait("run", "--again", "-p", "2", "-s", "01-02").code == 0
    assert project.state().settings.parallel_limit == 4


def test_zero_means_no_limit(project: TempProject) -> None:
    for number in range(1, 7):
        project.task(f"0{number}-task", MEET.replace("-ge 2", "-ge 6"))
    assert project.plait("run", "-p", "0").code == 0
    assert at_once((project.top.parent / "log").read_text()) == 6


def test_an_unreadable_task_file_is_skipped_and_the_others_run(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.write("tasks/02-roof.md", "---\nrun: [unclosed\n---\n# Roof\n\nDo it.")
    answer = project.plait("run")
    assert answer.code == 1, answer
    assert (project.top / "walls").exists()
    assert answer.out.endswith("\n  not run  02-roof: can't be read; plait plan says why\n")
    assert "tasks/02-roof.md:3" in answer.err
    result = project.plait("run", "--again", "--json")
    assert result.code == 1
    assert [json.loads(line)["type"] for line in result.out.splitlines()][-1] == "batch:completed"
    assert "not run  02-roof" in result.err
    assert project.plait("run", "--again", "-s", "01").code == 0
