"""Errors of worktrees, merges and pushes: they are reported, lose no work, and don't affect other tasks."""

from __future__ import annotations

import os
import signal

import pytest

from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

RUN = ("run", "tasks", "--yes", "--retries", "0")


def test_a_setup_failure_before_the_gate_fails_no_task(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    setup = 'case "$PWD" in */gate) echo no network; exit 3;; esac'
    answer = project.plait(*RUN, "--gate", "true", env={"PLAIT_WORKSPACE_SETUP": setup})
    assert answer.code == 3, answer
    assert "no network" in answer.out + answer.err or "exit status 3" in answer.out + answer.err
    assert project.batch().tasks[0].status is None
    assert project.read_merged_files() == {"a.txt": "a"}


def test_statuses_of_a_source_outside_the_repository_are_not_written_to_the_branch(project: TempProject) -> None:
    project.commit_all()
    todo = project.top.parent / "TODO.md"
    todo.write_text("# TODO\n\n- [ ] First\n")
    answer = project.plait(
        "run",
        str(todo),
        "--yes",
        "--agent-command",
        "touch a.txt",
        env={"PLAIT_SOURCES_WRITE_BACK": "branch"},
    )
    assert answer.code == 0, answer
    assert project.read_merged_files() == {"a.txt": ""}


def test_the_next_engine_finds_the_workspaces_in_any_environment(project: TempProject) -> None:
    """A place that depends on the checkout, or on the home, of who happened to start the engine would lose the work."""
    project.write("plait.toml", '[workspace]\nlocation = "../wt"\n')
    project.task("01-a", "touch ../../../begun; until [ -e ../../../go ]; do sleep 0.02; done; echo a > a.txt")
    project.commit_all()
    assert project.plait("trust", "--yes").code == 0
    front = project.start(*RUN)
    wait_until((project.top.parent / "wt" / "begun").exists)
    project.git("worktree", "add", "--quiet", "../deep/er/linked", "HEAD")
    engine = find_engine(find_repo(project.top))
    assert engine is not None
    front.kill()
    os.kill(engine.pid, signal.SIGKILL)
    linked = project.top.parent / "deep" / "er" / "linked"
    assert project.plait("-C", str(linked), "unpause").code in {0, 1}
    assert project.plait("-C", str(linked), "resume").code in {0, 1}
    (project.top.parent / "wt" / "go").touch()
    wait_until(lambda: project.batch().ended)
    assert project.statuses() == {"01-a": "done"}


def test_a_forgotten_batch_cannot_be_retried(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    assert project.plait(*RUN).code == 0
    project.wait_for_exit()
    batch = project.batch().id
    assert project.plait("gc", "--forget", batch, "--yes").code == 0
    answer = project.plait("retry", batch, "01-a")
    assert answer.code == 2, answer
    assert "removed by plait gc" in answer.err


@pytest.mark.parametrize("words", [("--push",), ("--pr",)])
def test_an_impossible_publication_is_reported_before_the_start(project: TempProject, words: tuple[str, ...]) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    project.git("remote", "remove", "origin")
    answer = project.plait(*RUN, *words)
    assert answer.code == 2, answer
    assert "remote" in answer.err
    assert not project.state().batches


def test_a_result_that_could_not_be_signed_is_committed_by_a_retry(project: TempProject) -> None:
    project.task("01-a", "echo x >> $TOLD; echo a > a.txt")
    project.commit_all()
    project.git("config", "commit.gpgsign", "true")
    project.git("config", "gpg.program", "false")
    log_file = project.top.parent / "log"
    front = project.start("run", "tasks", "--yes", env={"TOLD": str(log_file)})
    wait_until(lambda: project.state().batches and project.batch().tasks[0].waits_to_commit)
    assert "can't commit the result: signing failed" in project.plait("status", project.batch().id).out
    project.git("config", "commit.gpgsign", "false")
    assert project.plait("retry", project.batch().id).code == 0
    assert project.finish(front).code == 0
    assert project.read_merged_files()["a.txt"] == "a"
    assert log_file.read_text() == "x\n"


def test_hooks_of_the_repository_run_only_if_enabled(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    hook = project.top / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not like this >&2\nexit 1\n")
    hook.chmod(0o755)
    assert project.plait(*RUN).code == 0
    (project.top / "tasks" / "01-a.md").write_text("---\nrun: echo b > b.txt\n---\n# Again\n")
    answer = project.plait(*RUN, env={"PLAIT_WORKSPACE_HOOKS": "true"})
    assert answer.code == 1
    assert "not like this" in answer.out


def test_a_workspace_removed_before_verification_is_recreated(project: TempProject) -> None:
    project.task("01-a", "echo again >> a.txt")
    project.commit_all()
    check = 'mkdir "$MARK" 2>/dev/null && { cd /; rm -rf "$PLAIT_WORKSPACE"; exit 1; }; [ $(wc -l < a.txt) = 2 ]'
    mark = {"MARK": str(project.folder / "mark")}
    answer = project.plait("run", "tasks", "--yes", "--retries", "1", "--verify", check, env=mark)
    assert answer.code == 0, answer
    assert project.read_merged_files()["a.txt"] == "again\nagain"


def test_an_agent_that_leaves_a_too_large_file_is_asked_to_remove_it(project: TempProject) -> None:
    project.task("01-a", 'rm -f big; [ -e "$PLAIT_FEEDBACK_FILE" ] || head -c 70000 /dev/zero > big; echo a > a.txt')
    project.commit_all()
    limit = {"PLAIT_WORKSPACE_LARGEST_FILE": "65536"}
    answer = project.plait("run", "tasks", "--yes", "--retries", "1", env=limit)
    assert answer.code == 0, answer
    assert "the result contains big (70000 bytes): larger than workspace.largest_file" in answer.out
    assert project.read_merged_files() == {"a.txt": "a"}


def test_an_attempt_whose_worktree_is_deleted_while_it_runs_runs_again(project: TempProject) -> None:
    """No retry is used up, and nothing that needs the task is blocked."""
    once = 'if mkdir "$MARKS/$PLAIT_TASK_ID" 2>/dev/null; then rm -rf "$PWD"; {}; fi'
    project.task("fails", f"{once.format('exit 1')}\necho 1 > fails.txt")
    project.task("succeeds", f"{once.format('exit 0')}\necho 2 > succeeds.txt")
    remade = 'mkdir -p "$PWD"; echo x > "$PWD/stray.txt"; exit 0'
    project.task("remade", f"{once.format(remade)}\necho 3 > remade.txt")
    project.task("needs", "cat fails.txt succeeds.txt remade.txt > all.txt", needs="[fails, succeeds, remade]")
    project.commit_all()
    marks = project.folder / "marks"
    marks.mkdir()
    verify = 'if [ "$PLAIT_TASK_ID" = needs ] && mkdir "$MARKS/check" 2>/dev/null; then rm -rf "$PWD"; exit 1; fi'
    answer = project.plait(*RUN, "--verify", verify, env={"MARKS": str(marks)})
    assert answer.code == 0, answer
    assert {path.name for path in marks.iterdir()} == {"fails", "succeeds", "remade", "check"}
    files = project.read_merged_files()
    assert files == {"fails.txt": "1", "succeeds.txt": "2", "remade.txt": "3", "all.txt": "1\n2\n3"}
    assert all(not task.counted_retries for task in project.batch().tasks)


def test_a_worktree_folder_that_others_could_replace_is_refused_before_anything_starts(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.commit_all()
    folder = project.top.parent / "open"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "worktrees").mkdir()
    env = {"PLAIT_WORKSPACE_LOCATION": str(folder / "worktrees")}
    answer = project.plait(*RUN, env=env)
    assert answer.code == 2, answer
    assert "every user can replace what is in" in answer.err
    assert "Set [workspace] location to a folder of your own." in answer.err
    assert not (project.place.state / "journal.db").exists()
    assert "every user can replace what is in" in project.plait("doctor", env=env).out
