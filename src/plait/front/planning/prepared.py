"""Everything that stands between a look at the sources and a batch: who works, where, and in which contest."""

from __future__ import annotations

from dataclasses import replace

from plait.agents.model import AgentSpec
from plait.front.planning.checks import grounded
from plait.front.planning.outlook import Outlook
from plait.front.planning.staff import staffed
from plait.wiring.sources import Survey, agent_specs


def agents_of(seen: Survey, *, contest: bool) -> tuple[AgentSpec, ...]:
    """Who may be called, and in a contest who decides. Raises UserError or ConfigError."""
    agents = agent_specs(seen.config)
    if not contest:
        return agents
    from plait.front.planning.contest import with_referee  # noqa: PLC0415 - few batches have one

    return with_referee(seen.config, agents)


def prepared(found: Outlook, agents: tuple[AgentSpec, ...], times: int | None = None) -> Outlook:
    """The plan as it would be submitted, or the problems in its way; `times`: in a contest, how often each agent tries."""
    found = staffed(found, agents)
    if found.planned.plan is None:
        return found
    found = replace(found, settings=grounded(found.settings, found.seen.config, found.seen.place))
    if times is None:
        return found
    from plait.front.planning.contest import contested  # noqa: PLC0415

    return contested(found, agents, times)
