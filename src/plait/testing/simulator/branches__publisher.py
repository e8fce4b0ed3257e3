"""The remote and its pull requests: a push that is refused unless the branch is where it is expected, done once each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed, Report
from plait.core.settings import Publish
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.seeded_random import SeededRandom


@dataclass(slots=True)
class PublishJob:
    order: PublishStarted
    result: PublishDone | PublishFailed | None = None
    dropped: bool = False


class SimPublisher:
    """`branches` maps each batch to the commit that its remote branch has."""

    def __init__(
        self, time: EventQueue, chance: SeededRandom, weather: FaultRates, send: Callable[[Report], None]
    ) -> None:
        self._time = time
        self._chance = chance
        self._weather = weather
        self._send = send
        self.branches: dict[str, str] = {}
        self._jobs: dict[tuple[str, int], PublishJob] = {}

    def perform(self, order: PublishStarted) -> None:
        key = (order.batch, order.n)
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = PublishJob(order)
            lasts = self._chance.stream("publishing", *key).uniform(0.5, 30.0)
            self._time.schedule_in(lasts, lambda: self._finish(job))
        elif job.result is not None:
            self._send(job.result)

    def probe(self, order: PublishStarted) -> PublishDone | PublishFailed | None:
        job = self._jobs.get((order.batch, order.n))
        return job.result if job is not None else None

    def interrupt(self) -> None:
        """The engine died: what was under way has come to its end, or only to the push, or to nothing."""
        for key, job in list(self._jobs.items()):
            if job.result is not None:
                continue
            how = self._chance.stream("publishing stopped", *key).choice(("ended", "pushed", "nothing"))
            if how == "ended":
                self._finish(job)
                continue
            if how == "pushed":
                self._push(job.order)
            job.dropped = True
            del self._jobs[key]

    def _finish(self, job: PublishJob) -> None:
        if job.result is None and not job.dropped:
            job.result = self._publish(job.order)
            self._send(job.result)

    def _publish(self, order: PublishStarted) -> PublishDone | PublishFailed:
        batch, n = order.batch, order.n
        rng = self._chance.stream("publish fails", batch, n)
        fails = rng.random() < self._weather.publish_fail
        before = rng.random() < 0.5
        if fails and before:
            return PublishFailed(batch, n, "the network is down", "try again")
        if not self._push(order):
            return PublishFailed(batch, n, "somebody else has moved the branch")
        if fails:
            return PublishFailed(batch, n, "the forge said no", "open it by hand", order.commit)
        url = "" if order.publish is Publish.PUSH else f"https://forge.example/{batch}"
        return PublishDone(batch, n, url, order.commit)

    def _push(self, order: PublishStarted) -> bool:
        """A remote that has the commit already is well; it is never moved from where nobody expected it."""
        there = self.branches.get(order.batch, "")
        if there not in {order.expected, order.commit}:
            return False
        self.branches[order.batch] = order.commit
        return True
