"""The options of `plait run`, and the question whether to start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from plait.cli.commands.plan import SHELL_AGENT, describe_parallel_limit, print_plan
from plait.cli.format import pluralize
from plait.cli.output import Page
from plait.cli.prompts import ask_yes_no
from plait.client.planning.plan_preview import PlanPreview
from plait.config.config import Layer
from plait.core.contest import REFEREE
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.settings import Backoff, Isolation, Mode
from plait.sources.planning import PlanOptions

LOCAL_EXECUTOR = "local"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`flags` are settings by key. `backoff` has no flag: the demo sets it to retry quickly."""

    directory: Path
    source_names: tuple[str, ...] = ()
    plan_options: PlanOptions = field(default_factory=PlanOptions)
    flags: Mapping[str, object] = field(default_factory=dict)
    repo: str | None = None
    executor: str = LOCAL_EXECUTOR
    resume: bool = False
    dry_run: bool = False
    detach: bool = False
    web: bool = False
    yes: bool = False
    as_json: bool = False
    contest: bool = False
    times: int = 1
    backoff: Backoff | None = None

    def check(self) -> None:
        """Raises UserError for options that contradict each other."""
        self._check_contest()
        if self.web and self.detach:
            raise UserError(
                "--web serves the page while the batch is watched, so it can't be used with --detach",
                hint="Leave one of them out, or run plait serve.",
            )
        if self.executor != LOCAL_EXECUTOR:
            raise UserError(
                f"there is no executor called {self.executor}",
                hint="The only executor is local.",
            )

    def check_resume(self) -> None:
        """Raises UserError for options that an existing batch can't take."""
        agent = not self.flags.keys().isdisjoint({"run.agent", "run.agent_command", "run.model", "run.fallback"})
        if agent or self.plan_options.select or self.plan_options.with_needs:
            raise UserError(
                "--resume continues a batch as it was submitted: it takes no other tasks and no other agent",
                hint="Leave --select, --with-needs, --agent, --agent-command, --model and --fallback out; or run a new batch.",
            )

    def _check_contest(self) -> None:
        if self.times < 1:
            raise UserError(f"-n must be at least 1, not {self.times}", hint="Use -n 2 or more for a contest.")
        judging_flags = [flag for flag in ("run.judge", "run.score") if flag in self.flags]
        if judging_flags and not self.contest:
            raise UserError(
                f"--{judging_flags[0].removeprefix('run.')} only works in a contest",
                hint="Start one with --contest claude,codex or -n 2.",
            )
        if self.resume and self.contest:
            raise UserError(
                "--resume continues a batch as it was submitted, so it takes no contest options",
                hint="Leave --contest and -n out; or run a new batch.",
            )


def choose_agents(contest: str | None, agent: object) -> object:
    """The agents from --contest or --agent."""
    if contest is not None and agent is not None:
        raise UserError(
            "--contest and --agent both name the agents",
            hint="Use --contest for a contest between them, or --agent to share the tasks.",
        )
    return contest if contest is not None else agent


def choose_publish_mode(*, pr: bool | None, draft: bool, push: bool) -> str | None:
    """The value of pr.when_done that the flags ask for; None: no flag."""
    if pr is False and (draft or push):
        raise UserError("--no-pr contradicts --draft and --push", hint="Leave one of them out.")
    if push and (pr or draft):
        raise UserError("--push pushes without a pull request", hint="--pr pushes too: leave --push out.")
    if pr is False:
        return "off"
    if draft:
        return "draft"
    return "push" if push else "pr" if pr else None


def confirm_run(found: PlanPreview, plan: Plan) -> bool:
    print_plan(found, plan)
    page = Page()
    page.add_line()
    page.add_line(describe_run(found, plan))
    page.show()
    count = sum(task.entrant is None for task in plan.tasks)
    which = "this task" if count == 1 else f"these {count} tasks"
    return ask_yes_no(f"Run {which}? [Y/n] ", default=True)


def describe_run(found: PlanPreview, plan: Plan) -> str:
    """The number of tasks, parallelism, agents and isolation in one line."""
    settings = found.settings
    tasks = [task for task in plan.tasks if task.entrant is None]
    agents = {task.agent for task in tasks if task.agent and task.agent != REFEREE}
    agents.update(settings.agents if any(task.agent is None for task in tasks) else ())
    named = ", ".join([*_describe_contest(found, plan), *(_describe_agent(found, name) for name in sorted(agents))])
    if settings.fallback and len(tasks) == len(plan.tasks):  # contests have no fallback
        named = f"{named} (fallback: {', '.join(settings.fallback)})"
    return f"{pluralize(len(tasks), 'task')} · {_describe_parallelism(found)} · {named} · {_describe_isolation(found)}"


def _describe_contest(found: PlanPreview, plan: Plan) -> list[str]:
    if len(plan.tasks) == sum(task.entrant is None for task in plan.tasks):
        return []
    from plait.client.planning.contest_setup import describe_contest  # few batches have one

    return [describe_contest(found.loaded.config, plan)]


def _describe_agent(found: PlanPreview, name: str) -> str:
    """The agent's name, marked if it was detected rather than configured."""
    chosen = not found.loaded.config.default_agents and name in found.settings.agents and name != SHELL_AGENT
    return f"{name} (first agent found)" if chosen else name


def _describe_isolation(found: PlanPreview) -> str:
    if found.settings.isolation is Isolation.WORKTREE:
        base = found.loaded.config.run.base
        return f"each in its own worktree, from {base}" if base else "each in its own worktree"
    return f"in place: all tasks work in {found.loaded.place.top} directly, without worktrees"


def _describe_parallelism(found: PlanPreview) -> str:
    """A configured engine limit applies if it is lower than the batch's."""
    settings, config = found.settings, found.loaded.config
    if settings.mode is Mode.QUEUE:
        return "one at a time" if settings.auto_approve else "one at a time, each after approval"
    own = settings.max_parallel
    limit = config.engine.parallel_limit
    set_ = config.origins["engine.parallel_limit"].layer is not Layer.DEFAULT
    if set_ and limit and (not own or own > limit):
        return f"{limit} at once (engine.parallel_limit)"
    return describe_parallel_limit(settings)
