"""How much more the machine can take: what the engine reports of it, computed from plain numbers.

A footprint is the memory that one slot takes. What runs is expected to grow to its footprint, and what starts next must
fit beside that. An answer that depends on what was told before changes only when it is clearly out of date.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from plait.core.agenda.verify import COMMAND
from plait.core.frozen import dataclass
from plait.core.owed import Owed
from plait.core.reports import RoomChanged
from plait.core.state import State
from plait.core.status import Waiting
from plait.core.task import Attempt

MIB = 1024**2
GIB = 1024**3

# Until something was measured: a coding tool is a runtime of a few hundred MiB and the compilers and tests it starts; a
# script is a shell and one or two programs.
USUAL = 512 * MIB
PRIORS: Mapping[str, int] = {"shell": 64 * MIB}
ENOUGH = 3  # so many measured attempts are a history; before, one that died at once would tell too little

PLENTY = 8  # with so many slots still free, it does not matter how many more there are
NO_BOUND = RoomChanged(None)

DISK_LEFT, DISK_SHARE = GIB, 50  # short of disk: less than a GiB, on a small disk less than a fiftieth of it
LOAD = 8.0  # short of processor: so many programs want each core
SQUEEZE = 0.4  # short of memory: work stands still for so much of the time
EASE = 1.5  # short no longer: that much better than where it begins


class Weather(Protocol):
    """What the machine has left, as its sensors tell it: bytes, programs that want to run, a share of time."""

    @property
    def memory(self) -> int: ...
    @property
    def memory_total(self) -> int: ...
    @property
    def disk(self) -> int: ...
    @property
    def disk_total(self) -> int: ...
    @property
    def load(self) -> float: ...
    @property
    def cores(self) -> int: ...
    @property
    def squeeze(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Demand:
    """What this engine has at work, and what may start next. `growth` is the memory that what runs will still take."""

    slots: int
    growth: int
    agent: str
    footprint: int
    limit: int = 0  # more than that is not wanted; 0: any number
    was: int | None = None  # the bound that was told last


def survey(
    state: State, weather: Weather, sizes: Mapping[Attempt, int], beside: RoomChanged | None = None
) -> RoomChanged | None:
    """What to report; None: nothing has changed. `sizes` are the bytes that each running attempt's tree takes now,
    `beside` what the user's other engines leave.
    """
    memory = room(weather, demand(state, sizes))
    found = min(memory, beside or NO_BOUND, key=_width)
    told = state.room or NO_BOUND
    same = found.slots == told.slots and (found.slots is None or found.on is told.on)
    return None if same else found


def footprint(state: State, agent: str) -> int:
    """The most that a slot of this agent took lately; while little is known, no less than is usual."""
    known = state.experience.get(agent)
    lately = known.footprints if known is not None else ()
    return max(*lately, 1) if len(lately) >= ENOUGH else max(*lately, PRIORS.get(agent, USUAL), 1)


def demand(state: State, sizes: Mapping[Attempt, int]) -> Demand:
    alive = [attempt for batch in state.open.values() for attempt in batch.alive.values()]
    expected = (footprint(state, attempt.agent) * attempt.decision.slots for attempt in alive)
    growth = sum(
        max(0, most - sizes.get(attempt.name, 0)) for most, attempt in zip(expected, alive, strict=True)
    )
    agent = _hungriest(state)
    was = state.room.slots if state.room is not None and state.room.on is Waiting.MEMORY else None
    return Demand(state.slots, growth, agent, footprint(state, agent), state.settings.parallel_limit, was)


def room(weather: Weather, demand: Demand) -> RoomChanged:
    """As many slots as memory allows; at least one, so that no batch stands still for ever, unless nothing is left."""
    if weather.memory_total <= 0:  # nobody can tell
        return NO_BOUND
    if weather.memory < _least(weather.memory_total) * (2 if demand.was == 0 else 1):
        return RoomChanged(0, f"only {size(weather.memory)} of memory left")
    spare = weather.memory - headroom(weather.memory_total) - demand.growth
    slots = _steady(demand, spare)
    if demand.limit and slots >= demand.limit:
        return NO_BOUND
    return RoomChanged(slots, _words(weather, demand))


def share(limit: int, others: int, who: str, waiting: int = 0) -> RoomChanged:
    """What the user's other engines leave of the slots that all of them share; those that are `waiting` get an even part."""
    if not limit or (others <= 0 and not waiting):
        return NO_BOUND
    by = " ".join(who.split()) or "your other engines"
    even = -(-limit // (1 + waiting)) if waiting else limit
    if even < limit - others:
        return RoomChanged(even, f"your {limit} slots are shared with {waiting} more that wait", Waiting.SLOT)
    left = max(0, limit - others)
    return RoomChanged(left, f"{others} of your {limit} slots are taken by {by}", Waiting.SLOT)


def shortage(weather: Weather, was: str | None, where: str = "") -> str | None:
    """What the machine is short of, in words (as before while it is the same: `was`); None: of nothing.

    `where` is the place whose disk it is.
    """
    ease = EASE if was is not None else 1.0
    for opening, found in (
        ("only", _short_of_disk(weather, ease, where)),
        ("work", _short_of_memory(weather, ease)),
        ("a load", _short_of_processor(weather, ease)),
    ):
        if found is not None:
            return was if was is not None and was.startswith(opening) else found
    return None


def headroom(total: int) -> int:
    """The memory that is left alone: a GiB or a twentieth, and on a small machine no more than an eighth."""
    return min(max(GIB, total // 20), total // 8)


def size(count: int) -> str:
    """Bytes, in words for a person."""
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count // MIB} MiB"


def _least(total: int) -> int:
    """With less memory than this, not even one attempt would get anywhere."""
    return min(256 * MIB, total // 32)


def _steady(demand: Demand, spare: int) -> int:
    """A bound rises only by what clearly fits, and not at all while it is far away: memory comes and goes."""
    slots = max(1, demand.slots + spare // demand.footprint)
    was = demand.was
    if was is None or slots <= was:
        return slots
    if demand.slots + PLENTY <= was:
        return was
    clearly = demand.slots + (spare - demand.footprint // 4) // demand.footprint
    return max(1, was, clearly)


def _words(weather: Weather, demand: Demand) -> str:
    kept = f"{size(headroom(weather.memory_total))} of it kept free"
    growing = f" and {size(demand.growth)} for what runs to grow into" if demand.growth else ""
    who = demand.agent or "the next attempt"
    return f"{size(weather.memory)} of memory left, {kept}{growing}, and {who} takes up to {size(demand.footprint)}"


def _width(found: RoomChanged) -> float:
    return float("inf") if found.slots is None else found.slots


def _hungriest(state: State) -> str:
    """Of those that could start next (none: of all that the batches use), whoever takes the most."""
    going = [batch for batch in state.open.values() if batch.paused is None]
    next_ones = {agent for batch in going for entry in state.ready.heads(batch.id) for agent in entry.lane[1]}
    if any(batch.owed[Owed.VERIFY] for batch in going):
        next_ones.add(COMMAND)
    usual = {agent for batch in state.open.values() for agent in batch.settings.agents}
    return max(sorted(next_ones or usual), key=lambda agent: footprint(state, agent), default="")


def _line(text: str) -> str:
    """A reason is one line, whatever somebody called a folder."""
    return " ".join(text.split())


def _short_of_disk(weather: Weather, ease: float, where: str) -> str | None:
    at = f" at {_line(where)}" if where else ""
    short = weather.disk < min(DISK_LEFT, weather.disk_total // DISK_SHARE) * ease
    return f"only {size(weather.disk)} of disk left{at}" if short else None


def _short_of_memory(weather: Weather, ease: float) -> str | None:
    if weather.squeeze is None or weather.squeeze <= SQUEEZE / ease:
        return None
    return f"work stands still {weather.squeeze:.0%} of the time for want of memory"


def _short_of_processor(weather: Weather, ease: float) -> str | None:
    cores = max(1, weather.cores)
    short = weather.load / cores > LOAD / ease
    return f"a load of {weather.load:.1f} on {cores} core{'' if cores == 1 else 's'}" if short else None
