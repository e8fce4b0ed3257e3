"""A Ray cluster of several nodes on this machine, on loopback, in a process of its own that ends with the test's.

`python -m tests.support.ray_cluster FOLDER` starts it and prints its address; then it takes commands, one a line, and answers
each with a line of JSON: `add NAME SLOTS [RESOURCE…]` (the node's pids), `end` or the end of its input (nothing is left then).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from plait.runtime.ray.gateway import FOLDER_VARIABLE
from plait.runtime.ray.node_daemon import GRACES_VARIABLE

LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for "this machine, by its address in the network"
STORE_BYTES = 80 << 20
# Ray would take 15 seconds and more to notice that a node is gone.
HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1500,
    "health_check_failure_threshold": 4,
}
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}


@dataclass(slots=True)
class RayNode:
    """`raylet` is Ray's own process on the node; `folder` is where plait keeps its files there."""

    name: str
    raylet: int
    folder: Path

    @property
    def daemon(self) -> psutil.Process | None:
        """Plait's own process there."""
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if "plait.runtime.ray.node_daemon" in words and words[-1].startswith(f"{self.folder}/"):
                return process
        return None


class RayCluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: dict[str, RayNode] = {}
        with (folder / "cluster.log").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, **ENVIRONMENT},
                start_new_session=True,
            )
        self.address = self._read()["address"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise AssertionError((self.folder / "cluster.log").read_text()[-4000:])

    def _ask(self, command: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._read()

    def add_node(self, name: str, slots: int = 4, *resources: str) -> RayNode:
        answer = self._ask(" ".join(("add", name, str(slots), *resources)))
        self.nodes[name] = RayNode(name, answer["raylet"], Path(answer["folder"]))
        return self.nodes[name]

    def close(self) -> None:
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in self.list_processes():
            with suppress(psutil.Error):
                process.kill()

    def list_processes(self) -> list[psutil.Process]:
        """Whatever has this cluster's folder on its command line: Ray's processes and plait's."""
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if process.pid != os.getpid() and any(str(self.folder) in word for word in process.info["cmdline"] or [])
        ]


@contextmanager
def ray_cluster(nodes: Mapping[str, int]) -> Iterator[RayCluster]:
    """A cluster with these nodes and slots. Sockets need a short path."""
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    cluster = RayCluster(folder)
    try:
        for name, slots in nodes.items():
            cluster.add_node(name, slots)
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def _serve(folder: Path) -> None:
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 0,
        "node_ip_address": LOOPBACK,
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "temp_dir": str(folder / "r"),
        "_system_config": HEALTH,
    }
    cluster: Any = Cluster(initialize_head=True, head_node_args=head)  # Ray has types for a part of it
    try:
        print(json.dumps({"address": cluster.address}), flush=True)
        for line in sys.stdin:
            command, *words = line.split()
            if command == "end":
                break
            name, slots, *resources = words
            node = cluster.add_node(
                wait=False,
                num_cpus=1,
                node_ip_address=LOOPBACK,
                node_name=name,
                object_store_memory=STORE_BYTES,
                resources={"agent": int(slots), **dict.fromkeys(resources, 1000)},
                env_vars={FOLDER_VARIABLE: str(folder / name), GRACES_VARIABLE: "3 1 0.2"},
            )
            [raylet] = node.all_processes["raylet"]
            print(json.dumps({"raylet": raylet.process.pid, "folder": str(folder / name)}), flush=True)
    finally:
        cluster.shutdown()


def wait_until(holds: Any, seconds: float) -> bool:
    """For what happens in other processes."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds())


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
