"""The table of a contest: in a wide terminal a row for each entrant, in a narrow one nothing is torn apart."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from plait.cli import format as fmt
from plait.cli.contest_table import add_contest_table
from plait.cli.output import Page
from plait.client.api_models import Cost, Diffstat
from plait.client.result_files import ContestResult, Entrant, JudgeVote
from plait.core.ballot import BallotResult
from plait.core.status import TaskStatus

WON = Entrant(
    entrant="login@codex",
    agent="codex",
    status=TaskStatus.DONE,
    verdict="won",
    seconds=372.0,
    cost=Cost(0.0, 40_800),
    diffstat=Diffstat(2, 48, 3),
    rank=None,
    score=None,
    branch=None,
)
LOST = Entrant(
    entrant="login@claude",
    agent="claude",
    status=TaskStatus.FAILED,
    verdict="failed: verification failed: exit status 1",
    seconds=242.0,
    cost=Cost(0.63, 40_800),
    diffstat=Diffstat(5, 112, 9),
    rank=None,
    score=None,
    branch="plait/task-login-claude",
)


def shown(monkeypatch: pytest.MonkeyPatch, contest: ContestResult, width: int | None) -> list[str]:
    monkeypatch.setattr(fmt, "get_line_width", lambda: width)
    page, out = Page(), Console(file=io.StringIO())
    add_contest_table(page, contest)
    page.show(out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().replace("\u2212", "-").splitlines()


def test_a_row_shows_the_cost_or_the_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, ContestResult("login@codex won", [WON, LOST], None, None, []), None) == [
        "    entrant       agent   time    cost        change              verdict",
        "    login@codex   codex   6m 12s  41k tokens  +48 -3 in 2 files   won",
        "    login@claude  claude  4m 02s  $0.63       +112 -9 in 5 files  failed: verification failed: exit status 1",
        "    login@codex won",
        "    branches of the others:",
        "      plait/task-login-claude",
    ]


def test_on_a_narrow_terminal_the_verdict_has_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, ContestResult(None, [WON, LOST], None, None, []), 80)
    assert max(map(len, lines)) <= 80
    assert lines[1:5] == [
        "    login@codex   codex   6m 12s  41k tokens  +48 -3 in 2 files",
        "      won",
        "    login@claude  claude  4m 02s  $0.63       +112 -9 in 5 files",
        "      failed: verification failed: exit status 1",
    ]


def test_without_a_winner_the_reason_is_short_and_all_branches_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why = "no candidate can be taken: " + "login@claude: exit status 2; " * 9
    lines = shown(monkeypatch, ContestResult(why, [LOST], None, None, []), None)
    assert [line.strip() for line in lines[2:]] == [
        f"{why[:99]}…",
        "their branches:",
        "plait/task-login-claude",
    ]


def test_votes_of_judges_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = [
        JudgeVote("claude", ["login@codex", "login@claude"], [], "it is complete", None),
        JudgeVote("codex", ["login@codex"], ["login@claude"], "", None),
        JudgeVote("pi", [], [], "", "timed out after 54m"),
    ]
    summary = "2 of 3 judges voted; majority"
    contest = ContestResult("login@codex won", [WON], BallotResult.MAJORITY, summary, votes)
    assert shown(monkeypatch, contest, None)[2:] == [
        "    login@codex won",
        "    2 of 3 judges voted; majority",
        "      claude  login@codex > login@claude (it is complete)",
        "      codex   login@codex; rejects login@claude",
        "      pi      no vote: timed out after 54m",
    ]
