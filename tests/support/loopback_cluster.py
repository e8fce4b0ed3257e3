"""A cluster in the place of Ray's, in this process: each node is a NodeService in a thread. Nodes can be stopped and killed, and
their answers lost.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from plait import __version__
from plait.core.errors import WorldError
from plait.runtime.ray import wire
from plait.runtime.ray.cluster import Call, Cluster, ClusterNode
from plait.runtime.ray.node_service import NodeService
from plait.runtime.reactor import SelectReactor
from plait.system.atomic_files import make_private_folder
from tests.support.leaked_processes import kill_leaked_processes
from tests.support.local_executor import SHORT_GRACES


def run_in_thread(work: Callable[[], bytes]) -> Future[bytes]:
    """In a thread that no test waits for."""
    answer: Future[bytes] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer


class LoopbackNode:
    """`requests` are those that it got, in order. Those of the kinds in `held` wait, and all of them while it is stopped. `loses`
    says whose answers are lost: such a request fails at once, while the node is at work on it.
    """

    def __init__(self, name: str, folder: Path, slots: int) -> None:
        self.node = ClusterNode(name, name, "127.0.0.1", slots, ())
        self.folder = folder
        self.requests: list[wire.Request] = []
        self.loses: Callable[[wire.Request], bool] = lambda _: False
        self.held: tuple[type[wire.Request], ...] = ()
        self.running = threading.Event()
        self.running.set()
        self.service: NodeService
        self.start()

    def start(self) -> None:
        """Its service, as when it was killed and is started again."""
        make_private_folder(self.folder)
        self._ended, ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(30)

    def _serve(self, ready: threading.Event) -> None:
        with closing(SelectReactor()) as reactor, closing(NodeService(self.folder, reactor, SHORT_GRACES)) as service:
            self.service = service
            ready.set()
            while not self._ended.is_set():
                reactor.step(0.05)
                if self.running.is_set():
                    service.check()

    def kill(self) -> None:
        """Its service ends, and gives nothing back."""
        self._ended.set()
        self._thread.join(30)

    def stop(self) -> None:
        """No request is taken, and none is answered, until `running` is set."""
        self.running.clear()

    def handle(self, method: str, args: Sequence[bytes]) -> bytes:
        self.running.wait()
        if method == "describe":
            return wire.encode(wire.NodeFacts(__version__, platform.python_version(), self.service.sealer.key))
        try:
            request = self.service.sealer.open_request(args[0]).body
        except WorldError:
            return b""  # it was sealed for the service before
        self.requests.append(request)
        while isinstance(request, self.held):
            time.sleep(0.01)
        answer, ended = run_in_thread(partial(self.service.answer, args[0])), self._ended
        if self.loses(request):
            raise wire.NodeGoneError("the answer is lost")
        while not answer.done():
            if ended.is_set():
                return b""
            time.sleep(0.005)
        self.running.wait()
        return answer.result()


class LoopbackCluster(Cluster):
    """As a RayExecutor sees it."""

    def __init__(self, nodes: Sequence[LoopbackNode]) -> None:
        self._nodes = nodes

    def close(self) -> None:
        pass

    def list_nodes(self) -> Sequence[ClusterNode]:
        return [each.node for each in self._nodes]

    def open_gateway(self, node: ClusterNode, folder: str) -> Any:  # noqa: ARG002 - as Ray's
        return next(each for each in self._nodes if each.node == node)

    def send(self, gateway: Any, method: str, *args: bytes) -> Call:
        return Call(run_in_thread(partial(gateway.handle, method, args)))

    def wait(self, calls: Sequence[Call], seconds: float) -> list[Call]:
        done = wait([call.ref for call in calls], seconds, FIRST_COMPLETED).done if calls else ()
        return [call for call in calls if call.ref in done]

    def get(self, call: Call, seconds: float = 0.0) -> bytes:
        data: bytes = call.ref.result(seconds)
        return data


@contextmanager
def loopback_nodes(folder: Path, slots: dict[str, int]) -> Iterator[dict[str, LoopbackNode]]:
    nodes = {name: LoopbackNode(name, folder / name, count) for name, count in slots.items()}
    try:
        yield nodes
    finally:
        for node in nodes.values():
            node.held = ()
            node.running.set()
            node.kill()
        kill_leaked_processes(folder)
