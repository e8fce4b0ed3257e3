"""Scenes for the golden frames: courses of events that bring a batch into a state worth looking at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from plait.cli.live.view_model import BatchViewModel, build_view_model
from plait.core.decisions import Decision
from plait.core.graph import group_waves
from plait.core.reports import (
    AttemptAsked,
    AttemptPhase,
    AttemptUsed,
    ConflictPredicted,
    MergeDone,
    PressureChanged,
    RateLimited,
    Report,
)
from plait.core.requests import CancelTask, ChangeEngineSettings, Pause, Stop
from plait.core.settings import Budget, EngineSettings, Isolation, Mode, Publish, Settings, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Need, Task
from plait.testing.script import BATCH, Script

ALONE = Settings(isolation=Isolation.IN_PLACE)


@dataclass(frozen=True)
class Picture:
    script: Script
    activity: dict[str, str] = field(default_factory=dict)
    feed: tuple[tuple[str, str], ...] = ()
    eta: float | None = None  # in so many seconds
    keys: bool = True
    help: bool = False
    notice: str = ""
    encoding: str = "utf-8"

    @property
    def scene(self) -> BatchViewModel:
        model = build_view_model(self.script.state, BATCH, group_waves(self.script.batch().plan))
        return replace(model, view=replace(model.view, id="7f3a"))


def task(name: str, *needs: str, title: str = "", touches: tuple[str, ...] = (), **more: object) -> Task:
    return Task(name, title=title, needs=tuple(Need(on) for on in needs), touches=touches, **more)  # type: ignore[arg-type]  # a test's own words


def tell(script: Script, name: str, make: Callable[[Attempt], Report]) -> list[Decision]:
    return script.apply(make(next(iter(script.task(name).alive))))


def phase(script: Script, name: str, text: str) -> None:
    tell(script, name, lambda attempt: AttemptPhase(attempt, text))


def spend(script: Script, name: str, dollars: float) -> None:
    tell(script, name, lambda attempt: AttemptUsed(attempt, Spend(round(dollars * 1e6))))


def many(*tasks: Task, settings: Settings) -> Script:
    """Without the engine's own limit."""
    script = Script(start=False)
    unlimited = EngineSettings(parallel_limit=0)
    script.request(lambda request: ChangeEngineSettings(request, unlimited, ("parallel_limit",)))
    script.submit(*tasks, settings=settings)
    return script


SEVEN = (
    task("01-pyproject-toml", title="Move the settings to pyproject.toml", priority=-2),
    task("02-fix-bare-excepts", title="Name the exceptions", priority=-2),
    task("03-delete-dead-layouts", title="Delete the dead layouts", priority=-1),
    task("04-split-orchestrate", title="Split orchestrate.py", touches=("src/app.py",), priority=-1),
    task("05-add-core-tests", "04-split-orchestrate", title="Tests for the core"),
    task("06-add-docstrings", title="Docstrings", touches=("src/app.py",)),
    task("07-add-oss-files", title="Licence, contributing", priority=3),
)


def working() -> Picture:
    """The contract's own example."""
    script = Script(*SEVEN, settings=Settings(agents=("claude",), max_parallel=2))
    running = script.running_tasks()
    script.wait(490)
    script.exit_attempt(running[0], spend=Spend(210_000), diffstat=(4, 182, 12))
    script.wait(60)
    script.exit_attempt(running[1], spend=Spend(1_250_000), diffstat=(7, 40, 38))
    spend(script, "03-delete-dead-layouts", 0.41)
    phase(script, "03-delete-dead-layouts", "Phase 4: Panel")
    script.wait(180)
    doing = {
        "03-delete-dead-layouts": "Judge Sonnet: reviewing implementations",
        "04-split-orchestrate": "creating orchestrate/prompts.py",
    }
    return Picture(script, doing, eta=360)


def feeding() -> Picture:
    """Several activities of the same task, of one that has ended, and one that a row shows already."""
    made = working()
    feed = (
        ("01-pyproject-toml", "editing pyproject.toml"),
        ("03-delete-dead-layouts", "reading src/layouts/old.py"),
        ("04-split-orchestrate", "Writer A: 14 functions to move"),
        ("03-delete-dead-layouts", "running pytest tests/layouts -q"),
        ("04-split-orchestrate", "Writer A: moving build_prompt and everything that only it calls to its own module"),
        ("03-delete-dead-layouts", "Judge Sonnet: reviewing implementations"),
        ("04-split-orchestrate", "creating orchestrate/prompts.py"),
    )
    return Picture(made.script, made.activity, feed, eta=made.eta)


