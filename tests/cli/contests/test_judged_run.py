"""A contest with several judges, from the command line to the pull request's text; real worktrees, a real engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plait.core.ballot import BallotResult
from plait.core.pull_request_text import write_body
from plait.core.reports import AttemptExited
from plait.core.status import Category
from plait.core.views import make_batch_view
from tests.support.contest_project import AMBER, BIRCH, JUDGE, ContestProject
from tests.support.judge_scripts import FOR_FIRST, FOR_SECOND, REJECT_ALL, name_judges, write_judges
from tests.support.waiting import wait_until

JUDGES = ",".join([JUDGE] * 3)


def judge(contest_project: ContestProject, *scripts: str) -> None:
    write_judges(contest_project.scripts, *scripts, first="+birch", second="+amber")
    contest_project.project.commit_all()


def list_worktrees(contest_project: ContestProject) -> list[str]:
    """The folders of judges, as git lists them."""
    lines = contest_project.project.git("worktree", "list", "--porcelain").splitlines()
    return [line for line in lines if line.startswith("worktree ") and "+judge-" in line]


def test_votes_are_shown_by_explain_and_in_the_pull_request(contest_project: ContestProject) -> None:
    hostile = 'verdict "$FIRST, $SECOND" "" "Fixes #1, says @someone: **good** <b>x</b>"'
    edits = "echo mine >a.txt; echo mine >other.txt"
    judge(contest_project, f"{edits}\n{FOR_FIRST}\necho spent 40 7", FOR_SECOND, f"{hostile}\necho spent 2 1")
    answer = contest_project.run("--judge", JUDGES)
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files() == {"a.txt": "birch\nbirch"}
    contest = contest_project.explain("a")["contest"]
    assert contest["result"] == "majority"
    assert contest["summary"] == "3 of 3 judges voted; majority"
    assert [(vote["judge"], vote["ranking"], vote["failure"]) for vote in contest["votes"]] == [
        (name, order, None)
        for name, order in zip(
            name_judges(3),
            (["a@Birch", "a@Amber"], ["a@Amber", "a@Birch"], ["a@Birch", "a@Amber"]),
            strict=True,
        )
    ]
    told = contest_project.project.plait("explain", "a").out
    assert f"{JUDGE} 2  a@Amber > a@Birch (it is simpler)" in told
    task = contest_project.project.batch().find_task("a")
    assert task is not None
    assert (task.spent.microusd, task.spent.tokens) == (42, 8)
    state = contest_project.project.state()
    body = write_body(make_batch_view(state, contest_project.project.batch()))
    assert "### Judged" in body
    assert "- `a`: `a@Birch` won; 3 of 3 judges voted; majority" in body
    assert f"  - `{JUDGE}`: `a@Birch` \\> `a@Amber` (it is complete)" in body
    assert "@someone" not in body
    assert "#1" not in body
    assert "<b>" not in body
    assert not list_worktrees(contest_project)


def test_a_task_whose_candidates_are_all_rejected_fails_until_they_are_written_again(
    contest_project: ContestProject,
) -> None:
    judge(contest_project, REJECT_ALL, REJECT_ALL, FOR_FIRST)
    answer = contest_project.run("--judge", JUDGES)
    assert answer.code == 1, answer
    assert "the judges rejected all candidates" in answer.out
    assert contest_project.project.batch().merges == []
    explained = contest_project.explain("a")
    assert (explained["status"], explained["contest"]["result"]) == ("failed", "all_rejected")
    assert "runs all its entrants again" in explained["way"]
    write_judges(contest_project.scripts, FOR_FIRST, FOR_FIRST, FOR_FIRST, first="+birch", second="+amber")
    assert contest_project.project.plait("retry", contest_project.project.batch().id, "a").code == 0
    contest_project.project.wait_for_exit()
    attempts = [event for event in _list_exits(contest_project) if event.attempt.task == "a@Birch"]
    assert len(attempts) == 2
    assert contest_project.project.statuses()["a"] == "done"


def _list_exits(contest_project: ContestProject) -> list[AttemptExited]:
    events = (record.event for record in contest_project.project.read_records())
    return [event for event in events if isinstance(event, AttemptExited)]


def test_judges_survive_their_engine(contest_project: ContestProject) -> None:
    """It is killed while two have voted and one works: the next engine adopts the referee, and nobody is asked twice."""
    waiting = 'touch "$CONTENDERS/up"; until [ -e "$CONTENDERS/go" ]; do sleep 0.05; done'
    judge(contest_project, FOR_FIRST, f"{waiting}\n{FOR_FIRST}\necho spent 5 5", FOR_SECOND)
    front = contest_project.project.start(
        "run", "tasks", "--yes", "--contest", f"{AMBER},{BIRCH}", "--judge", JUDGES, "-p", "3"
    )
    wait_until((contest_project.scripts / "up").exists)
    engine = contest_project.project.state().engine
    assert engine is not None
    for process in contest_project.project.processes():
        if process.pid == engine.pid:
            process.kill()
    (contest_project.scripts / "go").write_text("")
    assert contest_project.project.finish(front).code == 0
    contest_project.project.wait_for_exit()
    task = contest_project.project.batch().find_task("a")
    assert task is not None
    assert task.ballot is not None
    assert (task.ballot.result, [vote.failure for vote in task.ballot.votes]) == (BallotResult.MAJORITY, ["", "", ""])
    assert task.spent.tokens == 5
    turns = [(contest_project.scripts / f"turns-judge-{number}").read_text() for number in (1, 2, 3)]
    assert turns == ["x\n", "x\n", "x\n"]
    assert not list_worktrees(contest_project)


def test_cancelling_ends_all_judges_and_removes_their_worktrees(contest_project: ContestProject) -> None:
    up = contest_project.scripts / "up"
    hanging = f"(setsid sleep 60071 &)\nsleep 60072 &\necho $PWD >>{up}\nwait; sleep 60073"
    judge(contest_project, hanging, hanging, hanging)
    project = contest_project.project
    front = project.start("run", "tasks", "--yes", "--contest", f"{AMBER},{BIRCH}", "--judge", JUDGES, "-p", "3")
    folders = wait_until(lambda: _read_lines(up) if len(_read_lines(up)) == 3 else [])
    assert len(list_worktrees(contest_project)) == 3
    assert project.plait("cancel", project.batch().id).code == 0
    assert project.finish(front).code != 0
    project.wait_for_exit()
    assert not list_worktrees(contest_project)
    assert not [folder for folder in folders if Path(folder).exists()]
    assert [event.outcome.category for event in _list_exits(contest_project)][-1] is not Category.OK


def _read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_judges_work_in_the_sandbox_of_their_contest(contest_project: ContestProject) -> None:
    """Their worktrees are there, git works in them, and what they commit stays inside."""
    commits = 'test "$(git status --porcelain)" = "" && echo mine >b.txt && git add b.txt && git commit -qm "by $NAME"'
    judging = f"{commits} || exit 9\n{FOR_FIRST}"
    scripts = contest_project.scripts
    judge(contest_project, judging, judging, judging)
    env = {"PLAIT_SANDBOX_READABLE": str(scripts), "PLAIT_SANDBOX_WRITABLE": str(scripts)}
    words = ("run", "tasks", "--yes", "--retries", "0", "--contest", f"{AMBER},{BIRCH}", "--judge", JUDGES)
    answer = contest_project.project.plait(*words, "--sandbox", "worktree", env=env)
    assert answer.code == 0, answer
    contest_project.project.wait_for_exit()
    assert [vote["failure"] for vote in contest_project.explain("a")["contest"]["votes"]] == [None, None, None]
    assert contest_project.project.read_merged_files() == {"a.txt": "birch\nbirch"}
    assert "by judge-1" not in contest_project.project.git("log", "--all", "--format=%s")
    assert not list_worktrees(contest_project)
