"""What every agent is to plait: a command for a brief, and a listener for what its process says.

An agent never runs anything. The site starts the command; the engine feeds the transcript's lines to the listener.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import Spend
from plait.core.task import Attempt, Task


class PromptBy(StrEnum):
    """How a command gets the prompt: on its standard input, or from the file that {prompt_file} names."""

    STDIN = "stdin"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How one agent of a batch is called, where its name alone does not say: the words of `--agent-command`.

    `shell`: the words are one line for `sh -c`, in which placeholders become quoted words.
    """

    name: str
    command: tuple[str, ...] = ()
    shell: bool = False
    prompt_by: PromptBy = PromptBy.STDIN


@dataclass(frozen=True, slots=True)
class Brief:
    """All that an agent is told of one attempt. `task` is whole; the files lie there already."""

    attempt: Attempt
    task: Task
    workspace: str
    task_file: str
    prompt_file: str
    session: str | None = None
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run in the workspace. `stdin` names a file; without one there is nothing to read. `env` is added."""

    argv: tuple[str, ...]
    stdin: str | None = None
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Activity:
    """A line for people: what the agent does now."""

    text: str


@dataclass(frozen=True, slots=True)
class PhaseBegun:
    """The tool says which of its own stages it is in."""

    name: str


@dataclass(frozen=True, slots=True)
class SessionKnown:
    session: str


@dataclass(frozen=True, slots=True)
class Used:
    """What this attempt has spent so far, in all."""

    spend: Spend


@dataclass(frozen=True, slots=True)
class Asked:
    """It waits for a person."""

    question: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Its provider refuses until then, while the tool itself waits and goes on."""

    until: float


Signal = Activity | PhaseBegun | SessionKnown | Used | Asked | Refused


class Listener(Protocol):
    """Hears one attempt's transcript from its beginning, line by line; a line that says nothing costs next to nothing."""

    def hear(self, line: str) -> Sequence[Signal]: ...

    def end(self, code: int, tail: str) -> Outcome:
        """What the exit means; `code` is the shell's (128 + n for a signal), `tail` the last few kilobytes of output.

        `tip`, `files` and `peak` are not the agent's to tell.
        """


class Agent(Protocol):
    """`name` is what people call it; `provider` whose account its rate limits belong to."""

    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    def command(self, brief: Brief) -> Command: ...

    def listen(self) -> Listener: ...
