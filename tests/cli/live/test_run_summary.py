"""The last screen, and the exit code that goes with it."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from plait.cli.live.summary import add_jobs, get_batch_exit_code, make_summary
from plait.cli.output import Page
from plait.client.result_files import JobOutput, ModelJob, ModelJobs
from plait.core.plan import Problem, Severity
from plait.core.requests import CancelBatch, Drop, Pause, Stop
from plait.core.settings import Backoff, Budget, Isolation, Mode, Settings, Spend
from plait.core.status import Category, TaskStatus
from plait.core.views import WorkTime, make_batch_view
from plait.testing.script import BATCH, Script, task_needing

ALONE = Settings(isolation=Isolation.IN_PLACE, retries=0)


def last_screen(script: Script) -> str:
    view = make_batch_view(script.state, script.batch())
    out = Console(file=io.StringIO())
    make_summary(replace(view, id="7f3a"), now=script.now).show(out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def code(script: Script) -> int:
    return get_batch_exit_code(make_batch_view(script.state, script.batch()))


def test_a_completed_batch_shows_counts_and_time() -> None:
    script = Script("a", "b", settings=ALONE)
    script.wait(59)
    script.exit_attempt("a", spend=Spend(1_230_000, 45_000))
    script.exit_attempt("b")
    assert last_screen(script) == (
        "\n"
        "  a  done          1m 00s\n"
        "  b  done          1m 01s\n"
        "\n"
        "batch 7f3a completed · 2 done\n  1m 01s (2m 01s of agent time) · $1.23 and 45,000 tokens\n"
    )
    assert code(script) == 0


def test_agent_time_is_omitted_when_nothing_ran_in_parallel() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a")
    assert last_screen(script).endswith("\nbatch 7f3a completed · 1 done\n  1s\n")


def test_failures_show_their_reason_and_the_next_command() -> None:
    script = Script("a b", task_needing("c", "a b"), task_needing("d", "c"), "e", settings=ALONE)
    script.exit_attempt("a b", Category.TASK, detail="two\nlines")
    script.exit_attempt("e")
    assert last_screen(script) == (
        "\n"
        "  a b  failed            1s  two lines\n"
        "  c    blocked               needs a b, which failed\n"
        "  d    blocked               needs c, which is blocked by a b\n"
        "  e    done              2s\n"
        "\n"
        "batch 7f3a partial: 1 done, 3 not done · 1 failed · 2 blocked\n"
        "  2s (3s of agent time)\n"
        "\n"
        "  failed  a b: the agent failed: two lines\n"
        "    plait logs 7f3a 'a b'\n"
        "\n"
        "  next  plait retry 7f3a 'a b'\n"
    )
    assert code(script) == 1


def test_a_stopped_batch_says_how_to_resume() -> None:
    script = Script("a", "b", settings=ALONE)
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    script.exit_attempt("b", Category.KILLED)
    shown = last_screen(script)
    assert "batch 7f3a is not finished · 2 interrupted" in shown
    assert "  a  interrupted           stopped by request\n" in shown
    assert shown.endswith("next  plait run --resume\n")


def test_a_batch_that_waits_for_a_person_shows_the_command_and_exits_with_3() -> None:
    queue = Script("a", "b", settings=Settings(isolation=Isolation.IN_PLACE, mode=Mode.QUEUE))
    assert "  waits for you  a: needs approval\n    plait approve 7f3a\n" in last_screen(queue)
    assert code(queue) == 3
    asking = Script("a", task_needing("b", "a"), settings=ALONE)
    asking.exit_attempt("a", Category.QUESTION, question="Which?")
    assert "    plait feedback 7f3a a 'your answer'\n" in last_screen(asking)
    assert code(asking) == 3
    paused = Script("a", "b", settings=Settings(isolation=Isolation.IN_PLACE, max_parallel=1))
    paused.request(lambda name: Pause(name, BATCH))
    assert code(paused) == 1  # something still runs
    paused.exit_attempt("a")
    assert code(paused) == 3
    assert "  paused by request\n" in last_screen(paused)


def test_an_exhausted_budget_waits_for_a_person() -> None:
    settings = Settings(isolation=Isolation.IN_PLACE, max_parallel=1, budget=Budget(1_000_000))
    script = Script("a", "b", settings=settings)
    script.exit_attempt("a", spend=Spend(990_000))
    assert code(script) == 3
    assert "raise the budget to continue" in last_screen(script)
    assert last_screen(script).endswith("next  plait run --resume --budget AMOUNT\n")


def test_a_budget_question_shows_its_own_command() -> None:
    settings = Settings(isolation=Isolation.IN_PLACE, task_budget=Budget(1_000_000), backoff=Backoff(base=0, jitter=0))
    script = Script("a", settings=settings)
    script.exit_attempt("a", Category.TASK, spend=Spend(800_000))
    assert "    plait feedback 7f3a a 'continue'   or   plait cancel 7f3a a\n" in last_screen(script)


def test_a_failed_login_shows_how_to_log_in_and_resume() -> None:
    settings = Settings(agents=("codex",), isolation=Isolation.IN_PLACE, retries=0, max_parallel=1)
    script = Script("a", "b", "c", settings=settings)
    script.exit_attempt("a", Category.AUTH)
    script.exit_attempt("b", Category.AUTH)
    shown = last_screen(script)
    assert "    log in with codex: codex login\n" in shown
    assert shown.endswith("next  plait retry 7f3a a b   then   plait run --resume\n")


def test_an_incomplete_batch_never_exits_with_0() -> None:
    cancelled = Script("a", settings=ALONE)
    cancelled.request(lambda name: CancelBatch(name, BATCH))
    cancelled.exit_attempt("a", Category.KILLED)
    assert code(cancelled) == 1
    dropped = Script("a", "b", settings=ALONE)
    dropped.exit_attempt("a")
    dropped.request(lambda name: Drop(name, BATCH, "b"))
    dropped.exit_attempt("b", Category.KILLED)
    assert code(dropped) == 0  # a person does not want it any more
    assert code(Script("a", settings=ALONE)) == 1  # it runs


def test_failures_after_the_tenth_are_counted() -> None:
    script = Script(*(f"t{n:02}" for n in range(14)), settings=ALONE)
    for n in range(14):
        script.exit_attempt(f"t{n:02}", Category.USAGE)
    shown = last_screen(script)
    assert shown.count("plait logs") == 10
    assert "and 4 more" in shown
    assert shown.endswith("next  plait retry 7f3a TASK…\n")


def test_tasks_after_the_fortieth_are_counted_and_the_failed_one_is_shown() -> None:
    script = Script(*(f"t{n:02}" for n in range(50)), settings=replace(ALONE, max_parallel=0))
    for n in range(49):
        script.exit_attempt(f"t{n:02}")
    script.exit_attempt("t49", Category.TASK)
    table, _, _ = last_screen(script).partition("\nbatch 7f3a")
    assert table.count(" done  ") == 38
    assert "\n  t49  failed " in table
    assert table.endswith("\n  and 11 done\n")


def test_the_changes_and_commits_of_a_table_line_up() -> None:
    script = Script("a", "longer", "c", settings=Settings(retries=0))
    view = make_batch_view(script.state, script.batch())
    changes = [(1, 1, 0), (2, 100, 20), (1, 7, 7)]
    tasks = [
        replace(
            task,
            status=TaskStatus.DONE,
            title="T",
            started_at=0.0,
            ended_at=100.0,
            work=WorkTime(75.0),
            commit="0123456789abcdef",
            diffstat=diffstat,
        )
        for task, diffstat in zip(view.tasks, changes, strict=True)
    ]
    page = make_summary(replace(view, tasks=tuple(tasks)), now=80.0)
    out = Console(file=io.StringIO())
    page.show(out)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue().split("\n")[1:4] == [
        "  a       done          1m 15s  +1 \u22120     0123456789  T",
        "  longer  done          1m 15s  +100 \u221220  0123456789  T",
        "  c       done          1m 15s  +7 \u22127     0123456789  T",
    ]


def make_job(name: str, status: TaskStatus = TaskStatus.DONE, error: str | None = None) -> ModelJob:
    return ModelJob(
        name,
        status,
        [JobOutput(f"{name}.py", 3)],
        retry_used=False,
        fixes=0,
        implicit_context=[],
        verdict=None,
        warnings=[],
        error=error,
    )


def test_a_failed_job_is_listed_once() -> None:
    script = Script("a", settings=Settings(retries=0))
    script.exit_attempt("a", Category.TASK, detail="no answer")
    view = make_batch_view(script.state, script.batch())
    jobs = ModelJobs((make_job("a", TaskStatus.FAILED, "no answer"),), (("failed", 1),))
    out = Console(file=io.StringIO())
    make_summary(view, now=80.0, jobs=jobs).show(out)
    assert isinstance(out.file, io.StringIO)
    _, _, below_table = out.file.getvalue().partition("\n\n")
    assert below_table.count("no answer") == 1
    assert f"    plait logs {BATCH} a\n" in below_table


def test_a_page_may_have_styled_texts_alone() -> None:
    page = Page()
    page.add_line(("bold", "bold"))
    out = Console(file=io.StringIO(), force_terminal=True, color_system=None)
    page.show(out)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == "bold\n"


def test_a_problem_is_wrapped_between_words_on_a_terminal() -> None:
    page = Page()
    page.add_line()
    hint = 'Set them: git config --global user.name "Your Name" && git config --global user.email you@example.org'
    page.add_problems([Problem(Severity.WARNING, "the base lacks what an earlier batch completed " * 3, hint=hint)])

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Console(file=Terminal(), force_terminal=True, width=60, soft_wrap=True, color_system=None)
    page.show(out)
    assert isinstance(out.file, io.StringIO)
    empty, *lines = out.file.getvalue().splitlines()
    assert empty == ""
    assert max(map(len, lines)) <= 60
    assert [line[:2] for line in lines[1:]] == ["  "] * (len(lines) - 1)
    assert " ".join(" ".join(lines[-2:]).split()) == hint


def test_the_files_of_model_jobs_line_up() -> None:
    jobs = [make_job(name) for name in ("a", "longer")]
    page = Page()
    add_jobs(page, ModelJobs(tuple(jobs), (("passed", 2),)), BATCH)
    out = Console(file=io.StringIO())
    page.show(out)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == "\n  jobs  2 passed\n    a       a.py (3 lines)\n    longer  longer.py (3 lines)\n"


def test_the_branch_is_shown_if_something_was_merged() -> None:
    script = Script("a", settings=Settings())
    script.batch().branch = "plait/batch-7f3a"
    assert "branch" not in last_screen(script)
    script.exit_attempt("a")
    assert "  branch plait/batch-7f3a\n" in last_screen(script)
