"""Everything that an executor promises holds on a cluster, too. Part of `make test-ray`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plait.runtime.ray.cluster import Cluster
from plait.testing.contracts.executor import ExecutorContract, ExecutorHarness
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.ray_harness import ray_harness

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster({"one": 4, "two": 4, "three": 4}) as cluster, closing(Cluster(cluster.address)):
        yield cluster  # one connection for all tests


class TestRayExecutor(ExecutorContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, cluster: RayCluster) -> Iterator[ExecutorHarness]:
        with ray_harness(tmp_path, cluster) as harness:
            yield harness
