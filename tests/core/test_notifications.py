"""Notifications: one for each cause, and none for what no longer holds."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

import pytest

from plait.core.contest import Contest, expand_contest
from plait.core.decisions import AttemptStarted, BatchEnded, BatchPaused, BatchUnpaused, BreakerOpened
from plait.core.events import Record
from plait.core.explain import explain_status
from plait.core.graph import build_checked_plan
from plait.core.notifications import (
    MAX_BUNDLE_LINES,
    MAX_TASKS_NAMED,
    NOTIFYING_EVENTS,
    Notification,
    NotificationBuilder,
    bundle_notifications,
    group_by_kind,
    round_duration,
    to_plain_line,
)
from plait.core.reducers import evolve
from plait.core.reports import AttemptActive, AttemptAsked, PublishFailed, RateLimited
from plait.core.requests import (
    Approve,
    CancelBatch,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Retry,
    Ship,
    Submit,
    Unpause,
)
from plait.core.settings import Budget, Isolation, Mode, NotificationKind, Publish, Settings, Spend
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus, Category, PauseCause, WaitReason
from plait.core.task import Task
from plait.testing.script import BATCH, Script, task_needing
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy

K = NotificationKind
ALONE = Settings(isolation=Isolation.IN_PLACE, retries=0)
QUEUE = Settings(isolation=Isolation.IN_PLACE, mode=Mode.QUEUE, retries=0)


class Listener:
    """Collects the notifications after each step of a script."""

    def __init__(self, script: Script) -> None:
        self.script, self._builder, self._read_count = script, NotificationBuilder(), 0

    def read(self) -> list[Notification]:
        fresh, self._read_count = self.script.records[self._read_count :], len(self.script.records)
        return self._builder.add(self.script.state, fresh)

    def read_titles(self) -> list[tuple[NotificationKind, str]]:
        return [(notification.kind, notification.title) for notification in self.read()]


def test_a_finished_batch_is_notified_once_with_its_counts() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    listener = Listener(script)
    script.exit_attempt("a")
    assert listener.read() == []
    script.exit_attempt("b")
    (notification,) = listener.read()
    record = script.records[-1]
    assert notification == Notification(K.FINISHED, BATCH, None, "batch b1 is done", "2 done", record.at, record.seq)
    assert listener.read() == []


def test_a_partial_batch_says_how_many_and_which() -> None:
    script = Script("a", "b", task_needing("c", "a"), settings=ALONE)
    listener = Listener(script)
    script.exit_attempt("a", Category.TASK, detail="it broke")
    assert listener.read_titles() == [(K.TASK_FAILED, "a has failed")]
    script.exit_attempt("b")
    (notification,) = listener.read()
    assert (notification.kind, notification.title) == (K.FAILED, "batch b1 is partial: 1 done, 2 not done")
    first, second = notification.text.splitlines()
    assert "1 failed" in first
    assert "1 blocked" in first
    assert second.startswith("a failed: ")
    assert "it broke" in second


def test_a_task_is_named_by_its_id_and_title() -> None:
    script = Script(Task("03-split", title="Split the parser"), settings=ALONE)
    listener = Listener(script)
    script.exit_attempt("03-split", Category.TASK)
    assert listener.read_titles()[0] == (K.TASK_FAILED, "03-split (Split the parser) has failed")


def test_a_blocked_task_gives_no_notification() -> None:
    script = Script("a", *(task_needing(f"b{n}", "a") for n in range(9)), "z", settings=ALONE)
    listener = Listener(script)
    script.exit_attempt("a", Category.TASK)
    assert listener.read_titles() == [(K.TASK_FAILED, "a has failed")]


def test_of_many_failures_a_few_are_named() -> None:
    names = [f"t{n}" for n in range(MAX_TASKS_NAMED + 3)]
    script = Script(*names, settings=Settings(isolation=Isolation.IN_PLACE, retries=0, max_parallel=0))
    for name in names:
        script.exit_attempt(name, Category.TASK)
    (end,) = [
        notification
        for notification in NotificationBuilder().add(script.state, script.records)
        if notification.kind is K.FAILED
    ]
    assert len(end.text.splitlines()) == 1 + MAX_TASKS_NAMED + 1
    assert end.text.endswith("\nand 3 more")


def test_an_automatic_retry_gives_no_notification() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, retries=1))
    listener = Listener(script)
    script.exit_attempt("a", Category.TASK)
    assert listener.read() == []


def test_a_cancelled_batch_is_notified_only_on_request() -> None:
    script = Script("a", settings=ALONE)
    listener = Listener(script)
    script.request(lambda name: CancelBatch(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert listener.read_titles() == [(K.CANCELLED, "batch b1 was cancelled")]


def test_a_reopened_batch_is_not_notified_as_ended() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: Retry(name, BATCH, "a"))
    assert NotificationBuilder().add(script.state, script.records) == []
    script.exit_attempt("a")
    assert [notification.kind for notification in NotificationBuilder().add(script.state, script.records)] == [
        K.FINISHED
    ]


def test_a_question_is_notified_once() -> None:
    script = Script("a", settings=ALONE)
    listener = Listener(script)
    (attempt,) = script.task("a").alive
    script.apply(AttemptAsked(attempt, "red or\nblue?"))
    (notification,) = listener.read()
    assert (notification.kind, notification.task, notification.title) == (K.NEEDS_PERSON, "a", "a needs an answer")
    assert notification.text == "red or blue?\nplait feedback b1 a TEXT"
    script.apply(AttemptAsked(attempt, "red or\nblue?"))
    script.wait(script.batch().settings.idle_timeout + 1)
    script.exit_attempt("a", Category.KILLED)
    assert script.task("a").question == "red or\nblue?"
    assert listener.read() == []
    assert [each.seq for each in NotificationBuilder().add(script.state, script.records)] == [notification.seq]


def test_a_new_question_after_an_answer_is_notified() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.QUESTION, question="red?")
    listener = Listener(script)
    assert [notification.text.splitlines()[0] for notification in listener.read()] == ["red?"]
    script.request(lambda name: Feedback(name, BATCH, "a", "yes"))
    assert listener.read() == []
    assert NotificationBuilder().add(script.state, script.records) == []
    script.exit_attempt("a", Category.QUESTION, question="red?")
    assert [notification.text.splitlines()[0] for notification in listener.read()] == ["red?"]


def test_an_agent_that_continues_by_itself_withdraws_its_question() -> None:
    script = Script("a", settings=ALONE)
    (attempt,) = script.task("a").alive
    script.apply(AttemptAsked(attempt, "red?"))
    script.apply(AttemptActive(attempt))
    assert NotificationBuilder().add(script.state, script.records) == []


def test_in_a_queue_each_approval_is_notified_once() -> None:
    script = Script(Task("a", title="Walls"), "b", "c", settings=QUEUE)
    listener = Listener(script)
    (first,) = listener.read()
    assert (first.title, first.text) == ("a needs approval", "Walls\nplait approve b1")
    script.request(lambda name: Drop(name, BATCH, "c"))
    assert listener.read() == []
    script.request(lambda name: Approve(name, BATCH))
    assert listener.read() == []
    script.exit_attempt("a")
    assert listener.read_titles() == [(K.NEEDS_PERSON, "b needs approval")]


def test_an_auto_approved_queue_gives_no_notification() -> None:
    script = Script("a", "b", settings=QUEUE)
    listener = Listener(script)
    listener.read()
    auto = Settings(mode=Mode.QUEUE, auto_approve=True)
    script.request(lambda name: ChangeSettings(name, BATCH, auto, ("auto_approve",)))
    script.exit_attempt("a")
    assert listener.read() == []


def test_an_approval_that_another_batch_held_up_is_notified_later() -> None:
    script = Script(Task("a", touches=("x",)), settings=ALONE)
    script.submit(Task("b", touches=("x",)), settings=QUEUE, batch="b2")
    listener = Listener(script)
    assert listener.read() == []
    script.exit_attempt("a")
    assert sorted(listener.read_titles()) == [
        (K.FINISHED, "batch b1 is done"),
        (K.NEEDS_PERSON, "b needs approval"),
    ]


def test_a_pause_by_the_budget_is_notified_and_one_by_a_person_is_not() -> None:
    script = Script("a", "b", settings=Settings(isolation=Isolation.IN_PLACE, max_parallel=1, budget=Budget(1_000_000)))
    listener = Listener(script)
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Unpause(name, BATCH))
    assert listener.read() == []
    script.exit_attempt("a", spend=Spend(900_000))
    (notification,) = listener.read()
    assert (notification.kind, notification.title) == (K.NEEDS_PERSON, "batch b1 is paused and needs attention")
    assert "raise the budget" in notification.text


def test_each_pause_is_notified_even_with_the_same_reason() -> None:
    script = Script("a", settings=ALONE)
    listener = Listener(script)
    for _ in range(2):
        seq = script.state.seq + 1
        record = Record(seq, script.now, BatchPaused(BATCH, PauseCause.GATE, "the gate was lost"))
        evolve(script.state, record)
        script.records.append(record)
        assert listener.read_titles() == [(K.NEEDS_PERSON, "batch b1 is paused and needs attention")]
        script.request(lambda name: Unpause(name, BATCH))
        assert listener.read() == []


def test_a_rate_limit_is_notified_again_only_if_it_lasts_much_longer() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, providers=(("shell", "north"),)))
    listener = Listener(script)
    script.apply(RateLimited("north", script.now + 601))
    (notification,) = listener.read()
    assert (notification.kind, notification.batch, notification.title) == (K.LIMIT, None, "north is rate-limited")
    assert notification.text.endswith("no attempt starts with it for 10 min")
    assert notification.until == script.state.breakers["north"].until
    script.apply(RateLimited("north", script.now + 900))
    assert listener.read() == []
    script.apply(RateLimited("north", script.now + 9000))
    assert listener.read_titles() == [(K.LIMIT, "north is rate-limited")]


def test_a_rate_limit_that_is_over_is_not_notified() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, providers=(("shell", "north"),)))
    script.apply(RateLimited("north", script.now + 60))
    script.wait(100)
    assert script.state.breakers["north"].until is None
    assert NotificationBuilder().add(script.state, script.records) == []


def test_a_rejecting_provider_needs_a_person() -> None:
    script = Script("a", settings=ALONE)
    listener = Listener(script)
    record = Record(script.state.seq + 1, script.now, BreakerOpened("north", script.now + 60, 1, "no", rejected=True))
    evolve(script.state, record)
    script.records.append(record)
    assert listener.read_titles() == [(K.NEEDS_PERSON, "north rejected the credentials: log in or check billing")]


def test_the_end_of_a_batch_says_that_it_was_not_published() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    listener = Listener(script)
    script.exit_attempt("a")
    script.fail_publish("no remote", "add one")
    (notification,) = listener.read()
    assert (notification.kind, notification.title) == (K.FAILED, "batch b1 is done and not published")
    assert "no remote" in notification.text


def test_a_later_publish_failure_is_notified_once() -> None:
    script = Script("a")
    script.exit_attempt("a")
    listener = Listener(script)
    listener.read()
    script.request(lambda name: Ship(name, BATCH))
    order = script.batch().publishing
    assert order is not None
    script.fail_publish("no remote", "add one")
    (notification,) = listener.read()
    assert (notification.kind, notification.title) == (K.UNPUBLISHED, "batch b1 could not be published")
    assert notification.text == "no remote\nadd one"
    script.apply(PublishFailed(BATCH, order.n, "no remote", "add one"))
    assert listener.read() == []


def test_a_pull_request_is_notified_with_its_url() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    listener = Listener(script)
    script.exit_attempt("a")
    script.finish_publish("https://forge.example/pull/7")
    (notification,) = listener.read()
    assert (notification.kind, notification.text) == (K.FINISHED, "1 done\nhttps://forge.example/pull/7")


def test_entrants_of_a_contest_give_no_notifications() -> None:
    plan = build_checked_plan([Task("a")]).plan
    assert plan is not None
    whole = expand_contest(plan, Contest(("amber", "birch")))
    script = Script(start=False)
    script.request(lambda name: Submit(name, BATCH, whole, Settings(retries=0, agents=("amber", "birch")), base="base"))
    listener = Listener(script)
    script.exit_attempt("a@amber", Category.TASK)
    assert listener.read() == []
    script.exit_attempt("a@birch", Category.TASK)
    assert [(notification.kind, notification.task) for notification in listener.read()] == [
        (K.TASK_FAILED, "a"),
        (K.FAILED, None),
    ]


def test_no_text_of_a_task_or_agent_puts_control_characters_into_a_message() -> None:
    script = Script(Task("a\x1b[31m\udcff", title="\u202eevil\a"), settings=ALONE)
    (attempt,) = script.task("a\x1b[31m\udcff").alive
    script.apply(AttemptAsked(attempt, "\x1b]0;x\x07 " + "long " * 1000))
    script.exit_attempt("a\x1b[31m\udcff", Category.TASK, detail="one\r\ntwo\x9b\u2028three")
    listener = NotificationBuilder()
    sent = [notification for record in script.records for notification in listener.add(script.state, [record])]
    assert {notification.kind for notification in sent} == {K.TASK_FAILED, K.FAILED}
    for notification in sent:
        _check_plain(notification)


def _check_plain(notification: Notification) -> None:
    assert notification.title
    assert "\n" not in notification.title
    for line in (notification.title, *notification.text.split("\n")):
        assert len(line) <= 400
        assert not [char for char in line if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}]
        assert line.encode()


def test_a_long_line_is_cut() -> None:
    assert to_plain_line("a" * 400) == "a" * 299 + "…"
    assert to_plain_line("  a \t\n b ") == "a b"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.1, "1 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (200_000, "2 days")],
)
def test_durations_are_rounded_for_people(seconds: float, expected: str) -> None:
    assert round_duration(seconds) == expected


def _read_all(kind: NotificationKind, seq: int, batch: str = "b1", task: str | None = None) -> Notification:
    return Notification(kind, batch, task, f"t{seq}", f"x{seq}\nmore", float(seq), seq)


def test_many_notifications_of_one_kind_are_bundled() -> None:
    many = [_read_all(K.TASK_FAILED, seq, task=f"t{seq}") for seq in range(1, 101)]
    one = _read_all(K.LIMIT, 50)
    found = group_by_kind([*many[:50], one, *many[50:]])
    assert found == [(one,), tuple(many)]
    message = bundle_notifications(found[1])
    assert (message.title, message.task, message.seq) == ("100 tasks have failed in batch b1", None, 100)
    lines = message.text.splitlines()
    assert lines[0] == "t1: x1"
    assert lines[-1] == f"and {100 - MAX_BUNDLE_LINES} more"
    assert len(lines) == MAX_BUNDLE_LINES + 1
    assert bundle_notifications(found[0]) is one


def test_a_bundle_about_several_batches_names_no_batch() -> None:
    message = bundle_notifications([_read_all(K.FINISHED, 1), _read_all(K.FINISHED, 2, "b2")])
    assert (message.title, message.batch) == ("2 batches are done", None)


@pytest.mark.parametrize("seed", range(8))
def test_over_a_simulated_history_every_end_and_every_question_is_notified_once(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    sent: list[Notification] = []
    ends = Counter[tuple[str, BatchStatus]]()
    state, listener = State(), NotificationBuilder()
    for record in journal:
        evolve(state, record)
        found = listener.add(state, [record])
        sent += found
        for notification in found:
            _check_plain(notification)
        if isinstance(record.event, BatchEnded):
            ends[record.event.batch, record.event.status] += 1
    kinds = Counter(
        notification.batch for notification in sent if notification.kind in {K.FINISHED, K.FAILED, K.CANCELLED}
    )
    counted = Counter[str]()
    for (batch, _), count in ends.items():
        counted[batch] += count
    assert kinds == counted
    assert len(
        {(notification.kind, notification.seq, notification.batch, notification.task) for notification in sent}
    ) == len(sent)


@pytest.mark.parametrize("seed", range(8))
def test_over_a_simulated_history_nothing_waits_for_a_person_without_a_notification(seed: int) -> None:
    state, listener = State(), NotificationBuilder()
    sent: set[tuple[str | None, str | None]] = set()
    for record in simulate(make_stormy(seed)).journal:
        evolve(state, record)
        if isinstance(record.event, AttemptStarted):
            sent.discard((record.event.attempt.batch, record.event.attempt.task))
        elif isinstance(record.event, BatchUnpaused):
            sent.discard((record.event.batch, None))
        found = listener.add(state, [record])
        sent |= {
            (notification.batch, notification.task) for notification in found if notification.kind is K.NEEDS_PERSON
        }
        for batch in state.open.values():
            assert set(_needs(state, batch)) <= sent, record


def _needs(state: State, batch: BatchState) -> Iterator[tuple[str, str | None]]:
    """What waits for a person, other than by a person's own doing."""
    if batch.paused is not None:
        if batch.paused.cause not in {PauseCause.PERSON, PauseCause.STOP}:
            yield batch.id, None
        return
    for task in batch.tasks:
        if explain_status(state, batch, task).waiting in {WaitReason.ANSWER, WaitReason.APPROVAL}:
            yield batch.id, task.task.id


@pytest.mark.parametrize("seed", range(4))
def test_records_without_notifications_may_be_left_out(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    state, all_of_it, some = State(), NotificationBuilder(), NotificationBuilder()
    for record in journal:
        evolve(state, record)
        notifying = [record] if isinstance(record.event, NOTIFYING_EVENTS) else []
        assert all_of_it.add(state, [record]) == some.add(state, notifying)


@pytest.mark.parametrize("seed", range(4))
def test_a_late_reader_gets_only_notifications_that_still_hold(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    state = State()
    for record in journal:
        evolve(state, record)
    for notification in NotificationBuilder().add(state, journal):
        batch = state.batches.get(notification.batch or "")
        match notification.kind:
            case K.FINISHED | K.FAILED | K.CANCELLED:
                assert batch is not None
                assert batch.ended_at == notification.at
            case K.NEEDS_PERSON:
                assert batch is None or batch.ended is None
            case _:
                pass
