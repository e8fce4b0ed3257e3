"""The referee as a process, and what the engine hears of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from plait.agents.drivers.referee import (
    REFEREE_MODULE,
    REFEREE_RESULT_FILE,
    REFEREE_SPEC_FILE,
    Referee,
    build_referee_spec,
    read_judge_spec,
)
from plait.agents.interface import AgentSpec, AttemptContext, Price
from plait.agents.table import load_agent
from plait.core.contest import REFEREE
from plait.core.decisions import Candidate
from plait.core.errors import ConfigError
from plait.core.reports import Outcome
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.runtime.contest_referee.judge import build_question, parse_order
from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.contest_project import JUDGE
from tests.support.git_repository import GitRepository, write_path


class Pit:
    """A workspace, two changes of one file, and a referee."""

    def __init__(self, folder: Path) -> None:
        self.printed = ""
        self.folder = folder / "attempt"
        self.folder.mkdir()
        self.repository = GitRepository(folder / "workspace")
        self.base = self.commit("a.txt", "one\n")
        self.candidates = tuple(
            Candidate(f"a@{name}", name, self.base, self.commit("a.txt", text), seconds=seconds)
            for name, text, seconds in (("long", "one\ntwo\nthree\nfour\n", 1.0), ("short", "two\n", 9.0))
        )
        self.repository.git("reset", "--hard", "--quiet", self.base)

    @property
    def workspace(self) -> Path:
        return self.repository.top

    def commit(self, name: str, text: str) -> str:
        """On the base, if there is one."""
        if hasattr(self, "base"):
            self.repository.git("reset", "--hard", "--quiet", self.base)
        write_path(self.workspace / name, text)
        self.repository.git("add", "--all")
        self.repository.git("commit", "--quiet", "--message", "more")
        return self.repository.git("rev-parse", "HEAD")

    def run(
        self,
        spec: AgentSpec,
        candidates: tuple[Candidate, ...] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        agent = Referee(spec)
        context = AttemptContext(
            Attempt("b1", "a", Step.WRITE, 1),
            Task("a", "Count", "Count to two."),
            str(self.workspace),
            "",
            "",
            folder=str(self.folder),
            base=self.base,
            candidates=self.candidates if candidates is None else candidates,
        )
        command = agent.build_command(context)
        assert command.argv[3:] == ("-m", REFEREE_MODULE, str(self.folder / REFEREE_SPEC_FILE))
        for name, text in command.files:
            (self.folder / name).write_text(text)
        done = subprocess.run(
            command.argv,
            cwd=self.workspace,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed = done.stdout + done.stderr
        listener = agent.create_parser()
        for line in done.stdout.splitlines():
            listener.feed(line)
        return listener.finish(done.returncode, done.stdout[-8000:], 1000.0)

    @property
    def rows(self) -> dict[str, str]:
        data = json.loads((self.folder / REFEREE_RESULT_FILE).read_text())
        return {row["entrant"]: row["why"] for row in data["rows"]}


@pytest.fixture
def pit(tmp_path: Path) -> Pit:
    return Pit(tmp_path)


def test_the_workspace_has_the_winners_change(pit: Pit) -> None:
    outcome = pit.run(build_referee_spec())
    assert (outcome.category, outcome.winner) == (Category.OK, "a@short")
    assert outcome.detail == "a@short won: its change is the smallest (2 lines)"
    assert (pit.workspace / "a.txt").read_text() == "two\n"
    assert pit.repository.git("rev-parse", "HEAD") == pit.base


def test_leftovers_of_an_earlier_attempt_are_removed_except_ignored_files(pit: Pit) -> None:
    write_path(pit.workspace / "stray.txt", "stray")
    write_path(pit.workspace / ".git" / "info" / "exclude", "kept/\n")
    write_path(pit.workspace / "kept" / "module.js", "module")
    assert pit.run(build_referee_spec()).winner == "a@short"
    assert not (pit.workspace / "stray.txt").exists()
    assert (pit.workspace / "kept" / "module.js").exists()


def test_a_candidate_with_a_missing_commit_is_left_out(pit: Pit) -> None:
    gone = Candidate("a@gone", "gone", pit.base, "0" * 40)
    outcome = pit.run(build_referee_spec(), (gone, pit.candidates[0]))
    assert outcome.winner == "a@long"
    assert "its change can't be read" in pit.rows["a@gone"]


def test_without_a_valid_candidate_the_referee_fails_with_a_reason(pit: Pit) -> None:
    pit.base = pit.commit("a.txt", "something else\n")
    outcome = pit.run(build_referee_spec())
    assert outcome.category is Category.TASK
    assert "a@long: it conflicts with the merged changes in a.txt" in outcome.detail


def test_without_candidates_the_workspace_is_not_changed(pit: Pit) -> None:
    outcome = pit.run(build_referee_spec(), ())
    assert (outcome.category, outcome.winner) == (Category.OK, "")
    assert (pit.workspace / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo nan", "its score is not a number"),
        ("echo 1 apple", "its score is not a number"),
        ("echo 1e999", "its score is not a number"),
        ("exit 7", "its score failed with exit status 7"),
    ],
)
def test_invalid_scores_are_refused(pit: Pit, command: str, why: str) -> None:
    outcome = pit.run(build_referee_spec(score=command))
    assert outcome.category is Category.TASK
    assert set(pit.rows.values()) == {why}


def test_a_score_command_may_print_any_amount(pit: Pit) -> None:
    outcome = pit.run(build_referee_spec(score="head -c 5000000 /dev/zero; echo; wc -l <a.txt"))
    assert outcome.winner == "a@long"


def test_a_judge_with_a_refusing_provider_is_retried_later(pit: Pit, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text("echo 'Error: rate limit exceeded. Retry-After: 30' >&2; exit 1")
    outcome = pit.run(build_referee_spec(judge=AgentSpec(JUDGE)), env={SCRIPTS_VARIABLE: str(tmp_path)})
    assert (outcome.category, outcome.retry_after) == (Category.RATE_LIMIT, 30.0)
    assert Referee(build_referee_spec(judge=AgentSpec(JUDGE))).provider == JUDGE


def test_a_judge_is_asked_at_most_twice(pit: Pit, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text('echo x >>"$CONTENDERS/asked"; echo well; echo spent 10 5')
    outcome = pit.run(build_referee_spec(judge=AgentSpec(JUDGE)), env={SCRIPTS_VARIABLE: str(tmp_path)})
    assert outcome.winner == "a@short"
    assert (tmp_path / "asked").read_text() == "x\nx\n"
    assert outcome.spend.tokens == 10  # both times


def test_secrets_in_a_judges_answer_are_redacted(pit: Pit, tmp_path: Path) -> None:
    (tmp_path / "judge.sh").write_text('echo "the key is $SOME_API_KEY"')
    pit.run(
        build_referee_spec(judge=AgentSpec(JUDGE)),
        env={SCRIPTS_VARIABLE: str(tmp_path), "SOME_API_KEY": "open-sesame-1234"},
    )
    assert "the key is ***" in pit.printed
    assert "open-sesame" not in pit.printed
    for path in pit.folder.rglob("*"):
        assert path.is_dir() or b"open-sesame" not in path.read_bytes()


def test_an_unreadable_contest_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / REFEREE_SPEC_FILE).write_text("{")
    words = [sys.executable, "-m", REFEREE_MODULE, str(tmp_path / REFEREE_SPEC_FILE)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["category"] == "usage"


def test_the_referee_refuses_ordinary_tasks() -> None:
    assert isinstance(load_agent(AgentSpec(REFEREE)), Referee)
    with pytest.raises(ConfigError, match="the judge's spec"):
        load_agent(AgentSpec(REFEREE, options=(("judge", "{}"),)))
    whole = AgentSpec(
        "command",
        ("tool", "{task_file}"),
        model="large",
        args=("-x",),
        prices=(Price("large*", 1.0, 2.0),),
        options=(("a", "b"),),
    )
    judged = build_referee_spec(judge=whole)
    assert read_judge_spec(judged) == whole


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Because.\nORDER: B A C", ["B", "A", "C"]),
        ("**ORDER: B > A > C**", ["B", "A", "C"]),
        ("ORDER: A, B, C.", ["A", "B", "C"]),
        ("ORDER: A B C\nNo, wait.\nORDER: C B A", ["C", "B", "A"]),
        ("ORDER: A B", None),
        ("ORDER: A A B C", None),
        ("ORDER: the letters", None),
        ("B A C", None),
        ("", None),
    ],
)
def test_an_order_is_parsed_from_the_judges_answer(answer: str, found: list[str] | None) -> None:
    assert parse_order(answer, ["A", "B", "C"]) == found


def test_the_question_contains_no_parsable_order() -> None:
    asked = build_question("Count.", {"A": "+1", "B": "+2"}, {"A": "/a", "B": "/b"}, again=True)
    assert parse_order(asked, ["A", "B"]) is None


def test_a_long_change_is_truncated_and_names_its_file() -> None:
    asked = build_question(
        "Count.", {"A": "+line\n" * 100_000, "B": "+2"}, {"A": "/a.diff", "B": "/b.diff"}, again=False
    )
    assert len(asked) < 250_000
    assert "/a.diff" in asked
    assert "/b.diff" not in asked
