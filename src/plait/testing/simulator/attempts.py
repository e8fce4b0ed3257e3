"""What an attempt will do, decided by its name alone: how long it takes, what it prints, how it ends.

Simulated providers refuse all work for a while, or all beyond a few attempts at once.

The simulated executor keeps the ends of attempts by name, as exit files do, so a later engine finds them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from random import Random

from plait.core.ballot import Ballot, BallotResult, Vote
from plait.core.decisions import AttemptEnding, AttemptStarted, CommitStarted
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptEnd,
    AttemptExited,
    AttemptLaunched,
    AttemptLost,
    AttemptPhase,
    AttemptSession,
    AttemptUsed,
    CommitDone,
    CommitFailed,
    CommitWaiting,
    Outcome,
    RateLimited,
    Report,
)
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates, SimContext
from plait.testing.simulator.observer import Violation
from plait.testing.simulator.seeded_random import SeededRandom

NEVER = float("inf")
FILES = ("src/api.py", "src/cli.py", "src/new.py", "src/ui/page.py", "src/ui/new.py", "docs/use.md", "log.md")
_RETRY_AFTER_CATEGORIES = frozenset({Category.OVERLOADED, Category.NETWORK})


@dataclass(frozen=True, slots=True)
class AttemptScript:
    """What an attempt will do, in seconds since its launch. One that `vanishes` ends without an exit status."""

    launches_in: float
    lasts: float
    prints_until: float
    category: Category
    spend: Spend
    vanishes: bool = False
    ignores_soft_signal: bool = False  # dies by the second, hard signal only
    asks_at: float = NEVER
    waits: bool = False  # does nothing more once it has asked
    changes: bool = True  # leaves a commit behind
    retry_after: float | None = None  # a failing provider may say when to come back
    recall_share: float = 0.0  # when, as a share of its length, it calls its provider again
    files: tuple[str, ...] = ()  # that it changes
    peak: int = 0  # its peak memory in bytes; 0: not measured


def make_attempt_script(order: AttemptStarted, chance: SeededRandom, weather: FaultRates) -> AttemptScript:
    rng = chance.stream("attempt", order.attempt)
    verifies = order.attempt.step is Step.VERIFY
    script = _verify_script(rng, weather) if verifies else _write_script(rng, order, weather)
    pace = weather.pace
    return replace(script, lasts=script.lasts * pace, prints_until=script.prints_until * pace)


def _write_script(rng: Random, order: AttemptStarted, weather: FaultRates) -> AttemptScript:
    lasts = rng.choice((rng.uniform(1, 30), rng.uniform(10, 110)))
    fails = rng.random() < weather.fail
    category = rng.choice(weather.failures) if fails else Category.OK
    if rng.random() < weather.ask / 2:
        category = Category.QUESTION
    hangs = rng.random() < weather.hang
    silent = hangs and rng.random() < 0.5
    return AttemptScript(
        launches_in=rng.uniform(0.05, 3.0),
        lasts=NEVER if hangs else lasts,
        prints_until=lasts if silent or not hangs else NEVER,
        category=category,
        spend=_choose_spend(rng, order, weather),
        vanishes=rng.random() < weather.lost,
        ignores_soft_signal=rng.random() < 0.3,
        asks_at=lasts * rng.random() if rng.random() < weather.ask else NEVER,
        waits=rng.random() < 0.5,
        changes=category is not Category.EMPTY and rng.random() > 0.04,
        retry_after=rng.uniform(1, 300) if category in _RETRY_AFTER_CATEGORIES and rng.random() < 0.5 else None,
        recall_share=rng.random(),
        files=_choose_files(rng),
        peak=_choose_peak(rng),
    )


def _verify_script(rng: Random, weather: FaultRates) -> AttemptScript:
    lasts = rng.uniform(1, 50)
    hangs = rng.random() < weather.hang / 2
    return AttemptScript(
        launches_in=rng.uniform(0.05, 1.0),
        lasts=NEVER if hangs else lasts,
        prints_until=lasts,
        category=Category.VERIFY if rng.random() < weather.verify_fail else Category.OK,
        spend=Spend(),
        vanishes=rng.random() < weather.lost,
        ignores_soft_signal=rng.random() < 0.3,
        peak=_choose_peak(rng),
    )


def _choose_files(rng: Random) -> tuple[str, ...]:
    """Choose files that tasks declare, files that no task declares, and files in a declared folder."""
    return tuple(sorted(rng.sample(FILES, k=rng.choice((0, 0, 1, 1, 2, 3)))))


def _choose_peak(rng: Random) -> int:
    return 0 if rng.random() < 0.2 else rng.randrange(10_000_000, 3_000_000_000)


def _choose_spend(rng: Random, order: AttemptStarted, weather: FaultRates) -> Spend:
    """Choose a spend, often near the reserve, sometimes far more: a reserve is a guess."""
    share = rng.uniform(1.0, 2.5) if rng.random() < weather.overspend else rng.uniform(0.1, 1.0)
    known = order.reserve or Spend(200_000, 4_000)
    return Spend(int(known.microusd * share), int(known.tokens * share))


class SimProviders:
    """Simulated providers, which refuse in windows of monotonic time, but say so in wall-clock time."""

    __slots__ = ("_capacity", "_chance", "_time", "_windows")

    def __init__(self, names: tuple[str, ...], chance: SeededRandom, weather: FaultRates, time: EventQueue) -> None:
        self._chance = chance
        self._time = time
        self._windows = {name: _make_windows(name, chance, weather) for name in names}
        self._capacity = {
            name: chance.stream("capacity", name).randint(1, 3)
            for name in names
            if chance.happens(weather.limited_provider, "crowded", name)
        }

    def find_refusal_end(self, provider: str, load: int) -> float | None:
        """Return when the refusal ends; None if the provider serves now. `load` includes the attempt that asks."""
        now = self._time.now
        for start, end in self._windows.get(provider, ()):
            if start <= now < end:
                return end
        if load > self._capacity.get(provider, load):
            return now + 30.0
        return None

    def schedule_reports(self, tell: Callable[[RateLimited], None]) -> None:
        """Schedule reports of some windows by another engine, which met them first."""
        for provider, windows in self._windows.items():
            for start, end in windows:
                if self._chance.happens(0.4, "announced", provider, start):
                    self._time.schedule_at(start, lambda p=provider, e=end: tell(self._make_report(p, e)))  # type: ignore[misc]

    def _make_report(self, provider: str, end: float) -> RateLimited:
        return RateLimited(provider, end + self._time.offset)


def _make_windows(name: str, chance: SeededRandom, weather: FaultRates) -> tuple[tuple[float, float], ...]:
    rng = chance.stream("windows", name)
    windows = []
    start = 0.0
    while (
        weather.refusal_windows > 0
        and (start := start + rng.expovariate(weather.refusal_windows / 3600)) < weather.horizon
    ):
        windows.append((start, start + rng.choice((5.0, 60.0, 400.0))))
    return tuple(windows)


@dataclass(slots=True)
class SimAttempt:
    """One attempt as it really is, whatever the journal believes."""

    order: AttemptStarted
    script: AttemptScript
    started_at: float
    node: int = 0
    used: Spend = NO_SPEND
    is_waiting: bool = False  # for an answer
    signalled: str = ""
    end_report: AttemptEnd | None = None
    committed: Outcome | None = None  # the outcome once its result is committed
    commit_tries: int = 0
    reports: list[Report] = field(default_factory=list)

    @property
    def attempt(self) -> Attempt:
        return self.order.attempt


@dataclass(slots=True)
class SimCommit:
    """A commit that is being made, or its result."""

    result: CommitDone | CommitFailed | None = None
    dropped: bool = False


NODE_TIMEOUT_SECONDS = 20.0  # until the death of a node is noticed


class SimNodes:
    """The slots of a cluster's nodes. The slots of a dead node are given out until its death is noticed."""

    def __init__(self, count: int, slots: int) -> None:
        self.count = count
        self.dead: set[int] = set()
        self._slots = slots
        self._free: deque[int] = deque(node for _ in range(slots) for node in range(count))

    @property
    def alive_slots(self) -> int:
        return (self.count - len(self.dead)) * self._slots

    def take_slot(self, attempt: Attempt) -> int:
        """Take a slot and return the node that an attempt runs on."""
        if not self._slots:
            return 0
        if not self._free:
            raise Violation("slots", f"{attempt} started, and all slots of the cluster are taken")
        return self._free.popleft()

    def return_slot(self, node: int) -> None:
        if self._slots and node not in self.dead:
            self._free.append(node)

    def withdraw(self, node: int) -> None:
        """Withdraw the slots of a node, whose death was noticed."""
        self._free = deque(other for other in self._free if other != node)

    def revive(self, node: int) -> None:
        """Bring the node back, empty."""
        self.dead.discard(node)
        self._free.extend([node] * self._slots)


