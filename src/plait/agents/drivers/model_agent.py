"""`model`: a model behind Ollama or an OpenAI-compatible server.

It runs as a process of plait, so that it is started, watched, ended and adopted like every other agent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from plait.agents.drivers.base import CodingTool
from plait.agents.interface import AgentEvent, AgentSpec, AttemptContext, Command, OutputParser, Price
from plait.agents.model_jobs.job_spec import JOB_SPEC_FILE, ModelJobSpec, decode_settings, encode_spec
from plait.agents.output_parser import Json, PlaitProtocolParser, get_count, get_text
from plait.agents.prices import Tokens, compute_spend, find_price
from plait.agents.table import AGENTS
from plait.core.settings import NO_SPEND, Spend

JOB_MODULE = "plait.runtime.model_job"


class ModelAgent(CodingTool):
    info = AGENTS["model"]

    def __init__(self, spec: AgentSpec) -> None:
        """Check the settings; raises ConfigError."""
        super().__init__(spec)
        self._settings = decode_settings(spec.options)

    def build_command(self, context: AttemptContext) -> Command:
        task = context.task
        spec = ModelJobSpec(
            task.id,
            task.title,
            task.body,
            self.choose_model(context),
            context.workspace,
            context.folder,
            context.feedback,
            task.job,
            task.touches,
            task.origin.file if task.origin is not None else "",
            self._settings,
        )
        argv = (sys.executable, "-E", "-P", "-m", JOB_MODULE, f"{context.folder}/{JOB_SPEC_FILE}")
        # The prompt adds to the task: feedback, the output of a failed check, both sides of a conflict.
        return Command(
            argv,
            context.prompt_file if context.feedback else None,
            files=((JOB_SPEC_FILE, encode_spec(spec)),),
        )

    def create_parser(self, before: Spend = NO_SPEND) -> OutputParser:
        return ModelJobParser(self.spec.prices, before)


class ModelJobParser(PlaitProtocolParser):
    """Parses the events of model jobs. `usage` objects are the usage of one model so far; there may be several models."""

    def __init__(self, prices: tuple[Price, ...], before: Spend = NO_SPEND) -> None:
        super().__init__(before)
        self._prices = prices
        self._tokens: dict[str, Tokens] = {}

    def handle_usage(self, event: Json) -> Iterator[AgentEvent]:
        model = get_text(event, "model")
        self._tokens[model] = Tokens(get_count(event, "input"), get_count(event, "output"), get_count(event, "cached"))
        each = (compute_spend(tokens, find_price(self._prices, name)) for name, tokens in self._tokens.items())
        yield from self.report_spend(sum(each, NO_SPEND))
