"""The life of one attempt on a cluster, as a pure state machine: a stimulus in, the next state and what has to be done out.

    queued -Placed-> sending -Delivered-> delivered -Reported-> launched -Reported-> its end

Two rules. What a request to a node did is unknown until the node reports it: one that failed may have arrived, and a report
may come before the answer to the request that caused it. And an attempt goes to another node only if its node said that it did
not take it, so that it never runs twice; if its node is lost, this attempt is lost with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.executor import DEFAULT_LIMITS, AttemptLimits, AttemptSpec
from plait.runtime.ray import wire

NEVER_LAUNCHED = "it was never launched"


@dataclass(frozen=True, slots=True)
class RemoteAttempt:
    """An attempt whose end was not reported yet. `spec` is None if an earlier engine sent it; `base` is the commit that
    its task started from; without a `node` it waits for one.

    `sent` is the last spec that the node has received. `is_in_doubt`: a start failed there, this one or the one before
    it. `end` is what the node reported, while the rest of the output is read.
    """

    attempt: Attempt
    limits: AttemptLimits = DEFAULT_LIMITS
    spec: AttemptSpec | None = None
    base: str = ""
    node: str = ""
    is_sending: bool = False
    is_delivered: bool = False
    sent: AttemptSpec | None = None
    is_in_doubt: bool = False
    is_launched: bool = False
    is_terminated: bool = False
    terminate_at_once: bool = False
    end: wire.AttemptReport | None = None
    is_outage: bool = False

    @property
    def is_queued(self) -> bool:
        return not self.node


@dataclass(frozen=True, slots=True)
class SpecGiven:
    """Stimulus: the engine starts the attempt again, with this spec."""

    spec: AttemptSpec


@dataclass(frozen=True, slots=True)
class Placed:
    node: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """Stimulus: the node has accepted this spec."""

    spec: AttemptSpec


@dataclass(frozen=True, slots=True)
class SendFailed:
    error: Exception


@dataclass(frozen=True, slots=True)
class SendDue:
    """Stimulus: it is time to send again what may not have arrived."""


@dataclass(frozen=True, slots=True)
class TerminationAsked:
    at_once: bool


@dataclass(frozen=True, slots=True)
class Reported:
    """Stimulus: the node has reported the attempt. `node` is its name for people."""

    report: wire.AttemptReport
    node: str = ""


@dataclass(frozen=True, slots=True)
class OutputRead:
    """Stimulus: the first `size` bytes of the attempt's output are on this machine."""

    size: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Stimulus: the node listed all attempts that it knows, and not this one."""

    why: str


@dataclass(frozen=True, slots=True)
class NodeLost:
    """Stimulus: the lease on the attempt's node has run out. `is_outage`: the whole cluster can't be reached."""

    why: str
    is_outage: bool = False


@dataclass(frozen=True, slots=True)
class ClusterUnusable:
    """Stimulus: no node can run any attempt now."""

    why: str


Stimulus = (
    SpecGiven
    | Placed
    | Delivered
    | SendFailed
    | SendDue
    | TerminationAsked
    | Reported
    | OutputRead
    | Forgotten
    | NodeLost
    | ClusterUnusable
)


@dataclass(frozen=True, slots=True)
class Send:
    """Action: send the attempt's spec to its node."""


@dataclass(frozen=True, slots=True)
class SendLater:
    """Action: have the node report again what it knows; SendDue follows."""


@dataclass(frozen=True, slots=True)
class SendTermination:
    pass


@dataclass(frozen=True, slots=True)
class ReportLaunch:
    pass


@dataclass(frozen=True, slots=True)
class Requeue:
    """Action: find another node, because this one did not accept the attempt."""

    node: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Finish:
    """Action: record on disk how the attempt ended, then report it. It may be repeated until that is done."""

    end: wire.AttemptReport
    is_outage: bool = False


@dataclass(frozen=True, slots=True)
class FailStart:
    """Last action: report that the attempt can't be started on any node."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Last action: report as lost an attempt that is on no node and will be on none."""

    why: str
    is_outage: bool = False


Action = Send | SendLater | SendTermination | ReportLaunch | Requeue | Finish | FailStart | Withdraw
Step = tuple[RemoteAttempt, tuple[Action, ...]]


