"""A batch in worktrees, from start to branch: what is good is merged, and nothing of the person's is touched."""

from __future__ import annotations

import json

import pytest

from tests.support.temp_project import TempProject

RUN = ("run", "tasks", "--yes", "--retries", "0")


def test_results_are_on_one_branch_and_the_checkout_is_unchanged(project: TempProject) -> None:
    project.write("shared.txt", "one")
    project.task("01-a", "echo a > a.txt")
    project.task("02-b", "mkdir -p deep && echo b > deep/b.txt && git add deep && git commit -qm 'by the agent'")
    project.task("03-c", "rm shared.txt")
    base = project.commit_all()
    project.write("untracked.txt", "mine")
    project.write("staged.txt", "mine too")
    project.git("add", "staged.txt")
    project.write("stashed.txt", "later")
    project.git("add", "stashed.txt")
    project.git("stash", "push", "--quiet", "stashed.txt")
    before = project.snapshot_user_files()
    answer = project.plait(*RUN)
    assert answer.code == 0, answer
    assert project.read_merged_files() == {"a.txt": "a", "deep/b.txt": "b"}
    assert project.snapshot_user_files() == before
    assert project.git("merge-base", base, project.branch) == base
    project.wait_for_exit()
    assert project.find_leftovers() == []


def test_a_task_finds_the_code_of_its_dependencies(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.task("02-b", "cat a.txt > b.txt", needs="[01-a]")
    project.commit_all()
    assert project.plait(*RUN).code == 0
    assert project.read_merged_files() == {"a.txt": "a", "b.txt": "a"}


def test_a_conflict_leaves_the_task_out_and_keeps_its_branch(project: TempProject) -> None:
    project.write("one.txt", "base")
    # Neither says what it touches; each waits for the other to have begun, so that both have the same base.
    meet = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-a ] && [ -e ../../02-b ]; do sleep 0.02; done"
    project.task("01-a", f"{meet}; echo a > one.txt")
    project.task("02-b", f"{meet}; echo b > one.txt")
    project.task("03-c", "echo c > c.txt")
    project.commit_all()
    answer = project.plait(*RUN)
    assert answer.code == 1
    statuses = project.statuses()
    assert sorted(statuses.values()) == ["conflicted", "done", "done"]
    (lost,) = (name for name, status in statuses.items() if status == "conflicted")
    won = {"01-a": "b", "02-b": "a"}[lost]
    assert project.read_merged_files() == {"one.txt": won, "c.txt": "c"}
    assert "one.txt" in answer.out
    kept = next(line for line in project.git("branch", "--list", "plait/task-*").split() if lost in line)
    assert project.git("show", f"{kept}:one.txt") == {"01-a": "a", "02-b": "b"}[lost]


def test_a_conflict_is_repaired_by_an_agent_that_sees_both_sides(project: TempProject) -> None:
    project.write("one.txt", "base")
    meet = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-a ] && [ -e ../../02-b ]; do sleep 0.02; done"
    again = 'cat "$1" > "$TOLD-$PLAIT_TASK_ID-$PLAIT_ATTEMPT"'
    script = f"{again}; {meet}; cat one.txt > seen.$PLAIT_TASK_ID; echo $PLAIT_TASK_ID > one.txt"
    project.write("agent.sh", script)
    for name in ("01-a", "02-b"):
        project.write(f"tasks/{name}.md", f"# {name}")
    project.commit_all()
    prompt_file = project.top.parent / "prompt"
    agent = f"sh {project.top / 'agent.sh'} {{prompt_file}}"
    answer = project.plait(*RUN, "--on-conflict", "repair", "--agent-command", agent, env={"TOLD": str(prompt_file)})
    assert answer.code == 0, answer
    (second,) = (task for task in project.batch().tasks if task.repairs)
    first = {"01-a": "02-b", "02-b": "01-a"}[second.task.id]
    merged = project.read_merged_files()
    assert merged["one.txt"] == second.task.id
    assert merged[f"seen.{second.task.id}"] == first
    prompt = prompt_file.with_name(f"prompt-{second.task.id}-2").read_text()
    assert "The conflict" in prompt
    assert first in prompt
    assert second.task.id in prompt


def test_an_empty_change_fails_unless_the_task_allows_it(project: TempProject) -> None:
    project.task("01-idle", "true")
    project.task("02-free", "true", allow_empty="true")
    project.commit_all()
    answer = project.plait(*RUN)
    assert answer.code == 1
    assert project.statuses() == {"01-idle": "failed", "02-free": "done"}
    assert "nothing was changed" in answer.out


