"""A Ray cluster of several nodes on this machine, on loopback, in a process of its own that ends with the test's.

`python -m tests.support.ray_cluster FOLDER CONFIG` starts it and prints its address; then it takes commands, one a line, and answers
each with a line of JSON: a node as `add_node` writes it (the node's pid), or null for a new head (its address). At the end of its
input it ends, and nothing is left.
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
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from plait.runtime.ray.cluster import NAMESPACE, Cluster, import_ray
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

    def list_processes(self) -> list[psutil.Process]:
        """Ray's and plait's processes of the node, and the attempts there."""
        variable = f"{FOLDER_VARIABLE}={self.folder}".encode()
        found = []
        for pid in psutil.pids():
            with suppress(OSError, psutil.Error):
                if variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(psutil.Process(pid))
        return found

    def kill(self) -> None:
        """As when its machine loses power."""
        for send in (psutil.Process.suspend, psutil.Process.kill):  # so that nothing reacts to the death of another
            for process in [psutil.Process(self.raylet), *self.list_processes()]:
                with suppress(psutil.Error):
                    send(process)


class RayCluster:
    def __init__(self, folder: Path, config: Mapping[str, object] | None = None) -> None:
        """`config`: of Ray's own."""
        self.folder = folder
        self.nodes: dict[str, RayNode] = {}
        with (folder / "cluster.log").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(folder), json.dumps({**HEALTH, **(config or {})})],
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

    def _ask(self, request: object) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        return self._read()

    def restart_head(self) -> None:
        """Kill the head, and start another at its address, which knows nothing of the nodes: these end, and are to be added."""
        self.nodes.clear()
        self._ask(None)

    def add_node(
        self, name: str, slots: int = 4, *resources: str, env: Mapping[str, str] | None = None, store: int = STORE_BYTES
    ) -> RayNode:
        """`env` are variables of the node's own, `store` the size of its object store."""
        new = {"name": name, "slots": slots, "resources": resources, "env": env or {}, "store": store}
        answer = self._ask(new)
        self.nodes[name] = RayNode(name, answer["raylet"], Path(answer["folder"]))
        return self.nodes[name]

    def list_actors(self) -> list[str]:
        """The names of plait's actors that are alive."""
        ray = import_ray()
        with closing(Cluster(self.address)):
            rows = ray.util.list_named_actors(all_namespaces=True)
        return [row["name"] for row in rows if row["namespace"] == NAMESPACE]

    def list_ray_processes(self) -> list[psutil.Process]:
        """Those that plait's messages go through: Ray's own, and the actors."""
        raylets = [psutil.Process(node.raylet) for node in self.nodes.values()]
        actors = [each for raylet in raylets for each in raylet.children() if "Gateway" in " ".join(each.cmdline())]
        assert len(actors) == len(raylets)
        return [*raylets, *actors, *(each for each in self.list_processes() if each.name() == "gcs_server")]

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
def ray_cluster(nodes: Mapping[str, int], config: Mapping[str, object] | None = None) -> Iterator[RayCluster]:
    """A cluster with these nodes and slots. Sockets need a short path."""
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    cluster = RayCluster(folder, config)
    try:
        for name, slots in nodes.items():
            cluster.add_node(name, slots)
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def _serve(folder: Path, config: Mapping[str, object]) -> None:
    import ray._common.utils
    from ray.cluster_utils import Cluster as RayTestCluster

    # Ray writes the cluster's address there, and makes the folder only for a cluster that is in it.
    utils: Any = ray._common.utils  # without types
    Path(utils.get_default_ray_temp_dir()).mkdir(parents=True, exist_ok=True)
    head = {
        "num_cpus": 0,
        "node_ip_address": LOOPBACK,
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "temp_dir": str(folder / "r"),
        "_system_config": config,
    }
    cluster: Any = RayTestCluster(initialize_head=True, head_node_args=head)  # Ray has types for a part of it
    ended = []
    try:
        print(json.dumps({"address": cluster.address}), flush=True)
        for line in sys.stdin:
            new = json.loads(line)
            if new is None:
                ended.append(cluster)
                cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
                head["gcs_server_port"] = int(cluster.address.rpartition(":")[2])
                cluster = RayTestCluster(initialize_head=True, head_node_args=head)
                print(json.dumps({"address": cluster.address}), flush=True)
                continue
            name = new["name"]
            node = cluster.add_node(
                wait=False,
                num_cpus=1,
                node_ip_address=LOOPBACK,
                node_name=name,
                object_store_memory=new["store"],
                resources={"agent": new["slots"], **dict.fromkeys(new["resources"], 1000)},
                env_vars={
                    FOLDER_VARIABLE: str(folder / name),
                    GRACES_VARIABLE: "3 1 0.2",
                    "PATH": f"{folder / name / 'bin'}:{os.environ['PATH']}",  # for programs that only this node has
                    **new["env"],
                },
            )
            [raylet] = node.all_processes["raylet"]
            print(json.dumps({"raylet": raylet.process.pid, "folder": str(folder / name)}), flush=True)
    finally:
        for each in (*ended, cluster):
            each.shutdown()


def wait_until(holds: Any, seconds: float) -> bool:
    """For what happens in other processes."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds())


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), json.loads(sys.argv[2]))
