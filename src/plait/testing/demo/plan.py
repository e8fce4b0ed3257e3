"""The demonstration's tasks, and how long its pretended agents take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plait.core.graph import build
from plait.core.plan import Plan
from plait.core.reports import Outcome
from plait.core.settings import Backoff, Settings, Spend
from plait.core.status import Category
from plait.core.task import Need, Origin, Task

MINUTE = 60.0
SETTINGS = Settings(
    agents=("claude", "codex"),
    providers=(("claude", "anthropic"), ("codex", "openai")),
    max_parallel=3,
    verify="make test",
    gate="make check",
    retries=1,
    backoff=Backoff(base=30.0),
)


def _task(
    line: int, name: str, title: str, *needs: str, touches: tuple[str, ...] = (), agent: str = ""
) -> Task:
    at = Origin(f"tasks/{name}.md", line)
    said = tuple(Need(need, reason=f"**Depends on:** {need}", at=at) for need in needs)
    return Task(name, title, needs=said, touches=touches, agent=agent or None, origin=Origin(at.file, 1))


TASKS = (
    _task(4, "01-pyproject", "Move the build to pyproject.toml", touches=("pyproject.toml",)),
    _task(3, "02-bare-excepts", "Name the exceptions that are caught", touches=("src/app.py",)),
    _task(5, "03-dead-layouts", "Delete the layouts nobody uses", touches=("src/layouts/",)),
    _task(4, "04-split-app", "Split app.py by noun", touches=("src/app.py", "src/models.py")),
    _task(6, "05-core-tests", "Test the core", "04-split-app", touches=("tests/",)),
    _task(3, "06-lint", "Turn the linter on", "01-pyproject", touches=("pyproject.toml",), agent="claude"),
    _task(4, "07-port-fortran", "Port the solver from Fortran"),
    _task(4, "08-solver-docs", "Document the solver", "07-port-fortran"),
    _task(2, "09-changelog", "Write the changelog", "05-core-tests", "06-lint", touches=("CHANGELOG.md",)),
)


@dataclass(frozen=True, slots=True)
class Part:
    """What an agent does in the n-th attempt at a task; the last one listed goes for all that follow."""

    minutes: float
    outcome: Outcome
    says: tuple[str, ...] = field(default=())


def _good(minutes: float, cents: int, *says: str) -> Part:
    return Part(minutes, Outcome(Category.OK, spend=Spend(cents * 10_000)), says)


def _bad(minutes: float, category: Category, detail: str, retry_after: float | None = None) -> Part:
    return Part(minutes, Outcome(category, 1, detail, Spend(40_000), retry_after=retry_after))


PARTS: Mapping[str, tuple[Part, ...]] = {
    "01-pyproject": (_good(12, 31, "reading setup.py", "writing pyproject.toml", "running the build"),),
    "02-bare-excepts": (_good(8, 22, "reading src/app.py", "naming 14 exceptions"),),
    "03-dead-layouts": (
        _good(18, 41, "looking for users of layouts", "deleting 9 files", "running the tests"),
    ),
    "04-split-app": (_good(25, 88, "reading src/app.py", "creating src/models.py", "moving Order and Line"),),
    "05-core-tests": (
        _good(14, 52, "reading src/models.py", "writing 31 tests"),
        _good(6, 17, "reading what failed", "mending 2 tests"),
    ),
    "06-lint": (
        _bad(3, Category.RATE_LIMIT, "429, try again in 20 minutes", 20 * MINUTE),
        _good(9, 25, "adding ruff", "mending 60 findings"),
    ),
    "07-port-fortran": (
        _bad(16, Category.TASK, "the solver does not converge"),
        _bad(11, Category.TASK, "the solver does not converge"),
    ),
    "08-solver-docs": (_good(5, 10),),
    "09-changelog": (_good(4, 8, "reading the branch", "writing CHANGELOG.md"),),
}
CHECKS: Mapping[str, tuple[Part, ...]] = {
    "05-core-tests": (_bad(2, Category.VERIFY, "2 of 31 tests failed"), _good(2, 0)),
}
CHECK = (_good(1.5, 0),)
GATE_MINUTES = 2.0


def demo_plan() -> Plan:
    checked = build(TASKS, durations=lambda task: PARTS[task.id][0].minutes * MINUTE)
    assert checked.plan is not None, checked.problems
    return checked.plan


def part(task: str, n: int, *, verifying: bool) -> Part:
    parts = CHECKS.get(task, CHECK) if verifying else PARTS[task]
    return parts[min(n, len(parts)) - 1]
