"""What a node keeps of repositories that no engine uses, or uses again."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from plait.core.task import Attempt, Step
from plait.git.node_mirror import UNUSED_SECONDS
from plait.git.result_bundles import ExpectedResult, take_over_result
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray import node_service, wire
from plait.runtime.ray.engine_space import ATTEMPTS_FILE, LEASE_FILE
from plait.runtime.ray.node_service import NodeService
from plait.runtime.reactor import SelectReactor
from plait.system.processes import read_boot_clock
from tests.support.cluster_node import BATCH, ClusterNode
from tests.support.git_repository import GitRepository


@contextmanager
def service(folder: Path) -> Iterator[Callable[[], None]]:
    """The function waits until nothing is left to do."""
    with closing(SelectReactor()) as reactor, closing(NodeService(folder, reactor)) as service:

        def finish() -> None:
            while not service._workers.is_idle:
                reactor.step(0.1)

        yield finish


def make_mirror(folder: Path, name: str, unused_seconds: float) -> Path:
    mirror = folder / name / "mirror.git"
    mirror.mkdir(parents=True)
    (mirror / "HEAD").write_text("ref: refs/heads/none")
    then = time.time() - unused_seconds
    os.utime(folder / name, (then, then))
    return folder / name


def test_mirrors_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    old = make_mirror(tmp_path, "engine-old", UNUSED_SECONDS + 60)
    new = make_mirror(tmp_path, "engine-new", UNUSED_SECONDS - 60)
    saved = make_mirror(tmp_path, "engine-saved", UNUSED_SECONDS + 60)
    (saved / "mirror.git" / "refs" / "plait" / "saved" / "batch").mkdir(parents=True)
    (saved / "mirror.git" / "refs" / "plait" / "saved" / "batch" / "1").write_text("1" * 40)
    packed = make_mirror(tmp_path, "engine-packed", UNUSED_SECONDS + 60)
    (packed / "mirror.git" / "packed-refs").write_text(f"{'1' * 40} refs/plait/saved/batch/1\n")
    half = make_mirror(tmp_path, "removed-half", 0)  # a service was killed while it removed it
    used = make_mirror(tmp_path, "engine-used", UNUSED_SECONDS + 60)
    (used / "attempts.json").write_text("[]")  # an engine may still hold something there
    os.utime(used, (0, 0))
    with service(tmp_path) as finish:
        finish()
        assert [each.exists() for each in (old, new, half, used)] == [False, True, False, True]
        assert saved.exists()
        assert packed.exists()
        assert not [*tmp_path.glob("removed-*")]


def test_a_full_disk_has_no_unused_mirrors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_service, "MIN_FREE_BYTES", 1 << 62)
    new = make_mirror(tmp_path, "engine-new", 0)
    with service(tmp_path) as finish:
        finish()
        assert not new.exists()


def test_an_engine_that_comes_back_at_once_keeps_what_it_has(tmp_path: Path) -> None:
    """While a node still removes what its last session left."""
    with closing(SelectReactor()) as reactor, closing(NodeService(tmp_path, reactor)) as service:
        old, is_back = service._open_space("one", 60.0), threading.Event()
        old.state.task("batch", "old").mkdir(parents=True)
        service._workers.submit(("close", "one"), is_back.wait, lambda _: None, lambda _: None)
        service._close_space("one", old)
        new = service._open_space("one", 60.0)
        new.state.task("batch", "new").mkdir(parents=True)
        new.save()
        is_back.set()
        while not service._workers.is_idle:
            reactor.step(0.1)
        assert [new.state.task("batch", name).exists() for name in ("old", "new")] == [False, True]
        assert (new.root / ATTEMPTS_FILE).exists()
        assert not [*tmp_path.glob("removed-*")]


def test_a_full_disk_leaves_the_list_of_attempts_as_it_was(tmp_path: Path) -> None:
    """Or the next service would not know which processes to end."""
    with closing(SelectReactor()) as reactor, closing(NodeService(tmp_path, reactor)) as service:
        space = service._open_space("one", 60.0)
        space.save()
        before, (soft, hard) = (space.root / ATTEMPTS_FILE).read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(OSError, match="File too large"):
                space.save()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (space.root / ATTEMPTS_FILE).read_bytes() == before


def test_an_attempt_that_can_not_be_listed_takes_no_slot(tmp_path: Path) -> None:
    with closing(SelectReactor()) as reactor, closing(NodeService(tmp_path, reactor)) as service:
        space = service._open_space("one", 60.0)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(wire.NodeDiskFullError):
                space.reserve(AttemptSpec(Attempt("batch", "one", Step.WRITE, 1), ("true",), "/w", {}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert space.active == 0


def test_an_engine_that_leaves_while_it_waits_for_an_answer_leaves_no_lease(tmp_path: Path) -> None:
    with closing(SelectReactor()) as reactor, closing(NodeService(tmp_path, reactor)) as service:
        space = service._open_space("one", 60.0)
        space.number_answer()
        service._leave(space, "session")
        service._close_space("one", space)
        space.number_answer()  # of the poll that was under way
        assert not (space.root / LEASE_FILE).exists()


def test_a_lease_goes_on_when_the_service_is_killed_and_started_again(tmp_path: Path) -> None:
    with closing(SelectReactor()) as reactor:
        with closing(NodeService(tmp_path, reactor)) as service:
            space = service._open_space("one", 60.0)
            space.save()
            space.lease.end = 0.0
            envelope = wire.Envelope("one", "session", 5.0, b"", wire.Poll(), space.incarnation, space.number_answer())
            space.renew(envelope)
            end = space.lease.end
            assert end < read_boot_clock() + 6.0
        with closing(NodeService(tmp_path, reactor)) as service:
            assert (service.spaces["one"].lease.end, service.spaces["one"].lease.seconds) == (end, 5.0)
            service._close_space("one", service.spaces["one"])
            assert service._open_space("one", 60.0).lease.end > end  # not that of an engine that is gone


@pytest.mark.parametrize("is_committed", [False, True])
def test_work_is_fetched_when_the_lease_is_long_over(tmp_path: Path, is_committed: bool) -> None:  # noqa: FBT001
    """The node has forgotten the attempts by then. What had finished was committed at once."""
    repository = GitRepository(tmp_path / "repository")
    repository.commit({"a.txt": "a\n"})
    base, folder = repository.git("rev-parse", "HEAD"), tmp_path / "node"
    node = ClusterNode(folder / "engine-one", repository)
    node.send(base)
    (node.prepare("one", base) / "a.txt").write_text("edited\n")
    if is_committed:
        node.capture(Attempt(BATCH, "one", Step.WRITE, 1), base)
    node.workspaces.release(BATCH, "one")
    with closing(SelectReactor()) as reactor, closing(NodeService(folder, reactor)) as service:
        space, request = service._open_space("one", 60.0), wire.Release(BATCH, "one")
        with ThreadPoolExecutor(1) as thread:
            released = thread.submit(service._release, space, request)
            while not released.done():
                reactor.step(0.1)
    expected = ExpectedResult(Attempt(BATCH, "one", Step.WRITE, 1), "", base)
    taken = take_over_result(repository.git_dir, released.result().commits, expected)
    (saved,) = taken.saved.values()
    assert repository.git("show", f"{saved}:a.txt") == "edited"
