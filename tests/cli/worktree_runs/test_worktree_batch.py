"""A batch in worktrees, from start to branch: what is good is merged, and nothing of the person's is touched."""

from __future__ import annotations

import json

import pytest

from tests.support.temp_project import WorktreeProject

RUN = ("run", "tasks", "--yes", "--retries", "0")


def test_what_the_tasks_made_is_on_one_branch_and_the_checkout_is_as_it_was(estate: WorktreeProject) -> None:
    estate.write("shared.txt", "one")
    estate.task("01-a", "echo a > a.txt")
    estate.task("02-b", "mkdir -p deep && echo b > deep/b.txt && git add deep && git commit -qm 'by the agent'")
    estate.task("03-c", "rm shared.txt")
    base = estate.commit_all()
    estate.write("untracked.txt", "mine")
    estate.write("staged.txt", "mine too")
    estate.git("add", "staged.txt")
    estate.write("stashed.txt", "later")
    estate.git("add", "stashed.txt")
    estate.git("stash", "push", "--quiet", "stashed.txt")
    before = estate.snapshot_user_files()
    answer = estate.plait(*RUN)
    assert answer.code == 0, answer
    assert estate.read_merged_files() == {"a.txt": "a", "deep/b.txt": "b"}
    assert estate.snapshot_user_files() == before
    assert estate.git("merge-base", base, estate.branch) == base
    estate.wait_for_exit()
    assert estate.find_leftovers() == []


def test_who_depends_on_a_task_finds_its_code(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo a > a.txt")
    estate.task("02-b", "cat a.txt > b.txt", needs="[01-a]")
    estate.commit_all()
    assert estate.plait(*RUN).code == 0
    assert estate.read_merged_files() == {"a.txt": "a", "b.txt": "a"}


def test_a_conflict_leaves_the_task_out_and_keeps_its_branch(estate: WorktreeProject) -> None:
    estate.write("one.txt", "base")
    # Neither says what it touches; each waits for the other to have begun, so that both have the same base.
    meet = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-a ] && [ -e ../../02-b ]; do sleep 0.02; done"
    estate.task("01-a", f"{meet}; echo a > one.txt")
    estate.task("02-b", f"{meet}; echo b > one.txt")
    estate.task("03-c", "echo c > c.txt")
    estate.commit_all()
    answer = estate.plait(*RUN)
    assert answer.code == 1
    statuses = estate.statuses()
    assert sorted(statuses.values()) == ["conflicted", "done", "done"]
    (lost,) = (name for name, status in statuses.items() if status == "conflicted")
    won = {"01-a": "b", "02-b": "a"}[lost]
    assert estate.read_merged_files() == {"one.txt": won, "c.txt": "c"}
    assert "one.txt" in answer.out
    kept = next(line for line in estate.git("branch", "--list", "plait/task-*").split() if lost in line)
    assert estate.git("show", f"{kept}:one.txt") == {"01-a": "a", "02-b": "b"}[lost]


def test_a_conflict_is_repaired_on_the_new_base_by_who_sees_both_sides(estate: WorktreeProject) -> None:
    estate.write("one.txt", "base")
    meet = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-a ] && [ -e ../../02-b ]; do sleep 0.02; done"
    again = 'cat "$1" > "$TOLD-$PLAIT_TASK_ID-$PLAIT_ATTEMPT"'
    script = f"{again}; {meet}; cat one.txt > seen.$PLAIT_TASK_ID; echo $PLAIT_TASK_ID > one.txt"
    estate.write("agent.sh", script)
    for name in ("01-a", "02-b"):
        estate.write(f"tasks/{name}.md", f"# {name}")
    estate.commit_all()
    told = estate.top.parent / "told"
    agent = f"sh {estate.top / 'agent.sh'} {{prompt_file}}"
    answer = estate.plait(*RUN, "--on-conflict", "repair", "--agent-command", agent, env={"TOLD": str(told)})
    assert answer.code == 0, answer
    (second,) = (task for task in estate.batch().tasks if task.repairs)
    first = {"01-a": "02-b", "02-b": "01-a"}[second.task.id]
    merged = estate.read_merged_files()
    assert merged["one.txt"] == second.task.id
    assert merged[f"seen.{second.task.id}"] == first
    prompt = told.with_name(f"told-{second.task.id}-2").read_text()
    assert "The conflict" in prompt
    assert first in prompt
    assert second.task.id in prompt


