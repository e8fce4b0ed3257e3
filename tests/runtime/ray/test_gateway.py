"""The actors of nodes, without Ray: each has a folder of its own, and ends when nobody needs it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from plait import __version__
from plait.runtime.ray import gateway, node_daemon, wire
from plait.runtime.ray.gateway import Gateway
from tests.support.leaked_processes import find_leaked_processes
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

# A daemon outlives what has started it.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")


@contextmanager
def no_daemons(folder: Path) -> Iterator[None]:
    """Those that are killed would be started again."""
    try:
        yield
    finally:
        for process in find_leaked_processes(folder):
            process.terminate()
        wait_until(lambda: not find_leaked_processes(folder))


def describe(actor: Gateway) -> bytes:
    return actor.describe(__version__.encode())


def test_two_nodes_of_a_machine_that_start_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    with no_daemons(tmp_path), ThreadPoolExecutor(2) as threads:
        actors = [Gateway(node, str(tmp_path), lambda: None) for node in ("one", "two")]
        facts = [wire.decode(data, wire.NodeFacts) for data in threads.map(describe, actors)]
        assert [each.problem for each in facts] == ["", ""]
        assert len({each.key for each in facts}) == 2
        assert sorted(path.read_text() for path in tmp_path.glob("*/node")) == ["one", "two"]


def test_nodes_with_the_same_home_folder_do_not_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_daemons(tmp_path), ThreadPoolExecutor(2) as threads:
        started = threading.Barrier(2, timeout=TIMEOUT_SECONDS)

        def start_together(folder: Path) -> bytes:
            started.wait()
            return folder.name.encode()

        monkeypatch.setattr(node_daemon, "ensure_running", start_together)
        hosts = threading.local()
        monkeypatch.setattr(socket, "gethostname", lambda: hosts.name)

        def start(host: str) -> bytes:
            hosts.name = host
            return wire.decode(describe(Gateway(f"node-{host}", str(tmp_path), lambda: None)), wire.NodeFacts).key

        assert list(threads.map(start, ["alpha", "beta"])) == [b"alpha", b"beta"]


def test_an_actor_does_not_stay_for_engines_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started before plait was installed again on its node: the next one has the new version."""
    monkeypatch.setattr(gateway, "UNASKED_SECONDS", 1.0)
    ended = threading.Event()
    actor = Gateway("one", str(tmp_path), ended.set)
    facts = wire.decode(actor.describe(b"0.0.1"), wire.NodeFacts)
    assert (facts.version, facts.key, facts.problem) == (__version__, b"", "")
    assert [*tmp_path.iterdir()] == []
    wait_until(lambda: bool(actor.describe(b"0.0.1")) and ended.is_set())


def test_an_actor_whose_engine_died_before_it_asked_for_anything_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "UNASKED_SECONDS", 0.0)
    ended = threading.Event()
    Gateway("one", str(tmp_path), ended.set)
    assert ended.wait(TIMEOUT_SECONDS)


def test_an_actor_ends_when_the_head_can_be_reached_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "UNASKED_SECONDS", 0.0)
    tries, ended = [ConnectionError(), ConnectionError()], threading.Event()

    def end() -> None:
        if tries:
            raise tries.pop()
        ended.set()

    Gateway("one", str(tmp_path), end)
    assert ended.wait(TIMEOUT_SECONDS)
