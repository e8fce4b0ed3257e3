"""`command`: any command as an agent. It is split into words before placeholders are filled in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from plait.agents.interface import AgentSpec, AttemptContext, Command, CostReporting, OutputParser
from plait.agents.output_parser import PlainTextParser
from plait.agents.plain_text import truncate
from plait.agents.templates import (
    check_command_placeholders as check_placeholders,
    escape_option,
    fill_word,
    find_placeholders,
    substitute,
)
from plait.config.agent_keys import PromptDelivery
from plait.core.errors import ConfigError
from plait.core.settings import NO_SPEND, Spend

DEFAULT_NAME = "command"
_MAX_TITLE_CHARS = 500
_BEFORE_WORD = " \t\n'\""
_FILE_PLACEHOLDERS = frozenset({"task_file", "prompt_file"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "&>"})
# What no argument can contain: null characters, and surrogates that stand for no byte.
_INVALID_CHARS = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")


class CommandAgent:
    reports = CostReporting.NOTHING

    def __init__(self, spec: AgentSpec) -> None:
        check_command(spec.command, shell=spec.shell)
        self.name = spec.name
        self.provider = spec.name
        self._spec = spec

    def build_command(self, context: AttemptContext) -> Command:
        values = build_placeholder_values(context)
        command = self._spec.command
        argv = (
            _build_shell_argv(command[0], values)
            if self._spec.shell
            else tuple(fill_word(word, values) for word in command)
        )
        return Command(argv, context.prompt_file if self._spec.prompt_by is PromptDelivery.STDIN else None)

    def create_parser(self, _before: Spend = NO_SPEND, /) -> OutputParser:
        return PlainTextParser(use_output=True)


def build_command_spec(
    text: str, *, name: str = DEFAULT_NAME, shell: bool = False, prompt_by: PromptDelivery = PromptDelivery.AUTO
) -> AgentSpec:
    """Make the spec of a command, which gets the prompt on stdin unless it names a file. Raises ConfigError."""
    argv = (text.strip(),) if shell else split_command(text)
    check_command(argv, shell=shell)
    if prompt_by is PromptDelivery.AUTO:
        names_file = bool(find_placeholders(argv) & _FILE_PLACEHOLDERS)
        prompt_by = PromptDelivery.FILE if names_file else PromptDelivery.STDIN
    return AgentSpec(name, argv, shell, prompt_by)


def split_command(text: str) -> tuple[str, ...]:
    """Split a command into words by a shell's quotes; no other shell syntax is supported."""
    try:
        argv = tuple(shlex.split(text))
        bare = shlex.split(text, posix=False)  # the same words, with their quotes
    except ValueError as error:
        why = str(error)[:1].lower() + str(error)[1:]
        raise ConfigError(
            f"the agent's command can't be split into words: {why}", hint=f"Check its quotes: {text}"
        ) from None
    operator = next((word for word in bare if word in _OPERATORS), None)
    if operator is not None:
        raise ConfigError(
            f"the agent's command contains {operator}, which needs a shell",
            hint="Add --agent-shell; or put it in quotes, if it is an argument.",
        )
    return argv


def check_command(argv: tuple[str, ...], *, shell: bool = False) -> None:
    """Raise ConfigError for a command that could never run."""
    if not argv or not argv[0].strip():
        raise ConfigError("the agent's command is empty", hint="Give a command: --agent-command 'tool {task_file}'.")
    check_placeholders(argv)
    if shell:
        _check_shell_line(argv)


def _check_shell_line(argv: tuple[str, ...]) -> None:
    if len(argv) > 1:
        raise ConfigError("the agent's shell command is more than one text", hint="Give it as one text.")
    quotes = _quote_states(argv[0])

    def look(name: str, position: int) -> str:
        if quotes[position] == "'":
            raise ConfigError(
                f"the agent's command has {{{name}}} in single quotes, where a shell expands nothing",
                hint="Remove the quotes: a value is always one word.",
            )
        return ""

    substitute(argv[0], look)


def build_placeholder_values(context: AttemptContext) -> Mapping[str, str]:
    """Return placeholders' values, none from the environment: all users of the machine see arguments."""
    attempt = context.attempt
    values = {
        "task_file": context.task_file,
        "prompt_file": context.prompt_file,
        "task_id": context.task.id,
        "title": truncate(" ".join((context.task.title or context.task.id).split()), _MAX_TITLE_CHARS),
        "workspace": context.workspace,
        "batch": attempt.batch,
        "attempt": str(attempt.n),
    }
    return {name: _INVALID_CHARS.sub("\N{REPLACEMENT CHARACTER}", value) for name, value in values.items()}


def _build_shell_argv(line: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """Build the arguments for `sh -c`. Values are passed as parameters, so they are never interpreted as commands."""
    given: dict[str, int] = {}
    quotes = _quote_states(line)

    def parameter(name: str, position: int) -> str:
        begins = not line[:position] or line[position - 1] in _BEFORE_WORD
        number = given.setdefault(escape_option(values[name]) if begins else values[name], len(given) + 1)
        return f"${{{number}}}" if quotes[position] == '"' else f'"${{{number}}}"'

    script = substitute(line, parameter)
    return ("sh", "-c", script, "sh", *given)


def _quote_states(line: str) -> str:
    """Return for each character the quote around it, or a space."""
    inside, escaped, found = " ", False, []
    for char in line:
        found.append(inside)
        if escaped:
            escaped = False
        elif char == "\\" and inside != "'":
            escaped = True
        elif char == inside:
            inside = " "
        elif char in "\"'" and inside == " ":
            inside = char
    return "".join(found)
