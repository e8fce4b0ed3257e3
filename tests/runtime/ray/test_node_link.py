"""What the engine keeps of what a node says."""

from __future__ import annotations

from plait.core.task import Attempt, Step
from plait.runtime.ray import wire
from plait.runtime.ray.cluster import ClusterNode
from plait.runtime.ray.node_link import NodeLink

ATTEMPT = Attempt("batch", "task", Step.WRITE, 1)


def make_reply(incarnation: str, version: int, number: int = 1) -> wire.PollReply:
    reports = (wire.AttemptReport(ATTEMPT, wire.EXITED, files={"result.json": b"{}"}),)
    chunks = (wire.Chunk(ATTEMPT, 0, b"printed"),)
    return wire.PollReply(incarnation, version, number, 1, 1 << 30, 2 << 30, "", reports, chunks)


def test_what_attempts_printed_is_not_kept() -> None:
    """A megabyte for each attempt of each node would be a lot of memory."""
    link = NodeLink("one")
    assert link.take(make_reply("first", 3))
    assert link.last is not None
    assert (link.last.attempts, link.last.chunks, link.last.free_memory) == ((), (), 1 << 30)
    assert not link.take(make_reply("first", 4))


def test_what_was_to_be_said_again_is_asked_for_again() -> None:
    link = NodeLink("one")
    link.take(make_reply("first", 3))
    link.asked_version, link.version = 3, 0  # the loop wants all of it while a poll is under way
    link.take(make_reply("first", 4))
    assert link.version == 0


def test_a_silent_node_gets_nothing_new_and_keeps_its_slots() -> None:
    link = NodeLink("one", ClusterNode("one", "one", "127.0.0.1", 4, ()), key=b"key", is_alive=True)
    link.take(make_reply("first", 1))
    assert not link.view(0, 1.0).is_refusing
    link.is_silent = True
    node = link.view(0, 1.0)
    assert (node.is_refusing, node.problem, node.slots) == (True, "", 4)
    link.renew(make_reply("first", 1, 2))
    assert not link.is_silent
    assert link.seen == 2
