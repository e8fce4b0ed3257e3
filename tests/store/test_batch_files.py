from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.agents.interface import AgentSpec
from plait.core.task import Task
from plait.store import batch_files
from plait.store.batch_files import BatchInputs, BatchInputsError
from plait.system.state_paths import StateFolder

KIT = BatchInputs(
    "/work", (Task("1", body="do it", run="true", env=(("A", "b"),)),), (AgentSpec("x", ("y", "{title}")),)
)


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def test_batch_files_are_read_back(folder: StateFolder) -> None:
    # A variable need not be text, nor a line.
    environment = {"PATH": "/bin", "ODD": os.fsdecode(b"\xff\xfe"), "LINES": "a\nb"}
    batch_files.write_batch_files(folder, "b", KIT, environment)
    assert batch_files.read_batch_inputs(folder, "b") == KIT
    assert batch_files.read_batch_environment(folder, "b") == environment


def test_the_files_are_readable_only_by_their_owner(folder: StateFolder) -> None:
    batch_files.write_batch_files(folder, "b", KIT, {"SECRET": "s"})
    for path in (folder.root, *folder.root.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_damaged_batch_file_names_its_batch(folder: StateFolder) -> None:
    batch_files.write_batch_files(folder, "b", KIT, {})
    (folder.batch("b") / batch_files.INPUTS_FILE).write_bytes(b'{"top": 3}')
    with pytest.raises(BatchInputsError, match="the files of batch b"):
        batch_files.read_batch_inputs(folder, "b")


def test_no_id_leads_out_of_the_state_folder(folder: StateFolder) -> None:
    for batch in ("../../etc", "/etc", "..", "a/../../b", "", "\0", "x" * 5000):
        path = folder.batch(batch)
        assert path.parent == folder.batches
        assert path.name not in {"", ".", ".."}
        assert len(path.name) < 100


def test_ids_that_differ_have_folders_that_differ() -> None:
    folder = StateFolder(Path("/s"))
    names = ["a", "A", "a b", "a-b", "a/b", "ä", "a.", "~", "a~b", "", ".", ".."]
    paths = {str(folder.task("b", name)).lower() for name in names}
    assert len(paths) == len(names)
