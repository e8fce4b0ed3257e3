"""What the journal says before a batch is planned: saved settings, and the past batches on which estimates are based."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import Settings, Spend
from plait.core.task import Task
from plait.git.location import RepoLocation
from plait.store.project_files import JOURNAL_FILE, has_journal
from plait.store.state_claim import open_repo

if TYPE_CHECKING:
    from plait.core.state import State
    from plait.store.interfaces import JournalReader

T = TypeVar("T")


def load_project_config(where: Path) -> Config:
    """Load the settings in force here."""
    location = open_repo(where)
    saved, problems = read_saved_settings(location)
    config = load_config(location.top, saved=saved)
    return replace(config, warnings=(*problems, *config.warnings))


def read_saved_settings(location: RepoLocation) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Return settings saved through the page or the API; none if the journal can't be read."""
    settings, problems = _read_journal(location, lambda reader: reader.settings())
    return settings or {}, problems


def _read_journal(location: RepoLocation, read: Callable[[JournalReader], T]) -> tuple[T | None, tuple[Problem, ...]]:
    """Return what `read` returns; None if there is no journal, or if it can't be read, which is a problem."""
    if not has_journal(location):
        return None, ()
    from plait.store.interfaces import JournalError, JournalMissingError
    from plait.store.journal_reader import open_journal_reader  # only where there is a journal

    try:
        with closing(open_journal_reader(location.state / JOURNAL_FILE)) as reader:
            return read(reader), ()
    except JournalMissingError:
        return None, ()
    except JournalError as error:
        message = f"neither history nor saved settings are known: {error.message}"
        return None, (Problem(Severity.WARNING, message, hint=error.hint),)


@dataclass(frozen=True, slots=True)
class PastBatches:
    """What the journal says about earlier batches; `state` is None if there is no journal."""

    state: State | None = None
    problems: tuple[Problem, ...] = ()

    def build_duration_estimate(self, settings: Settings) -> Callable[[Task], float] | None:
        """Return a function that estimates how many seconds a task's writing takes, as far as that is known."""
        if self.state is None:
            return None
        from plait.core import estimate  # the whole core, and only where there is history

        return partial(estimate.estimate_task, self.state, settings)

    def estimate_length(self, plan: Plan, settings: Settings) -> float | None:
        """Estimate the seconds to the end; None without history: a wrong guess would be worse."""
        if self.describe_basis(plan, settings) is None:
            return None
        from plait.core import estimate
        from plait.core.state import State

        return estimate.estimate_batch(self.state or State(), plan, settings)

    def describe_basis(self, plan: Plan, settings: Settings) -> str | None:
        """Say what the estimated length is based on; None if there is no estimate."""
        if self.state is None:
            known = all(task.estimate is not None for task in plan.tasks)
            return "by the tasks' own estimates" if known else None
        from plait.core import estimate

        return estimate.describe_basis(self.state, plan.tasks, settings)

    def estimate_cost(self, plan: Plan, settings: Settings) -> Spend | None:
        """Estimate the cost by the reported costs of earlier attempts; None if unknown."""
        if self.state is None:
            return None
        from plait.core import estimate

        return estimate.estimate_cost(self.state, plan, settings)


def read_past_batches(location: RepoLocation) -> PastBatches:
    """Read the past batches; if the journal can't be read, the plan has no history."""
    return PastBatches(*_read_journal(location, _fold_journal))


def _fold_journal(reader: JournalReader) -> State:
    from plait.core.reducers import evolve
    from plait.core.state import State

    state = State()
    for record in reader.read():
        evolve(state, record)
    return state
