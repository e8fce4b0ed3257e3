"""The connection to a Ray cluster. No other file imports Ray.

Ray's functions have no useful types: decorators replace classes and methods by proxies. So what comes from them is Any
here, and gets a type of plait's before it is returned.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.runtime.ray.wire import BrokenNodeError, NodeGoneError

NAMESPACE = "plait"
SLOT_RESOURCE = "agent"
CONCURRENT_REQUESTS = 64  # that one node's actor answers
CONNECT_SECONDS = 10.0
HEAD_SECONDS = 10.0  # until the head answers
INSTALL_HINT = "pip install 'plait[ray]'"
_COLOR = re.compile(r"\x1b\[[\d;]*m")
_HOST_AND_PORT = re.compile(r"\S+:\d+")
_RAYS_REASON = "Failed to connect to Ray cluster"  # it says no more
_VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")
_HTTP2_SETTINGS, _HTTP2_HEADER_BYTES = b"\4", 9
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0" + _HTTP2_SETTINGS + bytes(5)  # without settings
_INTERNAL_RESOURCES = ("CPU", "GPU", "memory", "object_store_memory", "node:", "accelerator_type:")

_lock = threading.Lock()
_users = 0


def import_ray() -> Any:  # Ray's own functions
    """Import Ray. Raises UserError if the extra is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import nacl.public  # noqa: F401
        import ray
        import ray.exceptions
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise UserError("Ray is not installed, and the executor ray needs it", hint=INSTALL_HINT) from error
    # What matters is raised. Ray would print the logs of nodes that are lost.
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    ray._private.worker.print_to_stdstream = lambda *_, **__: None  # noqa: SLF001
    return ray


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of the cluster. `slots`: how many attempts the node offers to run; if no node of the cluster offers any,
    one for each CPU.
    """

    id: str
    name: str
    address: str
    slots: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was sent. `ref` is Ray's."""

    ref: Any


class Cluster:
    """A connection to a cluster, shared by all that this process opens. Everything here can block, and is for threads."""

    def __init__(self, address: str) -> None:
        """Connect. Raises WorldError if the cluster can't be reached, and UserError without the extra or with an
        unusable address.
        """
        self._address = resolve_address(address)
        self._ray = import_ray()
        self._is_closed = False
        self._idle = threading.Condition()
        self._in_flight = 0
        self._connect()

    def _connect(self) -> None:
        global _users  # noqa: PLW0603 - Ray has one connection for each process
        ray = self._ray
        with _lock:
            if not ray.is_initialized():
                try:
                    require_head(self._address)
                    require_local_node(self._address)
                    ray.init(
                        address=self._address,
                        namespace=NAMESPACE,
                        log_to_driver=False,
                        configure_logging=False,
                    )
                except WorldError:
                    raise
                except Exception as error:
                    raise _explain_connection(self._address, error) from error
            _users += 1

    def close(self) -> None:
        """Disconnect after waiting for calls of other threads: Ray crashes if it is shut down during one."""
        global _users  # noqa: PLW0603
        with self._idle:
            if self._is_closed:
                return
            self._is_closed = True
            self._idle.wait_for(lambda: not self._in_flight)
        with _lock:
            _users -= 1
            if not _users:
                with suppress(Exception):
                    self._ray.shutdown()

    def list_nodes(self) -> Sequence[ClusterNode]:
        """List the nodes that are alive. Raises WorldError."""
        with self._explaining("the cluster"):
            # ray.nodes() aborts this process if the head dies meanwhile.
            client = self._ray._private.worker.global_worker.gcs_client  # noqa: SLF001
            rows = [row for row in client.get_all_node_info(timeout=HEAD_SECONDS).values() if row.state == row.ALIVE]
        has_slots = any(SLOT_RESOURCE in row.resources_total for row in rows)
        return [_make_node(row, has_slots=has_slots) for row in rows]

    def open_gateway(self, node: ClusterNode, folder: str) -> Any:
        """Open the node's actor, which is made if there is none. Returns at once, whether or not it can be made."""
        from plait.runtime.ray.gateway import Gateway

        ray = self._ray
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        options = {
            "name": f"node-{node.id}",
            "namespace": NAMESPACE,
            "lifetime": "detached",
            "get_if_exists": True,
            "num_cpus": 0,
            "max_restarts": -1,
            "max_task_retries": 0,
            "max_concurrency": CONCURRENT_REQUESTS,
            "scheduling_strategy": strategy,
        }
        with self._explaining(node.name):
            actor = ray.remote(Gateway).options(**options)
            return actor.remote(node.id, folder, end_actor)

    def send(self, gateway: Any, method: str, *args: bytes) -> Call:
        """Send a request to a node's actor. Raises NodeGoneError or WorldError."""
        with self._explaining("the node"):
            return Call(getattr(gateway, method).remote(*args))

    def start_task(self, node: ClusterNode, function: Callable[..., bytes], *args: object) -> Call:
        """Call a function on a node that has its module, too."""
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        with self._explaining(node.name):
            task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=strategy)
            return Call(task.remote(*args))

    def wait(self, calls: Sequence[Call], seconds: float) -> list[Call]:
        """Wait until at least one call is answered or has failed, at most this many seconds. Return all such calls."""
        if not calls:
            return []
        by_ref = {call.ref: call for call in calls}
        with self._explaining("the cluster"):
            ready, _ = self._ray.wait([*by_ref], num_returns=1, timeout=seconds)
            if ready and len(by_ref) > 1:
                ready, _ = self._ray.wait([*by_ref], num_returns=len(by_ref), timeout=0)
        return [by_ref[ref] for ref in ready]

    def get(self, call: Call, seconds: float = 0.0) -> bytes:
        """Return the answer to a call. Raises NodeGoneError, also if there is none after this time."""
        with self._explaining("the node"):
            return bytes(self._ray.get(call.ref, timeout=seconds))

    @contextmanager
    def _explaining(self, what: str) -> Iterator[None]:
        errors = self._ray.exceptions
        with self._idle:
            if self._is_closed:
                raise NodeGoneError("the connection to the cluster is closed")
            self._in_flight += 1
        try:
            yield
        except errors.ObjectStoreFullError as error:
            raise WorldError(
                "the cluster's object store is full",
                hint="Wait for running work to end, or start the nodes with more (ray start --object-store-memory).",
            ) from error
        except errors.OutOfDiskError as error:
            raise WorldError("the disk that the cluster's object store spills to is full") from error
        except errors.GetTimeoutError as error:
            raise NodeGoneError(f"{what} does not answer") from error
        except errors.RayActorError as error:
            raise _explain_node_error(what, "is gone", error) from error
        except errors.AuthenticationError as error:
            if "WrongClusterID" in f"{error}":
                raise WorldError(f"the head of the Ray cluster at {self._address} was restarted") from error
            raise WorldError(f"the Ray cluster at {self._address} refuses: {_first_line(error)}") from error
        except errors.RayError as error:
            raise _explain_node_error(what, "can't be reached", error) from error
        except (ConnectionError, RuntimeError, OSError) as error:
            raise WorldError(
                f"the Ray cluster at {self._address} can't be reached: {_first_line(error)}",
                hint="Check that its head runs: ray status",
            ) from error
        finally:
            with self._idle:
                self._in_flight -= 1
                self._idle.notify_all()


