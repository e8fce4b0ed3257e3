"""How many more attempts the machine can take, computed from plain numbers.

A footprint is the memory that one slot takes. What runs is expected to grow to its footprint, and what starts next must
fit beside that. A bound changes only when it is clearly out of date.
"""

from __future__ import annotations

from collections.abc import Mapping

from plait.core.fast_dataclass import dataclass
from plait.core.reports import CapacityChanged
from plait.core.requests import Submit
from plait.core.scheduler.outcomes import VERIFY_AGENT
from plait.core.settings import ExecutorKind, MachineLimits
from plait.core.state import State
from plait.core.status import NextAction, WaitReason
from plait.core.task import Attempt

MIB = 1024**2
GIB = 1024**3

# Before anything was measured: a coding tool is a runtime of a few hundred MiB with compilers and tests; a script is a
# shell with one or two programs.
DEFAULT_FOOTPRINT_BYTES = 512 * MIB
FOOTPRINT_BYTES_BY_AGENT: Mapping[str, int] = {"shell": 64 * MIB}
MIN_FOOTPRINT_SAMPLES = 3  # measured attempts: one that exited at once says too little
AMPLE_SLOTS = 8  # with this many free slots the exact bound does not matter
NO_BOUND = CapacityChanged(None)
DEFAULT_LIMITS = MachineLimits()
REMOTE_LIMITS = MachineLimits(
    max_load=0, free_memory=0, max_memory_stall=1
)  # of this machine, only the disk is checked
MIN_DISK_BYTES, MIN_DISK_DIVISOR = GIB, 50  # short of disk: less than a GiB, on a small disk less than a fiftieth
RECOVERY_FACTOR = 1.5  # a shortage ends when readings are this much better


@dataclass(frozen=True, slots=True)
class MachineReadings:
    """What the machine has left, in bytes. `memory_stall` is the share of time that work stalls for lack of memory."""

    memory: int
    memory_total: int
    disk: int
    disk_total: int
    load: float
    cores: int
    memory_stall: float | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What this engine runs, and what may start next. `growth` is the memory that running attempts will still take."""

    slots: int
    growth: int
    agent: str
    footprint: int
    limit: int = 0  # the most that could be used; 0: any number
    previous_slots: int | None = None  # the last reported bound


def find_capacity_change(
    state: State,
    readings: MachineReadings,
    sizes: Mapping[Attempt, int],
    shared: CapacityChanged = NO_BOUND,
    limits: MachineLimits = DEFAULT_LIMITS,
) -> CapacityChanged | None:
    """Return the new capacity to report, or None if it has not changed. `sizes` are the bytes that each running
    attempt's process tree uses now; `shared` are the slots that the user's other engines, or the nodes of a cluster,
    leave free.
    """
    memory = memory_capacity(readings, measure_demand(state, sizes), limits)
    capacity = tightest(memory, shared)
    last = state.capacity or NO_BOUND
    same = capacity.slots == last.slots and (capacity.slots is None or capacity.on is last.on)
    if same and capacity.slots == 0 and capacity.on is WaitReason.SLOT:
        same = capacity.why == last.why  # people have to do something else now
    return None if same else capacity


def tightest(*bounds: CapacityChanged) -> CapacityChanged:
    """Return the bound with the fewest slots; of equal bounds, the first."""
    return min(bounds, key=lambda bound: float("inf") if bound.slots is None else bound.slots)


def list_executors(state: State) -> set[ExecutorKind]:
    """Return the executors where attempts may start now: those of open batches that aren't paused, and those of batches
    that an unanswered request may open.
    """
    kinds = {batch.settings.executor for batch in state.open.values() if batch.paused is None}
    for request in state.unanswered.values():
        if isinstance(request, Submit):
            kinds.add(request.settings.executor)
        elif (batch := state.batches.get(getattr(request, "batch", ""))) is not None:
            kinds.add(batch.settings.executor)
    return kinds


def count_local_slots(state: State) -> int:
    """Count the slots that attempts on this machine take."""
    remote = (batch.slots for batch in state.open.values() if batch.settings.executor is not ExecutorKind.LOCAL)
    return state.slots - sum(remote)


def cluster_capacity(slots: int, why: str = "") -> CapacityChanged:
    """Return a bound of `slots`, which the cluster's nodes have for this engine; `why` says why there are none."""
    busy = f"all {slots} cluster slots are busy" if slots > 1 else "the only slot of the cluster is busy"
    none = why or "no node of the cluster has answered yet"
    return CapacityChanged(slots, busy if slots else none, WaitReason.SLOT)


def estimate_footprint(state: State, agent: str) -> int:
    """Estimate the memory of one slot of this agent: the most that its recent attempts took, and while there are few of
    those, at least a default.
    """
    stats = state.agent_stats.get(agent)
    recent = stats.footprints if stats is not None else ()
    is_known = len(recent) >= MIN_FOOTPRINT_SAMPLES
    return max(1 if is_known else FOOTPRINT_BYTES_BY_AGENT.get(agent, DEFAULT_FOOTPRINT_BYTES), *recent, 1)


def measure_demand(state: State, sizes: Mapping[Attempt, int]) -> Demand:
    local = [batch for batch in state.open.values() if batch.settings.executor is ExecutorKind.LOCAL]
    alive = [attempt for batch in local for attempt in batch.alive.values()]
    expected = (estimate_footprint(state, attempt.agent) * attempt.decision.slots for attempt in alive)
    growth = sum(
        max(0, expected_size - sizes.get(attempt.name, 0))
        for expected_size, attempt in zip(expected, alive, strict=True)
    )
    agent = _find_largest_agent(state)
    previous = state.capacity.slots if state.capacity is not None and state.capacity.on is WaitReason.MEMORY else None
    return Demand(state.slots, growth, agent, estimate_footprint(state, agent), state.settings.parallel_limit, previous)


