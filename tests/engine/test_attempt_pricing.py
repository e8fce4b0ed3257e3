"""What an attempt costs is counted by the model that it uses: the task's own, where it names one."""

from __future__ import annotations

import os
from json import dumps
from typing import TYPE_CHECKING

import pytest

from plait.agents.interface import AgentSpec, Price
from plait.core.graph import build_checked_plan
from plait.core.requests import Submit
from plait.core.settings import Isolation, Settings, Spend
from plait.core.task import Task
from plait.store import batch_files
from plait.store.batch_files import BatchInputs

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness

ENDED = {"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 10}}
PRICES = (Price("dear*", 50, 50), Price("cheap*", 1, 1))


@pytest.mark.parametrize(("model", "cost"), [("dear-1", 5500), (None, 110)])
def test_spending_is_priced_by_the_tasks_own_model(harness: EngineHarness, model: str | None, cost: int) -> None:
    tool = harness.place.top / "tool"
    tool.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{dumps(ENDED)}'\n")
    tool.chmod(0o700)
    spec = AgentSpec("codex", model="cheap-1", program=str(tool), prices=PRICES)
    task = Task("one", "One", model=model)
    plan = build_checked_plan([task]).plan
    assert plan
    batch_files.write_batch_files(
        harness.folder, "b", BatchInputs(str(harness.place.top), (task,), (spec,)), dict(os.environ)
    )
    harness.request(
        Submit(
            "s",
            "b",
            plan.without_texts(),
            Settings(agents=("codex",), isolation=Isolation.IN_PLACE, retries=0),
        )
    )
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.batch().spent == Spend(cost, 110)
