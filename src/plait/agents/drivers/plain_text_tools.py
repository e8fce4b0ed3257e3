"""Tools whose output is read as plain text: Agent Cube, and tools that plait was not tested with (see their documentation)."""

from __future__ import annotations

from plait.agents.drivers.base import READ_PROMPT_FILE, CodingTool
from plait.agents.interface import AttemptContext, Command, OutputParser
from plait.agents.output_parser import PlainTextParser
from plait.agents.table import AGENTS
from plait.core.settings import NO_SPEND, Spend


class _PlainTextTool(CodingTool):
    def create_parser(self, _before: Spend = NO_SPEND, /) -> OutputParser:
        return PlainTextParser(use_output=True)


class Amp(_PlainTextTool):
    info = AGENTS["amp"]

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. The tool chooses its model itself."""
        args = (*self.permission_args(), "--execute")
        return Command(self.build_argv(*args), context.prompt_file)


class Goose(_PlainTextTool):
    info = AGENTS["goose"]

    def build_command(self, context: AttemptContext) -> Command:
        variables, model = self.permission_args(("GOOSE_MODE=smart_approve",)), self.choose_model(context)
        modes = [variable.partition("=") for variable in variables]
        env = (*((name, mode) for name, _, mode in modes), *((("GOOSE_MODEL", model),) if model else ()))
        return Command(self.build_argv("run", "--no-session", "--instructions", context.prompt_file), None, env)


class CursorAgent(_PlainTextTool):
    info = AGENTS["cursor-agent"]

    def build_command(self, context: AttemptContext) -> Command:
        args = (
            *("--print", "--output-format", "text"),
            *self.permission_args(),
            *self.model_and_session_args(context),
        )
        return Command((*self.build_argv(*args), READ_PROMPT_FILE.format(context.prompt_file)))


class Cube(_PlainTextTool):
    info = AGENTS["cube"]

    def build_command(self, context: AttemptContext) -> Command:
        """Build the command. The tool finds its own session by the task file's name."""
        again = ("--resume",) if context.attempt.n > 1 else ()
        return Command(self.build_argv("auto", context.task_file, *again))
