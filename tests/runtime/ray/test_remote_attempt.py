"""The life of an attempt on a cluster: whatever comes, in whatever order, it is on one node at most and ends once."""

from __future__ import annotations

from dataclasses import field, replace

from hypothesis import given, strategies as st

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt, Step
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray import remote_attempt as steps, wire
from plait.runtime.ray.remote_attempt import RemoteAttempt, advance

ATTEMPT = Attempt("batch", "task", Step.WRITE, 1)
SPEC = AttemptSpec(ATTEMPT, ("true",), "/w", {})
OTHER_SPEC = replace(SPEC, argv=("false",))
QUEUED = RemoteAttempt(ATTEMPT, spec=SPEC)
GONE, FULL, BROKEN = wire.NodeGoneError("gone"), wire.NodeFullError("full"), WorldError("no such commit")


def report(state: str, error: Exception = BROKEN, **fields: object) -> steps.Reported:
    failure = wire.describe_failure(error) if state == wire.FAILED else None
    return steps.Reported(wire.AttemptReport(ATTEMPT, state, failure=failure, **fields), "one")  # type: ignore[arg-type]


@dataclass(slots=True)
class Life:
    """Carries out what the machine asks for, as the executor does. `done` is all that it asked for."""

    state: RemoteAttempt = QUEUED
    done: list[steps.Action] = field(default_factory=list)
    has_ended: bool = False

    def __call__(self, *stimuli: steps.Stimulus) -> Life:
        for stimulus in stimuli:
            if self.has_ended:
                break
            self.state, actions = advance(self.state, stimulus)
            self.done += actions
            self.has_ended = any(isinstance(each, steps.Finish | steps.FailStart | steps.Withdraw) for each in actions)
        return self

    @property
    def end(self) -> steps.Action:
        assert self.has_ended
        return self.done[-1]


def launched() -> Life:
    return Life()(steps.Placed("one"), steps.Delivered(SPEC), report(wire.RUNNING))


def test_it_is_sent_launched_and_ends_when_its_output_is_here() -> None:
    life = launched()(report(wire.EXITED, code=3, size=10), steps.OutputRead(9))
    assert life.done == [steps.Send(), steps.ReportLaunch()]
    end = life(steps.OutputRead(10)).end
    assert isinstance(end, steps.Finish)
    assert (end.end.code, end.is_outage) == (3, False)


def test_a_report_may_come_before_the_answer() -> None:
    life = Life()(steps.Placed("one"), report(wire.RUNNING), steps.Delivered(SPEC))
    assert life.state.is_launched
    assert life.done == [steps.Send(), steps.ReportLaunch()]
    assert isinstance(life(steps.Forgotten("its node knows nothing of it")).end, steps.Finish)


def test_an_exit_without_a_launch_is_launched_first() -> None:
    life = Life()(steps.Placed("one"), report(wire.EXITED))
    assert life.done == [steps.Send(), steps.ReportLaunch()]


def test_what_may_not_have_arrived_is_sent_again_to_the_same_node() -> None:
    life = Life()(steps.Placed("one"), steps.SendFailed(GONE))
    assert life.done == [steps.Send(), steps.SendLater()]
    assert life(steps.SendDue()).done[2:] == [steps.Send()]
    assert life.state.node == "one"


def test_what_arrived_all_the_same_is_not_sent_again() -> None:
    life = Life()(steps.Placed("one"), steps.SendFailed(GONE), report(wire.RUNNING), steps.SendDue())
    assert life.done == [steps.Send(), steps.SendLater(), steps.ReportLaunch()]


def test_a_node_that_refuses_it_gives_it_back() -> None:
    life = Life()(steps.Placed("one"), steps.SendFailed(FULL))
    assert life.done == [steps.Send(), steps.Requeue("one", FULL)]
    assert life(steps.Placed("two")).state.node == "two"


def test_a_workspace_that_does_not_fit_on_a_node_goes_to_another() -> None:
    failure = wire.describe_failure(wire.NodeDiskFullError("its disk is full"))
    life = Life()(steps.Placed("one"), steps.Delivered(SPEC))
    life(steps.Reported(wire.AttemptReport(ATTEMPT, wire.FAILED, failure=failure), "one"))
    assert isinstance(life.done[-1], steps.Requeue)
    assert life.state.is_queued


def test_what_can_not_be_started_anywhere_fails() -> None:
    assert Life()(steps.Placed("one"), steps.SendFailed(BROKEN)).end == steps.FailStart(BROKEN)


def test_a_failure_of_a_start_that_is_being_repeated_is_not_its_end() -> None:
    life = Life()(steps.Placed("one"), steps.Delivered(SPEC), steps.SpecGiven(OTHER_SPEC), report(wire.FAILED))
    assert not life.has_ended
    assert life(steps.Delivered(OTHER_SPEC), report(wire.FAILED)).has_ended


