"""The judges of a contest: agents in processes and worktrees of their own, started by the referee, that rank the candidates.

They run at the same time, as far as the attempt has slots. What each of them spends is counted, also without a vote.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from random import Random

from plait.agents.drivers.referee import RefereeSpec
from plait.agents.interface import Activity, Agent, AgentEvent, AgentSpec, AttemptContext, SpendUpdated
from plait.agents.table import load_agent
from plait.core.ballot import Vote
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.core.text import format_duration
from plait.runtime.agent_process import EventReporter, JobError, ToolResult, run_tool
from plait.runtime.contest_referee.verdict import InvalidVerdictError, build_question, find_verdict
from plait.runtime.sandbox.child_sandboxes import ChildSandboxes, ConfinedChild, confine_child
from plait.system.atomic_files import make_private_folder, write_private_file

MAX_ASKS = 2
_CANDIDATE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_KEPT_BYTES = 1 << 20  # bytes of its output that are kept
# Temporary failures: without a quorum the contest waits instead of being decided without these judges.
_TEMPORARY = frozenset({Category.RATE_LIMIT, Category.OVERLOADED, Category.NETWORK})
# Of the attempt's limits: a judge that hangs must not cost the votes of the others.
_TIME_SHARE, _IDLE_SHARE = 0.9, 0.8
_MAX_CHECK_SECONDS = 0.5  # between two looks at the limits
_TERMINATE_SECONDS = 2.0  # from SIGTERM to SIGKILL, and from that to giving up


@dataclass(frozen=True, slots=True)
class _JudgeSetup:
    """One judge: its agent, its checkout, a folder for its files, the seconds that it may take, and be silent, and what
    sandboxes it.
    """

    name: str
    spec: AgentSpec
    checkout: Path
    folder: Path
    seconds: float
    idle_seconds: float
    sandboxes: ChildSandboxes | None = None


@dataclass(frozen=True, slots=True)
class _JudgeResult:
    """What a judge's run gave: a vote, or with `outcome` why there is none."""

    vote: Vote
    outcome: Outcome | None = None


class JudgePanel:
    """All judges of a contest."""

    def __init__(self, spec: RefereeSpec, reporter: EventReporter, sandboxes: ChildSandboxes | None = None) -> None:
        self._spec = spec
        self._sandboxes = sandboxes
        self._reporter = reporter
        self._names = name_judges(spec.judges)
        self._lock = threading.Lock()
        self._spends: dict[str, Spend] = {}
        self._reported = NO_SPEND

    def collect_votes(self, task: str, diffs: Mapping[str, str]) -> tuple[Vote, ...]:
        """Collect a vote of each judge about the entrants, or why there is none; votes of an earlier attempt are kept
        and not asked for again.

        Raises JobError, after the votes were reported, if only temporary failures prevent a quorum.
        """
        kept = {vote.judge: vote for vote in self._spec.votes}
        asked = [n for n, name in enumerate(self._names) if name not in kept] if len(diffs) > 1 else []
        results = self._run_judges(asked, task, diffs)
        votes = tuple(
            results[n].vote if n in results else kept.get(name, Vote(name, failure="it was not asked"))
            for n, name in enumerate(self._names)
        )
        self._report_votes(votes)
        self._check_quorum([results[n] for n in asked], votes)
        return votes

    def _run_judges(self, asked: Sequence[int], task: str, diffs: Mapping[str, str]) -> dict[int, _JudgeResult]:
        slots = threading.Semaphore(max(1, self._spec.slots))
        results: dict[int, _JudgeResult] = {}
        judges = {n: self._make_judge(n, len(asked)) for n in asked}

        def ask(n: int) -> None:
            with slots:
                try:
                    results[n] = judges[n].vote(task, diffs, f"{self._spec.attempt} {self._names[n]}")
                except Exception as error:  # noqa: BLE001 - a driver may be a plugin; it costs this vote
                    results[n] = judges[n].fail(Outcome(Category.TASK, detail=repr(error)))

        threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in asked]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:  # a signal to this process is meant for its judges
            for judge in judges.values():
                judge.signal(signal.SIGTERM)
            raise
        return results

    def _make_judge(self, n: int, count: int) -> ContestJudge:
        spec, name = self._spec, self._names[n]
        rounds = math.ceil(count / max(1, spec.slots))
        setup = _JudgeSetup(
            name,
            spec.judges[n],
            Path(spec.checkouts[n]),
            Path(spec.folder) / f"judge-{n + 1}",
            _TIME_SHARE * spec.timeout / rounds or math.inf,
            _IDLE_SHARE * spec.idle_timeout or math.inf,
            self._sandboxes,
        )
        return ContestJudge(setup, self._reporter, lambda spend: self._add_spend(name, spend))

    def _add_spend(self, name: str, spend: Spend) -> None:
        with self._lock:
            self._spends[name] = self._spends.get(name, NO_SPEND).at_least(spend)
            total = sum(self._spends.values(), NO_SPEND)
            if total != self._reported:
                self._reported = total
                self._reporter.print_event("usage", microusd=total.microusd, tokens=total.tokens)

    def _report_votes(self, votes: Sequence[Vote]) -> None:
        for vote in votes:
            self._reporter.print_event(
                "vote",
                judge=vote.judge,
                ranking=vote.ranking,
                rejected=vote.rejected,
                reason=self._reporter.clean(vote.reason),
                failure=self._reporter.clean(vote.failure),
            )

    def _check_quorum(self, results: Sequence[_JudgeResult], votes: Sequence[Vote]) -> None:
        failed = [result for result in results if result.outcome is not None and result.outcome.category in _TEMPORARY]
        cast = sum(not vote.failure for vote in votes)
        if 2 * cast > len(votes) or 2 * (cast + len(failed)) <= len(votes):
            return
        vote, outcome = failed[0].vote, failed[0].outcome
        assert outcome is not None
        judge = self._spec.judges[self._names.index(vote.judge)]
        shared = load_agent(judge).provider == load_agent(self._spec.judges[0]).provider
        # The attempt counts as one of the first judge's provider: a limit of another one must not hold that back.
        category = outcome.category if shared else Category.OVERLOADED
        waits = [_find_wait(result.outcome) for result in failed if result.outcome is not None]
        raise JobError(f"{vote.judge}: {vote.failure}", category, after=max(waits) or None)


