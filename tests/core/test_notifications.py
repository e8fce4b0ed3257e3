"""Tidings: what of all that happens people are told, once for each cause, and not any more when it has passed."""

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
    find_notifications,
    group_by_kind,
    round_duration,
    to_plain_line,
)
from plait.core.reducers.dispatch import evolve
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


class Ear:
    """Somebody who is told after each moment of a script."""

    def __init__(self, script: Script) -> None:
        self.script, self._tidings, self._heard = script, NotificationBuilder(), 0

    def news(self) -> list[Notification]:
        fresh, self._heard = self.script.records[self._heard :], len(self.script.records)
        return self._tidings.add(self.script.state, fresh)

    def words(self) -> list[tuple[NotificationKind, str]]:
        return [(tiding.kind, tiding.title) for tiding in self.news()]


def test_a_batch_that_is_done_is_told_once_with_its_counts() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    ear = Ear(script)
    script.exit_attempt("a")
    assert ear.news() == []
    script.exit_attempt("b")
    (tiding,) = ear.news()
    record = script.records[-1]
    assert tiding == Notification(K.FINISHED, BATCH, None, "batch b1 is done", "2 done", record.at, record.seq)
    assert ear.news() == []


def test_a_batch_that_failed_says_how_many_and_which() -> None:
    script = Script("a", "b", task_needing("c", "a"), settings=ALONE)
    ear = Ear(script)
    script.exit_attempt("a", Category.TASK, detail="it broke")
    assert ear.words() == [(K.TASK_FAILED, "a has failed")]
    script.exit_attempt("b")
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.title) == (K.FAILED, "batch b1 has ended, 2 of 3 tasks not done")
    first, second = tiding.text.splitlines()
    assert "1 failed" in first
    assert "1 blocked" in first
    assert second.startswith("a failed: ")
    assert "it broke" in second


def test_a_task_is_named_by_its_id_and_what_it_is_called() -> None:
    script = Script(Task("03-split", title="Split the parser"), settings=ALONE)
    ear = Ear(script)
    script.exit_attempt("03-split", Category.TASK)
    assert ear.words()[0] == (K.TASK_FAILED, "03-split (Split the parser) has failed")


def test_what_a_failure_blocks_is_no_news_of_its_own() -> None:
    script = Script("a", *(task_needing(f"b{n}", "a") for n in range(9)), "z", settings=ALONE)
    ear = Ear(script)
    script.exit_attempt("a", Category.TASK)
    assert ear.words() == [(K.TASK_FAILED, "a has failed")]


def test_of_many_failures_a_few_are_named() -> None:
    names = [f"t{n}" for n in range(MAX_TASKS_NAMED + 3)]
    script = Script(*names, settings=Settings(isolation=Isolation.IN_PLACE, retries=0, max_parallel=0))
    for name in names:
        script.exit_attempt(name, Category.TASK)
    (end,) = [tiding for tiding in find_notifications(script.state, script.records) if tiding.kind is K.FAILED]
    assert len(end.text.splitlines()) == 1 + MAX_TASKS_NAMED + 1
    assert end.text.endswith("\nand 3 more")


def test_a_retry_that_is_granted_by_itself_is_no_failure() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, retries=1))
    ear = Ear(script)
    script.exit_attempt("a", Category.TASK)
    assert ear.news() == []


def test_who_cancels_is_told_only_if_they_ask_for_it() -> None:
    script = Script("a", settings=ALONE)
    ear = Ear(script)
    script.request(lambda name: CancelBatch(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert ear.words() == [(K.CANCELLED, "batch b1 was cancelled")]


def test_a_batch_that_was_opened_again_is_not_told_to_have_ended() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: Retry(name, BATCH, "a"))
    assert find_notifications(script.state, script.records) == []
    script.exit_attempt("a")
    assert [tiding.kind for tiding in find_notifications(script.state, script.records)] == [K.FINISHED]


def test_a_question_is_told_when_it_is_asked_and_not_again_when_nobody_answers() -> None:
    script = Script("a", settings=ALONE)
    ear = Ear(script)
    (attempt,) = script.task("a").alive
    script.apply(AttemptAsked(attempt, "red or\nblue?"))
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.task, tiding.title) == (K.NEEDS_PERSON, "a", "a needs an answer")
    assert tiding.text == "red or blue?\nplait feedback b1 a TEXT"
    script.apply(AttemptAsked(attempt, "red or\nblue?"))
    script.wait(script.batch().settings.idle_timeout + 1)
    script.exit_attempt("a", Category.KILLED)
    assert script.task("a").question == "red or\nblue?"
    assert ear.news() == []
    assert [each.seq for each in find_notifications(script.state, script.records)] == [tiding.seq]


