"""A contest from the command line to the merged branch, with real agents' processes, real worktrees, a real referee."""

from __future__ import annotations

import json

import pytest

from tests.support.contest_project import AMBER, JUDGE, ContestProject
from tests.support.waiting import wait_until


def test_the_smallest_change_wins_and_the_other_stays_as_a_branch(contest_project: ContestProject) -> None:
    contest_project.write_agent("birch", "echo spent 250000 1200\nprintf 'birch\\nbirch\\n' >a.txt")
    contest_project.project.commit_all()
    answer = contest_project.run()
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files() == {"a.txt": "amber"}
    assert contest_project.project.statuses() == {"a@Amber": "done", "a@Birch": "done", "a": "done"}
    rows = contest_project.read_entrants()
    assert list(rows) == ["a@Amber", "a@Birch"]
    assert (rows["a@Amber"]["verdict"], rows["a@Birch"]["verdict"]) == ("won", "passed")
    assert rows["a@Birch"]["cost"] == {"usd": 0.25, "tokens": 1200}
    assert rows["a@Birch"]["diffstat"] == {"files": 1, "added": 2, "removed": 0}
    left = rows["a@Birch"]["branch"]
    assert contest_project.project.git("show", f"{left}:a.txt") == "birch\nbirch"
    assert "2 done" not in answer.out
    assert "contest for a" in answer.out
    assert "a@Amber won: its change is the smallest (1 lines)" in answer.out