def name_judges(judges: Sequence[AgentSpec]) -> list[str]:
    """Name the judges by their agents; a second judge of the same agent has a number."""
    names = [judge.name for judge in judges]
    numbers = [names[: n + 1].count(name) for n, name in enumerate(names)]
    return [f"{name} {number}" if number > 1 else name for name, number in zip(names, numbers, strict=True)]


def _find_wait(outcome: Outcome) -> float:
    at = max(1.0, outcome.retry_at - time.time()) if outcome.retry_at is not None else 0.0
    return max(outcome.retry_after or 0.0, at)


class ContestJudge:
    """One judge, in its own checkout."""

    def __init__(self, setup: _JudgeSetup, reporter: EventReporter, on_spend: Callable[[Spend], None]) -> None:
        self._setup = setup
        self._name = setup.name
        self._reporter = reporter
        self._on_spend = on_spend
        self._spent = NO_SPEND
        self._tool: subprocess.Popen[bytes] | None = None
        self._last_output = 0.0

    def vote(self, task: str, diffs: Mapping[str, str], seed: str) -> _JudgeResult:
        """Ask for a ranking. The order of the letters depends on `seed` alone, and after an unreadable verdict the
        judge is asked once more.
        """
        names = list(diffs)
        Random(seed).shuffle(names)  # noqa: S311 - no secret: only so that no agent is always first
        lettered = dict(zip(_CANDIDATE_LETTERS, names, strict=False))
        ends_at = time.monotonic() + self._setup.seconds
        objection = ""
        for turn in range(MAX_ASKS):
            try:
                setup = self._setup
                with confine_child(setup.sandboxes, setup.checkout, setup.folder) as child:
                    question = {letter: diffs[name] for letter, name in lettered.items()}
                    prompt = self._write_question(child, task, question, objection)
                    result = self._run(child, load_agent(setup.spec), prompt, turn, ends_at)
            except (PlaitError, OSError) as error:
                return self.fail(Outcome(Category.USAGE, detail=str(error)))
            if result.outcome.category not in {Category.OK, Category.EMPTY}:
                return self.fail(result.outcome)
            try:
                verdict = find_verdict(result, list(lettered))
            except InvalidVerdictError as error:
                objection = str(error)
                self._reporter.report_activity(f"{self._name}: no valid verdict: {objection}")
                continue
            ranking = tuple(lettered[letter] for letter in verdict.ranking)
            rejected = tuple(lettered[letter] for letter in verdict.rejected)
            return _JudgeResult(Vote(self._name, ranking, rejected, self._reporter.clean(verdict.reason)))
        return self.fail(Outcome(Category.TASK, detail=f"no valid verdict: {objection}"))

    def fail(self, outcome: Outcome) -> _JudgeResult:
        why = self._reporter.clean(outcome.detail) or outcome.category.value
        self._reporter.report_activity(f"{self._name} has no vote: {why}")
        return _JudgeResult(Vote(self._name, failure=why), outcome)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the judge's tool and whatever that started in its session."""
        if self._tool is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._tool.pid, number)

    def _write_question(self, child: ConfinedChild, task: str, diffs: Mapping[str, str], objection: str) -> Path:
        """Write the question, and return the path where the judge finds it."""
        make_private_folder(child.files)
        files = {letter: str(self._setup.folder / f"{letter}.diff") for letter in diffs}
        for letter, diff in diffs.items():
            write_private_file(child.files / f"{letter}.diff", diff)
        write_private_file(child.files / "prompt.md", build_question(task, diffs, files, objection))
        return self._setup.folder / "prompt.md"

    def _run(self, child: ConfinedChild, agent: Agent, prompt: Path, turn: int, ends_at: float) -> ToolResult:
        context = AttemptContext(
            Attempt("", "", Step.WRITE, turn + 1),
            Task("judge", "Which of these changes is the best?"),
            str(self._setup.checkout),
            task_file=str(prompt),
            prompt_file=str(prompt),
            folder=str(self._setup.folder),
        )
        command = agent.build_command(context)
        for name, text in command.files:
            write_private_file(child.files / name, text)
        before, results = self._spent, Queue[ToolResult]()

        def report(event: AgentEvent) -> None:
            if isinstance(event, Activity):
                self._reporter.report_activity(f"{self._name}: {event.text}")
            elif isinstance(event, SpendUpdated):
                self._report_spend(before + event.spend)

        own = {"PWD": str(self._setup.checkout), "PLAIT_WORKSPACE": str(self._setup.checkout)}
        with (child.files / Path(command.stdin).name if command.stdin else Path(os.devnull)).open("rb") as stdin:
            tool = self._tool = subprocess.Popen(  # the judge's own words
                (*child.words, *command.argv),
                cwd=self._setup.checkout,
                env={**os.environ, **own, **dict(command.env)},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
            )
        self._last_output = time.monotonic()

        def read() -> None:
            try:
                parser = agent.create_parser()
                results.put(
                    run_tool(tool, parser, max_bytes=_MAX_KEPT_BYTES, on_output=self._note_output, on_event=report)
                )
            except Exception as error:  # noqa: BLE001 - a parser may be a plugin; it costs this vote
                results.put(ToolResult(1, Outcome(Category.TASK, detail=repr(error)), None, ""))

        # A process that it leaves behind may keep its output open: it is read in a thread that can be left behind, too.
        threading.Thread(target=read, daemon=True).start()
        result = self._wait(results, ends_at)
        self._report_spend(before + result.outcome.spend)
        return result

    def _note_output(self, _data: bytes) -> None:
        self._last_output = time.monotonic()

    def _wait(self, results: Queue[ToolResult], ends_at: float) -> ToolResult:
        """Wait for the tool's result; a judge that takes too long, or is silent for too long, is ended."""
        while True:
            now = time.monotonic()
            idle_at = self._last_output + self._setup.idle_seconds
            if now >= min(ends_at, idle_at):
                break
            with suppress(Empty):
                return results.get(timeout=min(_MAX_CHECK_SECONDS, ends_at - now, idle_at - now))
        why = (
            f"timed out after {format_duration(round(self._setup.seconds, 1))}"
            if now >= ends_at
            else f"no output for {format_duration(round(self._setup.idle_seconds, 1))}"
        )
        spend = self._end_tool(results)
        return ToolResult(124, Outcome(Category.TIMEOUT, detail=why, spend=spend), None, "")

    def _end_tool(self, results: Queue[ToolResult]) -> Spend:
        """End the judge's tool and return what it reports to have spent, if it still does."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.signal(number)
            with suppress(Empty):
                return results.get(timeout=_TERMINATE_SECONDS).outcome.spend
        return NO_SPEND

    def _report_spend(self, spend: Spend) -> None:
        self._spent = self._spent.at_least(spend)
        self._on_spend(self._spent)
