"""A repository that was unpacked from an archive has an open batch in its `.git/plait`: nothing of it runs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.client.session import Session, Submission
from plait.core.settings import Isolation, Settings
from plait.core.task import Task
from plait.git.location import find_repo
from plait.store.project_files import open_project_inbox
from plait.store.state_claim import list_set_aside
from tests.support.cli_runner import CliResult
from tests.support.journal_writer import build_plan
from tests.support.running_server import start_server
from tests.support.temp_project import TempProject, temp_project

MARK = "the-command-ran"
COMMAND = f"touch ../{MARK}"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with a submitted batch that no engine has seen."""
    with temp_project(tmp_path_factory.mktemp("attacker")) as project:
        project.task("01-a", COMMAND)
        session = Session(find_repo(project.top))
        tasks = build_plan(Task("01-a", run=COMMAND))
        session.enqueue_submission(Submission(tasks, Settings(isolation=Isolation.IN_PLACE)))
        session.close()
        # As the attacker has left: where the batch was submitted from, there is nothing.
        yield project.top.rename(project.folder / "unpacked")


@pytest.fixture
def victim(tmp_path: Path, archive: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path, repository=False) as project:
        project.top.rmdir()
        shutil.copytree(archive, project.top, symlinks=True)
        yield project


def run_engine(victim: TempProject) -> CliResult:
    words = [sys.executable, "-P", "-m", "plait.engine", str(victim.place.state), str(victim.top)]
    return victim.finish(victim.popen(words))


def assert_nothing_ran(victim: TempProject) -> None:
    victim.wait_for_exit()
    assert not (victim.folder / MARK).exists()


@pytest.mark.parametrize(
    "words",
    [("status", "--watch"), ("status", "--json"), ("resume",), ("run", "--yes"), ("watch",), ("mcp",)],
    ids=" ".join,
)
def test_a_command_reports_copied_state_and_runs_nothing_of_it(victim: TempProject, words: tuple[str, ...]) -> None:
    result = victim.plait(*words)
    assert result.code == 2
    assert "was not written here by you; nothing in it was run" in result.output
    [folder] = list_set_aside(victim.place.state)
    assert str(folder) in result.output
    assert "plait trust --state" in result.output
    assert victim.plait("status").code == 0
    assert_nothing_ran(victim)


def test_the_server_reports_copied_state_and_runs_nothing_of_it(victim: TempProject) -> None:
    server = start_server(victim)
    first = server.request("GET", "/api/batches")
    if first.status_code != 200:  # the first request came before the server had looked by itself
        assert "was not written here by you" in first.json()["error"]
    assert server.get("/api/batches")["batches"] == []
    assert server.end() == 0
    assert "was not written here by you" in victim.finish(server.process).err or first.status_code != 200
    assert list_set_aside(victim.place.state)
    assert_nothing_ran(victim)


def test_an_engine_runs_nothing_of_copied_state(victim: TempProject) -> None:
    """Whoever started it."""
    result = run_engine(victim)
    assert result.code == 1
    assert "was not written here by you; nothing in it is run" in result.output
    inbox = open_project_inbox(victim.place)
    assert len(inbox.pending()) == 1
    inbox.close()
    assert_nothing_ran(victim)


def test_the_owner_reviews_and_accepts_a_moved_state(victim: TempProject) -> None:
    assert victim.plait("status").code == 2
    shown = victim.plait("trust", "--state")
    assert shown.code == 2, "not a terminal"
    assert "was not written here by you" in shown.out
    assert victim.plait("trust", "--state", "--json").code == 3
    assert victim.plait("trust", "--yes").code == 0
    assert victim.plait("status", "--json").out.count('"id"') == 0, "--yes alone doesn't accept it"
    assert json.loads(victim.plait("trust", "--state", "--yes", "--json").out)["accepted"] is True
    assert victim.plait("trust", "--state").out.startswith("There is no state from elsewhere")
    assert run_engine(victim).code == 0
    assert (victim.folder / MARK).exists()


def test_doctor_reports_copied_state_and_then_where_it_is(victim: TempProject) -> None:
    [check] = json.loads(victim.plait("doctor", "--json").out)["checks"]
    assert (check["topic"], check["verdict"]) == ("state", "problem")
    assert "was not written here by you" in check["message"]
    assert victim.place.state.exists(), "doctor changes nothing"
    assert victim.plait("status").code == 2
    checks = json.loads(victim.plait("doctor", "--json").out)["checks"]
    [check] = [check for check in checks if check["topic"] == "set aside"]
    assert str(list_set_aside(victim.place.state)[0]) in check["message"]


def test_the_review_shows_what_would_run(victim: TempProject) -> None:
    summary = json.loads(victim.plait("trust", "--state", "--json").out)
    assert (summary["batches"], len(summary["unfinished"])) == (1, 1)
    assert [each["value"] for each in summary["commands"]] == [COMMAND]
    assert f"  {COMMAND}  (batch" in victim.plait("trust", "--state").out
