"""Turn sources and options into a checked plan: what `plait plan` shows and `plait run` submits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from plait.agents.table import describe_full_access
from plait.client.agent_specs import find_default_agent
from plait.client.api_models import (
    Cost,
    Dependency,
    ProblemDetails,
    SharedFile,
    make_cost,
    make_dependency,
    make_problem,
)
from plait.client.json_encoding import api_model, fill_model
from plait.client.planning.completed_tasks import find_missing_work, mark_completed
from plait.client.project_sources import LoadedSources, load_sources
from plait.client.project_state import PastBatches, read_past_batches
from plait.config.agent_keys import Permission
from plait.config.config import Config
from plait.core.fast_dataclass import dataclass
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.plan import Plan, Problem
from plait.core.settings import Isolation, SandboxMode, Settings, Spend
from plait.core.state import BatchState
from plait.git.command import Git
from plait.sources.planning import PlanOptions, PlanResult, plan_tasks
from plait.sources.source_model import SourceEntry, SourceStatus

SHELL_AGENT = "shell"
_BYTES_PER_AGENT = 1 << 30  # memory of a large agent with the tools it starts


@dataclass(frozen=True)
class PlanPreview:
    """A plan, or why there is none, with its inputs. `planned` has all problems found on the way."""

    loaded: LoadedSources
    history: PastBatches
    settings: Settings
    planned: PlanResult

    @cached_property
    def eta(self) -> float | None:
        """Seconds to the end of the batch, if history allows an estimate. The cost grows with the number of tasks."""
        return self.history.estimate_length(self.planned.plan, self.settings) if self.planned.plan else None

    @property
    def eta_basis(self) -> str | None:
        """What the ETA is based on."""
        return self.history.describe_basis(self.planned.plan, self.settings) if self.planned.plan else None

    @property
    def cost(self) -> Spend | None:
        """What the batch would cost, if history allows an estimate."""
        return self.history.estimate_cost(self.planned.plan, self.settings) if self.planned.plan else None

    @property
    def permissions(self) -> str:
        """One line about the agents of this batch that do everything without asking; "" if there is none."""
        tasks = self.planned.plan.tasks if self.planned.plan else ()
        by_agents = [task for task in tasks if task.agent != SHELL_AGENT and (task.agent or not task.run)]
        names = [name for task in by_agents for name in ((task.agent,) if task.agent else self.settings.agents)]
        if by_agents:
            names += self.settings.fallback
        config = self.loaded.config
        if any(task.entrant for task in tasks):
            names += config.run.judge
        granted, confined = dict(config.agents.permissions), dict(config.agents.sandboxes)
        return describe_full_access(
            {
                name: granted.get(name, Permission.FULL)
                for name in names
                if confined.get(name, self.settings.sandbox) is SandboxMode.OFF
            }
        )


def load_plan_preview(
    where: Path,
    source_names: Sequence[str],
    options: PlanOptions,
    flags: Mapping[str, object],
    check_config: Callable[[Config], None] | None = None,
) -> PlanPreview:
    loaded = load_sources(where, source_names, flags=flags, check_config=check_config)
    return build_plan_preview(loaded, read_past_batches(loaded.location), options)


def build_plan_preview(loaded: LoadedSources, past: PastBatches, options: PlanOptions) -> PlanPreview:
    config, cores = loaded.config, measure_agent_capacity()
    default_agents = () if config.default_agents else find_default_agent(config)
    options = replace(options, unknown=config.sources.unknown_needs)
    loaded, completed, notes = mark_completed(loaded, past.state, options)
    # The agents are known before the plan, their number only after it.
    draft_settings = config.batch_settings(tasks=len(loaded.source_set.entries), cores=cores, agents=default_agents)
    planned = plan_tasks(loaded.source_set, options, past.build_duration_estimate(draft_settings))
    if completed and planned.plan is not None:
        notes += tuple(find_missing_work(planned.plan, completed, partial(_is_in_base, loaded)))
    repeated = {f"{name} is complete already: skipped" for name in completed}  # the notes say by which batch
    own_problems = (problem for problem in planned.problems if problem.message not in repeated)
    problems = dict.fromkeys((*loaded.problems, *own_problems, *notes, *past.problems))
    tasks = len(planned.plan.tasks) if planned.plan else len(loaded.source_set.entries)
    settings = config.batch_settings(tasks=tasks, cores=cores, agents=default_agents)
    return PlanPreview(loaded, past, settings, replace(planned, problems=tuple(problems)))


def _is_in_base(loaded: LoadedSources, batch: BatchState) -> bool:
    """Whether tasks start with all that the batch merged. In place, they find whatever the checkout has.

    A branch that was squashed or rebased onto the base is in it, too: merging it again would change nothing, or a
    commit has the trailer that pull requests end with.
    """
    if loaded.config.run.isolation is Isolation.IN_PLACE or not loaded.location.repository:
        return True
    git, base = Git(loaded.location.top), loaded.config.run.base or "HEAD"
    found = git.run("merge-base", "--is-ancestor", "--end-of-options", batch.head, base, codes=range(256))
    if found.code != 1:  # anything else than no is not known
        return True
    merged = git.run("merge-tree", "--write-tree", "--end-of-options", base, batch.head, codes=range(256))
    tree = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{tree}}", codes=range(256))
    return (merged.code == 0 and merged.text == tree.text) or _is_squashed(git, base, batch)


def _is_squashed(git: Git, base: str, batch: BatchState) -> bool:
    """Whether a squash merge of the whole batch is on the base, where later commits may have changed the same lines.

    A commit of a single task, which may have been picked, names that task.
    """
    trailer = f"Plait-Batch: {batch.id}"
    grep = ("--fixed-strings", f"--grep={trailer}", "--end-of-options", base, f"^{batch.base}")
    log = git.run("log", "-z", "--format=%B", *grep, codes=range(256))
    messages = (message.splitlines() for message in log.text.split("\0"))
    return any(
        trailer in lines and (len(batch.merges) == 1 or sum(line.startswith("Plait-Task: ") for line in lines) != 1)
        for lines in messages
    )


def measure_agent_capacity() -> int:
    """Return how many agents this machine can run: its cores, or fewer if memory is short."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):  # unknown on this system
        memory = 0
    cores = os.cpu_count() or 1
    return min(cores, memory // _BYTES_PER_AGENT) if memory > 0 else cores


@api_model
class PlanTask:
    id: str
    title: str
    status: SourceStatus
    source: str | None
    needs: list[Dependency]
    touches: list[str]
    phase: str | None
    wave: int
    weight: float
    agent: str | None
    entrant_of: str | None


@api_model
class PlanPhase:
    id: str
    title: str
    after: list[str]
    total: int
    settled: int
    gate: float | None
    opens_with: str | None


@api_model
class PlanDetails:
    """The plan as `plan --json` prints it. Without a plan there are no tasks, and the problems say why; with one and an
    error, it can't be started now. `eta` (in seconds, with its `etaBasis`) and `cost` are present if history allows an
    estimate. `permissions` names the agents that do everything without asking, `sandbox` is what confines them.
    """

    tasks: list[PlanTask]
    waves: list[list[str]]
    conflicts: list[SharedFile]
    critical_path: list[str]
    phases: list[PlanPhase]
    eta: float | None
    eta_basis: str | None
    cost: Cost | None
    permissions: str | None
    sandbox: SandboxMode
    problems: list[ProblemDetails]


def describe_plan(preview: PlanPreview | None, problems: Sequence[Problem]) -> PlanDetails:
    """Describe the plan; without one there are no tasks, and the problems say why."""
    plan = preview.planned.plan if preview else None
    cost = preview.cost if preview else None
    return PlanDetails(
        tasks=_describe_tasks(plan, preview.loaded.source_set.by_id) if preview and plan else [],
        waves=group_waves(plan) if plan else [],
        conflicts=[fill_model(SharedFile, shared) for shared in (find_file_conflicts(plan) if plan else ())],
        critical_path=find_critical_path(plan) if plan else [],
        phases=[fill_model(PlanPhase, phase, id=phase.key) for phase in (plan.phases if plan else ())],
        eta=preview.eta if preview else None,
        eta_basis=preview.eta_basis if preview else None,
        cost=None if cost is None else make_cost(cost),
        permissions=(preview.permissions or None) if preview else None,
        sandbox=preview.settings.sandbox if preview else SandboxMode.OFF,
        problems=[make_problem(problem) for problem in problems],
    )


def _describe_tasks(plan: Plan, entries: Mapping[str, SourceEntry]) -> list[PlanTask]:
    wave = {name: number for number, names in enumerate(group_waves(plan), 1) for name in names}
    needs: dict[str, list[Dependency]] = {}
    for task, need in list_edges(plan):
        needs.setdefault(task.id, []).append(make_dependency(need))
    return [
        fill_model(
            PlanTask,
            task,
            status=entries[task.entrant or task.id].status,
            source=str(task.origin) if task.origin else None,
            needs=needs.get(task.id, []),
            wave=wave[task.id],
            entrant_of=task.entrant,
        )
        for task in plan.tasks
    ]
