"""Tools that speak to whatever provider their model belongs to."""

from __future__ import annotations

from plait.agents.drivers.base import CodingTool
from plait.agents.prices import Tokens
from plait.core.settings import Spend


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
