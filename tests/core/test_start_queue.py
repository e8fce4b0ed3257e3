from __future__ import annotations

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from plait.core.start_queue import QueueEntry, QueueKey, StartQueue

TOKENS = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple)
LANES = st.builds(QueueKey, st.sampled_from(["batch", "other"]), st.sampled_from([("x",), ("x", "y")]), st.booleans())


class ReadyMachine(RuleBasedStateMachine):
    """Compares the queue with its law: in order, an entry is free if it meets no held lock and no better free rival."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = StartQueue()
        self.waiting: dict[tuple[str, int], QueueEntry] = {}
        self.holding: dict[tuple[str, int], QueueEntry] = {}
        self.next = 0

    @rule(lane=LANES, rank=st.integers(0, 3), tokens=TOKENS)
    def add(self, lane: QueueKey, rank: int, tokens: tuple[str, ...]) -> None:
        entry = QueueEntry((lane.batch, self.next), lane, (1, rank, 0.0, self.next), tokens)
        self.next += 1
        self.waiting[entry.ref] = entry
        self.ready.add(entry)

    @rule(data=st.data())
    def add_again_while_holding(self, data: st.DataObject) -> None:
        idle = sorted(ref for ref in self.holding if ref not in self.waiting)
        if idle:
            entry = self.holding[data.draw(st.sampled_from(idle))]
            self.waiting[entry.ref] = entry
            self.ready.add(entry)

    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        if self.waiting:
            ref = data.draw(st.sampled_from(sorted(self.waiting)))
            del self.waiting[ref]
            self.ready.discard(ref)

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        free = sorted(entry.ref for batch in ("batch", "other") for entry in self.ready.heads(batch))
        if free:
            entry = self.waiting.pop(data.draw(st.sampled_from(free)))
            self.holding[entry.ref] = entry
            self.ready.acquire(entry.ref, entry.locks)

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        idle = sorted(ref for ref in self.holding if ref not in self.waiting)
        if idle:
            entry = self.holding.pop(data.draw(st.sampled_from(idle)))
            self.ready.release(entry.ref, entry.locks)

    @invariant()
    def agrees_with_the_law(self) -> None:
        held = {token: ref for ref, entry in self.holding.items() for token in entry.locks}
        wanted: set[tuple[object, str]] = set()
        heads: dict[object, QueueEntry] = {}
        for entry in sorted(self.waiting.values(), key=lambda entry: entry.key):
            rivals = any((entry.queue_key, token) in wanted for token in entry.locks)
            free = not rivals and all(held.get(token, entry.ref) == entry.ref for token in entry.locks)
            assert (self.ready.blocking_lock(entry.ref) is None) == free
            if free:
                heads.setdefault(entry.queue_key, entry)
                wanted.update((entry.queue_key, token) for token in entry.locks)
        kept = {entry.queue_key: entry for batch in ("batch", "other") for entry in self.ready.heads(batch)}
        assert kept == heads
        assert len(self.ready) == len(self.waiting)


ReadyMachine.TestCase.settings = settings(stateful_step_count=50)
test_ready = ReadyMachine.TestCase


def test_a_copied_start_queue_is_independent() -> None:
    ready = StartQueue()
    for n in range(3):
        ready.add(QueueEntry(("b", n), QueueKey("b", ("x",), is_contest=False), (1, 0, 0.0, n), ("file",)))
    twin = ready.copy()
    twin.acquire(("b", 0), ("file",))
    twin.release(("b", 0), ("file",))
    assert [entry.ref for entry in ready.heads("b")] == [("b", 0)]
    assert [entry.ref for entry in twin.heads("b")] == [("b", 1)]