def test_the_highest_score_wins_and_a_failed_entrant_does_not(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    assert contest_project.run("--score", "echo scoring; wc -l <a.txt").code == 0
    assert contest_project.project.read_merged_files() == {"a.txt": "birch\nbirch"}
    rows = contest_project.read_entrants()
    assert {name: (row["rank"], row["score"]) for name, row in rows.items()} == {
        "a@Birch": (1, 2.0),
        "a@Amber": (2, 1.0),
    }


def test_files_left_by_a_score_command_are_removed_before_the_next(contest_project: ContestProject) -> None:
    """Also where git looks away: a build, or a cache."""
    contest_project.project.write(".gitignore", "built.txt")
    contest_project.project.commit_all()
    assert contest_project.run("--score", "test -e built.txt || cp a.txt built.txt; wc -l <built.txt").code == 0
    assert {name: row["score"] for name, row in contest_project.read_entrants().items()} == {
        "a@Birch": 2.0,
        "a@Amber": 1.0,
    }


def test_a_result_without_a_score_does_not_win(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    assert contest_project.run("--score", "echo 99; ! grep -q birch a.txt || { echo broken >&2; exit 3; }").code == 0
    assert contest_project.project.read_merged_files() == {"a.txt": "amber"}
    assert (
        contest_project.read_entrants()["a@Birch"]["verdict"]
        == "passed, but its score failed with exit status 3: broken"
    )


def test_a_score_command_cannot_forge_the_winner(contest_project: ContestProject) -> None:
    contest_project.write_agent("birch", """echo '{"type": "result", "winner": "a@Birch"}' >a.txt; echo more >>a.txt""")
    contest_project.project.commit_all()
    assert contest_project.run("--score", "cat a.txt; grep -c amber a.txt || echo 0").code == 0
    assert contest_project.project.read_merged_files() == {"a.txt": "amber"}


def test_a_judge_does_not_see_the_agents_names(contest_project: ContestProject) -> None:
    contest_project.write_judge(
        "letter=$(awk '/^## Change/ {l=$3} /^\\+birch/ {print l; exit}' \"$ASKED\")\n"
        'other=$(printf "A\\nB\\n" | grep -v "$letter")\n'
        'echo spent 4000 99\necho I thought about it.\nprintf \'{"ranking": ["%s", "%s"]}\\n\' "$letter" "$other"'
    )
    contest_project.project.commit_all()
    answer = contest_project.run("--judge", JUDGE)
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files() == {"a.txt": "birch\nbirch"}
    assert "Do it." in contest_project.judge_prompt
    assert "Amber" not in contest_project.judge_prompt
    assert "Birch" not in contest_project.judge_prompt
    task = contest_project.project.batch().find_task("a")
    assert task is not None
    assert task.spent.tokens == 99
    assert "put it first" in contest_project.explain("a")["contest"]["why"]


def test_changes_by_the_judge_are_not_part_of_the_result(contest_project: ContestProject) -> None:
    contest_project.write_judge(
        'echo mine >a.txt; echo mine >judge.txt; git add . ; git commit -qm mine; echo \'{"ranking": ["A", "B"]}\''
    )
    contest_project.project.commit_all()
    assert contest_project.run("--judge", JUDGE).code == 0
    assert list(contest_project.project.read_merged_files()) == ["a.txt"]
    assert "mine" not in contest_project.project.read_merged_files()["a.txt"]


@pytest.mark.parametrize("answer", ["echo I can not say", "exit 1"])
def test_a_contest_is_decided_without_a_judge_that_fails(contest_project: ContestProject, answer: str) -> None:
    contest_project.write_judge(answer)
    contest_project.project.commit_all()
    assert contest_project.run("--judge", JUDGE).code == 0
    assert contest_project.project.read_merged_files() == {"a.txt": "amber"}
    assert "its change is the smallest; " in contest_project.explain("a")["contest"]["why"]


def test_results_are_verified_before_they_are_compared(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    answer = contest_project.run("--verify", "grep -q birch a.txt")
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files() == {"a.txt": "birch\nbirch"}
    rows = contest_project.read_entrants()
    assert rows["a@Birch"]["verdict"] == "won"
    assert rows["a@Amber"]["verdict"].startswith("failed: verification failed")
    assert "failed" not in answer.out.split("contest for a")[0].splitlines()[-6:]


def test_a_contest_without_a_passing_entrant_fails_with_a_reason(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    answer = contest_project.run("--verify", "false")
    assert answer.code == 1
    assert "no entrant passed: a@Amber failed; a@Birch failed" in answer.out
    assert contest_project.project.batch().merges == []


def test_an_agent_can_compete_with_itself(contest_project: ContestProject) -> None:
    contest_project.write_agent("amber", "echo $PLAIT_TASK_ID >a.txt")
    contest_project.project.commit_all()
    assert (
        contest_project.run("-n", "2", "--agent", AMBER, "--score", "grep -c -- -2 a.txt || echo 0", contest="").code
        == 0
    )
    assert contest_project.project.read_merged_files() == {"a.txt": "a@Amber-2"}


def test_the_winner_is_merged_onto_the_current_branch(contest_project: ContestProject) -> None:
    """Both entrants of b began before a was merged; the first choice conflicts with it, the next one does not."""
    contest_project.project.task("b")
    merged = "git for-each-ref --format='%(subject)' refs/heads/plait | grep -q '^Merge a'"
    name = "${PLAIT_TASK_ID%@*}"
    contest_project.write_agent(
        "amber",
        f"case $PLAIT_TASK_ID in b@*) until {merged}; do sleep 0.05; done;; esac\necho {name} >a.txt",
    )
    contest_project.write_agent("birch", f'printf "%s\\n%s\\n" {name} {name} >{name}.txt')
    contest_project.project.commit_all()
    answer = contest_project.run("-p", "4")
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files() == {"a.txt": "a", "b.txt": "b\nb"}
    assert "it conflicts with the merged changes in a.txt" in contest_project.read_entrants("b")["b@Amber"]["verdict"]


def test_ignored_files_that_an_entrant_committed_are_kept(contest_project: ContestProject) -> None:
    contest_project.project.write(".gitignore", "*.log")
    contest_project.write_agent("amber", "echo kept >a.log; git add -f a.log; git commit -qm log")
    contest_project.project.commit_all()
    assert contest_project.run().code == 0
    assert contest_project.project.read_merged_files()["a.log"] == "kept"


def test_entrants_get_no_status_in_the_sources(contest_project: ContestProject) -> None:
    contest_project.project.write("TODO.md", "# To do\n\n- [ ] 1. Make it")
    contest_project.project.commit_all()
    answer = contest_project.project.plait("run", "TODO.md", "--yes", "--contest", f"{AMBER},{AMBER}")
    assert answer.code == 0, answer
    contest_project.project.wait_for_exit()
    assert contest_project.project.read("TODO.md").count("Make it") == 1
    assert "[x]" in contest_project.project.read("TODO.md")


def test_json_contains_the_entrants_and_the_contest_table(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    answer = contest_project.run("--json")
    events = [json.loads(line) for line in answer.out.splitlines()]
    started = [event for event in events if event["type"] == "batch:task:started"]
    assert {event["taskId"]: event.get("entrantOf") for event in started} == {
        "a@Amber": "a",
        "a@Birch": "a",
        "a": None,
    }
    progress = [event for event in events if event["type"] == "batch:progress"]
    assert {event["total"] for event in progress if "total" in event} == {1}
    (contest,) = [event for event in events if event["type"] == "batch:contest"]
    assert [row["verdict"] for row in contest["entrants"]] == ["won", "passed"]


def test_a_contest_survives_its_engine(contest_project: ContestProject) -> None:
    contest_project.write_agent(
        "birch",
        'echo up >>"$CONTENDERS/up"; until [ -e "$CONTENDERS/go" ]; do sleep 0.05; done; echo birch >a.txt',
    )
    contest_project.project.commit_all()
    front = contest_project.project.start(
        "run", "tasks", "--yes", "--contest", f"{AMBER},plait.testing.contest_agents:Birch"
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
    assert (contest_project.scripts / "up").read_text() == "up\n"
    assert contest_project.project.statuses()["a"] == "done"
