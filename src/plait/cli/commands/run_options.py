"""What was said to `plait run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Backoff
from plait.sources.planning import PlanOptions

LOCAL_EXECUTOR = "local"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`flags` are settings by key. `backoff` is nobody's flag: the demonstration has no time to wait."""

    where: Path
    named: tuple[str, ...] = ()
    wish: PlanOptions = field(default_factory=PlanOptions)
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
        """Raises UserError for words that contradict each other."""
        self._check_contest()
        if self.web and self.detach:
            raise UserError(
                "--web serves the page for as long as the batch is watched, and --detach leaves it to itself",
                hint="Leave one of them out; plait serve serves the page for good.",
            )
        if self.executor != LOCAL_EXECUTOR:
            raise UserError(
                f"there is no executor called {self.executor} yet",
                hint="Attempts run here: --executor local.",
            )

    def check_resume(self) -> None:
        """Raises UserError for what can't be said of a batch that is there already."""
        agent = not self.flags.keys().isdisjoint(
            {"run.agent", "run.agent_command", "run.model", "run.fallback"}
        )
        if agent or self.wish.select or self.wish.with_needs:
            raise UserError(
                "--resume goes on with a batch as it was submitted: it takes no other tasks and no other agent",
                hint="Leave --select, --with-needs, --agent, --agent-command, --model and --fallback out; or run a new batch.",
            )

    def _check_contest(self) -> None:
        if self.times < 1:
            raise UserError(f"-n {self.times}: a task is tried once at least", hint="Say -n 2, or more.")
        judging_flags = [flag for flag in ("run.judge", "run.score") if flag in self.flags]
        if judging_flags and not self.contest:
            raise UserError(
                f"--{judging_flags[0].removeprefix('run.')} decides a contest, and none is asked for",
                hint="Say who is in it: --contest claude,codex, or -n 2.",
            )
        if self.resume and self.contest:
            raise UserError(
                "--resume goes on with a batch as it was submitted: contests are part of it, or are not",
                hint="Leave --contest and -n out; or run a new batch.",
            )


def choose_agents(contest: str | None, agent: str | None) -> str | None:
    """The agents, from the two flags that name some."""
    if contest is not None and agent is not None:
        raise UserError(
            "--contest and --agent both name the agents",
            hint="Say --contest for a contest between them, --agent to share the tasks out.",
        )
    return contest if contest is not None else agent


def choose_publish_mode(*, pr: bool | None, draft: bool, push: bool) -> str | None:
    """What is done with the batch branch at the end, from the flags that say so; None: they say nothing."""
    if pr is False and (draft or push):
        raise UserError("--no-pr goes with neither --draft nor --push", hint="Leave one of them out.")
    if push and (pr or draft):
        raise UserError("--push pushes without a pull request", hint="--pr pushes too: leave --push out.")
    if pr is False:
        return "off"
    if draft:
        return "draft"
    return "push" if push else "pr" if pr else None
