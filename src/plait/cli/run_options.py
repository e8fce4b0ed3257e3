"""What was said to `plait run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plait.core.errors import UserError
from plait.core.settings import Backoff
from plait.sources.planning import Wish

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`flags` are settings by key. `backoff` is nobody's flag: the demonstration has no time to wait."""

    where: Path
    named: tuple[str, ...] = ()
    wish: Wish = field(default_factory=Wish)
    flags: Mapping[str, object] = field(default_factory=dict)
    repo: str | None = None
    executor: str = LOCAL
    resume: bool = False
    dry_run: bool = False
    detach: bool = False
    yes: bool = False
    as_json: bool = False
    backoff: Backoff | None = None

    def check(self) -> None:
        """Raises UserError for words that contradict each other."""
        if self.executor != LOCAL:
            raise UserError(
                f"there is no executor called {self.executor} yet",
                hint="Attempts run here: --executor local.",
            )
        agent = "run.agent" in self.flags or "run.agent_command" in self.flags
        if self.resume and (agent or self.wish.select or self.wish.with_needs):
            raise UserError(
                "--resume goes on with a batch as it was submitted: it takes no other tasks and no other agent",
                hint="Leave --select, --with-needs, --agent and --agent-command out; or run a new batch.",
            )


def when_done(*, pr: bool | None, draft: bool, push: bool) -> str | None:
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
