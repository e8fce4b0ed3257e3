"""Before the first agent starts, setup, verify and gate must pass on the unmodified base."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plait.client import preflight_run
from plait.client.preflight import Preflight
from plait.client.preflight_run import PASSED_FILE, _OutputReader, run_preflight
from plait.config.loading import load_config
from plait.core.settings import ExecutorKind, Settings
from plait.engine.app import open_executor
from plait.git.interfaces import WorkspaceSetup
from plait.runtime.executor import AttemptSpec, Executor, TranscriptChunk
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    """Its task writes a file that no check needs; `log` is outside of the repository."""
    with temp_project(tmp_path, worktrees=True) as made:
        made.env |= {"PLAIT_PREFLIGHT": "true", "LOG": str(tmp_path / "log")}
        made.task("01-walls", "echo agent >> $LOG; echo walls > walls.txt")
        made.write("ready.txt", "yes")
        made.commit_all()
        yield made


def read_log(project: TempProject) -> list[str]:
    log = Path(project.env["LOG"])
    return log.read_text().split() if log.exists() else []


def configure(project: TempProject, *, setup: str = "", verify: str = "", gate: str = "", more: str = "") -> None:
    """In the user's own settings: those of the repository would have to be trusted first."""
    folder = Path(project.env["XDG_CONFIG_HOME"]) / "plait"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["[run]", f"verify = {json.dumps(verify)}", f"gate = {json.dumps(gate)}", more]
    lines += ["[workspace]", f"setup = {json.dumps(setup)}"]
    (folder / "config.toml").write_text("\n".join(lines) + "\n")


def assert_nothing_started(project: TempProject) -> None:
    assert not project.state().batches
    assert "agent" not in read_log(project)
    project.wait_for_exit()
    assert project.find_leftovers() == []
    assert not list((project.place.state / "batches").glob("*"))


def test_no_agent_starts_if_verification_fails_on_the_base(project: TempProject) -> None:
    configure(project, verify="echo checking $API_TOKEN; echo verify >> $LOG; exit 3")
    before = project.snapshot_user_files()
    refused = project.plait("run", "--yes", env={"API_TOKEN": "hush-hush-1234567890"})
    assert refused.code == 2
    assert "verify fails on the base commit" in refused.err
    assert "exit status 3\n  checking ***\n" in refused.err
    assert "--no-preflight" in refused.err
    assert "hush" not in refused.output
    assert_nothing_started(project)
    assert project.snapshot_user_files() == before

    assert project.plait("run", "--yes", "--no-preflight", "--verify", "test -f walls.txt").code == 0
    assert read_log(project) == ["verify", "agent"]


def test_the_error_is_json_with_json(project: TempProject) -> None:
    configure(project, verify="echo checking; false")
    refused = project.plait("run", "--yes", "--json")
    assert refused.code == 2
    (problem,) = json.loads(refused.out)["problems"]
    assert problem["message"].endswith("exit status 1\n  checking")
    assert_nothing_started(project)


def test_what_passed_is_not_checked_again_for_the_same_commit_and_settings(project: TempProject) -> None:
    configure(project, verify="[ -e walls.txt ] || echo base >> $LOG")
    assert project.plait("run", "--yes").code == 0
    assert read_log(project) == ["base", "agent"]
    project.task("02-roof", "echo agent >> $LOG; echo roof > walls.txt")
    assert project.plait("run", "--yes", "-s", "02-roof").code == 0
    assert read_log(project) == ["base", "agent", "agent"]
    project.task("03-door", "echo door > walls.txt")
    project.commit_all()
    assert project.plait("run", "--yes", "-s", "03-door").code == 0
    assert read_log(project)[3:] == ["base"]
    project.task("04-bell", "echo bell > walls.txt")
    configure(project, verify="[ -e walls.txt ] || echo changed >> $LOG")
    assert project.plait("run", "--yes", "-s", "04-bell").code == 0
    assert read_log(project)[4:] == ["changed"]


def test_setup_runs_before_verification_and_must_pass(project: TempProject) -> None:
    configure(project, setup="echo setup >> $LOG; touch made.txt", verify="test -f made.txt")
    assert project.plait("run", "--yes").code == 0
    configure(project, setup="echo no such package; exit 4", verify="true")
    project.task("02-roof", "echo agent >> $LOG")
    refused = project.plait("run", "--yes", "-s", "02-roof")
    assert refused.code == 2
    assert "setup fails on the base commit" in refused.err
    assert "setup failed with exit status 4" in refused.err
    assert "no such package" in refused.err
    assert read_log(project).count("agent") == 1