def troubles() -> Picture:
    """Every way to end badly, and a second attempt."""
    script = many(
        task("api-errors", title="Errors of the API", retries=5, timeout=6000.0),
        task("bad-login", title="Fix the login"),
        task("clash", title="Rename everything"),
        task("docs", "bad-login", title="Document the login"),
        task("endless", title="Search for ever"),
        task("flaky", title="Flaky tests", retries=1, timeout=6000.0),
        task("given-up", title="Not wanted any more"),
        task("happy", title="Done at once"),
        settings=Settings(agents=("claude", "codex"), max_parallel=0, timeout=600, retries=0),
    )
    script.answers_merges = False
    script.request(lambda request: CancelTask(request, BATCH, "given-up"))
    script.exit_attempt("given-up", Category.KILLED)
    script.exit_attempt("clash")
    script.conflict_merge("clash", "src/app.py", "src/models/order.py")
    script.answers_merges = True
    script.exit_attempt("happy")
    script.exit_attempt("bad-login", Category.AUTH, detail="401: the key is not valid")
    script.exit_attempt("flaky", Category.TASK, detail="3 of 41 tests failed")
    script.wait(620)
    script.exit_attempt("endless", Category.KILLED)
    script.exit_attempt("api-errors", Category.NETWORK, detail="connection refused")
    return Picture(script, {"flaky": "running tests/test_login.py::test_it_again_and_again_with_other_words"})


def queue() -> Picture:
    script = Script(*SEVEN[:3], settings=Settings(agents=("claude",), mode=Mode.QUEUE, isolation=Isolation.IN_PLACE))
    return Picture(script)


def questions() -> Picture:
    script = Script(*SEVEN, settings=Settings(agents=("claude",)))
    asked = "Shall I delete the old layouts as well, or only those that nobody uses? They are in src/layouts."
    tell(script, script.running_tasks()[0], lambda attempt: AttemptAsked(attempt, asked))
    script.exit_attempt(script.running_tasks()[1], Category.QUESTION, question="Which licence?")
    script.wait(30)
    return Picture(script)


def paused() -> Picture:
    script = Script(*SEVEN, settings=Settings(agents=("claude",), max_parallel=2))
    script.request(lambda request: Pause(request, BATCH))
    script.wait(75)
    return Picture(script)


def stopped() -> Picture:
    script = Script(*SEVEN, settings=Settings(agents=("claude",), max_parallel=2))
    script.wait(100)
    first, second = script.running_tasks()
    script.request(lambda request: Stop(request, BATCH))
    script.exit_attempt(first, Category.KILLED)
    return Picture(
        script,
        {second: "tidying up"},
        notice="stopping the agents; press Ctrl+C again to stop them immediately",
    )


def budget() -> Picture:
    script = Script(*SEVEN, settings=Settings(agents=("claude",), max_parallel=1, budget=Budget(microusd=2_000_000)))
    script.exit_attempt(script.running_tasks()[0], spend=Spend(1_900_000, 410_000))
    script.wait(5)
    return Picture(script)


def limited() -> Picture:
    script = Script(*SEVEN, settings=Settings(agents=("claude",), providers=(("claude", "anthropic"),)))
    script.apply(RateLimited("anthropic", script.now + 400))
    script.exit_attempt(script.running_tasks()[0])
    script.apply(PressureChanged("only 900 MiB of disk left at /var"))
    script.wait(40)
    return Picture(script)


def numbered() -> Picture:
    """Ids that say nothing have their titles beside them."""
    titles = (
        "Read it in src/read.py",
        "Put up the walls",
        "Move the walls of the house by a metre to the left",
        "Open the door",
    )
    tasks = [
        task(f"{n}.{n + 1}", *([f"{n - 1}.{n}"] if n > 1 else []), title=title) for n, title in enumerate(titles, 1)
    ]
    script = Script(*tasks, settings=ALONE)
    script.wait(20)
    script.exit_attempt("1.2")
    script.wait(3)
    return Picture(script, {"2.3": "lifting"}, eta=30, keys=False)


def strange() -> Picture:
    """Texts that must not be trusted."""
    script = many(
        task("修复-登录错误", title="修复登录错误"),
        task("emoji-👩‍💻-family", title="🚀🚀🚀"),
        task("evil", title="\x1b[2J\x1b[31mred\x07 \u202etxt.exe"),
        task("63", title="\x1b]0;owned\x07 a title\nof two lines \u202e reversed"),
        task("zalgo", title="z" + "\u0301" * 500),
        task("very-long-name-of-a-task-that-goes-on-and-on-until-nobody-reads-it-any-more", title="x" * 300),
        settings=Settings(agents=("shell",), max_parallel=0, isolation=Isolation.IN_PLACE),
    )
    script.wait(10)
    script.exit_attempt("zalgo", Category.USAGE, detail="\x1b[31m失敗しました\x1b[0m: 👍🏽 \r\n second line")
    activities = {
        "修复-登录错误": "正在编辑 src/登录.py 请稍候 这可能需要一些时间才能完成全部的工作",
        "evil": "\x1b[1Aup \ttabs",
    }
    return Picture(script, activities, keys=False)