def test_a_failure_that_comes_before_the_answer_is_asked_for_again() -> None:
    life = Life()(steps.Placed("one"), report(wire.FAILED))
    assert life.done == [steps.Send()]
    assert life(steps.Delivered(SPEC)).done == [steps.Send(), steps.SendLater()]
    assert life(steps.SendDue(), report(wire.FAILED)).has_ended
    full = Life()(steps.Placed("one"), report(wire.FAILED, FULL))
    assert full.state.node == "one"  # or the answer would be taken for another node's
    assert full(steps.Delivered(SPEC), report(wire.FAILED, FULL)).state.is_queued


def test_a_new_spec_is_sent_after_the_old_one() -> None:
    life = Life()(steps.Placed("one"), steps.SpecGiven(OTHER_SPEC))
    assert life.done == [steps.Send()]
    assert life(steps.Delivered(SPEC)).done == [steps.Send(), steps.Send()]
    assert life(steps.Delivered(OTHER_SPEC)).done == [steps.Send(), steps.Send()]


def test_a_termination_waits_for_the_request_that_is_under_way() -> None:
    life = Life()(steps.Placed("one"), steps.TerminationAsked(at_once=True))
    assert life.done == [steps.Send()]
    assert life(steps.Delivered(SPEC)).done == [steps.Send(), steps.SendTermination()]


def test_a_node_whose_service_was_started_again_is_told_again_to_end_an_attempt() -> None:
    life = launched()(steps.TerminationAsked(at_once=True), report(wire.RUNNING))
    assert life.done[-2:] == [steps.SendTermination(), steps.SendTermination()]


def test_what_was_never_sent_is_withdrawn() -> None:
    assert Life()(steps.TerminationAsked(at_once=False)).end == steps.Withdraw(steps.NEVER_LAUNCHED)
    refused = Life()(steps.Placed("one"), steps.TerminationAsked(at_once=False), steps.SendFailed(FULL))
    assert refused.end == steps.Withdraw(steps.NEVER_LAUNCHED)


def test_an_exit_that_was_reported_survives_its_node() -> None:
    end = launched()(report(wire.EXITED, code=0, size=99), steps.NodeLost("gone", is_outage=True)).end
    assert end == steps.Finish(wire.AttemptReport(ATTEMPT, wire.EXITED, size=99))


def test_without_a_usable_node_only_what_waits_is_withdrawn() -> None:
    assert Life()(steps.ClusterUnusable("cut off")).end == steps.Withdraw("cut off", is_outage=True)
    assert not launched()(steps.ClusterUnusable("cut off")).has_ended


REPORTS = (wire.PREPARING, wire.RUNNING, wire.EXITED, wire.LOST, wire.FAILED)
STIMULI = st.one_of(
    st.sampled_from([SPEC, OTHER_SPEC]).map(steps.SpecGiven),
    st.sampled_from([SPEC, OTHER_SPEC]).map(steps.Delivered),
    st.sampled_from([GONE, FULL, BROKEN]).map(steps.SendFailed),
    st.just(steps.SendDue()),
    st.booleans().map(steps.TerminationAsked),
    st.builds(report, st.sampled_from(REPORTS), st.sampled_from([BROKEN, FULL]), size=st.integers(0, 3)),
    st.integers(0, 3).map(steps.OutputRead),
    st.sampled_from(["one", "two"]).map(steps.Placed),
    st.builds(steps.NodeLost, st.just("lost"), st.booleans()),
    st.just(steps.Forgotten("forgotten")),
    st.just(steps.ClusterUnusable("cut off")),
)


@given(st.lists(STIMULI, max_size=30))
def test_it_is_on_one_node_and_launched_once(stimuli: list[steps.Stimulus]) -> None:
    life = Life()
    for stimulus in stimuli:
        before, answers_request = life.state, isinstance(stimulus, steps.Delivered | steps.SendFailed)
        # What the executor never does: it places what is queued, and a request is answered once.
        if isinstance(stimulus, steps.Placed) and not before.is_queued:
            continue
        if answers_request and not before.is_sending:
            continue
        count = len(life.done)
        life(stimulus)
        new = life.done[count:]
        assert not (steps.Send() in new and before.is_sending and not answers_request)  # one request at a time
        if before.is_sending and not answers_request:  # its answer would be taken for that of another node
            assert not any(isinstance(each, steps.Requeue) for each in new)
        if before.is_launched and not life.has_ended:
            assert life.state.node == before.node
        if before.end is not None and before.end.state == wire.EXITED:
            assert life.state.end == before.end
        if any(isinstance(each, steps.Withdraw) for each in new):
            assert not before.is_launched
    assert life.done.count(steps.ReportLaunch()) <= 1 + sum(isinstance(each, steps.SpecGiven) for each in stimuli)


@given(st.lists(STIMULI, max_size=20))
def test_whatever_happened_a_lost_node_ends_it(stimuli: list[steps.Stimulus]) -> None:
    life = Life()(*stimuli)
    if not life.has_ended and not life.state.is_queued:
        assert isinstance(life(steps.NodeLost("lost")).end, steps.Finish)
    elif not life.has_ended:
        assert isinstance(life(steps.ClusterUnusable("cut off")).end, steps.Withdraw)
