"""Everything that an executor promises holds on nodes, whatever carries the messages. On a real cluster: make test-ray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.testing.contracts.executor import ExecutorContract, ExecutorHarness
from tests.support.loopback_cluster import loopback_nodes
from tests.support.ray_harness import loopback_harness


class TestRayExecutor(ExecutorContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Iterator[ExecutorHarness]:
        with (
            loopback_nodes(tmp_path / "nodes", {"one": 4, "two": 4}) as nodes,
            loopback_harness(tmp_path, nodes) as harness,
        ):
            yield harness
