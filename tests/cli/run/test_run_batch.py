"""The verification list of a batch runner: which tasks run, in which order, how many at once, and what is told of them."""

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


def test_all_tasks_of_a_folder_are_done(yard: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        yard.task(name, f"echo {name} > {name}.txt")
    answer = yard.plait("run", "tasks")
    assert answer.code == 0, answer
    assert yard.statuses() == {"01-walls": "done", "02-roof": "done", "03-door": "done"}
    assert [yard.read(f"{name}.txt") for name in ("01-walls", "03-door")] == ["01-walls\n", "03-door\n"]
    assert "completed · 3 done" in answer.out


def test_only_named_files_run(yard: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        yard.task(name, f"touch {name}.made")
    assert yard.plait("run", "tasks/01-walls.md", "tasks/03-door.md").code == 0
    assert sorted(path.name for path in yard.top.glob("*.made")) == ["01-walls.made", "03-door.made"]


def test_only_selected_tasks_run(yard: TempProject) -> None:
    for name in ("01-walls", "02-roof", "03-door"):
        yard.task(name, f"touch {name}.made")
    assert yard.plait("run", "-s", "02-03").code == 0
    assert sorted(path.name for path in yard.top.glob("*.made")) == ["02-roof.made", "03-door.made"]


def test_never_more_at_once_than_allowed(yard: TempProject) -> None:
    for number in range(1, 7):
        yard.task(f"0{number}-task", MEET)
    assert yard.plait("run", "--max-parallel", "2").code == 0
    log = (yard.top.parent / "log").read_text()
    assert (log.count("+"), at_once(log)) == (6, 2)


def test_needs_come_first(yard: TempProject) -> None:
    yard.task("01-paint", "echo paint >> order", needs="[02-walls, 03-colour]")
    yard.task("02-walls", "sleep 0.2; echo walls >> order")
    yard.task("03-colour", "echo colour >> order")
    assert yard.plait("run").code == 0
    assert yard.read("order").split() == ["colour", "walls", "paint"]


def test_tasks_that_share_a_file_take_turns(yard: TempProject) -> None:
    write = "echo + >> log; sleep 0.1; echo - >> log"
    for name in ("01-walls", "02-paint", "03-door"):
        yard.task(name, write, touches="[house.txt]")
    assert yard.plait("run", "-p", "3").code == 0
    assert at_once(yard.read("log")) == 1


def test_a_failure_is_told_with_its_reason_and_its_duration(yard: TempProject) -> None:
    yard.task("01-good", "true")
    yard.task("02-bad", "echo the wall fell down >&2; exit 3", retries=0)
    answer = yard.plait("run")
    assert answer.code == 1
    assert yard.statuses() == {"01-good": "done", "02-bad": "failed"}
    (line,) = [line for line in answer.out.splitlines() if "02-bad" in line and "the wall fell down" in line][-1:]
    assert re.search(r"\d+s", answer.out), answer.out
    assert f"plait logs {yard.batch().id[:4]}" in answer.out, line


def test_one_failure_costs_itself_and_what_needs_it(yard: TempProject) -> None:
    yard.task("01-bad", "exit 1", retries=0)
    yard.task("02-lost", "true", needs="[01-bad]")
    yard.task("03-good", "true")
    answer = yard.plait("run")
    assert answer.code == 1
    assert yard.statuses() == {"01-bad": "failed", "02-lost": "blocked", "03-good": "done"}


def test_stop_on_fail_starts_nothing_more(yard: TempProject) -> None:
    yard.task("01-bad", "exit 1", retries=0, priority=0)
    yard.task("02-after", "touch after", priority=3)
    assert yard.plait("run", "-p", "1", "--stop-on-fail").code == 1
    assert not (yard.top / "after").exists()
    assert yard.statuses()["02-after"] == "skipped"


def test_every_line_of_json_is_an_event_of_the_batch(yard: TempProject) -> None:
    yard.task("01-walls", "echo brick")
    answer = yard.plait("run", "--json")
    events = [json.loads(line) for line in answer.out.splitlines()]
    batch = yard.batch().id
    assert answer.code == 0
    assert {event["batchId"] for event in events if event["type"].startswith("batch:")} == {batch}
    types = [event["type"] for event in events if event["type"].startswith("batch:")]
    assert types[0] == "batch:created"
    assert types[-1] == "batch:completed"
    assert types.index("batch:task:started") < types.index("batch:task:completed")
    numbers = [event["seq"] for event in events if event.get("seq") is not None]
    assert numbers == sorted(numbers)


def test_a_dry_run_shows_the_plan_and_starts_nothing(yard: TempProject) -> None:
    yard.task("01-walls", "touch walls")
    yard.task("02-paint", "touch paint", needs="[01-walls]")
    answer = yard.plait("run", "--dry-run")
    assert answer.code == 0
    assert "wave 2 of 2" in answer.out
    assert "in place" in answer.out
    assert json.loads(yard.plait("run", "--dry-run", "--json").out)["waves"] == [["01-walls"], ["02-paint"]]
    assert not yard.state().batches
    assert not yard.processes()


def test_the_engine_leaves_when_nothing_is_left_to_do(yard: TempProject) -> None:
    yard.task("01-walls", "true")
    assert yard.plait("run").code == 0
    yard.wait_for_exit()


def test_batches_of_one_repository_share_the_limit(yard: TempProject) -> None:
    own = yard.top.parent / "home" / "config" / "plait"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[engine]\nparallel_limit = 1\n")
    for folder in ("house", "garden"):
        for number in (1, 2):
            yard.task(f"{folder}-{number}", "echo + >> log; sleep 0.1; echo - >> log", folder=folder)
    fronts = [yard.start("run", folder) for folder in ("house", "garden")]
    assert [yard.finish(front).code for front in fronts] == [0, 0]
    assert (yard.read("log").count("+"), at_once(yard.read("log"))) == (4, 1)


def test_whoever_asks_for_more_at_once_than_is_usual_gets_it(yard: TempProject) -> None:
    for number in range(1, 7):
        yard.task(f"0{number}-task", MEET.replace("-ge 2", "-ge 6"))
    assert yard.plait("run", "-p", "6").code == 0
    assert at_once((yard.top.parent / "log").read_text()) == 6
    assert yard.plait("run", "-p", "2", "-s", "01-02").code == 0
    assert yard.state().settings.parallel_limit == 4


def test_no_limit_means_none(yard: TempProject) -> None:
    for number in range(1, 7):
        yard.task(f"0{number}-task", MEET.replace("-ge 2", "-ge 6"))
    assert yard.plait("run", "-p", "0").code == 0
    assert at_once((yard.top.parent / "log").read_text()) == 6


def test_a_task_file_that_can_not_be_read_is_not_done_and_the_rest_is(yard: TempProject) -> None:
    yard.task("01-walls", "touch walls")
    yard.write("tasks/02-roof.md", "---\nrun: [unclosed\n---\n# Roof\n\nDo it.")
    answer = yard.plait("run")
    assert answer.code == 1, answer
    assert (yard.top / "walls").exists()
    assert answer.out.endswith("\n  not run  02-roof: can't be read; plait plan says why\n")
    assert "tasks/02-roof.md:3" in answer.err
    told = yard.plait("run", "--json")
    assert told.code == 1
    assert [json.loads(line)["type"] for line in told.out.splitlines()][-1] == "batch:completed"
    assert "not run  02-roof" in told.err
    assert yard.plait("run", "-s", "01").code == 0
