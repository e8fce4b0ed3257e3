"""Publishing: when, which commit, and the status of the batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plait.core.decisions import BatchEnded, Decision, PublishStarted, RequestGranted, RequestRefused
from plait.core.estimate import forecast_batch
from plait.core.reports import MergeDone, PublishDone, PublishFailed, PublishWaiting
from plait.core.requests import CancelBatch, ChangeSettings, Drop, Pause, Request, Resume, Retry, Ship, Stop
from plait.core.scheduler.rules import is_engine_needed, list_outstanding
from plait.core.settings import Isolation, Publish, Settings
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.views import make_batch_view
from plait.testing.script import BATCH, Script, gate_sizes

PR = Settings(publish=Publish.PR)
GATED = Settings(publish=Publish.PR, gate="make gate")
URL = "https://forge.example/1"


def publishes(decisions: list[Decision]) -> list[PublishStarted]:
    return [decision for decision in decisions if isinstance(decision, PublishStarted)]


def ends(decisions: list[Decision]) -> list[str]:
    return [decision.reason for decision in decisions if isinstance(decision, BatchEnded)]


def refusal(decisions: list[Decision]) -> str:
    (answer,) = [each for each in decisions if isinstance(each, RequestGranted | RequestRefused)]
    assert isinstance(answer, RequestRefused)
    return answer.why


def ship(
    script: Script, publish: Publish = Publish.PR, title: str | None = None, body: str | None = None
) -> list[Decision]:
    return script.request(lambda name: Ship(name, BATCH, publish, title, body))


def words(decisions: list[Decision]) -> tuple[str, str, bool]:
    """What the one pull request is to say, and whether its title counts whatever it is called there."""
    (order,) = publishes(decisions)
    return order.title, order.body, order.renamed


def drop(script: Script, task: str) -> list[Decision]:
    return script.request(lambda name: Drop(name, BATCH, task))


def done(settings: Settings, *tasks: str) -> Script:
    """All of these are merged, and what the settings publish is published."""
    script = Script(*tasks, settings=settings)
    for task in tasks:
        script.exit_attempt(task)
        if settings.gate:
            script.finish_gate(passed=True)
    if settings.publish is not Publish.OFF:
        script.finish_publish(URL)
    assert script.batch().ended is BatchStatus.COMPLETED
    return script


def gated_together() -> Script:
    """The gate has passed the two of them, and neither alone."""
    script = Script("a", "b", settings=GATED)
    script.answers_merges = False
    script.exit_attempt("a")
    script.exit_attempt("b")
    script.answers_merges = True
    script.apply(MergeDone(BATCH, "a", 1, "base+a"))
    script.finish_gate(passed=True)
    script.finish_publish(URL)
    return script


def test_a_batch_is_published_last_and_then_ends() -> None:
    script = Script("a", "b", settings=PR)
    assert publishes(script.exit_attempt("a")) == []
    decisions = script.exit_attempt("b")
    assert publishes(decisions) == [PublishStarted(BATCH, 1, "base+a+b", Publish.PR)]
    assert ends(decisions) == []
    assert make_batch_view(script.state, script.batch()).reason == "its branch is being published"
    assert ends(script.finish_publish(URL)) == ["2 done"]
    view = make_batch_view(script.state, script.batch())
    assert (view.status, view.pr_url, view.shipped) == (BatchStatus.COMPLETED, URL, "base+a+b")
    assert (view.unshipped, view.is_outdated) == (None, False)


def test_merged_tasks_are_published_although_others_failed() -> None:
    script = Script("a", "b", settings=Settings(publish=Publish.PUSH, retries=0))
    script.exit_attempt("a")
    assert publishes(script.exit_attempt("b", Category.TASK)) == [PublishStarted(BATCH, 1, "base+a", Publish.PUSH)]
    script.finish_publish()
    assert script.batch().ended is BatchStatus.FAILED


def test_nothing_is_published_without_merges_or_without_the_setting() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR, retries=0))
    decisions = script.exit_attempt("a", Category.TASK)
    assert publishes(decisions) == []
    assert ends(decisions) == ["1 failed"]
    script = Script("a")
    assert publishes(script.exit_attempt("a")) == []


def test_a_batch_says_which_program_its_publishing_waits_for() -> None:
    script = Script("a", settings=PR)
    script.exit_attempt("a")
    script.apply(PublishWaiting(BATCH, 1, "git-credential-vault"))
    wait = "waiting for a password from git-credential-vault, which may be asking you for it"
    assert make_batch_view(script.state, script.batch()).reason == f"its branch is being published: {wait}"
    script.apply(PublishWaiting(BATCH, 1, ""))
    assert make_batch_view(script.state, script.batch()).reason == "its branch is being published"
    script.apply(PublishWaiting(BATCH, 1, "git-credential-vault"))
    script.fail_publish("nothing answered")
    assert script.batch().awaited_program == ""
    script.apply(PublishWaiting(BATCH, 1, "git-credential-vault"))
    assert script.batch().awaited_program == ""


def test_a_failed_publish_is_reported_and_fails_no_task() -> None:
    script = Script("a", settings=PR)
    script.exit_attempt("a")
    assert ends(script.fail_publish("no token", "git push origin x")) == ["1 done; not published: no token"]
    view = make_batch_view(script.state, script.batch())
    assert (view.status, view.unshipped, view.unshipped_hint) == (
        BatchStatus.COMPLETED,
        "no token",
        "git push origin x",
    )
    assert publishes(ship(script)) == [PublishStarted(BATCH, 2, "base+a", Publish.PR)]
    assert make_batch_view(script.state, script.batch()).unshipped is None
    assert ends(script.finish_publish(URL)) == []


def test_only_a_commit_that_passed_the_gate_is_published() -> None:
    script = Script("a", "b", settings=GATED)
    script.exit_attempt("a")
    assert refusal(ship(script)) == "the gate has not passed on what is merged of batch b1"
    script.finish_gate(passed=True)
    script.exit_attempt("b")
    assert script.batch().head == "base+a+b"
    assert publishes(ship(script)) == [PublishStarted(BATCH, 1, "base+a", Publish.PR)]
    script.finish_publish(URL)
    (order,) = publishes(script.finish_gate(passed=True))
    assert (order.commit, order.expected) == ("base+a+b", "base+a")


def test_after_a_drop_the_gate_runs_before_the_next_publish() -> None:
    script = gated_together()
    decisions = drop(script, "b")
    assert gate_sizes(decisions) == [1]
    assert publishes(decisions) == []
    assert publishes(script.finish_gate(passed=True)) == [
        PublishStarted(BATCH, 2, "base+a", Publish.PR, expected="base+a+b")
    ]


def test_a_task_that_passed_only_with_a_dropped_one_is_the_culprit() -> None:
    script = gated_together()
    drop(script, "b")
    assert gate_sizes(script.finish_gate(passed=False)) == [0]
    script.finish_gate(passed=True)
    assert script.task("a").status is TaskStatus.FAILED
    assert script.batch().merges == []


def test_a_changed_branch_is_published_again_by_the_settings() -> None:
    script = done(PR, "a", "b")
    assert publishes(drop(script, "b")) == [PublishStarted(BATCH, 2, "base+a", Publish.PR, "base+a+b")]
    script.finish_publish()
    view = make_batch_view(script.state, script.batch())
    assert (view.pr_url, view.shipped) == (URL, "base+a")


def test_without_the_setting_a_changed_branch_is_shown_as_outdated() -> None:
    script = done(Settings(), "a", "b")
    ship(script)
    script.finish_publish(URL)
    assert publishes(drop(script, "b")) == []
    view = make_batch_view(script.state, script.batch())
    assert (view.is_outdated, view.unshipped) == (True, None)


def test_an_emptied_branch_is_not_published() -> None:
    script = done(PR, "a")
    assert publishes(drop(script, "a")) == []
    assert make_batch_view(script.state, script.batch()).unshipped == "nothing is left of what was published"


def test_a_reopened_batch_that_ends_unchanged_is_not_published_again() -> None:
    script = Script("a", "b", settings=Settings(publish=Publish.PR, retries=0))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    script.finish_publish(URL)
    script.request(lambda name: Retry(name, BATCH, "b"))
    decisions = script.exit_attempt("b", Category.TASK)
    assert publishes(decisions) == []
    assert len(ends(decisions)) == 1


def test_a_batch_that_ends_again_retries_a_failed_publish() -> None:
    script = Script("a", "b", settings=Settings(publish=Publish.PR, retries=0))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    script.fail_publish("no network")
    script.request(lambda name: Retry(name, BATCH, "b"))
    assert len(publishes(script.exit_attempt("b", Category.TASK))) == 1


def test_a_push_before_a_failure_is_the_expected_remote_commit() -> None:
    script = Script("a", settings=PR)
    script.exit_attempt("a")
    script.fail_publish("the forge said no", commit="base+a")
    assert publishes(ship(script))[0].expected == "base+a"


def test_an_ended_batch_is_shipped_without_being_opened_again() -> None:
    script = done(Settings(), "a")
    ended_at = script.batch().ended_at
    assert publishes(ship(script, Publish.DRAFT)) == [PublishStarted(BATCH, 1, "base+a", Publish.DRAFT)]
    assert is_engine_needed(script.state)
    assert list_outstanding(script.state) == [PublishStarted(BATCH, 1, "base+a", Publish.DRAFT)]
    assert script.finish_publish(URL) == []
    assert not is_engine_needed(script.state)
    assert list_outstanding(script.state) == []
    assert (script.batch().ended, script.batch().ended_at) == (BatchStatus.COMPLETED, ended_at)
    assert make_batch_view(script.state, script.batch()).pr_url == URL


def test_shipping_a_published_batch_publishes_it_again() -> None:
    script = done(PR, "a")
    assert publishes(ship(script)) == [PublishStarted(BATCH, 2, "base+a", Publish.PR, "base+a")]


def test_the_settings_turn_a_requested_draft_into_a_pull_request() -> None:
    script = Script("a", "b", settings=PR)
    script.exit_attempt("a")
    ship(script, Publish.DRAFT)
    script.finish_publish(URL)
    script.task("b")
    decisions = drop(script, "b")
    decisions += script.exit_attempt("b", Category.KILLED)
    assert [order.publish for order in publishes(decisions)] == [Publish.PR]


def _running() -> Script:
    script = Script("a", "b")
    script.exit_attempt("a")
    return script


def _cancelling() -> Script:
    script = _running()
    script.request(lambda name: CancelBatch(name, BATCH))
    return script


def _anew() -> Script:
    script = done(Settings(), "a", "b")
    script.answers_merges = False
    drop(script, "a")
    return script


def _publishing() -> Script:
    script = _running()
    ship(script)
    return script


@pytest.mark.parametrize(
    ("script", "publish", "why"),
    [
        (lambda: Script("a"), Publish.PR, "nothing of batch b1 is merged"),
        (
            lambda: Script("a", settings=Settings(isolation=Isolation.IN_PLACE)),
            Publish.PR,
            "batch b1 runs in place: it has no branch to publish",
        ),
        (_cancelling, Publish.PR, "batch b1 is being cancelled"),
        (_anew, Publish.PR, "the branch of batch b1 is being rebuilt: try again later"),
        (_publishing, Publish.PUSH, "batch b1 is already being published"),
        (_running, Publish.OFF, "nothing to publish: choose push, pr or draft"),
    ],
)
def test_a_ship_request_that_can_not_work_is_refused_with_the_reason(
    script: Callable[[], Script], publish: Publish, why: str
) -> None:
    assert refusal(ship(script(), publish)) == why


def test_a_granted_publish_is_not_changed_by_later_requests() -> None:
    script = Script("a", "b")
    script.exit_attempt("a")
    script.exit_attempt("b")
    decisions = script.apply(Ship("s", BATCH), Drop("d", BATCH, "a"))
    (order,) = publishes(decisions)
    assert order.commit == "base+a+b"
    assert script.batch().head == "base+b"


@pytest.mark.parametrize("make", [lambda name: Stop(name, BATCH), lambda name: CancelBatch(name, BATCH)])
def test_nothing_interrupts_publishing(make: Callable[[str], Request]) -> None:
    script = Script("a", settings=PR)
    script.exit_attempt("a")
    script.request(make)
    assert script.batch().publishing is not None
    assert len(ends(script.finish_publish(URL))) == 1
    assert make_batch_view(script.state, script.batch()).pr_url == URL


def test_a_paused_batch_waits_for_a_person_before_it_is_published() -> None:
    script = Script("a", settings=PR)
    script.request(lambda name: Pause(name, BATCH))
    decisions = script.exit_attempt("a")
    assert (publishes(decisions), ends(decisions)) == ([], [])
    assert make_batch_view(script.state, script.batch()).waits_for_person
    assert not is_engine_needed(script.state)
    assert len(publishes(script.request(lambda name: Resume(name, BATCH)))) == 1
    assert not make_batch_view(script.state, script.batch()).waits_for_person


def test_a_cancelled_batch_is_published_only_when_a_person_asks() -> None:
    script = _running()
    script.request(lambda name: ChangeSettings(name, BATCH, PR, ("publish",)))
    script.request(lambda name: CancelBatch(name, BATCH))
    decisions = script.exit_attempt("b", Category.KILLED)
    assert publishes(decisions) == []
    assert script.batch().ended is BatchStatus.CANCELLED
    assert [order.commit for order in publishes(ship(script))] == ["base+a"]


def test_late_and_second_reports_change_nothing() -> None:
    script = done(PR, "a")
    before = script.batch().published
    script.apply(PublishFailed(BATCH, 1, "late"), PublishDone(BATCH, 7, "x", "y"))
    assert (script.batch().published, script.batch().publish_failure) == (before, None)


def test_an_in_place_batch_has_nothing_to_publish() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR, isolation=Isolation.IN_PLACE))
    decisions = script.exit_attempt("a")
    assert publishes(decisions) == []
    assert ends(decisions) == ["1 done"]


def test_a_forecast_sees_the_end_behind_the_publishing() -> None:
    script = Script("a", settings=GATED)
    assert forecast_batch(script.state, BATCH, script.now).end is not None
    assert script.batch().publishing is None


def test_a_given_title_and_body_are_used_until_they_are_changed() -> None:
    script = done(PR, "a")
    assert words(ship(script, title="Walls", body="As agreed.")) == ("Walls", "As agreed.", True)
    script.finish_publish(URL)
    assert words(ship(script)) == ("Walls", "As agreed.", False)
    script.finish_publish(URL)
    assert words(ship(script, body="Otherwise.")) == ("Walls", "Otherwise.", False)
    script.finish_publish(URL)
    assert words(ship(script, title="", body="")) == ("", "", True)


def test_publishing_by_the_settings_uses_the_given_title_and_body() -> None:
    script = Script("a", "b", settings=PR)
    script.exit_attempt("a")
    ship(script, title="Walls")
    script.finish_publish(URL)
    assert words(script.exit_attempt("b")) == ("Walls", "", False)


def test_a_title_counts_until_a_pull_request_has_it() -> None:
    script = done(Settings(), "a")
    ship(script, Publish.PUSH, title="Walls")
    script.finish_publish("")
    assert words(ship(script)) == ("Walls", "", True)
    script.fail_publish("no network")
    assert words(ship(script)) == ("Walls", "", True)
    script.finish_publish(URL)
    assert words(ship(script)) == ("Walls", "", False)


@pytest.mark.parametrize(
    ("title", "body", "why"),
    [
        (" ", None, "the title is blank"),
        ("two\nlines", None, "the title must be one line of text"),
        ("a\u2028b", None, "the title must be one line of text"),
        ("half \ud800", None, "the title must be one line of text"),
        ("x" * 256, None, "a title has at most 255 characters"),
        (None, "x" * 60_001, "a body has at most 60,000 characters"),
        (None, "half \ud800", "the body is not valid text"),
        (None, "none\0", "the body contains control characters"),
        (None, "\x1b[2Jgone", "the body contains control characters"),
    ],
)
def test_invalid_titles_and_bodies_are_refused_and_change_nothing(
    title: str | None, body: str | None, why: str
) -> None:
    script = done(Settings(), "a")
    assert refusal(ship(script, title=title, body=body)) == why
    assert words(ship(script, title="x" * 255, body="x" * 60_000)) == ("x" * 255, "x" * 60_000, True)


def test_a_refused_title_is_not_used() -> None:
    script = Script("a")
    assert refusal(ship(script, title="Walls")) == "nothing of batch b1 is merged"
    script.exit_attempt("a")
    assert words(ship(script)) == ("", "", False)
