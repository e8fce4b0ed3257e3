"""The interface of agents: a command for an attempt, and a parser for the output of its process.

An agent never runs anything: the runtime starts the command, and the engine feeds the transcript's lines to the parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission, PromptDelivery
from plait.core.ballot import Vote
from plait.core.decisions import Candidate
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, SandboxMode, Spend
from plait.core.task import Attempt, Task


class CostReporting(StrEnum):
    """What an agent reports about its spending: cost, only tokens, or nothing; or it never costs anything."""

    COST = "cost"
    TOKENS = "tokens"
    NOTHING = "nothing"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens of the models that match the pattern. `cached` None: the same as other input."""

    model: str
    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How one agent of a batch is called.

    `command` are the words of `--agent-command`; `shell`: they are one line for `sh -c`, in which placeholders become
    quoted words. `model` is for tasks that name none, `args` are extra arguments, `program` replaces the usual one,
    `account` is whose rate limits it shares (none: its provider's). `options` are the agent's own. `replies`: it writes
    no files itself, so plait applies its answer. `sandbox`: what confines it, if that differs from the batch's.
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
    sandbox: SandboxMode | None = None


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """What an agent knows of one attempt. The files exist already.

    `folder` is the attempt's own, outside the workspace: the `files` of a command are put there. `session` is the
    tool's session to continue. `base` is the commit that the workspace was made from, `slots` how many agent processes
    may run at once, `timeout` and `idle_timeout` are when plait ends the attempt (0: never). `candidates` and earlier
    `votes` are for a referee.
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
    votes: tuple[Vote, ...] = ()
    slots: int = 1
    timeout: float = 0.0
    idle_timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class Command:
    """What to run in the workspace. `stdin` names a file; without one, standard input is empty. `env` is added to the
    environment.

    `files` are names and texts, put into the attempt's `folder` before it starts and readable only by the user.
    `checkouts` are folders beside the workspace that get the attempt's base commit before it starts, each as a worktree
    of its own. `confines_others`: it is one of plait's own programs that runs outside of the attempt's sandbox, and
    starts others inside of one.
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    checkouts: tuple[str, ...] = ()
    confines_others: bool = False


class ActivityKind(StrEnum):
    """What an agent does; the same few kinds for all tools."""

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
    """A line for people about what the agent is doing."""

    text: str
    kind: ActivityKind = ActivityKind.SAYS


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """The tool entered the next of its own stages."""

    name: str


@dataclass(frozen=True, slots=True)
class SessionStarted:
    session: str


@dataclass(frozen=True, slots=True)
class SpendUpdated:
    """The whole spending of this attempt so far."""

    spend: Spend


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent waits for a person."""

    question: str


@dataclass(frozen=True, slots=True)
class ProviderRefused:
    """The provider refuses for now, and the tool itself waits; `wait` says until when, if that is known."""

    wait: RetryAfter


AgentEvent = Activity | PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked | ProviderRefused


class OutputParser(Protocol):
    """Parses one attempt's transcript from its beginning, line by line; a line without meaning must be cheap."""

    def feed(self, line: str, /) -> Sequence[AgentEvent]: ...

    def mark_gap(self) -> None:
        """Note that some output was skipped, because there was too much of it."""

    def finish(self, code: int, tail: str, printed_at: float, /) -> Outcome:
        """Return the meaning of the exit. `code` is the shell's (128 + n for a signal), `tail` the last few kilobytes
        of output, `printed_at` when they were written: "until 3 pm" means nothing without it.

        The engine fills in `tip`, `files` and `peak`.
        """


class Agent(Protocol):
    """A coding agent. `provider` is the account whose rate limits it shares."""

    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    @property
    def reports(self) -> CostReporting: ...

    def build_command(self, context: AttemptContext, /) -> Command: ...

    def create_parser(self, before: Spend = NO_SPEND, /) -> OutputParser:
        """Create a parser. `before` is what a continued session had spent: some tools report only totals."""
