"""Everything that stands between a look at the sources and a batch: who works, where, and in which contest."""

from __future__ import annotations

from dataclasses import replace

from plait.agents.interface import AgentSpec
from plait.client.planning.agent_assignment import assign_plan_agents
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission_checks import resolve_isolation
from plait.client.project_sources import LoadedSources, load_agent_specs


def select_agents(seen: LoadedSources, *, contest: bool) -> tuple[AgentSpec, ...]:
    """Who may be called, and in a contest who decides. Raises UserError or ConfigError."""
    agents = load_agent_specs(seen.config)
    if not contest:
        return agents
    from plait.client.planning.contest_setup import add_referee  # noqa: PLC0415 - few batches have one

    return add_referee(seen.config, agents)


def prepare_plan(
    found: PlanPreview, agents: tuple[AgentSpec, ...], repeats: int | None = None
) -> PlanPreview:
    """The plan as it would be submitted, or the problems in its way; `times`: in a contest, how often each agent tries."""
    found = assign_plan_agents(found, agents)
    if found.planned.plan is None:
        return found
    found = replace(
        found, settings=resolve_isolation(found.settings, found.survey.config, found.survey.place)
    )
    if repeats is None:
        return found
    from plait.client.planning.contest_setup import add_contest_entrants  # noqa: PLC0415

    return add_contest_entrants(found, agents, repeats)
