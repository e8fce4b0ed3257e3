"""`model`: a model that does jobs by itself, through Ollama or any server that speaks as OpenAI's does.

It is a process of plait's own, so that it is started, watched, ended and found again as every other agent is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from plait.agents.model import AgentSpec, Brief, Command, Listener, Price, Reports, Signal
from plait.agents.prices import Tokens, price, spend
from plait.agents.tools.events import Json, count
from plait.agents.tools.model_spec import FILE, ModelSpec, encode, server, settings
from plait.agents.tools.own import Own, text_of
from plait.agents.tools.tool import Tool
from plait.core.settings import NO_SPEND, Spend

MODULE = "plait.site.modeljob"


class Model(Tool):
    maker = "model"
    told = Reports.TOKENS

    def __init__(self, spec: AgentSpec) -> None:
        """Raises ConfigError."""
        super().__init__(spec)
        self._settings = settings(spec.options)

    @property
    def provider(self) -> str:
        """The server: its limits are what jobs run into."""
        return self.spec.account or server(self.spec.options) or self.maker

    def command(self, brief: Brief) -> Command:
        task = brief.task
        spec = ModelSpec(
            task.id,
            task.title,
            task.body,
            self.model(brief),
            brief.workspace,
            brief.folder,
            brief.feedback,
            task.job,
            task.touches,
            task.origin.file if task.origin is not None else "",
            self._settings,
        )
        argv = (sys.executable, "-E", "-P", "-m", MODULE, f"{brief.folder}/{FILE}")
        # The prompt has what the task has not: why it is done again, what a check printed, both sides of a conflict.
        return Command(argv, brief.prompt_file if brief.feedback else None, files=((FILE, encode(spec)),))

    def listen(self, before: Spend = NO_SPEND) -> Listener:
        return Heard(self.spec.prices, before)


class Heard(Own):
    """`usage` objects are what one model has used so far; several models may have been at work."""

    def __init__(self, prices: tuple[Price, ...], before: Spend = NO_SPEND) -> None:
        super().__init__(before)
        self._prices = prices
        self._tokens: dict[str, Tokens] = {}

    def usage(self, event: Json) -> Iterator[Signal]:
        model = text_of(event, "model")
        self._tokens[model] = Tokens(count(event, "input"), count(event, "output"), count(event, "cached"))
        each = (spend(tokens, price(self._prices, name)) for name, tokens in self._tokens.items())
        yield from self.used(sum(each, NO_SPEND))

    def result(self, event: Json) -> None:
        self.said = text_of(event, "said")
