"""What every agent is to plait: a command for a brief, and a listener for what its process says.

An agent never runs anything. The site starts the command; the engine feeds the transcript's lines to the listener.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission, PromptDelivery
from plait.core.decisions import Candidate
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Attempt, Task


class CostReporting(StrEnum):
    """What an agent tells of its spending: the money, only the tokens, nothing; or it never costs anything."""

    COST = "cost"
    TOKENS = "tokens"
    NOTHING = "nothing"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens of the models that the pattern fits. `cached` None: cached input costs like any other."""

    model: str
    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How one agent of a batch is called, where its name alone does not say.

    `command` are the words of `--agent-command`; `shell`: they are one line for `sh -c`, in which placeholders become
    quoted words. `model` is for tasks that name none, `args` are further words for the tool, `program` what is run in the
    place of its usual name, `account` whose limits it shares (none: its provider's). `options` are the agent's own.
    `replies`: it writes no file itself; what it answers is applied.
    """

    name: str
    command: tuple[str, ...] = ()
    shell: bool = False
    prompt_by: PromptDelivery = PromptDelivery.STDIN
    model: str = ""
    args: tuple[str, ...] = ()
    permission: Permission = Permission.FULL
    program: str = ""
    account: str = ""
    prices: tuple[Price, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    replies: bool = False


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """All that an agent is told of one attempt. `task` is whole; the files lie there already.

    `folder` is the attempt's own, outside the workspace: what a command names in `files` is put there. `session` is the
    tool's own, to go on with. `base` is the commit that the workspace was made from, `candidates` what a referee chooses
    from.
    """

    attempt: Attempt
    task: Task
    workspace: str
    task_file: str
    prompt_file: str
    folder: str = ""
    session: str | None = None
    feedback: str = ""
    base: str = ""
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """What to run in the workspace. `stdin` names a file; without one there is nothing to read. `env` is added.

    `files` are names and texts, put into the brief's `folder` before it starts; nobody else can read them.
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()


class ActivityKind(StrEnum):
    """What kind of thing an agent does: the same few for all tools."""

    SAYS = "says"
    THINKS = "thinks"
    READS = "reads"
    EDITS = "edits"
    RUNS = "runs"
    SEARCHES = "searches"
    USES = "uses"  # any other tool
    WAITS = "waits"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Activity:
    """A line for people: what the agent does now."""

    text: str
    kind: ActivityKind = ActivityKind.SAYS


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """The tool says which of its own stages it is in."""

    name: str


@dataclass(frozen=True, slots=True)
class SessionStarted:
    session: str


@dataclass(frozen=True, slots=True)
class SpendUpdated:
    """What this attempt has spent so far, in all."""

    spend: Spend


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """It waits for a person."""

    question: str


@dataclass(frozen=True, slots=True)
class ProviderRefused:
    """Its provider refuses for now, while the tool itself waits and goes on. `wait`: as far as it says until when."""

    wait: RetryAfter


AgentEvent = Activity | PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked | ProviderRefused


class OutputParser(Protocol):
    """Hears one attempt's transcript from its beginning, line by line; a line that says nothing costs next to nothing."""

    def feed(self, line: str) -> Sequence[AgentEvent]: ...

    def mark_gap(self) -> None:
        """Much was printed, and some of it is not heard."""

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        """What the exit means; `code` is the shell's (128 + n for a signal), `tail` the last few kilobytes of output,
        `said_at` when that was written: "until 3 pm" means nothing without it.

        `tip`, `files` and `peak` are not the agent's to tell.
        """


class Agent(Protocol):
    """`name` is what people call it; `provider` the account that its rate limits belong to."""

    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    @property
    def reports(self) -> CostReporting: ...

    def build_command(self, context: AttemptContext) -> Command: ...

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:
        """`before` is what the session that goes on had spent: some tools count a session as a whole."""
