"""What all coding tools have in common: a program, further words, a model, whose account it is, what it costs.

Tools that speak to whatever provider their model belongs to.

Tools that may do everything or ask: none of them can be held to changing files.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.agents.interface import AgentSpec, AttemptContext, CostReporting
from plait.agents.prices import Tokens, compute_spend, find_price
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.settings import Spend

# For tools that take a prompt only as an argument: arguments are short, and seen by everybody on the machine.
READ_PROMPT_FILE = "Read the file {} and do what it says."


class CodingTool:
    """A tool as it was set up. `program` and `maker` are each tool's own; what it reports, too."""

    program = ""
    default_provider = ""  # whose limits it runs into, unless an account is named
    cost_reporting = CostReporting.NOTHING

    def __init__(self, spec: AgentSpec) -> None:
        self.spec = spec
        self.name = spec.name

    @property
    def provider(self) -> str:
        return self.spec.account or self.default_provider

    @property
    def reports(self) -> CostReporting:
        """Tokens that have a price are money."""
        priced = (
            self.cost_reporting is CostReporting.TOKENS and find_price(self.spec.prices, self.spec.model) is not None
        )
        return CostReporting.COST if priced else self.cost_reporting

    def choose_model(self, brief: AttemptContext) -> str:
        return brief.task.model or self.spec.model

    def model_and_session_args(self, brief: AttemptContext, session: str = "") -> tuple[str, ...]:
        """The words for its model and, by the option that `session` names, for the session that goes on."""
        model = self.choose_model(brief)
        return (
            *((f"--model={model}",) if model else ()),
            *((f"{session}={brief.session}",) if session and brief.session else ()),
        )

    def build_argv(self, *words: str) -> tuple[str, ...]:
        """Its own words, then a person's: the later one of two counts with most tools."""
        return (self.spec.program or self.program, *words, *self.spec.args)

    def compute_spend(self, tokens: Tokens, model: str = "") -> Spend:
        return compute_spend(tokens, find_price(self.spec.prices, model or self.spec.model))

    def permission_args(self, full: Sequence[str], edits: Sequence[str]) -> tuple[str, ...]:
        """The words for what it may do unasked."""
        match self.spec.permission:
            case Permission.FULL:
                return tuple(full)
            case Permission.EDITS:
                return tuple(edits)
            case Permission.OWN:
                return ()

    @property
    def permission_note(self) -> str:
        """What a person should know of a tool that did nothing; "": it may do everything."""
        match self.spec.permission:
            case Permission.FULL:
                return ""
            case Permission.EDITS:
                return "[agents.permissions] lets it change files only"
            case Permission.OWN:
                return "[agents.permissions] leaves it to its own settings what it may do"


class MultiProviderTool(CodingTool):
    """Whose limits it runs into is the first part of `provider/model`; without one, nobody but the tool knows."""

    @property
    def provider(self) -> str:
        maker, slash, _ = self.spec.model.partition("/")
        return self.spec.account or (maker if slash and maker else self.program)

    def compute_reported_spend(self, cost: int, tokens: Tokens, model: str = "") -> Spend:
        """What it says that it cost; where it knows no price of its own, what a person's prices make of the tokens."""
        priced = self.compute_spend(tokens, model)
        return Spend(cost, tokens.total) if cost else priced


def reject_edits_permission(spec: AgentSpec, why: str) -> None:
    """Raises ConfigError, before anything starts: less than what was asked for would be no surprise that anybody likes."""
    if spec.permission is Permission.EDITS:
        raise ConfigError(
            f"{spec.name} can't be held to changing files: {why}",
            hint=f'Say {spec.name} = "full" or "own" under [agents.permissions].',
        )
