"""Several judges as processes of the referee: each in its own checkout, with a typed verdict; what is no verdict is no vote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from plait.agents.drivers.referee import Referee, build_referee_spec
from plait.agents.interface import AgentSpec
from plait.core.ballot import BallotResult, Vote
from plait.core.reports import Outcome
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contest_agents import SCRIPTS_VARIABLE
from tests.support.contest_project import JUDGE
from tests.support.judge_scripts import FOR_FIRST, FOR_SECOND, REJECT_ALL, name_judges, write_judges
from tests.support.referee_process import RefereeProcess
from tests.support.waiting import wait_until

LONG, SHORT = "a@long", "a@short"  # $FIRST and $SECOND


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    return tmp_path


def run_judges(
    referee: RefereeProcess, *judges: str, votes: Sequence[Vote] = (), slots: int = 3, timeout: float = 0.0
) -> Outcome:
    scripts = referee.folder.parent
    write_judges(scripts, *judges, first="+three", second="-one")
    spec = build_referee_spec(judges=[AgentSpec(JUDGE)] * len(judges))
    environment = {SCRIPTS_VARIABLE: str(scripts)}
    return referee.run(spec, env=environment, votes=tuple(votes), slots=slots, timeout=timeout)


def get_votes(outcome: Outcome) -> list[Vote]:
    assert outcome.ballot is not None
    return list(outcome.ballot.votes)


def test_three_judges_agree(referee: RefereeProcess) -> None:
    outcome = run_judges(referee, FOR_FIRST, FOR_FIRST, FOR_FIRST)
    assert (outcome.category, outcome.winner) == (Category.OK, LONG)
    assert outcome.ballot is not None
    assert outcome.ballot.result is BallotResult.MAJORITY
    assert get_votes(outcome) == [Vote(name, (LONG, SHORT), reason="it is complete") for name in name_judges(3)]
    assert outcome.detail == "a@long won: 3 of 3 votes put it first"
    assert (referee.workspace / "a.txt").read_text() == "one\ntwo\nthree\nfour\n"


def test_two_judges_outvote_the_third(referee: RefereeProcess) -> None:
    outcome = run_judges(referee, FOR_FIRST, FOR_SECOND, FOR_FIRST)
    assert outcome.winner == LONG
    assert [vote.ranking[0] for vote in get_votes(outcome)] == [LONG, SHORT, LONG]


def test_a_malformed_verdict_is_no_vote(referee: RefereeProcess, scripts: Path) -> None:
    outcome = run_judges(referee, FOR_FIRST, "echo I like the first one", 'verdict "$FIRST" "" "the other is odd"')
    assert outcome.ballot is not None
    assert outcome.ballot.result is BallotResult.NO_QUORUM
    assert outcome.winner == SHORT  # the smallest change
    assert outcome.detail == "a@short won: its change is the smallest; no quorum: 1 of 3 judges voted"
    first, second, third = get_votes(outcome)
    assert not first.failure
    assert second == Vote(name_judges(3)[1], failure="no valid verdict: it has no JSON object with a ranking")
    assert third.failure.startswith("no valid verdict: it leaves out ")
    turns = [(scripts / f"turns-judge-{number}").read_text() for number in (1, 2, 3)]
    assert turns == ["x\n", "x\nx\n", "x\nx\n"]  # one more chance
    assert "Your last answer had no valid verdict" in (scripts / "asked-judge-3").read_text()


def test_judges_that_disagree_are_a_tie(referee: RefereeProcess) -> None:
    outcome = run_judges(referee, FOR_FIRST, FOR_SECOND)
    assert outcome.ballot is not None
    assert (outcome.ballot.result, outcome.winner) == (BallotResult.TIE, SHORT)
    assert "a tie of a@short, a@long, and its change is the smallest" in outcome.detail


def test_when_all_candidates_are_rejected_nothing_is_taken(referee: RefereeProcess) -> None:
    outcome = run_judges(referee, REJECT_ALL, FOR_FIRST, REJECT_ALL)
    assert (outcome.category, outcome.winner) == (Category.REJECTED, "")
    assert outcome.ballot is not None
    assert outcome.ballot.result is BallotResult.ALL_REJECTED
    assert "both are wrong" in outcome.detail
    assert referee.repository.git("status", "--porcelain") == ""
    assert set(referee.rows.values()) == {"the judges rejected it"}


def test_a_rejected_candidate_does_not_win(referee: RefereeProcess) -> None:
    rejecting = 'verdict "$FIRST" "$SECOND" "the short one is wrong"'
    outcome = run_judges(referee, rejecting, rejecting, FOR_SECOND)
    assert outcome.winner == LONG
    assert referee.rows[SHORT] == "the judges rejected it"


def test_a_judge_that_hangs_is_ended_and_the_others_decide(referee: RefereeProcess) -> None:
    names = name_judges(3)
    cast = [Vote(name, (LONG, SHORT)) for name in names[:2]]
    hanging = "sleep 60061 & sleep 60062"
    outcome = run_judges(referee, "exit 1", "exit 1", hanging, votes=cast, timeout=0.5)
    assert (outcome.winner, get_votes(outcome)[:2]) == (LONG, cast)
    assert get_votes(outcome)[2] == Vote(names[2], failure="timed out after 0.5s")
    wait_until(lambda: not _find_processes("60061") and not _find_processes("60062"))


def _find_processes(word: str) -> list[int]:
    return [each.pid for each in psutil.process_iter(["cmdline"]) if word in (each.info["cmdline"] or ())]


def test_every_judge_has_its_own_checkout(referee: RefereeProcess, scripts: Path) -> None:
    """All at the same time: each waits for the others, and nobody sees what another one writes."""
    together = """
    test "$PLAIT_WORKSPACE" = "$PWD" && test "$(cat a.txt)" = one && test ! -e mine.txt || exit 7
    echo "$NAME" >mine.txt; echo "$NAME" >a.txt; git add --all; git -c user.name=j -c user.email=j commit -qm mine
    touch "$CONTENDERS/here-$NAME"
    for other in 1 2 3; do until [ -e "$CONTENDERS/here-judge-$other" ]; do sleep 0.02; done; done
    test "$(cat a.txt mine.txt | sort -u)" = "$NAME" || exit 8
    """
    outcome = run_judges(referee, *[f"{together}\n{FOR_FIRST}"] * 3)
    assert (outcome.ballot is not None, outcome.winner) == (True, LONG), outcome
    assert not (referee.workspace / "mine.txt").exists()
    prompts = [(scripts / f"asked-judge-{number}").read_text() for number in (1, 2, 3)]
    assert not any("long" in prompt or "short" in prompt for prompt in prompts)


def test_no_more_judges_run_than_there_are_slots(referee: RefereeProcess, scripts: Path) -> None:
    alone = 'mkdir "$CONTENDERS/one" || echo two >>"$CONTENDERS/overlap"; sleep 0.05; rmdir "$CONTENDERS/one"'
    outcome = run_judges(referee, *[f"{alone}\n{FOR_FIRST}"] * 3, slots=1)
    assert [vote.failure for vote in get_votes(outcome)] == ["", "", ""]
    assert not (scripts / "overlap").exists()


def test_letters_differ_from_judge_to_judge(referee: RefereeProcess, scripts: Path) -> None:
    run_judges(referee, *[FOR_FIRST] * 9, slots=3)
    prompts = [(scripts / f"asked-judge-{number}").read_text() for number in range(1, 10)]
    assert len({prompt.index("-one") > prompt.index("+three") for prompt in prompts}) == 2


def test_what_every_judge_spends_is_counted(referee: RefereeProcess) -> None:
    outcome = run_judges(
        referee, f"echo spent 10 5\n{FOR_FIRST}", f"echo spent 200 50\n{FOR_FIRST}", "echo spent 3000 500; exit 1"
    )
    assert outcome.spend == Spend(3210, 555)
    assert outcome.winner == LONG


REFUSED = "echo 'Error: rate limit exceeded. Retry-After: 30' >&2; exit 1"


def test_without_a_quorum_a_refused_judge_is_asked_later_and_the_others_are_not(
    referee: RefereeProcess, scripts: Path
) -> None:
    outcome = run_judges(referee, FOR_FIRST, REFUSED)
    assert (outcome.category, outcome.retry_after) == (Category.RATE_LIMIT, 30.0)
    kept = [vote for vote in get_votes(outcome) if not vote.failure]
    assert [vote.judge for vote in kept] == [JUDGE]
    again = run_judges(referee, "exit 1", FOR_FIRST, votes=kept)
    assert (again.winner, [vote.failure for vote in get_votes(again)]) == (LONG, ["", ""])
    assert (scripts / "turns-judge-1").read_text() == "x\n"


def test_with_a_quorum_a_refused_judge_is_not_waited_for(referee: RefereeProcess) -> None:
    outcome = run_judges(referee, FOR_FIRST, REFUSED, FOR_FIRST)
    assert (outcome.category, outcome.winner) == (Category.OK, LONG)
    assert "rate limit exceeded" in get_votes(outcome)[1].failure


def test_with_one_candidate_left_nobody_is_asked_again(referee: RefereeProcess, scripts: Path) -> None:
    """The first choice failed verification: what the judges said about the other one still holds."""
    left = (referee.candidates[1],)
    cast = tuple(Vote(name, (LONG,), (SHORT,), "the short one is wrong") for name in name_judges(2))
    spec = build_referee_spec(judges=[AgentSpec(JUDGE)] * 2)
    assert referee.run(spec, left, {SCRIPTS_VARIABLE: str(scripts)}, votes=cast).category is Category.REJECTED
    assert referee.run(spec, left, {SCRIPTS_VARIABLE: str(scripts)}).winner == SHORT
    assert not list(scripts.glob("turns-*"))


def test_a_batch_of_an_earlier_plait_has_one_judge() -> None:
    (option,) = build_referee_spec(judges=[AgentSpec(JUDGE)]).options
    earlier = AgentSpec("referee", options=((option[0], option[1].removeprefix("[").removesuffix("]")),))
    assert Referee(earlier).provider == JUDGE
