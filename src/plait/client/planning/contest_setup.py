"""Contests: several agents or attempts per task, and how the winner is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plait.agents import table
from plait.agents.drivers.referee import build_referee_spec
from plait.agents.interface import AgentSpec
from plait.client.agent_specs import explain_missing
from plait.client.planning.agent_assignment import check_budgets
from plait.client.planning.plan_preview import SHELL_AGENT, PlanPreview, measure_agent_capacity
from plait.config.config import Config
from plait.core.contest import MAX_ENTRANTS, MAX_JUDGES, Contest, can_be_contested, expand_contest, find_duplicate_id
from plait.core.errors import UserError
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import Isolation


def add_referee(config: Config, agents: tuple[AgentSpec, ...]) -> tuple[AgentSpec, ...]:
    """Return the agents of the batch and the referee. Raises UserError or ConfigError if there can be none."""
    judges, score = _find_decider(config)
    if len(judges) > MAX_JUDGES:
        raise UserError(f"{len(judges)} judges are too many: {MAX_JUDGES} at most", hint="Name fewer agents: --judge.")
    spec = build_referee_spec(score=score, judges=[_find_judge(judge, agents) for judge in judges])
    table.load_agent(spec)
    return (*agents, spec)


def _find_decider(config: Config) -> tuple[tuple[str, ...], str | None]:
    """Return the judges or the score command, as the stronger layer sets; with neither, the smallest change wins."""
    judges, score = config.run.judge, config.run.score
    if not (judges and score):
        return judges, score
    origins = config.origins["run.judge"], config.origins["run.score"]
    stronger = origins[0].strength - origins[1].strength
    if stronger == 0:
        raise UserError(
            f"a contest is decided by judges or by a score, not by both: {origins[0]}, {origins[1]}",
            hint="Pass --judge or --score: an option overrides a file.",
        )
    return (judges, None) if stronger > 0 else ((), score)


def _find_judge(name: str, agents: Sequence[AgentSpec]) -> AgentSpec:
    if name == SHELL_AGENT:
        raise UserError("shell runs scripts of tasks and can't judge", hint="Name a coding tool: --judge.")
    spec = next((spec for spec in agents if spec.name == name), AgentSpec(name))
    refused = explain_missing(spec, "--judge")
    if refused is not None:
        raise UserError(f"the judge {name} isn't available: {refused[0]}", hint=refused[1])
    return spec


def add_contest_entrants(preview: PlanPreview, agents: Sequence[AgentSpec], repeats: int) -> PlanPreview:
    """Return the plan with its entrants. Raises UserError if there can be no contest."""
    plan = preview.planned.plan
    if plan is None:
        return preview
    judges, _ = _find_decider(preview.loaded.config)
    contest = Contest(preview.settings.agents, repeats, len(judges))
    _check_contest(contest, preview, plan)
    expanded = expand_contest(plan, contest)
    duplicate = find_duplicate_id(expanded)
    errors = (
        [] if duplicate is None else [Problem(Severity.ERROR, f"an entrant and a task are both called {duplicate}")]
    )
    refereed = [task for task in expanded.tasks if any(other.entrant == task.id for other in expanded.tasks)]
    errors += check_budgets(replace(preview.settings, fallback=()), refereed, agents)
    config = preview.loaded.config
    settings = config.batch_settings(
        tasks=len(expanded.tasks), cores=measure_agent_capacity(), agents=preview.settings.agents
    )
    planned = replace(preview.planned, plan=None if errors else expanded, problems=(*preview.planned.problems, *errors))
    return replace(preview, settings=replace(preview.settings, max_parallel=settings.max_parallel), planned=planned)


def _check_contest(contest: Contest, preview: PlanPreview, plan: Plan) -> None:
    if preview.settings.isolation is Isolation.IN_PLACE:
        raise UserError(
            "a contest needs worktrees: in place, the entrants of a task would change the same files",
            hint="Leave --isolation in-place out; contests need a git repository.",
        )
    if contest.size < 2:
        raise UserError(
            "a contest needs at least two entrants",
            hint="Name several agents (--contest claude,codex), or let it try several times (-n 2).",
        )
    if contest.size > MAX_ENTRANTS:
        raise UserError(
            f"{contest.size} entrants for each task are too many: {MAX_ENTRANTS} at most",
            hint="Name fewer agents, or a smaller -n.",
        )
    if SHELL_AGENT in contest.agents:
        raise UserError(
            "shell runs a task's own script and can't take part in a contest", hint="Name coding tools: --contest."
        )
    if not any(can_be_contested(task) for task in plan.tasks):
        raise UserError(
            "there is nothing to contest: every task has a script or a model job of its own",
            hint="Leave --contest and -n out.",
        )


def describe_contest(config: Config, plan: Plan) -> str:
    """Describe the contest in a sentence, for the prompt before the start; "" if there is none."""
    names = dict.fromkeys(task.agent or "" for task in plan.tasks if task.entrant is not None)
    if not names:
        return ""
    first = next(task.entrant for task in plan.tasks if task.entrant is not None)
    times = sum(task.entrant == first for task in plan.tasks) // len(names)
    often = f", {times} times each" if times > 1 else ""
    judges, score = _find_decider(config)
    decision = f"`{score}` scores them" if score else "the smallest change wins"
    if judges:
        decision = f"{judges[0]} judges" if len(judges) == 1 else f"{', '.join(judges)} vote"
    return f"a contest of {' and '.join(names)}{often}: {decision}"
