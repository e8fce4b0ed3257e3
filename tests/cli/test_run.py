"""`plait run` before anything runs: who works, what is refused, what would be submitted."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from plait.agents.model import AgentSpec
from plait.cli.planning import Outlook, look, machine_size
from plait.cli.run_agents import staffed
from plait.cli.run_ask import terms
from plait.cli.run_check import grounded, newest, refuse_twice
from plait.core.decisions import RequestGranted
from plait.core.errors import UserError
from plait.core.events import Record
from plait.core.evolve import evolve
from plait.core.plan import Plan
from plait.core.requests import Submit
from plait.core.settings import Isolation
from plait.core.state import State
from plait.sources.planning import Wish
from plait.testing.commands import ask

PLAN = "# Plan\n\n## Phase 1: House\n\n- [ ] 1.1 Put up the walls\n- [ ] 1.2 Paint them\n"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    here = tmp_path / "repository"
    (here / "tasks").mkdir(parents=True)
    (here / "plan.md").write_text(PLAN)
    (here / "tasks" / "01-run.md").write_text('---\nrun: "true"\n---\n# Run\n')
    (here / "tasks" / "02-plain.md").write_text("# Plain\n\nDo it.\n")
    (here / "tasks" / "03-own.md").write_text("---\nagent: shell\n---\n# Own\n\nDo it.\n")
    return here


def found(top: Path, *named: str, **said: object) -> Outlook:
    return look(top, named, Wish(), {key.replace("_", ".", 1): value for key, value in said.items()})


def planned(outlook: Outlook) -> Plan:
    assert outlook.planned.plan is not None, outlook.planned.problems
    return outlook.planned.plan


def agents(outlook: Outlook) -> dict[str, str | None]:
    return {task.id: task.agent for task in planned(outlook).tasks}


def told(outlook: Outlook) -> list[str]:
    assert outlook.planned.plan is None
    return [f"{problem.at}: {problem.message}" for problem in outlook.planned.problems]


def test_a_command_works_the_tasks_that_name_no_agent(top: Path) -> None:
    outlook = found(top, "tasks/01-run.md", "tasks/02-plain.md", run_agent="command")
    staff = staffed(outlook, [AgentSpec("command", ("true",))])
    assert agents(staff) == {"01-run": "shell", "02-plain": None}
    assert staff.settings.agents == ("command",)


def test_a_task_that_only_some_agents_can_take_goes_to_one_that_can(top: Path) -> None:
    outlook = found(top, "tasks/02-plain.md", run_agent="shell,command")
    assert agents(staffed(outlook, [AgentSpec("command", ("true",))])) == {"02-plain": "command"}


def test_tasks_that_nobody_can_take_are_told_once_for_each_reason(top: Path) -> None:
    assert told(staffed(found(top, "plan.md", "tasks"), ())) == [
        "plan.md:5: 1.1 has no `run:` in its front matter: there is no command for a shell (and 3 more like it)"
    ]
    assert told(staffed(found(top, "plan.md", run_agent="codex"), ())) == [
        "plan.md:5: 1.1: this version of plait can't drive Codex (codex) yet (and 1 more like it)"
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--agent-command ''", "has no `run:`"),
        ("--agent-command 'a | b'", "--agent-shell"),
        ("--agent-command 'tool {tusk_file}'", "task_file"),
        ("--agent-command x -a claude", "claude, command"),
        ("--executor ray", "--executor local"),
        ("--resume --agent-command x", "--resume"),
        ("--resume -a shell", "--resume"),
        ("--resume -s 02", "--resume"),
    ],
)
def test_words_that_contradict_each_other(
    top: Path, words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(capsys, top, "run", "tasks/02-plain.md", *shlex.split(words))
    assert answer.code == 2
    assert said in answer.err


def test_tasks_have_worktrees_unless_somebody_says_otherwise(top: Path) -> None:
    plain = found(top, "plan.md")
    place = replace(plain.seen.place, repository=True)
    assert grounded(plain.settings, plain.seen.config, place).isolation is Isolation.WORKTREE
    own = replace(plain.settings, isolation=Isolation.IN_PLACE)
    assert grounded(own, plain.seen.config, place).isolation is Isolation.IN_PLACE


def test_where_there_is_no_repository_they_work_in_place_and_who_asked_for_worktrees_is_told(
    top: Path,
) -> None:
    plain = found(top, "plan.md")
    place = replace(plain.seen.place, repository=False)
    assert grounded(plain.settings, plain.seen.config, place).isolation is Isolation.IN_PLACE
    (top / "plait.toml").write_text('[run]\nisolation = "worktree"\n')
    asked = found(top, "plan.md")
    with pytest.raises(UserError, match=r"plait.toml:2"):
        grounded(asked.settings, asked.seen.config, place)


def test_auto_goes_by_the_tasks_that_are_planned_not_by_those_that_are_there(top: Path) -> None:
    (top / "long.md").write_text(
        "# Plan\n\n## Phase 1: A\n\n" + "".join(f"- [ ] 1.{n} T\n" for n in range(1, 31))
    )
    whole = look(top, ["long.md"], Wish(), {"run.max_parallel": "auto"})
    few = look(top, ["long.md"], Wish("1.1 1.2"), {"run.max_parallel": "auto"})
    assert few.settings.max_parallel == 2
    assert whole.settings.max_parallel == max(2, min(5, machine_size()))


def test_the_terms_say_what_really_runs_at_once(top: Path) -> None:
    outlook = staffed(found(top, "tasks/01-run.md", run_max_parallel="9"), ())
    assert "1 task · 9 at once · shell · each in a worktree of its own" in terms(outlook, planned(outlook))
    queue = staffed(found(top, "tasks/01-run.md", run_mode="queue"), ())
    assert "1 task · one at a time, each after approval · shell" in terms(queue, planned(queue))
    (top / "plait.toml").write_text("[engine]\nparallel_limit = 3\n")
    outlook = staffed(found(top, "tasks/01-run.md", run_max_parallel="9"), ())
    said = terms(outlook, planned(outlook))
    assert "1 task · 3 at once (engine.parallel_limit) · shell · each in a worktree of its own" in said
    in_place = replace(outlook, settings=replace(outlook.settings, isolation=Isolation.IN_PLACE))
    assert f"in place: all tasks work in {top} itself" in terms(in_place, planned(in_place))


def submitted(outlook: Outlook, batch: str, state: State) -> None:
    sources = tuple(str(source) for source in outlook.seen.pile.sources)
    submit = Submit(batch, batch, planned(outlook).brief(), outlook.settings, sources=sources)
    for event in (submit, RequestGranted(batch)):
        evolve(state, Record(state.seq + 1, 0.0, event))


def test_a_task_of_an_open_batch_is_refused_by_whatever_id_it_goes(top: Path) -> None:
    (top / "other.md").write_text(PLAN)
    state = State()
    both = staffed(found(top, "plan.md", "other.md", run_agent="command"), [AgentSpec("command", ("true",))])
    assert "plan:1.1" in agents(both)
    submitted(both, "b1", state)
    one = replace(both, seen=found(top, "plan.md").seen)
    with pytest.raises(UserError, match=r"b1 has not finished with 1.1, 1.2"):
        refuse_twice(state, one, planned(found(top, "plan.md")))
    refuse_twice(state, found(top, "tasks"), planned(found(top, "tasks")))


def test_the_newest_unfinished_batch_of_these_sources_is_resumed(top: Path) -> None:
    state = State()
    command = [AgentSpec("command", ("true",))]
    for batch, source in (("b1", "plan.md"), ("b2", "plan.md"), ("b3", "tasks/02-plain.md")):
        submitted(staffed(found(top, source, run_agent="command"), command), batch, state)
    resumed = newest(state, found(top, "plan.md").seen.pile)
    assert resumed is not None
    assert resumed.id == "b2"
    assert newest(State(), found(top, "plan.md").seen.pile) is None


def test_a_dry_run_in_json_is_the_plan(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask(capsys, top, "run", "tasks/01-run.md", "--dry-run", "--json")
    plan = ask(capsys, top, "plan", "tasks/01-run.md", "--json")
    assert (answer.code, json.loads(answer.out)) == (0, json.loads(plan.out))


def test_what_is_wrong_is_json_where_json_was_asked_for(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(capsys, top, "run", "tasks", "--json")
    assert answer.code == 2
    assert "has no `run:`" in json.loads(answer.out)["problems"][0]["message"]
    answer = ask(capsys, top, "run", "nowhere", "--json")
    assert (answer.code, len(json.loads(answer.out)["problems"])) == (2, 1)
