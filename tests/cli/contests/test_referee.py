"""The referee as a process, and what the engine hears of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plait.agents.drivers.referee import (
    REFEREE_MODULE,
    REFEREE_SPEC_FILE,
    Referee,
    build_referee_spec,
    read_judge_specs,
)
from plait.agents.interface import AgentSpec, Price
from plait.agents.table import load_agent
from plait.core.contest import REFEREE
from plait.core.decisions import Candidate
from plait.core.errors import ConfigError
from plait.core.status import Category
from plait.runtime.contest_referee.candidates import CandidateWorkspace
from plait.runtime.contest_referee.verdict import InvalidVerdictError, build_question, parse_verdict
from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.contest_project import JUDGE
from tests.support.git_repository import write_path
from tests.support.referee_process import RefereeProcess


def test_the_workspace_has_the_winners_change(referee: RefereeProcess) -> None:
    outcome = referee.run(build_referee_spec())
    assert (outcome.category, outcome.winner) == (Category.OK, "a@short")
    assert outcome.detail == "a@short won: its change is the smallest (2 lines)"
    assert (referee.workspace / "a.txt").read_text() == "two\n"
    assert referee.repository.git("rev-parse", "HEAD") == referee.base


def test_leftovers_of_an_earlier_attempt_are_removed_except_ignored_files(referee: RefereeProcess) -> None:
    write_path(referee.workspace / "stray.txt", "stray")
    write_path(referee.workspace / ".git" / "info" / "exclude", "kept/\n")
    write_path(referee.workspace / "kept" / "module.js", "module")
    assert referee.run(build_referee_spec()).winner == "a@short"
    assert not (referee.workspace / "stray.txt").exists()
    assert (referee.workspace / "kept" / "module.js").exists()


def test_a_candidate_with_a_missing_commit_is_left_out(referee: RefereeProcess) -> None:
    gone = Candidate("a@gone", "gone", referee.base, "0" * 40)
    outcome = referee.run(build_referee_spec(), (gone, referee.candidates[0]))
    assert outcome.winner == "a@long"
    assert "its change can't be read" in referee.rows["a@gone"]


def test_without_a_valid_candidate_the_referee_fails_with_a_reason(referee: RefereeProcess) -> None:
    referee.base = referee.commit("a.txt", "something else\n")
    outcome = referee.run(build_referee_spec())
    assert outcome.category is Category.TASK
    assert "a@long: it conflicts with the merged changes in a.txt" in outcome.detail


def test_without_candidates_the_workspace_is_not_changed(referee: RefereeProcess) -> None:
    outcome = referee.run(build_referee_spec(), ())
    assert (outcome.category, outcome.winner) == (Category.OK, "")
    assert (referee.workspace / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo nan", "its score is not a number"),
        ("echo 1 apple", "its score is not a number"),
        ("echo 1e999", "its score is not a number"),
        ("exit 7", "its score failed with exit status 7"),
    ],
)
def test_invalid_scores_are_refused(referee: RefereeProcess, command: str, why: str) -> None:
    outcome = referee.run(build_referee_spec(score=command))
    assert outcome.category is Category.TASK
    assert set(referee.rows.values()) == {why}


def test_a_score_command_may_print_any_amount(referee: RefereeProcess) -> None:
    outcome = referee.run(build_referee_spec(score="head -c 5000000 /dev/zero; echo; wc -l <a.txt"))
    assert outcome.winner == "a@long"


def test_a_judge_with_a_refusing_provider_is_retried_later(referee: RefereeProcess, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text("echo 'Error: rate limit exceeded. Retry-After: 30' >&2; exit 1")
    outcome = referee.run(build_referee_spec(judges=[AgentSpec(JUDGE)]), env={SCRIPTS_VARIABLE: str(tmp_path)})
    assert (outcome.category, outcome.retry_after) == (Category.RATE_LIMIT, 30.0)
    assert Referee(build_referee_spec(judges=[AgentSpec(JUDGE)])).provider == JUDGE


def test_a_judge_is_asked_at_most_twice(referee: RefereeProcess, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text('echo x >>"$CONTENDERS/asked"; echo well; echo spent 10 5')
    outcome = referee.run(build_referee_spec(judges=[AgentSpec(JUDGE)]), env={SCRIPTS_VARIABLE: str(tmp_path)})
    assert outcome.winner == "a@short"
    assert (tmp_path / "asked").read_text() == "x\nx\n"
    assert outcome.spend.tokens == 10  # both times


def test_secrets_in_a_judges_answer_are_redacted(referee: RefereeProcess, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text('echo "the key is $SOME_API_KEY"')
    referee.run(
        build_referee_spec(judges=[AgentSpec(JUDGE)]),
        env={SCRIPTS_VARIABLE: str(tmp_path), "SOME_API_KEY": "open-sesame-1234"},
    )
    assert "the key is ***" in referee.printed
    assert "open-sesame" not in referee.printed
    for path in referee.folder.rglob("*"):
        assert path.is_dir() or b"open-sesame" not in path.read_bytes()


def test_an_unreadable_contest_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / REFEREE_SPEC_FILE).write_text("{")
    words = [sys.executable, "-m", REFEREE_MODULE, str(tmp_path / REFEREE_SPEC_FILE)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["category"] == "usage"


def test_the_referee_refuses_ordinary_tasks() -> None:
    assert isinstance(load_agent(AgentSpec(REFEREE)), Referee)
    with pytest.raises(ConfigError, match="the specs of the judges"):
        load_agent(AgentSpec(REFEREE, options=(("judge", "[{}]"),)))
    whole = AgentSpec(
        "command",
        ("tool", "{task_file}"),
        model="large",
        args=("-x",),
        prices=(Price("large*", 1.0, 2.0),),
        options=(("a", "b"),),
    )
    judged = build_referee_spec(judges=[whole, AgentSpec(JUDGE)])
    assert read_judge_specs(judged) == (whole, AgentSpec(JUDGE))


@pytest.mark.parametrize(
    ("answer", "ranking", "rejected"),
    [
        ('Because.\n{"ranking": ["B", "A", "C"], "rejected": [], "reason": "short"}', "BAC", ""),
        ('```json\n{\n  "ranking": ["C"],\n  "rejected": ["A", "B"]\n}\n```\nThat is all.', "C", "AB"),
        ('{"ranking": [], "rejected": ["A", "B", "C"]}', "", "ABC"),
        ('{"ranking": ["A", "B", "C"]}\nNo, wait.\n{"ranking": ["C", "B", "A"]}\n{"done": true}', "CBA", ""),
    ],
)
def test_a_verdict_is_parsed_from_the_judges_answer(answer: str, ranking: str, rejected: str) -> None:
    verdict = parse_verdict(answer, ["A", "B", "C"])
    assert (verdict.ranking, verdict.rejected) == (list(ranking), list(rejected))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no JSON object"),
        ("B A C", "no JSON object"),
        ('["A", "B", "C"]', "no JSON object"),
        ('+{"ranking": ["A", "B", "C"]}', "no JSON object"),  # a line of a change that the tool repeats
        ('{"ranking": ["A", "B", "C"]', "no JSON object"),
        ('{"ranking": ["A", "B"]}', "it leaves out C"),
        ('{"ranking": ["A", "B", "C"], "rejected": ["A"]}', "it names A twice"),
        ('{"ranking": ["A", "B", "D"]}', "it names 'D'"),
        ('{"ranking": ["A", "B", "C"], "score": 3}', "malformed"),
        ('{"ranking": "A, B, C"}', "malformed"),
        ('{"ranking": [1, 2, 3]}', "malformed"),
        ('{"ranking": ["A", "B", "C"], "reason": null}', "malformed"),
        ('{"ranking": ["A", "B", "C"]}\n{"ranking": ["A"]}', "it leaves out B, C"),  # the last one counts
    ],
)
def test_a_malformed_verdict_is_refused(answer: str, why: str) -> None:
    with pytest.raises(InvalidVerdictError, match=why):
        parse_verdict(answer, ["A", "B", "C"])


def test_the_question_contains_no_valid_verdict() -> None:
    asked = build_question("Count.", {"A": "+1", "B": "+2"}, {"A": "/a", "B": "/b"}, "it leaves out B")
    assert "it leaves out B" in asked
    with pytest.raises(InvalidVerdictError):
        parse_verdict(asked, ["A", "B"])


def test_a_long_change_is_truncated_and_names_its_file() -> None:
    asked = build_question("Count.", {"A": "+line\n" * 100_000, "B": "+2"}, {"A": "/a.diff", "B": "/b.diff"})
    assert len(asked) < 250_000
    assert "/a.diff" in asked
    assert "/b.diff" not in asked


def test_no_program_of_gits_settings_is_run_to_show_a_change(referee: RefereeProcess, tmp_path: Path) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$*" >> {ran}\n')
    program.chmod(0o755)
    for name in ("diff.external", "diff.x.command", "diff.x.textconv"):
        referee.repository.git("config", name, str(program))
        (referee.repository.git_dir / "info" / "attributes").write_text("* diff=x\n")
        candidate = CandidateWorkspace(referee.workspace, referee.base)
        assert candidate.apply(referee.candidates[0]).lines == 3
        assert "+two" in candidate.diff(1000)
        referee.repository.git("config", "--unset", name)
    assert not ran.exists(), ran.read_text()