def abandon_connection() -> None:
    """Let this process exit even if Ray does not return: it would wait without end for a head that hangs."""
    atexit.unregister(import_ray().shutdown)


def end_actor() -> None:
    """End the actor that this runs in, so that it is not started again. Raises an error of Ray's."""
    ray = import_ray()
    ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def _make_node(row: Any, *, has_slots: bool) -> ClusterNode:  # Any: Ray's GcsNodeInfo
    resources: Mapping[str, float] = row.resources_total
    slots = resources.get(SLOT_RESOURCE, 0) if has_slots else resources.get("CPU", 0)
    labels = sorted(name for name in resources if name != SLOT_RESOURCE and not name.startswith(_INTERNAL_RESOURCES))
    name, node = row.node_name or row.node_manager_hostname, row.node_id.hex()
    if name == row.node_manager_address:  # it was given none, and several nodes may be on one machine
        name = f"{name}-{node[:4]}"
    return ClusterNode(node, name, row.node_manager_address, int(slots), tuple(labels))


def resolve_address(address: str) -> str:
    """Return the head's host:port, from RAY_ADDRESS if `address` is auto; auto if that is not set. Raises UserError."""
    named = os.environ.get("RAY_ADDRESS") or "auto" if address == "auto" else address
    if named != "auto" and ("://" in named or not _HOST_AND_PORT.fullmatch(named)):
        raise UserError(
            f"{named} is not the address of a Ray cluster's head",
            hint="Set ray.address or RAY_ADDRESS to its host:port, such as 10.0.0.1:6379. ray:// and http:// are other services.",
        )
    return named


def require_head(address: str) -> None:
    """Raise OSError at once where Ray would try for minutes without a useful message.

    This is so if nothing listens at the address, or if it doesn't answer as gRPC servers do, with settings of HTTP/2.
    """
    host, _, port = address.rpartition(":")
    if not host:
        return
    with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return
        connection.sendall(_HTTP2_PREFACE)
        try:
            answer = connection.recv(_HTTP2_HEADER_BYTES, socket.MSG_WAITALL)
        except TimeoutError:
            raise ConnectionError(f"no answer within {CONNECT_SECONDS:g} seconds") from None
        if answer[3:4] != _HTTP2_SETTINGS:
            raise ConnectionError("what listens there is not the head of a Ray cluster")


def require_local_node(address: str) -> None:
    """Raise WorldError at once where Ray would search for a minute: a process connects through a node of its own
    machine.
    """
    services = import_ray()._private.services  # noqa: SLF001
    if address != "auto" and not services.find_node_ids():
        raise WorldError(
            f"this machine is not a node of the Ray cluster at {address}",
            hint=f"Add it, without slots: ray start --address {address} --num-cpus 0",
        )


def _explain_connection(address: str, error: Exception) -> WorldError:
    if address == "auto" and "find any running Ray instance" in f"{error}":
        return WorldError(
            "this machine is part of no Ray cluster, and no address of one is set",
            hint="Set ray.address in your own config, or RAY_ADDRESS, to host:port of the cluster's head.",
        )
    versions = _VERSIONS.findall(f"{error}")
    if len(versions) == 2:
        (theirs, their_python), (ours, our_python) = versions
        return WorldError(
            f"the Ray cluster at {address} has Ray {theirs} and Python {their_python}, and this machine"
            f" Ray {ours} and Python {our_python}",
            hint="Install the same versions of Ray and Python as on the cluster's nodes.",
        )
    reason = _first_line(error)
    return WorldError(
        f"can't reach the Ray cluster at {address}{'' if reason.startswith(_RAYS_REASON) else f': {reason}'}",
        hint="Check that it runs (ray status), the setting ray.address or RAY_ADDRESS, and that this machine is a node of it.",
    )


def _explain_node_error(what: str, problem: str, error: Exception) -> NodeGoneError:
    text = f"{error}"
    if "ModuleNotFoundError" in text or "No module named" in text:
        return BrokenNodeError(
            f"{what} has no plait of this version: install plait[ray] there, in the Python that Ray runs with"
        )
    return NodeGoneError(f"{what} {problem}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = [line.strip() for line in _COLOR.sub("", f"{error}").splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