def test_the_gate_runs_in_a_clean_workspace(project: TempProject) -> None:
    """Verification may leave files; on a batch's result, the gate sees none of them."""
    configure(project, verify="touch left.txt", gate='test -z "$(git status --porcelain)"')
    assert project.plait("run", "--yes").code == 0
    configure(project, verify="true", gate="echo gate; exit 5")
    project.task("02-roof", "echo agent >> $LOG")
    refused = project.plait("run", "--yes", "-s", "02-roof")
    assert (refused.code, "gate fails on the base commit" in refused.err) == (2, True)
    assert read_log(project) == ["agent"]


def test_a_check_has_ports_and_a_name_as_in_an_attempt(project: TempProject) -> None:
    configure(project, verify='test -n "$PLAIT_PORT" && test -n "$PLAIT_NAME" && test "$PWD" = "$PLAIT_WORKSPACE"')
    assert project.plait("run", "--yes").code == 0


def test_a_command_that_is_not_found_is_named(project: TempProject) -> None:
    configure(project, verify="./no-such-check --all")
    refused = project.plait("run", "--yes")
    assert refused.code == 2
    assert "it was not found" in refused.err
    assert "no-such-check" in refused.err
    assert_nothing_started(project)


def test_a_check_that_takes_too_long_is_ended(project: TempProject) -> None:
    configure(project, verify="echo waiting; exec sleep 1000", more='verify_timeout = "1s"')
    refused = project.plait("run", "--yes")
    assert refused.code == 2
    assert "verify did not end in 1s on the base commit" in refused.err
    assert "waiting" in refused.err
    assert_nothing_started(project)


def test_a_tasks_own_verification_is_not_run_on_the_base(project: TempProject) -> None:
    project.task("01-walls", "echo walls > walls.txt", verify="test -f walls.txt")
    answer = project.plait("run", "--yes")
    assert answer.code == 0, answer
    assert "Checking" not in answer.output
    assert not (project.place.state / PASSED_FILE).exists()


def test_in_place_there_is_no_base_to_check(project: TempProject) -> None:
    configure(project, verify="test -f walls.txt")
    assert project.plait("run", "--yes", "--isolation", "in-place").code == 0


def test_a_person_is_asked(project: TempProject) -> None:
    configure(project, verify="echo checking; test -f walls.txt")
    for keys, code in (("n\n", 2), ("\n", 2), ("\x03", 130), ("y\n", 0)):
        terminal = project.terminal("run", "--no-pr")
        terminal.wait_for("Run this task?")
        terminal.type("\n")
        terminal.wait_for_prompt("Start the agents anyway? [y/N]")
        assert "checking" in terminal.text
        assert not project.state().batches
        terminal.type(keys)
        assert terminal.wait() == code, terminal.text
    assert project.statuses() == {"01-walls": "done"}


def test_ctrl_c_ends_the_check(project: TempProject) -> None:
    configure(project, verify="echo $$ >> $LOG; exec sleep 1000")
    terminal = project.terminal("run", "--yes")
    terminal.wait_for("Checking verify")
    wait_until(lambda: read_log(project))
    terminal.type("\x03")
    assert terminal.wait() == 130
    assert "Nothing was started." in terminal.text
    assert_nothing_started(project)


def test_what_a_killed_check_left_is_ended_by_the_next(project: TempProject) -> None:
    configure(project, verify="echo begun >> $LOG; if [ -e $LOG.go ]; then exit 0; fi; exec sleep 1000")
    first = project.start("run", "--yes")
    wait_until(lambda: read_log(project))
    first.kill()
    project.finish(first)
    wait_until(lambda: [process for process in project.processes() if "sleep" in process.name()])
    Path(f"{project.env['LOG']}.go").touch()
    assert project.plait("run", "--yes").code == 0
    project.wait_for_exit()
    assert project.find_leftovers() == []


def test_a_detached_batch_is_checked_first(project: TempProject) -> None:
    configure(project, verify="false")
    assert project.plait("run", "--yes", "--detach").code == 2
    assert_nothing_started(project)


def test_a_second_run_waits_for_the_first_check_and_uses_its_result(project: TempProject) -> None:
    configure(project, verify="[ -e walls.txt ] && exit; echo base >> $LOG; until [ -e $LOG.go ]; do sleep 0.02; done")
    project.task("02-roof", "echo roof > walls.txt")
    first = project.start("run", "--yes", "-s", "01-walls")
    wait_until(lambda: read_log(project))
    waiting = project.terminal("run", "--yes", "-s", "02-roof")
    waiting.wait_for("Waiting for the same check in another process.")
    Path(f"{project.env['LOG']}.go").touch()
    assert (project.finish(first).code, waiting.wait()) == (0, 0)
    assert read_log(project) == ["base", "agent"]