def test_verification_sees_the_work_and_its_files_are_not_part_of_it(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    answer = project.plait(*RUN, "--verify", "grep -q a a.txt && echo dirt > dirt.txt && echo x >> a.txt")
    assert answer.code == 0, answer
    assert project.read_merged_files() == {"a.txt": "a"}


def test_a_failed_verification_retries_the_task_in_its_workspace(project: TempProject) -> None:
    project.task("01-a", "echo again >> a.txt; cat $PLAIT_FEEDBACK_FILE > told.txt 2>/dev/null || true")
    project.commit_all()
    answer = project.plait(
        "run",
        "tasks",
        "--yes",
        "--retries",
        "1",
        "--verify",
        "[ $(wc -l < a.txt) = 2 ] || { echo one line only; exit 1; }",
    )
    assert answer.code == 0, answer
    merged = project.read_merged_files()
    assert merged["a.txt"] == "again\nagain"
    assert "verification failed" in merged["told.txt"]


def test_the_gate_finds_the_failing_task_and_keeps_the_others(project: TempProject) -> None:
    for name in ("01-a", "02-bad", "03-c"):
        project.task(name, f"echo {name} > {name}.txt")
    project.task("04-d", "echo d > d.txt", needs="[02-bad]")
    project.commit_all()
    answer = project.plait(*RUN, "--gate", "test ! -e 02-bad.txt")
    assert answer.code == 1
    assert project.statuses() == {"01-a": "done", "02-bad": "failed", "03-c": "done", "04-d": "blocked"}
    assert sorted(project.read_merged_files()) == ["01-a.txt", "03-c.txt"]
    assert "the gate failed with its change" in answer.out


def test_dropped_code_stays_out_until_its_task_is_retried(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt", touches="[a.txt]")
    project.task("02-b", "cat a.txt > b.txt", needs="[01-a]")
    project.task("03-c", "ls > c.txt", needs="[02-b]")
    # It waits for the file, not for the task: so it has the code of the first in its history, and needs none of it.
    project.task("04-d", "cat a.txt > d.txt", touches="[a.txt]")
    project.commit_all()
    assert project.plait(*RUN, "--order", "fifo").code == 0
    assert project.read_merged_files()["d.txt"] == "a"
    assert project.plait("drop", "01-a").code == 0
    assert project.read_merged_files() == {"d.txt": "a"}
    assert project.statuses() == {"01-a": "skipped", "02-b": "blocked", "03-c": "blocked", "04-d": "done"}
    assert project.plait("retry", "01-a").code == 0
    assert len(project.read_merged_files()) == 4
    assert {name: project.read_merged_files()[name] for name in ("a.txt", "b.txt")} == {
        "a.txt": "a",
        "b.txt": "a",
    }


@pytest.mark.parametrize("where", ["branch", "both", "checkout", "off"])
def test_statuses_are_written_as_configured_and_those_of_agents_are_reverted(project: TempProject, where: str) -> None:
    project.write("TODO.md", "# TODO\n\n- [ ] First\n- [ ] Second\n")
    project.commit_all()
    agent = "sed -i.bak 's/\\[ \\]/[x]/' TODO.md; rm TODO.md.bak; echo $PLAIT_TASK_ID > $PLAIT_TASK_ID.txt"
    env = {"PLAIT_SOURCES_WRITE_BACK": where}
    answer = project.plait("run", "TODO.md", "--yes", "--agent-command", agent, "--agent-shell", env=env)
    assert answer.code == 0, answer
    merged = project.read_merged_files()
    assert {"first.txt", "second.txt"} <= set(merged)
    assert ("[x]" in merged["TODO.md"]) == (where in {"branch", "both"})
    assert ("[x]" in project.read("TODO.md")) == (where in {"checkout", "both"})


def test_setup_runs_before_the_agent_starts(project: TempProject) -> None:
    project.write(".gitignore", ".env\nmade/")
    project.write(".env", "KEY=1")
    project.write("plait.toml", '[workspace]\ncopy = [".env"]\n')
    project.task("01-a", "cat .env made/it > a.txt")
    project.commit_all()
    env = {
        "PLAIT_WORKSPACE_SETUP": "mkdir made && echo done > made/it",
        "PLAIT_WORKSPACE_SETUP_MAKES": "made",
    }
    answer = project.plait(*RUN, env=env)
    assert answer.code == 0, answer
    assert project.read_merged_files()["a.txt"] == "KEY=1\ndone"
    assert "made/it" not in project.read_merged_files()
    assert "setting up" in project.plait("logs", "01-a", "--raw").out


def test_a_failed_setup_is_reported_as_such(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    answer = project.plait(*RUN, env={"PLAIT_WORKSPACE_SETUP": "echo no such thing; exit 3"})
    assert answer.code == 1
    assert "setup" in answer.out
    assert "exit status 3" in answer.out


def test_status_json_contains_base_branch_and_commit(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    base = project.commit_all()
    assert project.plait(*RUN).code == 0
    data = json.loads(project.plait("status", "--json").out)["batches"][0]
    (task,) = data["tasks"]
    assert (data["base"], data["branch"]) == (base, project.branch)
    assert task["branch"].startswith("plait/task-")
    assert task["diffstat"] == {"files": 1, "added": 1, "removed": 0}
    assert task["commit"] == project.git("rev-parse", project.branch)


def test_work_starts_from_the_given_base(project: TempProject) -> None:
    project.write("old.txt", "old")
    project.task("01-a", "cat old.txt > a.txt")
    first = project.commit_all()
    project.write("old.txt", "new")
    project.git("commit", "--quiet", "--all", "--message", "newer")
    assert project.plait(*RUN, "--base", first).code == 0
    assert project.read_merged_files()["a.txt"] == "old"


def test_file_names_that_are_not_utf_8_are_accepted(project: TempProject) -> None:
    project.task("01-odd", 'printf x > "$(printf "bad\\377name")"')
    project.task("02-plain", "echo b > b.txt")
    project.commit_all()
    answer = project.plait(*RUN)
    assert answer.code == 0, answer
    assert project.statuses() == {"01-odd": "done", "02-plain": "done"}
    assert '"bad\\377name"' in project.git("ls-tree", "-r", "--name-only", project.branch)


def test_in_a_queue_each_task_sees_the_previous_one(project: TempProject) -> None:
    project.write("a.txt", "base")
    for number in range(4):
        project.task(f"0{number}", f"echo {number} >> a.txt")
    project.commit_all()
    answer = project.plait(*RUN, "-p", "1")
    assert answer.code == 0, answer
    assert sorted(project.read_merged_files()["a.txt"].split()) == ["0", "1", "2", "3", "base"]
