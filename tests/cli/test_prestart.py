"""`plait run` starts an engine early; one that is not needed ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.cli import fast_path
from plait.cli.fast_path import find_run_directory
from plait.git.location import find_repo
from tests.support.temp_project import temp_project


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["run"], "."),
        (["run", "tasks", "--yes"], "."),
        (["-C", "there", "run", "tasks"], "there"),
        (["-C", "there", "-C", "further", "run"], "there/further"),
    ],
)
def test_an_engine_is_prestarted_for_run_in_its_directory(words: Sequence[str], where: str) -> None:
    assert find_run_directory(words) == Path(where)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-C"],
        ["status"],
        ["plan", "run"],
        ["run", "tasks", "--dry-run"],
        ["run", "--help"],
        ["run", "-h"],
        ["run", "--repo", "elsewhere"],
        ["run", "--repo=elsewhere"],
    ],
)
def test_other_commands_prestart_no_engine(words: Sequence[str]) -> None:
    assert find_run_directory(words) is None


def test_a_prestarted_engine_is_handed_over_once_and_only_for_its_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        temp_project(tmp_path / "project", forks=False) as home,
        temp_project(tmp_path / "other", forks=False) as other,
    ):
        monkeypatch.chdir(home.top)
        fast_path.prestart_for_run(["run", "tasks"])
        assert fast_path.take_engine(find_repo(other.top)) is None
        held = fast_path.take_engine(home.place)
        assert held is not None
        assert fast_path.take_engine(home.place) is None
        held.discard()


def test_an_unused_prestarted_engine_leaves_nothing_behind(tmp_path: Path) -> None:
    with temp_project(tmp_path / "project", forks=False) as home:
        for words in (["run", "--no-such-option"], ["run", "nowhere"]):
            answer = home.plait(*words)
            assert answer.code == 2
            assert home.processes() == []
            assert not home.place.state.exists()


def test_only_one_engine_runs_whatever_was_prestarted(tmp_path: Path) -> None:
    with temp_project(tmp_path / "project", forks=False) as home:
        home.task("long", f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done")
        home.task("short", "true")
        for words in (["tasks/long.md", "--detach"], ["tasks/short.md"]):
            answer = home.plait("run", *words, "--yes")
            assert answer.code == 0, answer.output
        (tmp_path / "go").touch()
        home.wait_for_exit()
        assert home.read_engine_log().count("started at record") == 1
