"""A batch that its budget has paused continues with a higher one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plait.client.budget_change import make_budget_change
from plait.core.errors import UserError
from plait.core.reports import AttemptExited, Outcome
from plait.core.requests import ChangeSettings
from plait.core.settings import Budget, Spend
from plait.core.status import Category
from plait.core.task import Task
from plait.git.location import RepoLocation
from tests.support.journal_writer import JournalWriter


@pytest.fixture
def writer(location: RepoLocation) -> JournalWriter:
    """Of a batch whose first task has used up nearly all of a dollar, which the second one may cost, too."""
    writer = JournalWriter(location)
    tasks = [Task(name, agent="claude") for name in "ab"]
    writer.submit("beef", *tasks, max_parallel=1, budget=Budget(1_000_000))
    (attempt,) = writer.batch.alive
    writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, spend=Spend(990_000))))
    return writer


def change(writer: JournalWriter, location: RepoLocation, budget: Budget | None) -> ChangeSettings:
    return make_budget_change(location, writer.state, writer.batch, "r1", budget)


@pytest.mark.parametrize("budget", [Budget(2_000_000), None])
def test_a_budget_that_is_enough_continues_the_batch(
    writer: JournalWriter, location: RepoLocation, budget: Budget | None
) -> None:
    asked = change(writer, location, budget)
    assert asked.fields == ("budget",)
    assert asked.settings == replace(writer.batch.settings, budget=budget)
    writer.apply(asked)
    assert writer.batch.paused is None
    assert len(writer.batch.alive) == 1


def test_a_budget_that_is_too_low_or_unknown_to_its_agents_is_refused(
    writer: JournalWriter, location: RepoLocation
) -> None:
    before = writer.batch.settings
    with pytest.raises(UserError, match=r"\$0\.99 of \$1\.50 is spent, and b may cost \$0\.99: raise the budget"):
        change(writer, location, Budget(1_500_000))
    with pytest.raises(UserError, match="a budget of 0 lets no task start"):
        change(writer, location, Budget(0))
    assert writer.batch.settings == before


def test_only_a_batch_that_its_budget_has_paused_takes_one(writer: JournalWriter, location: RepoLocation) -> None:
    writer.apply(change(writer, location, None))
    with pytest.raises(UserError, match="batch beef does not wait for a higher budget"):
        change(writer, location, Budget(5_000_000))