def test_an_answered_question_has_passed_and_the_next_one_is_news() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.QUESTION, question="red?")
    ear = Ear(script)
    assert [tiding.text.splitlines()[0] for tiding in ear.news()] == ["red?"]
    script.request(lambda name: Feedback(name, BATCH, "a", "yes"))
    assert ear.news() == []
    assert find_notifications(script.state, script.records) == []
    script.exit_attempt("a", Category.QUESTION, question="red?")
    assert [tiding.text.splitlines()[0] for tiding in ear.news()] == ["red?"]


def test_an_agent_that_goes_on_by_itself_asks_no_more() -> None:
    script = Script("a", settings=ALONE)
    (attempt,) = script.task("a").alive
    script.apply(AttemptAsked(attempt, "red?"))
    script.apply(AttemptActive(attempt))
    assert find_notifications(script.state, script.records) == []


def test_in_a_queue_each_turn_is_told_once() -> None:
    script = Script(Task("a", title="Walls"), "b", "c", settings=QUEUE)
    ear = Ear(script)
    (first,) = ear.news()
    assert (first.title, first.text) == ("a needs approval", "Walls\nplait approve b1")
    script.request(lambda name: Drop(name, BATCH, "c"))
    assert ear.news() == []
    script.request(lambda name: Approve(name, BATCH))
    assert ear.news() == []
    script.exit_attempt("a")
    assert ear.words() == [(K.NEEDS_PERSON, "b needs approval")]


def test_what_needs_no_approval_waits_for_nobody() -> None:
    script = Script("a", "b", settings=QUEUE)
    ear = Ear(script)
    ear.news()
    auto = Settings(mode=Mode.QUEUE, auto_approve=True)
    script.request(lambda name: ChangeSettings(name, BATCH, auto, ("auto_approve",)))
    script.exit_attempt("a")
    assert ear.news() == []


def test_a_turn_that_another_batch_held_up_is_told_when_that_lets_go() -> None:
    script = Script(Task("a", touches=("x",)), settings=ALONE)
    script.submit(Task("b", touches=("x",)), settings=QUEUE, batch="b2")
    ear = Ear(script)
    assert ear.news() == []
    script.exit_attempt("a")
    assert sorted(ear.words()) == [
        (K.FINISHED, "batch b1 is done"),
        (K.NEEDS_PERSON, "b needs approval"),
    ]


def test_a_pause_by_a_person_is_no_news_and_one_by_the_budget_is() -> None:
    script = Script("a", "b", settings=Settings(isolation=Isolation.IN_PLACE, max_parallel=1, budget=Budget(1_000_000)))
    ear = Ear(script)
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Unpause(name, BATCH))
    assert ear.news() == []
    script.exit_attempt("a", spend=Spend(900_000))
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.title) == (K.NEEDS_PERSON, "batch b1 is paused and needs attention")
    assert "raise the budget" in tiding.text


def test_each_pause_is_told_though_its_words_are_the_same() -> None:
    script = Script("a", settings=ALONE)
    ear = Ear(script)
    for _ in range(2):
        seq = script.state.seq + 1
        record = Record(seq, script.now, BatchPaused(BATCH, PauseCause.GATE, "the gate was lost"))
        evolve(script.state, record)
        script.records.append(record)
        assert ear.words() == [(K.NEEDS_PERSON, "batch b1 is paused and needs attention")]
        script.request(lambda name: Unpause(name, BATCH))
        assert ear.news() == []


