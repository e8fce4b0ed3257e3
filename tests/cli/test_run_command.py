"""`plait run` before anything runs: the agents, what is refused, what would be submitted."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from plait.agents.interface import AgentSpec, Price
from plait.cli.commands.run_batch import describe_run
from plait.client.planning.agent_assignment import assign_plan_agents
from plait.client.planning.plan_preview import PlanPreview, load_plan_preview, measure_agent_capacity
from plait.client.planning.submission import find_open_batch, refuse_duplicates, resolve_isolation
from plait.core.decisions import RequestGranted
from plait.core.errors import UserError
from plait.core.events import Record
from plait.core.plan import Plan
from plait.core.reducers import evolve
from plait.core.requests import Submit
from plait.core.settings import Isolation
from plait.core.state import State
from plait.git.command import PLAIT_IDENTITY, Git
from plait.sources.planning import PlanOptions
from tests.support.cli_runner import ask

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


def found(top: Path, *names: str, **flags: object) -> PlanPreview:
    return load_plan_preview(
        top, names, PlanOptions(), {key.replace("_", ".", 1): value for key, value in flags.items()}
    )


def planned(outlook: PlanPreview) -> Plan:
    assert outlook.planned.plan is not None, outlook.planned.problems
    return outlook.planned.plan


def agents(outlook: PlanPreview) -> dict[str, str | None]:
    return {task.id: task.agent for task in planned(outlook).tasks}


def list_problems(outlook: PlanPreview) -> list[str]:
    assert outlook.planned.plan is None
    return [f"{problem.at}: {problem.message}" for problem in outlook.planned.problems]


def test_agent_command_runs_the_tasks_that_name_no_agent(top: Path) -> None:
    outlook = found(top, "tasks/01-run.md", "tasks/02-plain.md", run_agent="command")
    staff = assign_plan_agents(outlook, [AgentSpec("command", ("true",))])
    assert agents(staff) == {"01-run": "shell", "02-plain": None}
    assert staff.settings.agents == ("command",)


def test_a_task_goes_to_an_agent_that_can_run_it(top: Path) -> None:
    outlook = found(top, "tasks/02-plain.md", run_agent="shell,command")
    assert agents(assign_plan_agents(outlook, [AgentSpec("command", ("true",))])) == {"02-plain": "command"}


def test_tasks_without_a_usable_agent_are_reported_once_per_reason(top: Path) -> None:
    assert list_problems(assign_plan_agents(found(top, "plan.md", "tasks", run_agent="shell"), ())) == [
        "plan.md:5: 1.1 has no `run:` in its front matter: there is no command for a shell (and 3 more like it)"
    ]
    assert list_problems(assign_plan_agents(found(top, "plan.md", run_agent="codex"), ())) == [
        "plan.md:5: 1.1: the agent codex is not installed here (and 1 more like it)"
    ]


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    """Programs of these names, and no others, on the PATH."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_the_default_agent_is_the_first_one_installed(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "bin", "aider", "codex", "amp", "shell")
    staff = assign_plan_agents(found(top, "tasks/01-run.md", "tasks/02-plain.md"), ())
    assert staff.settings.agents == ("codex",)
    assert agents(staff) == {"01-run": "shell", "02-plain": None}
    assert "codex (first agent found), shell" in describe_run(staff, planned(staff))


def test_an_untested_agent_is_never_the_default(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "bin", "amp", "goose", "cursor-agent")
    assert found(top, "plan.md").settings.agents == ("shell",)


def test_a_named_agent_is_used_without_detection(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "bin", "claude", "codex")
    staff = assign_plan_agents(found(top, "plan.md", run_agent="codex"), ())
    assert staff.settings.agents == ("codex",)
    assert "found here" not in describe_run(staff, planned(staff))


def test_a_configured_program_replaces_the_tool(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "bin", "my-codex")
    spec = AgentSpec("codex", program="my-codex")
    assert planned(assign_plan_agents(found(top, "plan.md", run_agent="codex"), [spec])).tasks
    gone = assign_plan_agents(found(top, "plan.md", run_agent="codex"), [replace(spec, program="no-codex")])
    assert list_problems(gone) == [
        "plan.md:5: 1.1: no-codex, the program of the agent codex, was not found (and 1 more like it)"
    ]


