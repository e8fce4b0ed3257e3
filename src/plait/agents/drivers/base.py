"""What all coding tools have in common: a program, arguments, a model, a provider, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from plait.agents.interface import AgentSpec, AttemptContext, CostReporting
from plait.agents.prices import Tokens, compute_spend, find_price
from plait.agents.table import AgentInfo
from plait.config.agent_keys import Permission
from plait.core.settings import Spend

# For tools that take a prompt only as an argument: arguments are limited, and visible to every user of the machine.
READ_PROMPT_FILE = "Read the file {} and do what it says."


class CodingTool:
    """Base of the drivers; `info` is the tool's record in the table of agents."""

    info: ClassVar[AgentInfo]

    def __init__(self, spec: AgentSpec) -> None:
        """Raises ConfigError."""
        self.info.check_permission(spec)
        self.spec = spec
        self.name = spec.name

    @property
    def provider(self) -> str:
        return self.info.find_provider(self.spec)

    @property
    def reports(self) -> CostReporting:
        """Tokens that have a price are money."""
        reports = self.info.reports
        priced = reports is CostReporting.TOKENS and find_price(self.spec.prices, self.spec.model) is not None
        return CostReporting.COST if priced else reports

    def choose_model(self, context: AttemptContext) -> str:
        return context.task.model or self.spec.model

    def model_and_session_args(self, context: AttemptContext, session: str = "") -> tuple[str, ...]:
        """Arguments for the model and, by the option that `session` names, for the session to continue."""
        model = self.choose_model(context)
        return (
            *((f"--model={model}",) if model else ()),
            *((f"{session}={context.session}",) if session and context.session else ()),
        )

    def build_argv(self, *words: str) -> tuple[str, ...]:
        """The driver's arguments, then those of the settings: with most tools, the later one of two counts."""
        return (self.spec.program or self.info.program, *words, *self.spec.args)

    def compute_spend(self, tokens: Tokens, model: str = "") -> Spend:
        return compute_spend(tokens, find_price(self.spec.prices, model or self.spec.model))

    def permission_args(self, full: Sequence[str], edits: Sequence[str]) -> tuple[str, ...]:
        """Arguments for what the tool may do without asking."""
        match self.spec.permission:
            case Permission.FULL:
                return tuple(full)
            case Permission.EDITS:
                return tuple(edits)
            case Permission.OWN:
                return ()

    @property
    def permission_note(self) -> str:
        """The restriction that may explain why a tool did nothing; "": it may do everything."""
        match self.spec.permission:
            case Permission.FULL:
                return ""
            case Permission.EDITS:
                return "[agents.permissions] lets it change files only"
            case Permission.OWN:
                return "[agents.permissions] leaves its permissions to its own settings"

    def compute_reported_spend(self, cost: int, tokens: Tokens, model: str = "") -> Spend:
        """The cost that the tool reports; if it knows no price, the tokens at the settings' prices."""
        return Spend(cost, tokens.total) if cost else self.compute_spend(tokens, model)