def test_waiting_for_another_check_can_be_stopped(project: TempProject) -> None:
    configure(project, verify="echo base >> $LOG; exec sleep 1000")
    first = project.start("run", "--yes")
    wait_until(lambda: read_log(project))
    waiting = project.terminal("run", "--yes")
    waiting.wait_for("Waiting for the same check in another process.")
    waiting.type("\x03")
    assert waiting.wait() == 130
    first.send_signal(signal.SIGTERM)
    assert project.finish(first).code == 130
    assert_nothing_started(project)


def test_new_commands_are_checked_before_a_retry_but_not_before_a_recheck(project: TempProject) -> None:
    configure(project, verify="test ! -e walls.txt")
    assert project.plait("run", "tasks", "--yes", "--retries", "0").code == 1
    assert project.statuses() == {"01-walls": "failed"}
    for command in ("retry", "recheck"):
        missing = project.plait(command, "--verify", "no-such-program-of-plait")
        assert (missing.code, "no-such-program-of-plait is not installed" in missing.err) == (2, True)
    failing = project.plait("retry", "--verify", "test -e walls.txt")
    assert failing.code == 2
    assert "verify fails on the base commit" in failing.err
    assert "--no-preflight" in failing.err
    assert project.batch().settings.verify == "test ! -e walls.txt"  # a refused retry changes nothing
    assert read_log(project) == ["agent"]
    assert project.plait("retry", "--setup", "exit 3").code == 2
    assert project.plait("recheck", "--verify", "test -e walls.txt").code == 0
    assert read_log(project) == ["agent"]


def test_a_retry_without_preflight_starts_although_the_base_fails(project: TempProject) -> None:
    configure(project, verify="test ! -e walls.txt")
    assert project.plait("run", "tasks", "--yes", "--retries", "0").code == 1
    answer = project.plait("retry", "--verify", "test -e walls.txt", "--no-preflight")
    assert answer.code == 0, answer
    assert read_log(project) == ["agent", "agent"]


def test_new_commands_are_checked_before_a_batch_is_resumed(project: TempProject) -> None:
    assert project.plait("run", "tasks", "--detach", "--mode", "queue").code == 0
    for verify in ("exit 3", "no-such-program-of-plait"):
        answer = project.plait("run", "tasks", "--resume", "--yes", "--verify", verify)
        assert answer.code == 2, answer
        assert project.batch().settings.verify is None
    assert project.plait("run", "tasks", "--resume", "--yes", "--verify", "true", "--auto-approve").code == 0
    assert project.batch().settings.verify == "true"


def test_output_without_line_ends_is_shown_in_pieces() -> None:
    data, lines = b"x" * 300_000, list[str]()
    reader = _OutputReader(lambda at, size: TranscriptChunk(at, data[at : at + size]), lines.append)
    reader.finish()
    assert len(lines) > 2
    assert len(reader.last_lines) == len(lines)


def test_no_agent_starts_if_commits_cannot_be_signed(project: TempProject) -> None:
    for name, value in {"commit.gpgsign": "true", "gpg.program": "false"}.items():
        project.git("config", name, value)
    before = project.snapshot_user_files()
    refused = project.plait("run", "--yes")
    assert refused.code == 2
    assert "no agent was started: results could not be committed, because signing failed: gpg failed" in refused.err
    assert "--no-preflight" in refused.err
    assert_nothing_started(project)
    assert project.snapshot_user_files() == before
    assert project.git("fsck", "--unreachable", "--no-reflogs") == ""


def test_a_check_that_waits_for_a_cluster_says_so(project: TempProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the cluster has a slot once that was said."""
    waiting: list[AttemptSpec] = []
    executors: list[Executor] = []
    lines: list[str] = []

    def open_full_cluster(*words: Any) -> Executor:
        executor = open_executor(*words)
        executors.append(executor)
        monkeypatch.setattr(executor, "start", waiting.append)
        return executor

    def add_line(line: str) -> None:
        lines.append(line)
        if waiting:
            type(executors[0]).start(executors[0], waiting.pop())

    monkeypatch.setattr(preflight_run, "open_cluster_executor", open_full_cluster)
    monkeypatch.setattr(preflight_run, "_NOTICE_SECONDS", 0.0)
    settings = Settings(verify="echo verified", executor=ExecutorKind.RAY)
    checked = Preflight(
        project.place, load_config(project.top), settings, project.git("rev-parse", "HEAD"), WorkspaceSetup()
    )
    deadline = time.monotonic() + TIMEOUT_SECONDS
    run_preflight(checked, lambda _: None, add_line, lambda: time.monotonic() > deadline)
    assert lines == [
        "plait: waiting for a free slot of the cluster, or for a node to prepare its workspace",
        "verified",
    ]