def test_nothing_changed_is_no_success_unless_the_task_allows_it(estate: WorktreeProject) -> None:
    estate.task("01-idle", "true")
    estate.task("02-free", "true", allow_empty="true")
    estate.commit_all()
    answer = estate.plait(*RUN)
    assert answer.code == 1
    assert estate.statuses() == {"01-idle": "failed", "02-free": "done"}
    assert "nothing was changed" in answer.out


def test_a_check_sees_the_work_and_what_it_leaves_is_not_part_of_it(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo a > a.txt")
    estate.commit_all()
    answer = estate.plait(*RUN, "--verify", "grep -q a a.txt && echo dirt > dirt.txt && echo x >> a.txt")
    assert answer.code == 0, answer
    assert estate.read_merged_files() == {"a.txt": "a"}


def test_a_failed_check_sends_the_task_back_to_its_own_workspace(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo again >> a.txt; cat $PLAIT_FEEDBACK_FILE > told.txt 2>/dev/null || true")
    estate.commit_all()
    answer = estate.plait(
        "run",
        "tasks",
        "--yes",
        "--retries",
        "1",
        "--verify",
        "[ $(wc -l < a.txt) = 2 ] || { echo one line only; exit 1; }",
    )
    assert answer.code == 0, answer
    merged = estate.read_merged_files()
    assert merged["a.txt"] == "again\nagain"
    assert "verification failed" in merged["told.txt"]


def test_the_gate_finds_the_guilty_one_and_the_rest_stays(estate: WorktreeProject) -> None:
    for name in ("01-a", "02-bad", "03-c"):
        estate.task(name, f"echo {name} > {name}.txt")
    estate.task("04-d", "echo d > d.txt", needs="[02-bad]")
    estate.commit_all()
    answer = estate.plait(*RUN, "--gate", "test ! -e 02-bad.txt")
    assert answer.code == 1
    assert estate.statuses() == {"01-a": "done", "02-bad": "failed", "03-c": "done", "04-d": "blocked"}
    assert sorted(estate.read_merged_files()) == ["01-a.txt", "03-c.txt"]
    assert "the gate failed with its change" in answer.out


def test_dropped_code_does_not_come_back_and_a_retry_adds_it(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo a > a.txt", touches="[a.txt]")
    estate.task("02-b", "cat a.txt > b.txt", needs="[01-a]")
    estate.task("03-c", "ls > c.txt", needs="[02-b]")
    # It waits for the file, not for the task: so it has the code of the first in its history, and needs none of it.
    estate.task("04-d", "cat a.txt > d.txt", touches="[a.txt]")
    estate.commit_all()
    assert estate.plait(*RUN, "--order", "fifo").code == 0
    assert estate.read_merged_files()["d.txt"] == "a"
    assert estate.plait("drop", "01-a").code == 0
    estate.wait_until(lambda: estate.batch().ended)
    assert estate.read_merged_files() == {"d.txt": "a"}
    assert estate.statuses() == {"01-a": "skipped", "02-b": "blocked", "03-c": "blocked", "04-d": "done"}
    assert estate.plait("retry", "01-a").code == 0
    estate.wait_until(lambda: estate.batch().ended and len(estate.read_merged_files()) == 4)
    assert {name: estate.read_merged_files()[name] for name in ("a.txt", "b.txt")} == {
        "a.txt": "a",
        "b.txt": "a",
    }


@pytest.mark.parametrize("where", ["branch", "both", "checkout", "off"])
def test_statuses_go_where_they_are_wanted_and_an_agent_s_own_are_taken_out(
    estate: WorktreeProject, where: str
) -> None:
    estate.write("TODO.md", "# TODO\n\n- [ ] First\n- [ ] Second\n")
    estate.commit_all()
    agent = "sed -i.bak 's/\\[ \\]/[x]/' TODO.md; rm TODO.md.bak; echo $PLAIT_TASK_ID > $PLAIT_TASK_ID.txt"
    env = {"PLAIT_SOURCES_WRITE_BACK": where}
    answer = estate.plait("run", "TODO.md", "--yes", "--agent-command", agent, "--agent-shell", env=env)
    assert answer.code == 0, answer
    merged = estate.read_merged_files()
    assert {"first.txt", "second.txt"} <= set(merged)
    assert ("[x]" in merged["TODO.md"]) == (where in {"branch", "both"})
    assert ("[x]" in estate.read("TODO.md")) == (where in {"checkout", "both"})


def test_a_workspace_is_fitted_out_before_the_agent_begins(estate: WorktreeProject) -> None:
    estate.write(".gitignore", ".env\nmade/")
    estate.write(".env", "KEY=1")
    estate.write("plait.toml", '[workspace]\ncopy = [".env"]\n')
    estate.task("01-a", "cat .env made/it > a.txt")
    estate.commit_all()
    env = {
        "PLAIT_WORKSPACE_SETUP": "mkdir made && echo done > made/it",
        "PLAIT_WORKSPACE_SETUP_MAKES": "made",
    }
    answer = estate.plait(*RUN, env=env)
    assert answer.code == 0, answer
    assert estate.read_merged_files()["a.txt"] == "KEY=1\ndone"
    assert "made/it" not in estate.read_merged_files()
    assert "setting up" in estate.plait("logs", "01-a", "--raw").out


def test_a_setup_that_fails_is_told_as_such(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo a > a.txt")
    estate.commit_all()
    answer = estate.plait(*RUN, env={"PLAIT_WORKSPACE_SETUP": "echo no such thing; exit 3"})
    assert answer.code == 1
    assert "setup" in answer.out
    assert "exit status 3" in answer.out


def test_the_journal_tells_where_things_are(estate: WorktreeProject) -> None:
    estate.task("01-a", "echo a > a.txt")
    base = estate.commit_all()
    assert estate.plait(*RUN).code == 0
    told = json.loads(estate.plait("status", "--json").out)["batches"][0]
    (task,) = told["tasks"]
    assert (told["base"], told["branch"]) == (base, estate.branch)
    assert task["branch"].startswith("plait/task-")
    assert task["diffstat"] == {"files": 1, "added": 1, "removed": 0}
    assert task["commit"] == estate.git("rev-parse", estate.branch)


def test_another_base_is_where_the_work_starts(estate: WorktreeProject) -> None:
    estate.write("old.txt", "old")
    estate.task("01-a", "cat old.txt > a.txt")
    first = estate.commit_all()
    estate.write("old.txt", "new")
    estate.git("commit", "--quiet", "--all", "--message", "newer")
    assert estate.plait(*RUN, "--base", first).code == 0
    assert estate.read_merged_files()["a.txt"] == "old"


def test_a_name_that_is_no_text_does_no_harm(estate: WorktreeProject) -> None:
    estate.task("01-odd", 'printf x > "$(printf "bad\\377name")"')
    estate.task("02-plain", "echo b > b.txt")
    estate.commit_all()
    answer = estate.plait(*RUN)
    assert answer.code == 0, answer
    assert estate.statuses() == {"01-odd": "done", "02-plain": "done"}
    assert '"bad\\377name"' in estate.git("ls-tree", "-r", "--name-only", estate.branch)


def test_one_at_a_time_each_sees_the_one_before(estate: WorktreeProject) -> None:
    estate.write("a.txt", "base")
    for number in range(4):
        estate.task(f"0{number}", f"echo {number} >> a.txt")
    estate.commit_all()
    answer = estate.plait(*RUN, "-p", "1")
    assert answer.code == 0, answer
    assert sorted(estate.read_merged_files()["a.txt"].split()) == ["0", "1", "2", "3", "base"]
