"""What a frame shows of the batch, without time, size and current activities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from plait.client.record_context import find_machine_shortage
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Publish, Spend
from plait.core.state import BatchState, State
from plait.core.views import BatchView, make_batch_view


@dataclass(frozen=True, slots=True)
class RunningGate:
    """The gate that runs, on the first `size` merges. After a failure, one of `suspects` is the cause."""

    command: str
    size: int
    since: float
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchViewModel:
    """The batch as a frame shows it. `limits`: unavailable providers, and until when. `ending`: tasks whose attempt was
    asked to end. `spent`: what running attempts have cost so far. `rebuild_without`: the tasks left out of a branch
    being rebuilt.
    """

    view: BatchView
    wave: tuple[int, int] | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    machine_busy: str | None = None
    ending: frozenset[str] = frozenset()
    spent: Mapping[str, Spend] = field(default_factory=dict)
    verify_commands: Mapping[str, str] = field(default_factory=dict)
    gate: RunningGate | None = None
    rebuild_without: tuple[str, ...] | None = None
    publish: Publish | None = None


def build_view_model(state: State, batch_id: str, waves: Sequence[Sequence[str]]) -> BatchViewModel:
    """Build the model. This is linear in the number of tasks, so it is done once per change, not once per frame."""
    batch = state.batches[batch_id]
    view = make_batch_view(state, batch)
    return BatchViewModel(
        view=view,
        wave=_find_current_wave(view, waves),
        limits={name: breaker.until for name, breaker in state.breakers.items() if breaker.until is not None},
        machine_busy=find_machine_shortage(state),
        ending=frozenset(name.task for name, attempt in batch.alive.items() if attempt.ending is not None),
        spent={name.task: attempt.used for name, attempt in batch.alive.items() if attempt.used},
        verify_commands={name.task: attempt.decision.command or "" for name, attempt in batch.alive.items()},
        gate=_find_running_gate(batch),
        rebuild_without=batch.rebuild.without if batch.rebuild is not None else None,
        publish=batch.publishing.publish if batch.publishing is not None else None,
    )


def _find_running_gate(batch: BatchState) -> RunningGate | None:
    if batch.gate is None or batch.gate.stale:
        return None
    decision = batch.gate.decision
    suspects = batch.merges[batch.gate_good_size : batch.gate_bad_size] if batch.gate_bad_size is not None else ()
    return RunningGate(
        decision.command,
        decision.size,
        batch.gate.deadline - decision.timeout,
        tuple(batch.tasks[entry.task_index].task.id for entry in suspects),
    )


def _find_current_wave(view: BatchView, waves: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return the first wave that has not ended, and how many there are."""
    unfinished = {task.id for task in view.tasks if not task.status.is_terminal}
    open_waves = (number for number, names in enumerate(waves, 1) if not unfinished.isdisjoint(names))
    current = next(open_waves, None)
    return None if current is None else (current, len(waves))