def alike() -> Picture:
    names = (
        "implement-the-payment-service-client",
        "implement-the-payment-service-server",
        "implement-the-payment-service-tests",
    )
    script = Script(*names, settings=ALONE)
    script.wait(4000)
    return Picture(script, dict.fromkeys(names, "working hard on it"), keys=False)


def hundreds() -> Picture:
    """More tasks than rows: what matters is shown."""
    tasks = [
        task(f"t{n:03}-some-piece-of-work", *([f"t{n - 30:03}-some-piece-of-work"] if n > 30 else []))
        for n in range(1, 301)
    ]
    script = Script(
        *tasks,
        settings=Settings(agents=("claude", "codex"), max_parallel=6, isolation=Isolation.IN_PLACE),
        start=False,
    )
    script.submit(*tasks, settings=Settings(agents=("claude", "codex"), max_parallel=6, isolation=Isolation.IN_PLACE))
    for n in range(45):
        bad = n in (17, 40)
        script.exit_attempt(
            script.running_tasks()[0],
            Category.USAGE if bad else Category.OK,
            detail="it does not know --fast" if bad else "",
        )
    script.wait(50)
    doing = {name: f"editing src/part{place}.py" for place, name in enumerate(script.running_tasks())}
    return Picture(script, doing, eta=7200)


def landing() -> Picture:
    """Every way between an agent's exit and the batch branch."""
    script = many(
        task("01-models", title="The models"),
        task("02-logo", title="A new logo"),
        task("03-routes", title="The routes"),
        task("04-views", title="The views"),
        task("05-forms", title="The forms", verify="make test"),
        task("06-login", title="The login"),
        task("07-mails", title="The mails"),
        task("08-rename", title="Rename everything"),
        settings=Settings(agents=("claude",), max_parallel=0, retries=0),
    )
    script.wait(120)
    script.exit_attempt("01-models", diffstat=(4, 1182, 12))
    script.exit_attempt("02-logo", diffstat=(1, 0, 0))
    script.answers_merges = False
    script.exit_attempt("08-rename", diffstat=(40, 312, 311))
    script.conflict_merge("08-rename", "src/models/order.py", "src/models/item.py")
    script.exit_attempt("05-forms", diffstat=(2, 20, 3))
    script.exit_attempt("06-login", diffstat=(2, 31, 0))
    script.exit_attempt("07-mails", diffstat=(1, 5, 5))
    script.apply(ConflictPredicted(BATCH, "03-routes", "04-views", ("src/urls.py", "src/app.py")))
    script.apply(ConflictPredicted(BATCH, "04-views", "", ("src/models/order.py",)))
    return Picture(script, {"03-routes": "editing src/urls.py", "05-forms": "12 passed"}, eta=200)


def gated() -> Picture:
    script = Script(*SEVEN[:3], settings=Settings(agents=("claude",), gate="make test"))
    for name in script.running_tasks():
        script.exit_attempt(name, diffstat=(3, 12, 4))
    return Picture(script)


def bisected() -> Picture:
    """The gate has failed, and the guilty one is looked for."""
    script = many(*SEVEN[:4], settings=Settings(agents=("claude",), gate="make test", max_parallel=0))
    script.answers_merges = False
    for name in script.running_tasks():
        script.exit_attempt(name, diffstat=(3, 12, 4))
    while (merging := script.batch().merging) is not None:
        order = script.batch().tasks[merging]
        script.apply(MergeDone(BATCH, order.task.id, order.merging or 0, f"c{merging}"))
    script.finish_gate(passed=False)
    script.wait(75)
    return Picture(script)


def published() -> Picture:
    script = Script(*SEVEN[:3], settings=Settings(agents=("claude",), publish=Publish.PR))
    script.batch().branch = "plait/batch-7f3a"
    for name in script.running_tasks():
        script.exit_attempt(name, diffstat=(3, 12, 4))
    return Picture(script)


def landing_ascii() -> Picture:
    made = landing()
    return Picture(made.script, made.activity, eta=made.eta, encoding="ascii")


def ended() -> Picture:
    script = Script(*SEVEN[:4], settings=ALONE)
    script.wait(61)
    for name in script.running_tasks():
        script.exit_attempt(name)
    return Picture(script, keys=False)


def ascii_only() -> Picture:
    made = working()
    return Picture(made.script, made.activity, eta=made.eta, encoding="ascii")


def latin() -> Picture:
    made = strange()
    return Picture(made.script, made.activity, encoding="iso8859-1")


def helped() -> Picture:
    made = working()
    return Picture(made.script, made.activity, eta=made.eta, help=True)


PICTURES: dict[str, Callable[[], Picture]] = {
    made.__name__: made
    for made in (
        working,
        feeding,
        troubles,
        queue,
        questions,
        paused,
        stopped,
        budget,
        limited,
        numbered,
        strange,
        alike,
        hundreds,
        landing,
        landing_ascii,
        gated,
        bisected,
        published,
        ended,
        ascii_only,
        latin,
        helped,
    )
}
