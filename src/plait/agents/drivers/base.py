"""What coding tools have in common: how their command is built, and how their JSON events are parsed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from plait.agents.drivers.activity_labels import changes_files, describe_tool_use, format_question, is_question_tool
from plait.agents.interface import (
    ActivityKind,
    AgentEvent,
    AgentSpec,
    AttemptContext,
    CostReporting,
    OutputParser,
    QuestionAsked,
)
from plait.agents.output_parser import Json, JsonLinesParser, get_object, make_activity
from plait.agents.prices import Tokens, compute_spend, find_price
from plait.agents.table import AgentInfo
from plait.config.agent_keys import Permission
from plait.core.settings import NO_SPEND, Spend

# For tools that take a prompt only as an argument: arguments are limited, and visible to every user of the machine.
READ_PROMPT_FILE = "Read the file {} and do what it says."


_PERMISSION_NOTES: Mapping[Permission, str] = {
    Permission.FULL: "",
    Permission.EDITS: "[agents.permissions] lets it change files only",
    Permission.OWN: "[agents.permissions] leaves its permissions to its own settings",
}


class CodingTool:
    """Base of the drivers. `info` is the tool's record in the table of agents, `parser_type` parses its output."""

    info: ClassVar[AgentInfo]
    parser_type: ClassVar[type[ToolParser]]

    def __init__(self, spec: AgentSpec) -> None:
        """Check the agent's settings; raises ConfigError."""
        self.info.check_permission(spec)
        self.spec = spec
        self.name = spec.name

    @property
    def provider(self) -> str:
        return self.info.find_provider(self.spec)

    @property
    def reports(self) -> CostReporting:
        """What the tool reports about its spending: tokens that have a price count as money."""
        reports = self.info.reports
        priced = reports is CostReporting.TOKENS and find_price(self.spec.prices, self.spec.model) is not None
        return CostReporting.COST if priced else reports

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:
        return self.parser_type(self, before)

    def choose_model(self, context: AttemptContext) -> str:
        return context.task.model or self.spec.model

    def model_and_session_args(self, context: AttemptContext, session: str = "") -> tuple[str, ...]:
        """Return the arguments for the model and, by the option that `session` names, for the session to continue."""
        model = self.choose_model(context)
        return (
            *((f"--model={model}",) if model else ()),
            *((f"{session}={context.session}",) if session and context.session else ()),
        )

    def build_argv(self, *args: str) -> tuple[str, ...]:
        """Return program, driver's arguments and the settings': with most tools, the later one of two counts."""
        return (self.spec.program or self.info.program, *args, *self.spec.args)

    def compute_spend(self, tokens: Tokens, model: str = "") -> Spend:
        return compute_spend(tokens, find_price(self.spec.prices, model or self.spec.model))

    def permission_args(self, edits: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the arguments for what the tool may do without asking; `edits` restrict it to changing files."""
        match self.spec.permission:
            case Permission.FULL:
                return self.info.full_access
            case Permission.EDITS:
                return tuple(edits)
            case Permission.OWN:
                return ()

    @property
    def permission_note(self) -> str:
        """The restriction that may explain why a tool did nothing; "" if it may do everything."""
        return _PERMISSION_NOTES[self.spec.permission]

    def compute_reported_spend(self, cost: int, tokens: Tokens, model: str = "") -> Spend:
        """Return the cost that the tool reports; if it knows no price, the cost of the tokens at the settings' prices."""
        return Spend(cost, tokens.total) if cost else self.compute_spend(tokens, model)


class ToolParser(JsonLinesParser):
    """Base of the parsers of drivers."""

    def __init__(self, tool: CodingTool, before: Spend = NO_SPEND) -> None:
        super().__init__(before, tool.permission_note)
        self.tool = tool


class ToolUseParser(ToolParser):
    """Base of the parsers of agents that report the tools they use by name; it counts changes."""

    changes_made: int | None = 0

    def handle_part(self, part: Json) -> Iterator[AgentEvent]:
        """Handle a part of a message, in the shape that several agents share."""
        match part.get("type"):
            case "text":
                yield from self.report_message(part.get("text"))
            case "thinking":
                yield from make_activity(part.get("thinking") or "thinking", ActivityKind.THINKS)
            case "tool_use":
                yield from self.handle_tool_use(part.get("name"), get_object(part, "input"))
            case _:
                pass

    def handle_tool_use(self, name: object, given: Json) -> Iterator[AgentEvent]:
        if is_question_tool(name):
            self.question = format_question(given)
            yield QuestionAsked(self.question)
        elif changes_files(name):
            self.record_change()
        yield from describe_tool_use(name, given, self.workspace)
        todos = given.get("todos")
        items = [get_object(one) for one in todos] if isinstance(todos, list) else []
        current = next((one for one in items if one.get("status") == "in_progress"), {})
        yield from self.update_phase(current.get("activeForm") or current.get("content") or current.get("description"))

    def handle_tool_result(self, name: object, *, error: object = "", denied: bool = False) -> Iterator[AgentEvent]:
        """Handle the result of a tool use, for tools that report it: only a successful one counts as a change."""
        if denied:
            self.denied.append(str(name))
            yield from make_activity(f"{name} was not allowed", ActivityKind.FAILS)
        elif error:
            yield from make_activity(f"{name} failed:", ActivityKind.FAILS, error)
        elif changes_files(name):
            self.record_change()
