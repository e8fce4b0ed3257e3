"""What an attempt will do, decided by its name alone: how long it takes, what it says, how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from plait.core.decisions import AttemptStarted
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Step
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.seeded_random import SeededRandom

NEVER = float("inf")
FILES = ("src/api.py", "src/cli.py", "src/new.py", "src/ui/page.py", "src/ui/new.py", "docs/use.md", "log.md")

_FAILURES = (
    Category.TASK,
    Category.TASK,
    Category.TASK,
    Category.EMPTY,
    Category.OVERLOADED,
    Category.NETWORK,
    Category.KILLED,
    Category.CONTEXT,
    Category.USAGE,
    Category.QUOTA,
    Category.AUTH,
)
_RETRY_AFTER_CATEGORIES = frozenset({Category.OVERLOADED, Category.NETWORK})


@dataclass(frozen=True, slots=True)
class AttemptScript:
    """Times are seconds since the launch. A script that `vanishes` ends without an exit status."""

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
    peak: int = 0  # bytes of memory that it takes at most; 0: nobody sees it


def make_attempt_script(order: AttemptStarted, chance: SeededRandom, weather: FaultRates) -> AttemptScript:
    rng = chance.stream("attempt", order.attempt)
    if order.attempt.step is Step.VERIFY:
        return _verify_script(rng, weather)
    return _write_script(rng, order, weather)


def _write_script(rng: Random, order: AttemptStarted, weather: FaultRates) -> AttemptScript:
    lasts = rng.choice((rng.uniform(1, 30), rng.uniform(10, 110)))
    fails = rng.random() < weather.fail
    category = rng.choice(_FAILURES) if fails else Category.OK
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
        retry_after=rng.uniform(1, 300)
        if category in _RETRY_AFTER_CATEGORIES and rng.random() < 0.5
        else None,
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
    """What tasks name, what nobody names, and what lies in a folder that is named."""
    return tuple(sorted(rng.sample(FILES, k=rng.choice((0, 0, 1, 1, 2, 3)))))


def _choose_peak(rng: Random) -> int:
    return 0 if rng.random() < 0.2 else rng.randrange(10_000_000, 3_000_000_000)


def _choose_spend(rng: Random, order: AttemptStarted, weather: FaultRates) -> Spend:
    """Often near what was set aside for it, sometimes far more: a reserve is a guess."""
    share = rng.uniform(1.0, 2.5) if rng.random() < weather.overspend else rng.uniform(0.1, 1.0)
    known = order.reserve or Spend(200_000, 4_000)
    return Spend(int(known.microusd * share), int(known.tokens * share))