def advance(state: RemoteAttempt, stimulus: Stimulus) -> Step:  # noqa: C901 - a case for each stimulus
    """Return the next state and the actions. Any stimulus may come at any time, also late or twice."""
    match stimulus:
        case SpecGiven(spec):
            return _give_spec(state, spec)
        case Placed(node):
            return replace(state, node=node, is_sending=True), (Send(),)
        case Delivered(spec):
            return _deliver(state, spec)
        case SendFailed(error):
            return _fail_sending(state, error)
        case SendDue():
            is_due = not (state.is_queued or state.is_sending or state.is_delivered or state.is_launched or state.end)
            return (replace(state, is_sending=True), (Send(),)) if is_due else (state, ())
        case TerminationAsked(at_once):
            return _terminate(state, at_once=at_once)
        case Reported(report, node):
            return _report(state, report, node)
        case OutputRead(size):
            is_read = state.end is not None and size >= state.end.size
            return state, _finish(state) if is_read else ()
        case Forgotten(why):
            is_there = state.is_delivered and not state.is_sending
            return _lose(state, why) if is_there else (state, ())
        case NodeLost(why, is_outage):
            return (state, ()) if state.is_queued else _lose(state, why, is_outage=is_outage)
        case ClusterUnusable(why):
            return state, (Withdraw(why, is_outage=True),) if state.is_queued else ()
        case _:
            assert_never(stimulus)


def _give_spec(state: RemoteAttempt, spec: AttemptSpec) -> Step:
    state = replace(state, spec=spec)
    if state.is_launched:
        return state, (ReportLaunch(),)
    is_outdated = state.is_delivered and not state.is_sending and state.sent != spec and state.end is None
    return (replace(state, is_sending=True), (Send(),)) if is_outdated else (state, ())


def _deliver(state: RemoteAttempt, spec: AttemptSpec) -> Step:
    state = replace(state, is_sending=False, is_delivered=True, sent=spec)
    if state.spec != spec and not state.is_launched and state.end is None:
        return replace(state, is_sending=True), (Send(),)
    actions: tuple[Action, ...] = (SendTermination(),) if state.is_terminated else ()
    return replace(state, is_in_doubt=False), (*actions, SendLater()) if state.is_in_doubt else actions


def _fail_sending(state: RemoteAttempt, error: Exception) -> Step:
    state = replace(state, is_sending=False)
    if isinstance(error, wire.NodeGoneError):
        # It may have arrived. So it stays there until the node says what became of it, or is lost.
        return state, (SendLater(),)
    return _refuse(state, error)


def _refuse(state: RemoteAttempt, error: Exception) -> Step:
    """Handle the node's answer that it does not have the attempt."""
    if not isinstance(error, wire.NodeRefusedError):
        return state, (FailStart(error),)
    if state.is_launched:
        return _lose(state, f"its node knows nothing of it: {error.message}")
    if state.is_terminated:
        return state, (Withdraw(NEVER_LAUNCHED),)
    return replace(state, node="", is_delivered=False, sent=None, is_in_doubt=False), (Requeue(state.node, error),)


def _terminate(state: RemoteAttempt, *, at_once: bool) -> Step:
    if state.is_queued:
        return state, (Withdraw(NEVER_LAUNCHED),)
    state = replace(state, is_terminated=True, terminate_at_once=state.terminate_at_once or at_once)
    return state, () if state.is_sending else (SendTermination(),)


def _report(state: RemoteAttempt, report: wire.AttemptReport, node: str) -> Step:
    if state.is_queued or state.end is not None:
        return state, ()
    match report.state:
        case wire.RUNNING:
            launch: tuple[Action, ...] = () if state.is_launched else (ReportLaunch(),)
            # The service may have been killed after it was asked to end the attempt.
            end: tuple[Action, ...] = (SendTermination(),) if state.is_terminated and not state.is_sending else ()
            return replace(state, is_launched=True), (*launch, *end)
        case wire.FAILED if state.is_sending:
            return replace(state, is_in_doubt=True), ()  # it may be being started again
        case wire.FAILED:
            assert report.failure is not None
            return _refuse(state, wire.make_error(report.failure, node))
        case wire.EXITED if not state.is_launched:
            return replace(state, is_launched=True, end=report), (ReportLaunch(),)
        case wire.EXITED | wire.LOST:
            return replace(state, end=report), ()
        case _:
            return state, ()


def _lose(state: RemoteAttempt, why: str, *, is_outage: bool = False) -> Step:
    """Finish the attempt as lost. If its exit was reported, it stays exited, though the rest of its output is lost."""
    if state.end is None or state.end.state != wire.EXITED:
        end = wire.AttemptReport(state.attempt, wire.LOST, why=why)
        state = replace(state, end=end, is_outage=is_outage)
    return state, _finish(state)


def _finish(state: RemoteAttempt) -> tuple[Action, ...]:
    assert state.end is not None
    return (Finish(state.end, state.is_outage),)
