"""Simulated git and forge: commits that know what is in them, merges, rebuilds, gates and publishing; each job runs once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plait.core.decisions import (
    AttemptStarted,
    GateEnding,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
)
from plait.core.reports import (
    AttemptLost,
    BranchEnd,
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    MergedTask,
    MergeFailed,
    PublishDone,
    PublishFailed,
    PublishWaiting,
    RebuildConflict,
    RebuildDone,
    RebuildFailed,
)
from plait.core.requests import Resolve
from plait.core.settings import Publish
from plait.core.task import Attempt, Step
from plait.testing.simulator.fault_rates import SimContext

Change = tuple[str, str]  # a task and the tip that it left
BLOCKED_MERGES = 10  # number of merges that fail while the branch is blocked: more than are retried automatically
Order = MergeStarted | RebuildStarted | GateStarted


@dataclass(slots=True)
class MergeJob:
    order: Order
    result: BranchEnd | None = None
    dropped: bool = False


class SimBranches:
    """Simulated branches. Every commit ever made is recorded with the commit that it adds a change to."""

    def __init__(self, sim: SimContext) -> None:
        self._sim = sim
        self._commits: dict[str, tuple[str, Change] | None] = {}
        self._lines: dict[str, list[MergedTask]] = {}
        self._bases: dict[str, str] = {}
        self._jobs: dict[tuple[str, str, str, int], MergeJob] = {}

    def create_branch(self, batch: str, base: str) -> None:
        """Create the branch of a batch at `base`."""
        self._commits[base] = None
        self._bases[batch] = base
        self._lines[batch] = []

    def tasks_in(self, commit: str) -> frozenset[str]:
        return frozenset(task for task, _ in self._list_changes(commit))

    def _list_changes(self, commit: str) -> Iterator[Change]:
        added = self._commits[commit]
        while added is not None:
            parent, change = added
            yield change
            added = self._commits[parent]

    def commit(self, order: AttemptStarted) -> str | None:
        """Return the tip that a write attempt leaves; without a base it worked in place and leaves none."""
        if not order.base:
            return None
        tip = str(order.attempt)
        self._commits[tip] = order.base, (order.attempt.task, tip)
        return tip

    def add_resolution(self, request: Resolve) -> None:
        """Record the commit that a person who resolves a conflict makes before requesting its merge."""
        if request.onto in self._commits:
            self._commits[request.commit] = request.onto, (request.task, request.commit)

    def head(self, batch: str) -> str:
        line = self._lines[batch]
        return line[-1].commit if line else self._bases[batch]

    def perform(self, order: Order) -> None:
        key = _job_key(order)
        job = self._jobs.get(key)
        if job is not None:
            if job.result is not None:
                self._sim.send(job.result)
            return
        job = self._jobs[key] = MergeJob(order)
        rng = self._sim.chance.stream("job", *key)
        if isinstance(order, GateStarted):
            hangs = rng.random() < self._sim.rates.hang / 2 and not self._sim.rates.calm
            lasts = rng.uniform(5, 50)
            if not hangs:
                self._sim.time.schedule_in(lasts, lambda: self._finish(job))
        else:
            self._sim.time.schedule_in(rng.uniform(*self._sim.rates.merge_seconds), lambda: self._finish(job))

    def end_gate(self, ending: GateEnding) -> None:
        job = self._jobs.get(("GateStarted", ending.batch, "", ending.n))
        if job is None:
            self._sim.send(GateLost(ending.batch, ending.n, "it was never started"))
        elif job.result is not None:
            self._sim.send(job.result)
        else:
            rng = self._sim.chance.stream("gate-ending", ending.batch, ending.n)
            self._sim.time.schedule_in(rng.uniform(0.2, 8), lambda: self._end_gate_job(job, lost=rng.random() < 0.3))

    def probe(self, order: Order | GateEnding) -> BranchEnd | None:
        key = ("GateStarted", order.batch, "", order.n) if isinstance(order, GateEnding) else _job_key(order)
        job = self._jobs.get(key)
        return job.result if job is not None else None

    def interrupt(self, *, gates: bool) -> None:
        """Finish or undo git jobs by chance, because the engine died; gates only with the machine."""
        for key, job in list(self._jobs.items()):
            if job.result is not None or (isinstance(job.order, GateStarted) and not gates):
                continue
            if self._sim.chance.happens(0.5, "interrupted", *key):
                self._finish(job)
            else:
                job.dropped = True
                del self._jobs[key]

    def _end_gate_job(self, job: MergeJob, *, lost: bool) -> None:
        if job.result is not None or job.dropped:
            return
        batch, n = job.order.batch, job.order.n
        job.result = GateLost(batch, n, "killed") if lost else GateDone(batch, n, passed=False, detail="killed")
        self._sim.send(job.result)

    def _finish(self, job: MergeJob) -> None:
        if job.result is not None or job.dropped:
            return
        match job.order:
            case MergeStarted():
                job.result = self._merge(job.order)
            case RebuildStarted():
                job.result = self._rebuild(job.order)
            case GateStarted():
                job.result = self._gate(job.order)
        self._sim.send(job.result)
        if isinstance(job.result, MergeFailed) and isinstance(job.order, MergeStarted):
            self._report_lost_result(job.order)

    def _merge(self, order: MergeStarted) -> BranchEnd:
        batch, task, n = order.batch, order.task, order.n
        if order.onto != self.head(batch):
            return MergeFailed(batch, task, n, f"the branch is at {self.head(batch)}, not at {order.onto}")
        if self._sim.chance.happens(self._sim.rates.merge_fail, "merge-fails", batch, task, n):
            return MergeFailed(batch, task, n, "the disk is full")
        if n <= BLOCKED_MERGES and self._sim.chance.happens(self._sim.rates.blocked, "blocked", batch, task):
            return MergeFailed(batch, task, n, "the branch is checked out")
        if self._is_pruned(order.tip):
            return MergeFailed(batch, task, n, "its result is gone")
        names = (order.tip,) if self._sim.rates.calm else (order.tip, order.onto)
        if self._sim.chance.happens(self._sim.rates.conflict, "conflicts", *names):
            return MergeConflicted(batch, task, n, ("src/api.py",))
        commit = f"{batch}:{task}:m{n}"
        self._commits[commit] = order.onto, (task, order.tip)
        self._lines[batch].append(MergedTask(task, commit))
        return MergeDone(batch, task, n, commit)

    def _report_lost_result(self, order: MergeStarted) -> None:
        """Report that the result of a failed merge is gone, if it is."""
        if self._is_pruned(order.tip):
            name = Attempt(order.batch, order.task, Step.MERGE, order.n)
            self._sim.send(AttemptLost(name, "its result is gone"))

    def _is_pruned(self, tip: str) -> bool:
        return self._sim.chance.happens(self._sim.rates.pruned, "pruned", tip)

    def _rebuild(self, order: RebuildStarted) -> RebuildDone | RebuildFailed:
        batch, n = order.batch, order.n
        if self._sim.chance.happens(self._sim.rates.merge_fail, "rebuild-fails", batch, n):
            return RebuildFailed(batch, n, "the disk is full")
        line: list[MergedTask] = []
        clashes = []
        for change in order.line:
            if self._sim.chance.happens(self._sim.rates.clash, "clashes", batch, n, change.task):
                clashes.append(RebuildConflict(change.task, ("src/db.py",)))
                continue
            commit = f"{batch}:{change.task}:r{n}"
            below = line[-1].commit if line else self._bases[batch]
            self._commits[commit] = below, (change.task, change.tip)
            line.append(MergedTask(change.task, commit))
        self._lines[batch] = line
        return RebuildDone(batch, n, tuple(line), tuple(clashes))

    def _gate(self, order: GateStarted) -> BranchEnd:
        batch, n = order.batch, order.n
        if self._sim.chance.happens(self._sim.rates.lost, "gate-lost", batch, n):
            outage = self._sim.chance.happens(self._sim.rates.outages, "gate-outage", batch, n)
            return GateLost(batch, n, "its machine died", outage)
        if self._sim.chance.happens(self._sim.rates.gate_flaky, "flaky", batch, n):
            return GateDone(batch, n, passed=False, detail="flaky")
        passed = not self.is_bad_base(batch) and not any(
            self.is_bad_tip(tip) for _, tip in self._list_changes(order.commit)
        )
        return GateDone(batch, n, passed=passed, detail="" if passed else "tests fail")

    def is_bad_tip(self, tip: str) -> bool:
        return self._sim.chance.happens(self._sim.rates.bad_tip, "bad", tip)

    def is_bad_base(self, batch: str) -> bool:
        """Whether the base fails its own gate. It is repaired at some time; otherwise no task could ever be done."""
        early = self._sim.time.now < self._sim.rates.horizon / 2
        return early and self._sim.chance.happens(self._sim.rates.bad_base, "bad-base", batch)


def _job_key(order: Order) -> tuple[str, str, str, int]:
    task = order.task if isinstance(order, MergeStarted) else ""
    return (type(order).__name__, order.batch, task, order.n)


@dataclass(slots=True)
class PublishJob:
    order: PublishStarted
    result: PublishDone | PublishFailed | None = None
    dropped: bool = False


class SimPublisher:
    """A simulated remote. `branches` maps each batch to the commit that its remote branch has."""

    def __init__(self, sim: SimContext) -> None:
        self._sim = sim
        self.branches: dict[str, str] = {}
        self._jobs: dict[tuple[str, int], PublishJob] = {}

    def perform(self, order: PublishStarted) -> None:
        key = (order.batch, order.n)
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = PublishJob(order)
            self._sim.send(PublishWaiting(*key, "askpass"))
            lasts = self._sim.chance.stream("publishing", *key).uniform(0.5, 30.0)
            self._sim.time.schedule_in(lasts, lambda: self._finish(job))
        elif job.result is not None:
            self._sim.send(job.result)

    def probe(self, order: PublishStarted) -> PublishDone | PublishFailed | None:
        job = self._jobs.get((order.batch, order.n))
        return job.result if job is not None else None

    def interrupt(self) -> None:
        """Interrupt the running publish because the engine died: it has completed, or only the push, or nothing."""
        for key, job in list(self._jobs.items()):
            if job.result is not None:
                continue
            how = self._sim.chance.stream("publishing stopped", *key).choice(("ended", "pushed", "nothing"))
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
            self._sim.send(job.result)

    def _publish(self, order: PublishStarted) -> PublishDone | PublishFailed:
        batch, n = order.batch, order.n
        rng = self._sim.chance.stream("publish fails", batch, n)
        fails = rng.random() < self._sim.rates.publish_fail
        before = rng.random() < 0.5
        if fails and before:
            return PublishFailed(batch, n, "the network is down", "try again")
        if not self._push(order):
            return PublishFailed(batch, n, "another program has moved the branch")
        if fails:
            return PublishFailed(batch, n, "the forge said no", "open it by hand", order.commit)
        url = "" if order.publish is Publish.PUSH else f"https://forge.example/{batch}"
        return PublishDone(batch, n, url, order.commit)

    def _push(self, order: PublishStarted) -> bool:
        """Push, if the remote doesn't have the commit; the remote branch is only moved from the expected commit."""
        there = self.branches.get(order.batch, "")
        if there not in {order.expected, order.commit}:
            return False
        self.branches[order.batch] = order.commit
        return True
