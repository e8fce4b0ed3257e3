"""An engine that can't write its journal reports that to the front ends in another way, and also when it is over."""

from __future__ import annotations

import json
import os
from pathlib import Path

from plait.engine.daemon import HEALTH_FILE, HEALTH_FILE_BYTES, HealthFile, find_engine, read_health
from tests.support.temp_project import temp_project

FULL = "the disk is full; running agents continue; nothing new starts. Free some space."


def test_the_health_file_needs_no_additional_disk_space(tmp_path: Path) -> None:
    path = tmp_path / "state" / "trouble"
    trouble = HealthFile(path)
    assert path.stat().st_size == HEALTH_FILE_BYTES
    assert read_health(path) == ""
    trouble.write("é" * HEALTH_FILE_BYTES)
    assert path.stat().st_size == HEALTH_FILE_BYTES
    assert read_health(path) == "é" * (HEALTH_FILE_BYTES // 2)
    trouble.write(FULL)
    assert read_health(path) == FULL
    trouble.clear()
    assert read_health(path) == ""


def test_a_health_file_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    HealthFile(tmp_path / "file" / "trouble").write(FULL)
    assert read_health(tmp_path / "file" / "trouble") == ""
    (tmp_path / "link").symlink_to(tmp_path / "file")
    HealthFile(tmp_path / "link").write(FULL)
    assert (tmp_path / "file").read_bytes() == b""
    os.mkfifo(tmp_path / "pipe")
    assert read_health(tmp_path / "pipe") == ""


def test_every_front_end_shows_the_problem_while_the_engine_runs(tmp_path: Path) -> None:
    with temp_project(tmp_path / "project") as home:
        home.task("one", f"echo begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done")
        front = home.start("run", "tasks", "--yes")
        assert front.stdout is not None
        assert front.stderr is not None
        line = ""
        while "started" not in line:
            line = front.stdout.readline()
            assert line, "the run ended"
        trouble = HealthFile(home.place.state / HEALTH_FILE)
        trouble.write(FULL)
        while FULL[:30] not in line:
            line = front.stderr.readline()
            assert line, "the run ended without reporting it"
        assert FULL in " ".join(home.plait("status").out.split())
        assert json.loads(home.plait("status", "--json").out)["engine"]["trouble"] == FULL
        assert FULL in " ".join(home.plait("doctor").out.split())
        trouble.clear()
        assert json.loads(home.plait("status", "--json").out)["engine"]["trouble"] is None
        trouble.write(FULL)  # as an engine leaves it that is killed now
        (tmp_path / "go").touch()
        front.communicate(timeout=60)
        home.wait_for_exit()
        assert find_engine(home.place) is None
        assert FULL not in " ".join(home.plait("status").out.split())