def test_a_missing_tool_is_reported(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "bin")
    outlook = assign_plan_agents(found(top, "plan.md"), ())
    (message,) = list_problems(outlook)
    assert message.startswith("plan.md:5: 1.1 has no agent: no coding tool is installed")
    assert "plait agents" in outlook.planned.problems[0].hint


def test_settings_for_an_unknown_agent_are_reported(top: Path) -> None:
    """A permission for an agent that doesn't exist would leave the intended one with full permission."""
    (top / "plait.toml").write_text('[agents.models]\nclaud = "opus"\n')
    (warning,) = (run := assign_plan_agents(found(top, "tasks/01-run.md"), ())).planned.problems
    assert planned(run).tasks
    assert "there is no agent called claud" in warning.message
    assert "Did you mean claude?" in warning.hint
    (top / "plait.toml").write_text('[agents.permissions]\nclaud = "edits"\nclaude = "edits"\n')
    assert "there is no agent called claud" in list_problems(assign_plan_agents(found(top, "tasks/01-run.md"), ()))[0]


def test_each_of_several_agents_must_be_installed(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "bin", "claude")
    outlook = assign_plan_agents(found(top, "plan.md", run_agent="claude,codex"), ())
    assert list_problems(outlook) == ["plan.md:5: 1.1: the agent codex is not installed here (and 1 more like it)"]
    assert "npm install -g @openai/codex" in outlook.planned.problems[0].hint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--agent-command ''", "has no `run:`"),
        ("--agent-command 'a | b'", "--agent-shell"),
        ("--agent-command 'tool {tusk_file}'", "task_file"),
        ("--agent-command x -a claude", "claude, command"),
        ("--executor ray --isolation in-place", "in-place batch works in the checkout of this machine"),
        ("--executor slurm", "ray"),
        ("--resume --agent-command x", "--resume"),
        ("--resume -a shell", "--resume"),
        ("--resume -s 02", "--resume"),
    ],
)
def test_contradictory_options_are_refused(
    top: Path, words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(capsys, top, "run", "tasks/02-plain.md", *shlex.split(words))
    assert answer.code == 2
    assert message in answer.err


PRICES = (Price("gpt-*", 1.25, 10.0),)


def test_every_agent_has_a_provider_and_an_account_counts_as_one(top: Path) -> None:
    (top / "tasks/09-own.md").write_text("---\nagent: codex\n---\n# Mine\n")
    specs = [AgentSpec("command", ("true",), account="ours"), AgentSpec("codex", program="true")]
    staff = assign_plan_agents(found(top, "tasks/09-own.md", run_agent="command"), specs)
    assert staff.settings.provider("command") == "ours"
    assert staff.settings.provider("codex") == "openai"  # by its task alone
    assert staff.settings.provider("claude") == "anthropic"  # for a retry with it


@pytest.mark.parametrize(
    ("spec", "budget", "message"),
    [
        (AgentSpec("command", ("true",)), "5usd", "which doesn't report its cost"),
        (AgentSpec("command", ("true",)), "500ktok", "which doesn't report its cost"),
        (AgentSpec("codex", program="true"), "5usd", "its model isn't set"),
        (AgentSpec("codex", program="true", model="gpt-5"), "5usd", "no price is set for gpt-5"),
        (AgentSpec("codex", program="true", model="o9", prices=PRICES), "5usd", "no price is set for o9"),
        (AgentSpec("claude", program="true"), "0usd", "a budget of 0 lets no task start"),
        (AgentSpec("claude", program="true"), "5usd 0ktok", "a budget of 0 lets no task start"),
    ],
)
def test_a_budget_that_no_agent_reports_is_refused(top: Path, spec: AgentSpec, budget: str, message: str) -> None:
    for key in ("run_budget", "run_task_budget"):
        outlook = assign_plan_agents(found(top, "tasks/02-plain.md", **{"run_agent": spec.name, key: budget}), [spec])
        assert outlook.planned.plan is None
        (problem,) = outlook.planned.problems
        assert message in problem.message
        assert problem.hint


@pytest.mark.parametrize(
    ("spec", "budget"),
    [
        (AgentSpec("codex", program="true"), "500ktok"),
        (AgentSpec("codex", program="true", model="gpt-5", prices=PRICES), "5usd"),
        (AgentSpec("claude", program="true"), "5usd"),
    ],
)
def test_a_budget_that_agents_report_is_accepted(top: Path, spec: AgentSpec, budget: str) -> None:
    planned(assign_plan_agents(found(top, "tasks/02-plain.md", run_agent=spec.name, run_budget=budget), [spec]))


def test_free_tasks_are_within_every_budget(top: Path) -> None:
    planned(assign_plan_agents(found(top, "tasks/01-run.md", run_budget="5usd"), ()))


def test_fallback_agents_must_be_installed_and_able(top: Path) -> None:
    command = AgentSpec("command", ("true",))
    plain = {"run_agent": "command"}
    planned(
        assign_plan_agents(
            found(top, "tasks/02-plain.md", run_fallback="codex", **plain),
            [command, AgentSpec("codex", program="true")],
        )
    )
    assert "codx can't be a fallback: there is no agent called codx" in _problem(
        assign_plan_agents(found(top, "tasks/02-plain.md", run_fallback="codx", **plain), [command])
    )
    assert "shell can't be a fallback: 02-plain has no `run:`" in _problem(
        assign_plan_agents(found(top, "tasks/02-plain.md", run_fallback="shell", **plain), [command])
    )
    planned(assign_plan_agents(found(top, "tasks/01-run.md", run_fallback="shell", **plain), [command]))
    blind = assign_plan_agents(
        found(top, "tasks/02-plain.md", run_agent="claude", run_fallback="command", run_budget="5usd"),
        [AgentSpec("claude", program="true"), command],
    )
    assert "the agent command, which doesn't report its cost" in _problem(blind)


def _problem(outlook: PlanPreview) -> str:
    assert outlook.planned.plan is None
    (problem,) = outlook.planned.problems
    return problem.message


def test_tasks_have_worktrees_by_default(top: Path) -> None:
    plain = found(top, "plan.md")
    place = replace(plain.loaded.location, repository=True)
    assert resolve_isolation(plain.settings, plain.loaded.config, place).isolation is Isolation.WORKTREE
    own = replace(plain.settings, isolation=Isolation.IN_PLACE)
    assert resolve_isolation(own, plain.loaded.config, place).isolation is Isolation.IN_PLACE


def test_outside_of_a_repository_tasks_run_in_place_and_worktrees_are_refused(
    top: Path,
) -> None:
    plain = found(top, "plan.md")
    place = replace(plain.loaded.location, repository=False)
    assert resolve_isolation(plain.settings, plain.loaded.config, place).isolation is Isolation.IN_PLACE
    (top / "plait.toml").write_text('[run]\nisolation = "worktree"\n')
    asked = found(top, "plan.md")
    with pytest.raises(UserError, match=r"plait.toml:2"):
        resolve_isolation(asked.settings, asked.loaded.config, place)


def test_auto_parallelism_depends_on_the_planned_tasks(top: Path) -> None:
    (top / "long.md").write_text("# Plan\n\n## Phase 1: A\n\n" + "".join(f"- [ ] 1.{n} T\n" for n in range(1, 31)))
    whole = load_plan_preview(top, ["long.md"], PlanOptions(), {"run.max_parallel": "auto"})
    few = load_plan_preview(top, ["long.md"], PlanOptions("1.1 1.2"), {"run.max_parallel": "auto"})
    assert few.settings.max_parallel == 2
    assert whole.settings.max_parallel == max(2, min(5, measure_agent_capacity()))


def test_the_run_description_names_fallback_agents(top: Path) -> None:
    specs = [AgentSpec(name, program="true") for name in ("claude", "codex")]
    outlook = assign_plan_agents(found(top, "plan.md", run_agent="claude", run_fallback="codex"), specs)
    assert " · claude (fallback: codex) · " in describe_run(outlook, planned(outlook))


@pytest.mark.parametrize(
    ("name", "flags", "expected"),
    [
        ("plan.md", {"run_agent": "claude"}, "claude (--dangerously-skip-permissions) runs with "),
        ("plan.md", {"run_agent": "aider", "run_fallback": "mini"}, "aider (--yes-always), mini (--yolo) run with "),
        ("tasks/01-run.md", {"run_agent": "claude", "run_fallback": "mini"}, ""),
        ("plan.md", {"run_agent": "codex"}, ""),
    ],
    ids=["its agent", "with a fallback", "a command of the task", "restricted"],
)
def test_agents_of_the_plan_that_do_everything_are_disclosed(
    top: Path, name: str, flags: dict[str, object], expected: str
) -> None:
    (top / "plait.toml").write_text('[agents.permissions]\ncodex = "edits"\n')
    unassigned = found(top, name, **flags)
    specs = [AgentSpec(agent, program="true") for agent in ("claude", "codex", "aider", "mini")]
    for preview in (unassigned, assign_plan_agents(unassigned, specs)):
        assert planned(preview).tasks
        assert preview.permissions.startswith(expected)
        assert bool(preview.permissions) == bool(expected)


def test_the_run_description_shows_the_effective_parallel_limit(top: Path) -> None:
    outlook = assign_plan_agents(found(top, "tasks/01-run.md", run_max_parallel="9"), ())
    assert "1 task · 9 at once · shell · each in its own worktree" in describe_run(outlook, planned(outlook))
    queue = assign_plan_agents(found(top, "tasks/01-run.md", run_mode="queue"), ())
    assert "1 task · one at a time, each after approval · shell" in describe_run(queue, planned(queue))
    (top / "plait.toml").write_text("[engine]\nparallel_limit = 3\n")
    outlook = assign_plan_agents(found(top, "tasks/01-run.md", run_max_parallel="9"), ())
    message = describe_run(outlook, planned(outlook))
    assert "1 task · 3 at once (engine.parallel_limit) · shell · each in its own worktree" in message
    in_place = replace(outlook, settings=replace(outlook.settings, isolation=Isolation.IN_PLACE))
    assert f"in place: all tasks work in {top} directly" in describe_run(in_place, planned(in_place))


def submitted(outlook: PlanPreview, batch: str, state: State) -> None:
    sources = tuple(str(source) for source in outlook.loaded.source_set.sources)
    submit = Submit(batch, batch, planned(outlook).without_texts(), outlook.settings, sources=sources)
    for event in (submit, RequestGranted(batch)):
        evolve(state, Record(state.seq + 1, 0.0, event))


def test_a_task_of_an_open_batch_is_refused_under_any_id(top: Path) -> None:
    (top / "other.md").write_text(PLAN)
    state = State()
    both = assign_plan_agents(found(top, "plan.md", "other.md", run_agent="command"), [AgentSpec("command", ("true",))])
    assert "plan:1.1" in agents(both)
    submitted(both, "b1", state)
    one = replace(both, loaded=found(top, "plan.md").loaded)
    with pytest.raises(UserError, match=r"b1 has not finished with 1.1, 1.2"):
        refuse_duplicates(state, one, planned(found(top, "plan.md")))
    refuse_duplicates(state, found(top, "tasks"), planned(found(top, "tasks")))


def test_the_newest_unfinished_batch_of_these_sources_is_resumed(top: Path) -> None:
    state = State()
    command = [AgentSpec("command", ("true",))]
    for batch, source in (("b1", "plan.md"), ("b2", "plan.md"), ("b3", "tasks/02-plain.md")):
        submitted(assign_plan_agents(found(top, source, run_agent="command"), command), batch, state)
    resumed = find_open_batch(state, found(top, "plan.md").loaded.source_set)
    assert resumed is not None
    assert resumed.id == "b2"
    assert find_open_batch(State(), found(top, "plan.md").loaded.source_set) is None


def test_a_dry_run_in_json_is_the_plan(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask(capsys, top, "run", "tasks/01-run.md", "--dry-run", "--json")
    plan = ask(capsys, top, "plan", "tasks/01-run.md", "--json")
    assert (answer.code, json.loads(answer.out)) == (0, json.loads(plan.out))


def test_errors_are_json_with_json(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask(capsys, top, "run", "tasks", "--json")
    assert answer.code == 2
    assert "has no `run:`" in json.loads(answer.out)["problems"][0]["message"]
    answer = ask(capsys, top, "run", "nowhere", "--json")
    assert (answer.code, len(json.loads(answer.out)["problems"])) == (2, 1)


def test_uncommitted_changes_and_a_missing_identity_are_shown_before_the_run(
    top: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git = Git(top)
    git.run("init", "--quiet")
    git.run("add", ".")
    git.with_options(variables=PLAIT_IDENTITY).run("commit", "--quiet", "-m", "begin")
    (top / "plan.md").write_text(f"{PLAN}\nA note.\n")
    words = ("run", "tasks", "-s", "01-run", "--agent-command", "true {task_file}", "--dry-run")
    shown = ask(capsys, top, *words)
    assert "1 modified file is not in the base commit; agents won't see it: plan.md" in shown.out
    assert "for your commits: they will be by plait <plait@localhost>" in shown.out
    assert "modified" not in ask(capsys, top, *words, "--isolation", "in-place").output


def test_programs_that_are_not_installed_are_reported_before_anything_starts(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "tasks" / "01-run.md").write_text('---\nrun: "true"\nverify: no-checker --all\n---\n# Run\n')
    (top / "plait.toml").write_text('[run]\nverify = "no-tester -q"\ngate = "true && no-gate"\n')
    words = ("run", "tasks", "-s", "01-run", "--dry-run", "--isolation")
    refused = ask(capsys, top, *words, "in-place", "--gate", "")
    assert refused.code == 2
    assert "plait.toml:2: no-tester is not installed, and verify runs it" in refused.err
    assert "tasks/01-run.md:1: 01-run: no-checker is not installed, and its verify runs it" in refused.err
    assert "--no-preflight" in refused.err

    Git(top).run("init", "--quiet")
    assert "plait.toml:3: no-gate is not installed, and gate runs it" in ask(capsys, top, *words, "worktree").err

    allowed = ask(capsys, top, *words, "in-place", "--gate", "", "--no-preflight")
    assert allowed.code == 0
    assert "warning plait.toml:2: no-tester is not installed, and verify runs it" in allowed.out


def test_setup_may_install_what_verification_runs(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Git(top).run("init", "--quiet")
    (top / "plait.toml").write_text('[run]\nverify = "no-tester"\n[workspace]\nsetup = "true"\n')
    words = ("run", "tasks", "-s", "01-run", "--dry-run", "--isolation", "worktree")
    shown = ask(capsys, top, *words)
    assert shown.code == 0, shown
    assert "Unless setup installs it" in shown.out
    (top / "plait.toml").write_text('[run]\nverify = "true"\n[workspace]\nsetup = "no-installer"\n')
    refused = ask(capsys, top, *words)
    assert (refused.code, "no-installer is not installed, and setup runs it" in refused.err) == (2, True)


def test_the_program_of_an_agent_command_must_be_installed(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "tasks", "-s", "02-plain", "--dry-run", "--isolation", "in-place", "--agent-command")
    refused = ask(capsys, top, *words, "no-agent {task_file}")
    assert (refused.code, "no-agent is not installed, and the agent's command runs it" in refused.err) == (2, True)
    refused = ask(capsys, top, *words, "cat {task_file} | no-agent", "--agent-shell")
    assert (refused.code, "no-agent is not installed" in refused.err) == (2, True)
    for command in ("./agent.sh {task_file}", "{workspace}/agent.sh", "cat {task_file}"):
        assert ask(capsys, top, *words, command).code == 0, command
