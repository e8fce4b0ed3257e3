from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.model_server.server import ModelServer
from tests.support.real_agents import INSTALLED_TOOLS, RealAgentProject, real_agent_project

TOP = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


@pytest.fixture
def open_project(tmp_path: Path) -> Iterator[Callable[[str], RealAgentProject]]:
    """Opens a project for the tool of this name. A tool that is not installed fails the test instead of skipping it."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(real_agent_project(tmp_path, INSTALLED_TOOLS[name], TOP))
