"""The cost of tokens by the prices in the settings; none are built in, because providers change theirs."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from plait.agents.interface import Price
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend


@dataclass(frozen=True, slots=True)
class Tokens:
    """A count of tokens; `cached` ones are part of the input, and cost less."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output, self.cached + other.cached)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.input - other.input, self.output - other.output, self.cached - other.cached)

    @property
    def total(self) -> int:
        return self.input + self.output


NO_TOKENS = Tokens()


class TokenCounter:
    """Adds up the tokens of several answers; an answer reported again under the same id replaces its earlier count."""

    def __init__(self) -> None:
        self._each: dict[object, Tokens] = {}
        self._whole = NO_TOKENS

    def add(self, name: object, tokens: Tokens) -> Tokens:
        """Add an answer and return the sum so far. An answer without an id is a new one."""
        known = name if isinstance(name, str) else len(self._each)
        self._whole += tokens - self._each.get(known, NO_TOKENS)
        self._each[known] = tokens
        return self._whole


def find_price(prices: Sequence[Price], model: str) -> Price | None:
    """Return the first price whose pattern matches, or None."""
    return next((one for one in prices if fnmatchcase(model.lower(), one.model.lower())), None)


def compute_spend(tokens: Tokens, price: Price | None) -> Spend:
    """Return the cost of tokens; without a price, only the tokens."""
    if price is None:
        return Spend(tokens=tokens.total)
    cached = min(tokens.cached, tokens.input)
    dollars = (tokens.input - cached) * price.input + tokens.output * price.output
    dollars += cached * (price.input if price.cached is None else price.cached)
    return Spend(round(dollars), tokens.total)  # dollars per million are millionths of a dollar per token