def memory_capacity(
    readings: MachineReadings, demand: Demand, limits: MachineLimits = DEFAULT_LIMITS
) -> CapacityChanged:
    """Return how many slots memory allows: at least one, so that batches progress, unless hardly any is left."""
    if readings.memory_total <= 0 or limits.free_memory == 0:  # unknown, or no limit
        return NO_BOUND
    least = min(256 * MIB, readings.memory_total // 32)  # with less, not even one attempt could work
    if readings.memory < least * (2 if demand.previous_slots == 0 else 1):
        return CapacityChanged(0, f"only {format_binary_size(readings.memory)} of memory left")
    reserve = reserved_memory(readings.memory_total, limits)
    spare = readings.memory - reserve - demand.growth
    slots = _stable_slots(demand, spare)
    if demand.limit and slots >= demand.limit:
        return NO_BOUND
    return CapacityChanged(slots, _describe_memory(readings, demand, reserve))


def shared_capacity(limit: int, others: int, engine_names: str, queued_engines: int = 0) -> CapacityChanged:
    """Return the shared slots that the user's other engines leave; engines that wait for slots get an equal part."""
    if not limit or (others <= 0 and not queued_engines):
        return NO_BOUND
    by = " ".join(engine_names.split()) or "your other engines"
    even = -(-limit // (1 + queued_engines)) if queued_engines else limit
    if even < limit - others:
        return CapacityChanged(
            even, f"your {limit} slots are shared with {queued_engines} more that wait", WaitReason.SLOT
        )
    remaining = max(0, limit - others)
    return CapacityChanged(remaining, f"{others} of your {limit} slots are taken by {by}", WaitReason.SLOT)


def describe_shortage(
    readings: MachineReadings, previous: str | None, folder: str = "", limits: MachineLimits = DEFAULT_LIMITS
) -> str | None:
    """Describe what the machine is short of, or return None if nothing. While the shortage stays the same, its text
    (`previous`) stays the same too.

    `folder` is on the disk that is checked.
    """
    recovery = RECOVERY_FACTOR if previous is not None else 1.0
    for prefix, shortage in (
        ("only", _short_of_disk(readings, recovery, folder)),
        ("memory pressure", _short_of_memory(readings, recovery, limits.max_memory_stall)),
        ("load", _short_of_processor(readings, recovery, limits.max_load)),
    ):
        if shortage is not None:
            return previous if previous is not None and previous.startswith(prefix) else shortage
    return None


def reserved_memory(total: int, limits: MachineLimits = DEFAULT_LIMITS) -> int:
    """Return the bytes of memory to keep free: the configured number, else the larger of a GiB and a twentieth of the
    total, but on a small machine at most an eighth.
    """
    return min(max(GIB, total // 20), total // 8) if limits.free_memory is None else limits.free_memory


def format_binary_size(count: int) -> str:
    """Format a number of bytes for people: "1.5 GiB"."""
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count // MIB} MiB"


def _stable_slots(demand: Demand, spare: int) -> int:
    """Return the slots that fit into `spare`, without flapping: memory comes and goes, so a bound rises only by what
    clearly fits, and not at all while far more slots are free than used.
    """
    slots = max(1, demand.slots + spare // demand.footprint)
    previous = demand.previous_slots
    if previous is None or slots <= previous:
        return slots
    if demand.slots + AMPLE_SLOTS <= previous:
        return previous
    clearly = demand.slots + (spare - demand.footprint // 4) // demand.footprint
    return max(1, previous, clearly)


def _describe_memory(readings: MachineReadings, demand: Demand, reserved: int) -> str:
    reserve = f"{format_binary_size(reserved)} of it kept free"
    growing = f" and {format_binary_size(demand.growth)} for running attempts to grow" if demand.growth else ""
    agent = demand.agent or "the next attempt"
    return f"{format_binary_size(readings.memory)} of memory left, {reserve}{growing}, and {agent} takes up to {format_binary_size(demand.footprint)}"


def _find_largest_agent(state: State) -> str:
    """Return the agent with the largest footprint of those that may start next, else of all in open batches."""
    unpaused = [batch for batch in state.open.values() if batch.paused is None]
    next_agents = {
        agent for batch in unpaused for entry in state.start_queue.heads(batch.id) for agent in entry.queue_key.agents
    }
    if any(batch.tasks_by_action[NextAction.VERIFY] for batch in unpaused):
        next_agents.add(VERIFY_AGENT)
    all_agents = {agent for batch in state.open.values() for agent in batch.settings.agents}
    return max(sorted(next_agents or all_agents), key=lambda agent: estimate_footprint(state, agent), default="")


def _short_of_disk(readings: MachineReadings, recovery: float, folder: str) -> str | None:
    at = f" at {' '.join(folder.split())}" if folder else ""
    short = readings.disk < min(MIN_DISK_BYTES, readings.disk_total // MIN_DISK_DIVISOR) * recovery
    return f"only {format_binary_size(readings.disk)} of disk left{at}" if short else None


def _short_of_memory(readings: MachineReadings, recovery: float, most: float) -> str | None:
    if most >= 1 or readings.memory_stall is None or readings.memory_stall <= most / recovery:
        return None
    return f"memory pressure: work stalls {readings.memory_stall:.0%} of the time"


def _short_of_processor(readings: MachineReadings, recovery: float, most: float) -> str | None:
    cores = max(1, readings.cores)
    short = most > 0 and readings.load / cores > most / recovery
    return f"load {readings.load:.1f} on {cores} core{'' if cores == 1 else 's'}" if short else None
