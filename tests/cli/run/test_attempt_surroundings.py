"""What an attempt finds around it, and what its source finds afterwards."""

from __future__ import annotations

import re

from tests.support.temp_project import TempProject


def variables(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_an_attempt_gets_its_ids_and_paths_as_variables(project: TempProject) -> None:
    project.task("01-walls", "env > env.txt", env="{COLOUR: red}")
    token = project.plait("token").out.strip()
    assert project.plait("run", env={"SECRET": "hush", "SERVER": token}).code == 0
    found = variables(project.read("env.txt"))
    assert token
    assert "SERVER" not in found
    batch = project.batch().id
    assert (found["PLAIT_TASK_ID"], found["PLAIT_BATCH"], found["PLAIT_ATTEMPT"]) == ("01-walls", batch, "1")
    assert found["PLAIT_STEP"] == "write"
    assert found["PLAIT_WORKSPACE"] == found["PWD"] == str(project.top)
    assert (found["SECRET"], found["COLOUR"]) == ("hush", "red")
    first, last = map(int, found["PLAIT_PORTS"].split("-"))
    assert int(found["PLAIT_PORT"]) == first < last
    assert re.fullmatch(r"[a-z0-9_]{1,48}", found["PLAIT_NAME"])
    assert found["COMPOSE_PROJECT_NAME"] == found["PLAIT_NAME"]


def test_parallel_tasks_have_different_ports_and_names(project: TempProject) -> None:
    meet = "until [ -e ../a.env ] && [ -e ../b.env ]; do sleep 0.02; done"
    for name in "ab":
        project.task(name, f"env > ../{name}.env\n{meet}")
    assert project.plait("run").code == 0
    one, other = (variables((project.top.parent / f"{name}.env").read_text()) for name in "ab")
    assert one["PLAIT_PORT"] != other["PLAIT_PORT"]
    assert one["PLAIT_NAME"] != other["PLAIT_NAME"]


def test_each_batch_has_the_environment_it_was_submitted_with(project: TempProject) -> None:
    wait = "echo $WHO > ../$PLAIT_TASK_ID; until [ -e ../01-mine ] && [ -e ../02-theirs ]; do sleep 0.02; done"
    project.task("01-mine", wait, folder="mine")
    project.task("02-theirs", wait, folder="theirs")
    fronts = [project.start("run", who, env={"WHO": who}) for who in ("mine", "theirs")]
    assert [project.finish(front).code for front in fronts] == [0, 0]
    assert (project.top.parent / "01-mine").read_text() == "mine\n"
    assert (project.top.parent / "02-theirs").read_text() == "theirs\n"


def test_secrets_are_deleted_when_the_batch_ends(project: TempProject) -> None:
    project.task("01-walls", "true")
    assert project.plait("run", env={"SECRET": "hush-hush"}).code == 0
    project.wait_for_exit()
    kept = [path for path in (project.top / ".git" / "plait").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"hush-hush" in path.read_bytes()]


def test_any_command_can_be_an_agent(project: TempProject) -> None:
    project.task("01-walls")
    project.task("02-roof", "touch roof")
    script = project.write("agent.sh", 'echo "$@" > words.txt; cp "$1" snapshot.txt')
    words = f"sh {script} {{task_file}} {{task_id}} {{title}} {{workspace}} {{batch}}"
    answer = project.plait("run", "tasks", "--agent-command", words)
    assert answer.code == 0, answer
    assert project.read("words.txt").split()[1:] == ["01-walls", "01-walls", str(project.top), project.batch().id]
    assert "Do it." in project.read("snapshot.txt")
    assert (project.top / "roof").exists()


def test_a_command_without_a_file_placeholder_gets_its_prompt_on_standard_input(project: TempProject) -> None:
    project.task("01-walls")
    assert project.plait("run", "tasks", "--agent-command", "tee prompt.txt").code == 0
    assert "Do it." in project.read("prompt.txt")


def test_a_shell_runs_the_command_only_if_asked_to(project: TempProject) -> None:
    project.task("01-walls")
    pipe = "cat | tr a-z A-Z > shouted.txt"
    assert project.plait("run", "tasks", "--agent-command", pipe).code == 2
    assert project.plait("run", "tasks", "--agent-shell", "--agent-command", pipe).code == 0
    assert "DO IT." in project.read("shouted.txt")


def test_statuses_are_written_back_to_the_source(project: TempProject) -> None:
    plan = "# Plan\n\n## Phase 1: House\n\n- [ ] 1.1 Put up the walls\n- [ ] 1.2 Paint them (depends: 1.1)\n- [ ] 1.3 Open the door"
    project.write("plan.md", plan)
    bad = "sh -c '[ $PLAIT_TASK_ID != 1.3 ]'"
    assert project.plait("run", "plan.md", "--agent-command", bad, "--retries", "0").code == 1
    project.wait_for_exit()
    written = project.read("plan.md")
    assert "- [x] 1.1" in written
    assert "- [x] 1.2" in written
    assert "- [x] 1.3" not in written
    again = project.plait("run", "plan.md", "--agent-command", "true")
    assert again.code == 0
    ids = [task.task.id for task in list(project.state().batches.values())[-1].tasks]
    assert ids == ["1.3"]


def test_tasks_run_in_a_folder_that_is_not_a_repository(project: TempProject) -> None:
    (project.top / ".git").rename(project.top.parent / "put-away")
    project.task("01-walls", "touch walls")
    assert project.plait("run", "tasks").code == 0
    assert (project.top / "walls").exists()


def test_a_folder_that_is_not_a_repository_has_to_be_chosen(project: TempProject) -> None:
    (project.top / ".git").rename(project.top.parent / "put-away")
    project.env["PLAIT_ISOLATION"] = ""
    project.task("01-walls", "touch walls")
    for words in (("--yes",), ("--json",), ("--yes", "--detach"), ()):
        answer = project.plait("run", "tasks", *words)
        assert answer.code == 2, answer
        assert f"{project.top} isn't a git repository: agents would change its files directly" in answer.output
        assert "--isolation in-place" in answer.output
    assert "in place: " in project.plait("run", "tasks", "--dry-run", "--yes").out
    terminal = project.terminal("run", "tasks")
    terminal.wait_for("Run this task? [Y/n]")
    assert "in place: " in terminal.text
    terminal.type("n\n")
    assert terminal.wait() == 130
    assert not (project.top / "walls").exists()
    assert project.plait("run", "tasks", "--yes", "--isolation", "in-place").code == 0
    assert (project.top / "walls").exists()


def test_modules_of_the_repository_do_not_shadow_plaits(project: TempProject) -> None:
    for name in ("signal", "uuid", "msgspec", "plait"):
        project.write(f"{name}.py", "raise SystemExit('taken in')")
    project.task("01-walls", "touch walls")
    assert project.plait("run").code == 0