def test_a_limit_is_told_when_it_opens_and_again_only_when_it_lasts_much_longer() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, providers=(("shell", "north"),)))
    ear = Ear(script)
    script.apply(RateLimited("north", script.now + 601))
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.batch, tiding.title) == (K.LIMIT, None, "north is rate-limited")
    assert tiding.text.endswith("no attempt starts with it for 10 min")
    assert tiding.until == script.state.breakers["north"].until
    script.apply(RateLimited("north", script.now + 900))
    assert ear.news() == []
    script.apply(RateLimited("north", script.now + 9000))
    assert ear.words() == [(K.LIMIT, "north is rate-limited")]


def test_a_limit_that_is_over_is_not_told_afterwards() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, providers=(("shell", "north"),)))
    script.apply(RateLimited("north", script.now + 60))
    script.wait(100)
    assert script.state.breakers["north"].until is None
    assert find_notifications(script.state, script.records) == []


def test_a_provider_that_rejects_somebody_needs_them() -> None:
    script = Script("a", settings=ALONE)
    ear = Ear(script)
    record = Record(script.state.seq + 1, script.now, BreakerOpened("north", script.now + 60, 1, "no", rejected=True))
    evolve(script.state, record)
    script.records.append(record)
    assert ear.words() == [(K.NEEDS_PERSON, "north rejected the credentials: log in or check billing")]


def test_the_end_of_a_batch_says_that_it_was_not_published() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    ear = Ear(script)
    script.exit_attempt("a")
    script.fail_publish("no remote", "add one")
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.title) == (K.FAILED, "batch b1 is done and not published")
    assert "no remote" in tiding.text


def test_publishing_that_fails_later_is_told_once() -> None:
    script = Script("a")
    script.exit_attempt("a")
    ear = Ear(script)
    ear.news()
    script.request(lambda name: Ship(name, BATCH))
    order = script.batch().publishing
    assert order is not None
    script.fail_publish("no remote", "add one")
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.title) == (K.UNPUBLISHED, "batch b1 could not be published")
    assert tiding.text == "no remote\nadd one"
    script.apply(PublishFailed(BATCH, order.n, "no remote", "add one"))
    assert ear.news() == []


def test_a_pull_request_is_told_with_its_address() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    ear = Ear(script)
    script.exit_attempt("a")
    script.finish_publish("https://forge.example/pull/7")
    (tiding,) = ear.news()
    assert (tiding.kind, tiding.text) == (K.FINISHED, "1 done\nhttps://forge.example/pull/7")


def test_the_entrants_of_a_contest_are_not_told_one_by_one() -> None:
    plan = build_checked_plan([Task("a")]).plan
    assert plan is not None
    whole = expand_contest(plan, Contest(("amber", "birch")))
    script = Script(start=False)
    script.request(lambda name: Submit(name, BATCH, whole, Settings(retries=0, agents=("amber", "birch")), base="base"))
    ear = Ear(script)
    script.exit_attempt("a@amber", Category.TASK)
    assert ear.news() == []
    script.exit_attempt("a@birch", Category.TASK)
    assert [(tiding.kind, tiding.task) for tiding in ear.news()] == [(K.TASK_FAILED, "a"), (K.FAILED, None)]


def test_whatever_tasks_and_agents_say_no_message_steers_a_terminal() -> None:
    script = Script(Task("a\x1b[31m\udcff", title="\u202eevil\a"), settings=ALONE)
    (attempt,) = script.task("a\x1b[31m\udcff").alive
    script.apply(AttemptAsked(attempt, "\x1b]0;x\x07 " + "long " * 1000))
    script.exit_attempt("a\x1b[31m\udcff", Category.TASK, detail="one\r\ntwo\x9b\u2028three")
    ear = NotificationBuilder()
    told = [tiding for record in script.records for tiding in ear.add(script.state, [record])]
    assert {tiding.kind for tiding in told} == {K.TASK_FAILED, K.FAILED}
    for tiding in told:
        _sound(tiding)


def _sound(tiding: Notification) -> None:
    assert tiding.title
    assert "\n" not in tiding.title
    for line in (tiding.title, *tiding.text.split("\n")):
        assert len(line) <= 400
        assert not [char for char in line if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}]
        assert line.encode()


