"""`plait doctor`: what is wrong, and the way out; nothing is changed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plait.cli.commands.doctor import doctor_command
from plait.core.requests import Pause
from plait.core.settings import Isolation, Settings
from plait.core.task import Attempt, Step, Task
from plait.store.batch_files import ENVIRONMENT_FILE, BatchInputs, write_batch_files
from plait.store.inbox import open_inbox
from plait.store.journal_writer import open_journal_writer
from plait.store.state_claim import claim_state
from plait.system.process_identity import TAG_VARIABLE, attempt_tag, tag_prefix
from plait.system.state_paths import StateFolder
from plait.testing.script import BATCH, Script

OLD = 1_000_000_000.0


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository = tmp_path / "repository"
    repository.mkdir()
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    return repository


@pytest.fixture
def state(top: Path) -> StateFolder:
    folder = top / ".git" / "plait"
    claim_state(folder)
    return StateFolder(folder)


class DoctorReport:
    """The output of `plait doctor` by topic."""

    def __init__(self, capsys: pytest.CaptureFixture[str], where: Path) -> None:
        self.code = doctor_command(where, as_json=True)
        self.checks: list[dict[str, str]] = json.loads(capsys.readouterr().out)["checks"]

    def __getitem__(self, topic: str) -> tuple[str, str]:
        """The verdict and the message of the only check on this topic."""
        [check] = [check for check in self.checks if check["topic"] == topic]
        return check["verdict"], check["message"]

    def wrong(self) -> list[str]:
        return [check["topic"] for check in self.checks if check["verdict"] != "ok"]


def batch(state: StateFolder, *, over: bool) -> None:
    """One batch of one task; it has ended, or its attempt runs."""
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE))
    if over:
        script.exit_attempt("a")
    journal = open_journal_writer(state.root / "journal.db")
    journal.append(script.records)
    journal.close()


@contextmanager
def marked(state: StateFolder, attempt: Attempt) -> Iterator[int]:
    mark = attempt_tag(tag_prefix(state.root), attempt)
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, TAG_VARIABLE: mark})
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    # SQLite puts two files beside a journal that is read, and nothing into it.
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_a_new_repository_has_no_problems(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-C", str(top), "config"]
    subprocess.run([*git, "user.name", "Ada"], check=True)
    assert DoctorReport(capsys, top)["identity"][1].startswith("git has no name and email for your commits")
    subprocess.run([*git, "user.email", "ada@example.org"], check=True)
    report = DoctorReport(capsys, top)
    assert report.code == 0
    assert [topic for topic in report.wrong() if topic not in {"disk", "memory", "room"}] == []
    assert report["git"][1].startswith("git 2.")
    assert report["journal"][1].endswith("journal.db, created when the first batch is submitted")
    assert report["engine"][1].endswith("engine.log")
    assert not (top / ".git" / "plait").exists()


def test_doctor_works_outside_of_a_repository(tmp_path: Path, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert top.exists()
    report = DoctorReport(capsys, tmp_path)
    assert report["state"] == ("ok", f"{tmp_path / '.plait'}, created when the first batch is submitted")


def test_a_finished_batch_gives_no_warning(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    batch(state, over=True)
    report = DoctorReport(capsys, top)
    assert report["journal"][0] == "ok"
    assert "of 1 batch, 0 unfinished" in report["journal"][1]
    assert report["leftovers"] == ("ok", "none")
    assert report["engine"][0] == "ok"
    assert "journal " in report["state"][1]


def test_an_unfinished_batch_without_an_engine_is_a_warning(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=False)
    report = DoctorReport(capsys, top)
    verdict, message = report["engine"]
    assert (verdict, report.code) == ("warning", 0)
    assert message.startswith(f"not running, and {BATCH} is not finished")
    [hint] = [check["hint"] for check in report.checks if check["topic"] == "engine"]
    assert hint == f"Continue: plait resume {BATCH}."


def test_a_running_engine_is_shown_with_its_log(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=False)
    journal = open_journal_writer(state.root / "journal.db")
    try:
        verdict, message = DoctorReport(capsys, top)["engine"]
    finally:
        journal.close()
    assert verdict == "ok"
    assert message.startswith(f"process {os.getpid()}, running since ")
    assert message.endswith(f"its log is {state.root / 'engine.log'}")


def test_a_damaged_journal_is_a_problem_and_is_not_changed(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    (state.root / "journal.db").write_text("not a journal")
    report = DoctorReport(capsys, top)
    assert report.code == 1
    assert report["journal"][0] == "problem"
    assert (state.root / "journal.db").read_text() == "not a journal"
    assert "leftovers" not in [check["topic"] for check in report.checks]


def test_a_journal_that_can_be_read_but_that_no_engine_takes_is_a_problem(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=False)
    path = state.root / "journal.db"
    page = 4096
    path.write_bytes(path.read_bytes()[:-page] + bytes(page))  # as another program may, of the saved settings
    before = everything(state.root)
    report = DoctorReport(capsys, top)
    assert report["journal"] == (
        "problem",
        f"the journal {path} is damaged: SQLite says: database disk image is malformed",
    )
    assert everything(state.root) == before


def test_a_file_in_place_of_the_state_folder_is_a_problem(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / ".git" / "plait").touch()
    report = DoctorReport(capsys, top)
    assert report.code == 1
    assert report["state"] == ("problem", f"{top / '.git' / 'plait'}: it isn't a folder")


def test_invalid_settings_are_a_problem(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "plait.toml").write_text("[run]\nretires = 1\n")
    report = DoctorReport(capsys, top)
    assert (report.code, report["settings"]) == (
        1,
        ("problem", "plait.toml:2: there is no setting called run.retires"),
    )


@pytest.mark.parametrize(
    ("line", "verdict", "message"),
    [
        ("agent = 'shell'", "ok", "agents: shell"),
        ("agent_command = 'cat {task_file}'", "ok", "agents: command"),
        (
            "agent_command = 'no-tool {task_file}'",
            "problem",
            "no-tool is not installed, and the agent's command runs it",
        ),
        ("agent_command = 'tool {file}'", "problem", "the agent's command has an unknown placeholder {file}"),
        ("agent = 'no.such.module:Thing'", "ok", "agents: no.such.module:Thing"),  # it is not trusted yet
        ("agent = 'claude'", "problem", "the agent claude is not installed here"),
        ("verify = 'no-tool -q'", "problem", "plait.toml:2: no-tool is not installed, and verify runs it"),
        (
            "gate = 'no-tool -q'\npreflight = false",
            "warning",
            "plait.toml:2: no-tool is not installed, and gate runs it",
        ),
    ],
)
def test_unusable_programs_are_a_problem(
    line: str, verdict: str, message: str, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (top / "plait.toml").write_text(f"[run]\n{line}\n")
    found = DoctorReport(capsys, top)["settings"]
    assert found[0] == verdict
    assert found[1].startswith(message)


def test_pending_requests_are_counted(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    inbox = open_inbox(state.root / "inbox.db")
    inbox.put(Pause("r1", "b1"))
    inbox.close()
    assert DoctorReport(capsys, top)["inbox"] == ("ok", f"{state.root / 'inbox.db'}: 1 request pending")


def test_a_damaged_inbox_is_a_problem(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    (state.root / "inbox.db").write_text("not an inbox")
    assert DoctorReport(capsys, top)["inbox"][0] == "problem"


def test_folders_of_unknown_batches_are_reported(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=True)
    (state.batches / BATCH).mkdir(parents=True)
    strange = state.batches / "nobody-s"
    strange.mkdir()
    assert DoctorReport(capsys, top)["leftovers"] == ("ok", "none")  # it may be on its way to the journal
    os.utime(strange, (OLD, OLD))
    verdict, message = DoctorReport(capsys, top)["leftovers"]
    assert (verdict, message) == ("warning", f"1 folder in {state.batches} of no batch: nobody-s")


@pytest.mark.parametrize("over", [True, False])
def test_secrets_of_an_ended_batch_are_reported(
    over: bool,  # noqa: FBT001
    top: Path,
    state: StateFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch(state, over=over)
    write_batch_files(state, BATCH, BatchInputs(str(top), (Task("a"),)), {"KEY": "s3cret"})
    report = DoctorReport(capsys, top)
    verdict, message = report["leftovers"]
    assert verdict == ("warning" if over else "ok")
    assert (f"the environment of 1 ended batch is still on disk: {BATCH}" == message) is over
    assert "s3cret" not in json.dumps(report.checks)
    assert (state.batch(BATCH) / ENVIRONMENT_FILE).exists()


def test_unwatched_agent_processes_are_reported(
    top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=False)
    with marked(state, Attempt(BATCH, "a", Step.WRITE, 1)) as pid:
        assert DoctorReport(capsys, top)["leftovers"] == (
            "warning",
            f"1 process of attempts that no engine watches: {pid} (sleep)",
        )
        journal = open_journal_writer(state.root / "journal.db")
        try:
            assert DoctorReport(capsys, top)["leftovers"] == ("ok", "none")
        finally:
            journal.close()


def test_processes_of_ended_attempts_are_reported(
    top: Path, state: StateFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch(state, over=True)
    other = StateFolder(tmp_path)
    attempt = Attempt(BATCH, "a", Step.WRITE, 1)
    with marked(state, attempt) as pid, marked(other, attempt):
        assert DoctorReport(capsys, top)["leftovers"] == (
            "warning",
            f"1 process of attempts that have ended: {pid} (sleep)",
        )


def test_a_stale_git_lock_is_reported(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    batch(state, over=True)
    lock = top / ".git" / "index.lock"
    lock.touch()
    assert DoctorReport(capsys, top)["leftovers"] == ("ok", "none")
    os.utime(lock, (OLD, OLD))
    assert DoctorReport(capsys, top)["leftovers"][1].startswith(f"{lock} has been there for ")


def test_doctor_changes_nothing(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    batch(state, over=True)
    write_batch_files(state, BATCH, BatchInputs(str(top), ()), {})
    (state.batches / "nobody-s").mkdir()
    inbox = open_inbox(state.root / "inbox.db")
    inbox.put(Pause("r1", "b1"))
    inbox.close()
    before = everything(top.parent)
    DoctorReport(capsys, top)
    assert everything(top.parent) == before


def test_each_check_is_a_line_with_a_hint(top: Path, state: StateFolder, capsys: pytest.CaptureFixture[str]) -> None:
    batch(state, over=False)
    (top / "plait.toml").write_text("[run]\nretires = 1\n")
    assert doctor_command(top, as_json=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ok       git        git 2.") for line in lines)
    place = lines.index("problem  settings   plait.toml:2: there is no setting called run.retires")
    assert lines[place + 1] == "                    Did you mean retries?"
    assert any(line.startswith("warning  engine     not running") for line in lines)


def test_worktrees_and_the_remote_are_checked(
    top: Path,
    state: StateFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("PLAIT_FORGE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    batch(state, over=True)
    report = DoctorReport(capsys, top)
    verdict, message = report["worktrees"]
    assert verdict == "ok"
    assert message.endswith(": none yet")
    assert report["remote"][1].startswith("no remote named origin")
    subprocess.run(
        [
            "git",
            "-C",
            str(top),
            "remote",
            "add",
            "origin",
            "https://me:s3cret@github.com/somebody/something.git",
        ],
        check=True,
    )
    monkeypatch.setenv("GH_TOKEN", "t0ken")
    left = Path(message.removesuffix(": none yet")) / f"batch-{BATCH}" / "task-a"
    left.mkdir(parents=True)
    os.utime(left, (OLD, OLD))
    report = DoctorReport(capsys, top)
    assert report["remote"] == ("ok", "origin at github.com (github), with a token from GH_TOKEN")
    assert report["leftovers"] == ("warning", f"1 worktree of batches that have ended: batch-{BATCH}/task-a")
    assert "s3cret" not in json.dumps(report.checks)
    assert "t0ken" not in json.dumps(report.checks)