BLOCKED_COMMITS = 10  # tries that fail where a result can't be committed for long; then the task has failed


class SimExecutor:
    """A simulated executor. Starting an attempt twice starts it once; ending one that is over reports its end again."""

    def __init__(
        self, sim: SimContext, providers: SimProviders, commit: Callable[[AttemptStarted], str | None]
    ) -> None:
        self._sim = sim
        self._providers = providers
        self._commit = commit
        self._runs: dict[Attempt, SimAttempt] = {}
        self._alive: dict[tuple[str, str], SimAttempt] = {}
        self._commits: dict[CommitStarted, SimCommit] = {}
        self._loads: Counter[str] = Counter()  # running attempts by provider
        self.nodes = SimNodes(sim.rates.nodes, sim.rates.slots_per_node)

    @property
    def runs(self) -> Collection[SimAttempt]:
        """All attempts that were ever started."""
        return self._runs.values()

    def start(self, order: AttemptStarted) -> None:
        run = self._runs.get(order.attempt)
        if run is not None:
            if run.end_report is not None:
                self._sim.send(run.end_report)
            return
        place = (order.attempt.batch, order.attempt.task)
        if place in self._alive:
            raise Violation("workspace", f"{order.attempt} started beside {self._alive[place].attempt}")
        script = make_attempt_script(order, self._sim.chance, self._sim.rates)
        run = SimAttempt(order, script, self._sim.time.now, self.nodes.take_slot(order.attempt))
        self._runs[order.attempt] = self._alive[place] = run
        self._loads[order.provider] += 1
        if run.node in self.nodes.dead:  # that was not noticed yet
            self._lose(run, "its node died", NODE_TIMEOUT_SECONDS)
            return
        self._sim.time.schedule_in(run.script.launches_in, lambda: self._launch(run))

    def end(self, ending: AttemptEnding) -> None:
        run = self._runs.get(ending.attempt)
        if run is None:
            self._sim.send(AttemptLost(ending.attempt, "it was never launched"))
        elif run.end_report is not None:
            self._sim.send(run.end_report)
        else:
            self._signal(run, "hard" if ending.now else "soft")

    def probe(self, attempt: Attempt) -> list[Report]:
        """Return what an engine finds when it looks for this attempt: its end, or that it is running."""
        run = self._runs.get(attempt)
        if run is None:
            return []
        return [run.end_report] if run.end_report is not None else list(run.reports)

    def commit(self, order: CommitStarted) -> None:
        """Commit a result; committing twice commits once."""
        place = (order.attempt.batch, order.attempt.task)
        if place in self._alive:
            raise Violation("workspace", f"{order.attempt} is committed beside {self._alive[place].attempt}")
        job = self._commits.get(order)
        if job is None:
            job = self._commits[order] = SimCommit()
            rng = self._sim.chance.stream("commit", order.attempt, order.n)
            if rng.random() < 0.3:
                self._sim.send(CommitWaiting(order.attempt, order.n, "gpg"))
            self._sim.time.schedule_in(rng.uniform(0.1, 30.0), lambda: self._finish_commit(order, job))
        elif job.result is not None:
            self._sim.send(job.result)

    def probe_commit(self, order: CommitStarted) -> list[Report]:
        job = self._commits.get(order)
        return [job.result] if job is not None and job.result is not None else []

    def interrupt_commits(self) -> None:
        """Interrupt commits because the engine died: those in progress are finished or undone by chance."""
        for order, job in list(self._commits.items()):
            if job.result is None and not self._sim.chance.happens(0.5, "uncommitted", order.attempt, order.n):
                job.dropped = True
                del self._commits[order]

    def _finish_commit(self, order: CommitStarted, job: SimCommit) -> None:
        if not job.dropped:
            job.result = self._make_commit(order)
            self._sim.send(job.result)

    def _make_commit(self, order: CommitStarted) -> CommitDone | CommitFailed:
        run, chance = self._runs[order.attempt], self._sim.chance
        if run.committed is None:
            raise Violation("commit", f"{order.attempt} is to be committed, and did not finish its work")
        run.commit_tries += 1
        if chance.happens(self._sim.rates.pruned, "left", order.attempt):
            return CommitFailed(order.attempt, order.n, "the workspace is gone", gone=True)
        is_blocked = run.commit_tries <= BLOCKED_COMMITS and chance.happens(0.25, "locked-key", order.attempt)
        if is_blocked or chance.happens(0.4, "commit-fails", order.attempt, order.n):
            return CommitFailed(order.attempt, order.n, "signing failed")
        tip = self._commit(run.order) if run.script.changes else None
        return CommitDone(order.attempt, order.n, replace(run.committed, tip=tip))

    def lose_attempts(self, why: str, notice: float | None, node: int | None = None) -> None:
        """Lose all attempts, or a node's, at once; `notice` seconds later, that is reported."""
        for run in list(self._alive.values()):
            if node is None or run.node == node:
                self._lose(run, why, notice)

    def _launch(self, run: SimAttempt) -> None:
        if run.end_report is not None:
            return
        self._send_report(run, AttemptLaunched(run.attempt, 1000 + len(self._runs), f"/work/{run.attempt.task}"))
        if run.order.attempt.step is Step.WRITE:
            self._send_report(run, AttemptSession(run.attempt, f"session-{run.attempt}"))
            if self._call_provider(run):
                return
            self._sim.time.schedule_in(run.script.lasts * run.script.recall_share, lambda: self._recall_provider(run))
            self._sim.time.schedule_in(run.script.asks_at, lambda: self._ask(run))
        self._sim.time.schedule_in(run.script.lasts, lambda: self._finish(run))
        self._sim.time.schedule_in(run.order.idle_timeout / 3, lambda: self._tick(run, 1))

    def _send_report(self, run: SimAttempt, report: Report) -> None:
        run.reports.append(report)
        self._sim.send(report)

    def _tick(self, run: SimAttempt, number: int) -> None:
        elapsed = self._sim.time.now - run.started_at
        if (
            run.end_report is not None
            or run.is_waiting
            or elapsed > run.script.prints_until + run.order.idle_timeout / 3
        ):
            return
        share = 1.0 if run.script.lasts == NEVER else min(1.0, elapsed / run.script.lasts)
        run.reports = [sign for sign in run.reports if not isinstance(sign, (AttemptActive, AttemptUsed))]
        self._send_report(run, AttemptActive(run.attempt))
        run.used = Spend(int(run.script.spend.microusd * share), int(run.script.spend.tokens * share))
        if run.used and number % 2:
            self._send_report(run, AttemptUsed(run.attempt, run.used))
        elif run.order.attempt.step is Step.WRITE:
            self._send_report(run, AttemptPhase(run.attempt, f"Phase {number}"))
        self._sim.time.schedule_in(run.order.idle_timeout / 3, lambda: self._tick(run, number + 1))

    def _ask(self, run: SimAttempt) -> None:
        if run.end_report is None and not run.signalled:
            run.is_waiting = run.script.waits
            self._send_report(run, AttemptAsked(run.attempt, "may I?"))

    def _recall_provider(self, run: SimAttempt) -> None:
        if run.end_report is None:
            self._call_provider(run)

    def _call_provider(self, run: SimAttempt) -> bool:
        """Call the provider; return whether it refused the attempt, which ends it."""
        provider = run.order.provider
        until = self._providers.find_refusal_end(provider, self._loads[provider])
        if until is None:
            return False
        how = self._sim.chance.stream("refused", run.attempt).choice(("after", "at", "silent"))
        self._exit(
            run,
            Outcome(
                Category.RATE_LIMIT,
                1,
                "429",
                spend=run.used,
                retry_after=until - self._sim.time.now if how == "after" else None,
                retry_at=until + self._sim.time.offset if how == "at" else None,
                peak=run.script.peak,
            ),
        )
        return True

    def _finish(self, run: SimAttempt) -> None:
        if run.end_report is not None or (run.is_waiting and not run.signalled):
            return
        if run.script.vanishes:
            self._lose(run, "its process is gone", self._sim.chance.stream("notice", run.attempt).uniform(1, 40))
            return
        category = run.script.category
        ballot = self._ballot(run) if category in {Category.OK, Category.RATE_LIMIT} else None
        if category is Category.OK and ballot is not None and ballot.result is BallotResult.ALL_REJECTED:
            category = Category.REJECTED
        done = category is Category.OK
        outcome = Outcome(
            category,
            0 if done else 1,
            "" if done else f"it ended with {category}",
            spend=run.script.spend,
            session=f"session-{run.attempt}",
            retry_after=run.script.retry_after,
            files=run.script.files,
            diffstat=(len(run.script.files), 10 * len(run.script.files), 3) if run.script.files else None,
            question="which one?" if category is Category.QUESTION else None,
            peak=run.script.peak,
            winner=self._winner(run) if done else "",
            ballot=ballot,
        )
        in_worktree = run.attempt.step is Step.WRITE and bool(run.order.base)
        rate = self._sim.rates.uncommitted if done and in_worktree else 0.0
        if self._sim.chance.happens(rate, "uncommitted", run.attempt):
            run.committed = outcome
            self._exit(run, replace(outcome, files=(), diffstat=None, winner="", uncommitted=True))
        else:
            self._exit(run, replace(outcome, tip=self._commit(run.order) if run.script.changes else None))

    def _ballot(self, run: SimAttempt) -> Ballot | None:
        """Return the votes of the judges of a contest, which takes a slot for each of them."""
        names = [each.task for each in run.order.candidates]
        if len(names) < 2 or run.order.slots < 2:
            return None
        rng = self._sim.chance.stream("ballot", run.attempt)
        kept = {vote.judge for vote in run.order.votes}
        asked = [judge for judge in ("judge", "judge 2", "judge 3") if judge not in kept]
        votes = [
            Vote(judge, tuple(rng.sample(names, len(names)))) if rng.random() < 0.7 else Vote(judge, failure="silent")
            for judge in asked
        ]
        result = BallotResult.ALL_REJECTED if rng.random() < 0.4 else BallotResult.MAJORITY
        return Ballot(result, (*run.order.votes, *votes))

    def _winner(self, run: SimAttempt) -> str:
        names = [each.task for each in run.order.candidates]
        return self._sim.chance.stream("winner", run.attempt).choice(names) if names else ""

    def _signal(self, run: SimAttempt, how: str) -> None:
        """Signal an attempt; the same signal twice does what it did once."""
        if run.signalled in {how, "hard"}:
            return
        run.signalled = how
        rng = self._sim.chance.stream("ending", run.attempt, how)
        grace = (
            rng.uniform(0.01, 0.5)
            if how == "hard"
            else 10.0
            if run.script.ignores_soft_signal
            else rng.uniform(0.2, 6.0)
        )
        finished = not run.script.ignores_soft_signal and run.script.category is Category.OK and rng.random() < 0.2
        self._sim.time.schedule_in(grace, lambda: self._die(run, finished=finished))

    def _die(self, run: SimAttempt, *, finished: bool) -> None:
        if run.end_report is not None:
            return
        if finished:
            self._finish(run)
        else:
            self._exit(run, Outcome(Category.KILLED, -15, "ended by a signal", spend=run.used, peak=run.script.peak))

    def _exit(self, run: SimAttempt, outcome: Outcome) -> None:
        run.end_report = AttemptExited(run.attempt, outcome)
        self._forget(run)
        self._sim.send(run.end_report)

    def _lose(self, run: SimAttempt, why: str, notice: float | None) -> None:
        outage = self._sim.chance.happens(self._sim.rates.outages, "outage", run.attempt)
        lost = run.end_report = AttemptLost(run.attempt, why, outage)
        self._forget(run)
        if notice is not None:
            self._sim.time.schedule_in(notice, lambda: self._sim.send(lost))

    def _forget(self, run: SimAttempt) -> None:
        del self._alive[run.attempt.batch, run.attempt.task]
        self._loads[run.order.provider] -= 1
        self.nodes.return_slot(run.node)