def test_a_long_line_is_cut() -> None:
    assert to_plain_line("a" * 400) == "a" * 299 + "…"
    assert to_plain_line("  a \t\n b ") == "a b"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "1 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (200_000, "2 days")],
)
def test_lengths_of_time_are_told_in_the_words_of_people(seconds: float, said: str) -> None:
    assert round_duration(seconds) == said


def _told(kind: NotificationKind, seq: int, batch: str = "b1", task: str | None = None) -> Notification:
    return Notification(kind, batch, task, f"t{seq}", f"x{seq}\nmore", float(seq), seq)


def test_many_are_told_in_one_message_of_their_kind() -> None:
    many = [_told(K.TASK_FAILED, seq, task=f"t{seq}") for seq in range(1, 101)]
    one = _told(K.LIMIT, 50)
    found = group_by_kind([*many[:50], one, *many[50:]])
    assert found == [(one,), tuple(many)]
    message = bundle_notifications(found[1])
    assert (message.title, message.task, message.seq) == ("100 tasks have failed in batch b1", None, 100)
    lines = message.text.splitlines()
    assert lines[0] == "t1: x1"
    assert lines[-1] == f"and {100 - MAX_BUNDLE_LINES} more"
    assert len(lines) == MAX_BUNDLE_LINES + 1
    assert bundle_notifications(found[0]) is one


def test_what_concerns_several_batches_concerns_no_single_one() -> None:
    message = bundle_notifications([_told(K.FINISHED, 1), _told(K.FINISHED, 2, "b2")])
    assert (message.title, message.batch) == ("2 batches are done", None)


@pytest.mark.parametrize("seed", range(8))
def test_over_a_stormy_history_every_end_is_told_once_and_every_need_of_a_person(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    told: list[Notification] = []
    ends = Counter[tuple[str, BatchStatus]]()
    state, ear = State(), NotificationBuilder()
    for record in journal:
        evolve(state, record)
        found = ear.add(state, [record])
        told += found
        for tiding in found:
            _sound(tiding)
        if isinstance(record.event, BatchEnded):
            ends[record.event.batch, record.event.status] += 1
    kinds = Counter(tiding.batch for tiding in told if tiding.kind in {K.FINISHED, K.FAILED, K.CANCELLED})
    counted = Counter[str]()
    for (batch, _), count in ends.items():
        counted[batch] += count
    assert kinds == counted
    assert len({(tiding.kind, tiding.seq, tiding.batch, tiding.task) for tiding in told}) == len(told)


@pytest.mark.parametrize("seed", range(8))
def test_over_a_stormy_history_nothing_waits_for_a_person_who_was_not_told(seed: int) -> None:
    state, ear = State(), NotificationBuilder()
    told: set[tuple[str | None, str | None]] = set()
    for record in simulate(make_stormy(seed)).journal:
        evolve(state, record)
        if isinstance(record.event, AttemptStarted):
            told.discard((record.event.attempt.batch, record.event.attempt.task))
        elif isinstance(record.event, BatchUnpaused):
            told.discard((record.event.batch, None))
        found = ear.add(state, [record])
        told |= {(tiding.batch, tiding.task) for tiding in found if tiding.kind is K.NEEDS_PERSON}
        for batch in state.open.values():
            assert set(_needs(state, batch)) <= told, record


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
def test_records_that_nothing_follows_from_may_be_left_out(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    state, all_of_it, some = State(), NotificationBuilder(), NotificationBuilder()
    for record in journal:
        evolve(state, record)
        heard = [record] if isinstance(record.event, NOTIFYING_EVENTS) else []
        assert all_of_it.add(state, [record]) == some.add(state, heard)


@pytest.mark.parametrize("seed", range(4))
def test_whoever_looks_back_finds_only_what_is_still_so(seed: int) -> None:
    journal = simulate(make_stormy(seed)).journal
    state = State()
    for record in journal:
        evolve(state, record)
    for tiding in find_notifications(state, journal):
        batch = state.batches.get(tiding.batch or "")
        match tiding.kind:
            case K.FINISHED | K.FAILED | K.CANCELLED:
                assert batch is not None
                assert batch.ended_at == tiding.at
            case K.NEEDS_PERSON:
                assert batch is None or batch.ended is None
            case _:
                pass
