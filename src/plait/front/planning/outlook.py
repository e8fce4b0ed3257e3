"""From what was said on the command line to a checked plan: what `plait plan` shows and `plait run` submits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from plait.config.model import Config
from plait.core.frozen import dataclass
from plait.core.settings import Settings, Spend
from plait.sources.planning import Planned, Wish, plan
from plait.wiring.sources import History, Survey, history, survey
from plait.wiring.tools import first_here

_PER_AGENT = 1 << 30  # bytes: what a large agent takes with the tools it starts


@dataclass(frozen=True)
class Outlook:
    """A plan, or why there is none, with all it was made from. `planned` has every problem that was met on the way."""

    seen: Survey
    past: History
    settings: Settings
    planned: Planned

    @cached_property
    def eta(self) -> float | None:
        """Seconds to the end of the batch, where history knows; it costs as much as the batch has tasks."""
        return self.past.length(self.planned.plan, self.settings) if self.planned.plan else None

    @property
    def cost(self) -> Spend | None:
        """What the batch would cost, where history knows."""
        return self.past.cost(self.planned.plan, self.settings) if self.planned.plan else None


def look(
    where: Path,
    named: Sequence[str],
    wish: Wish,
    flags: Mapping[str, object],
    vet: Callable[[Config], None] | None = None,
) -> Outlook:
    seen = survey(where, named, flags=flags, vet=vet)
    return outlook(seen, history(seen.place), wish)


def outlook(seen: Survey, past: History, wish: Wish) -> Outlook:
    config, size = seen.config, machine_size()
    here = () if config.serving else first_here(config)
    wish = replace(wish, unknown=config.sources.unknown_needs)
    # Who would work is known before the plan, how many at once only after it.
    agents = config.settings(tasks=len(seen.pile.entries), cores=size, agents=here)
    planned = plan(seen.pile, wish, past.durations(agents))
    problems = dict.fromkeys((*seen.problems, *planned.problems, *past.problems))
    tasks = len(planned.plan.tasks) if planned.plan else len(seen.pile.entries)
    settings = config.settings(tasks=tasks, cores=size, agents=here)
    return Outlook(seen, past, settings, replace(planned, problems=tuple(problems)))


def machine_size() -> int:
    """For how many agents this machine is made: its cores, or fewer where memory is scarcer than they are."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):  # a system that does not tell
        memory = 0
    cores = os.cpu_count() or 1
    return min(cores, memory // _PER_AGENT) if memory > 0 else cores
