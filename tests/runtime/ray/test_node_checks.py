"""What is checked of nodes and of the cluster's address, without Ray."""

from __future__ import annotations

import platform
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from plait import __version__
from plait.client.doctor.check import DoctorCheck
from plait.client.doctor.cluster_checks import NodeFindings, inspect_node
from plait.core.errors import UserError, WorldError
from plait.runtime.ray import cluster
from plait.runtime.ray.cluster import require_head, require_local_node, resolve_address
from plait.runtime.ray.connections import compare_versions


def find_folder_checks(folder: Path) -> list[DoctorCheck]:
    findings = msgspec.json.decode(inspect_node(str(folder), ()), type=NodeFindings)
    return [check for check in findings.checks if check.topic == "folder"]


def test_a_machine_that_is_no_node_is_told_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would look for a minute."""
    services = pytest.importorskip("ray._private.services")
    monkeypatch.setattr(services, "find_node_ids", set)
    with pytest.raises(
        WorldError, match=r"this machine is not a node of the Ray cluster at 10\.0\.0\.1:6379"
    ) as raised:
        require_local_node("10.0.0.1:6379")
    assert raised.value.hint == "Add it, without slots: ray start --address 10.0.0.1:6379 --num-cpus 0"


def test_a_folder_that_every_user_can_write_to_is_a_problem(tmp_path: Path) -> None:
    """Nothing can be started there: others could replace worktrees."""
    folder = tmp_path / "ray"
    assert find_folder_checks(folder) == []
    folder.mkdir()
    folder.chmod(0o777)
    [check] = find_folder_checks(folder)
    assert check.text == f"{folder} isn't safe to work in: every user can replace what is in {folder}"
    folder.chmod(0o700)
    assert find_folder_checks(folder) == []


def test_the_engine_and_a_node_need_the_same_versions() -> None:
    python = platform.python_version()
    assert compare_versions(__version__, python) == ""
    assert (
        compare_versions("0.0.1", python)
        == f"it has plait 0.0.1, and the engine {__version__}: install the same version on both"
    )
    assert (
        compare_versions(__version__, "3.1.9")
        == f"it has Python 3.1.9, and the engine {python}: use the same version on both"
    )


def test_an_address_is_that_of_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray takes others, too, and has no list of nodes then, or starts a cluster."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert resolve_address("auto") == "auto"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.2:6379")
    assert [resolve_address(each) for each in ("auto", "10.0.0.1:6379")] == ["10.0.0.2:6379", "10.0.0.1:6379"]
    for other in ("ray://10.0.0.1:10001", "http://10.0.0.1:8265", "10.0.0.1", "local"):
        monkeypatch.setenv("RAY_ADDRESS", other)
        with pytest.raises(UserError, match="not the address of a Ray cluster's head"):
            resolve_address("auto")


@pytest.mark.parametrize(
    ("answer", "seconds", "problem"),
    [(b"", 0.1, "no answer within"), (b"HTTP/1.1 400 Bad Request", 60.0, "not the head")],
)
def test_what_is_no_head_or_hangs_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, seconds: float, problem: str
) -> None:
    """Ray would try for minutes."""
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", seconds)
    monkeypatch.delenv("RAY_USE_TLS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        tried = threads.submit(require_head, f"127.0.0.1:{server.getsockname()[1]}")
        connection, _ = server.accept()
        with connection:
            connection.sendall(answer)
            with pytest.raises(ConnectionError, match=problem):
                tried.result()
