"""An environment is deleted when everything that was printed with it is masked, and not before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.agents.redaction import Redactor
from plait.core.state import State
from plait.core.task import Attempt, Step, Task
from plait.engine.context import BatchInputsCache, EngineContext
from plait.engine.secret_masking import SecretMasker
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.store import batch_files, batch_secrets
from plait.store.batch_files import BatchInputs
from plait.system.state_paths import StateFolder

SECRET = "zebra-of-the-environment"
ATTEMPT = Attempt("b", "1", Step.WRITE, 1)


class Harness:
    def __init__(self, root: Path) -> None:
        self.folder = StateFolder(root)
        self.reactor = SelectReactor()
        self.workers = WorkerPool(self.reactor)
        self.inputs = BatchInputsCache(self.folder)
        self.masker = SecretMasker(EngineContext(State(), lambda _: None, self.workers, self.inputs, self.folder))
        batch_files.write_batch_files(self.folder, "b", BatchInputs("/work", (Task("1"),)), {"A_TOKEN": SECRET})
        self.transcript = self.folder.attempt(ATTEMPT).transcript
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_text(f"it is {SECRET}\n")

    @property
    def is_masked(self) -> bool:
        return SECRET not in self.transcript.read_text()

    @property
    def has_environment(self) -> bool:
        return batch_files.has_environment(self.folder, "b")

    def work(self) -> None:
        while not self.workers.is_idle:
            self.reactor.step(1.0)


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    return Harness(tmp_path / "state")


def test_what_an_attempt_printed_is_masked_when_it_has_ended(harness: Harness) -> None:
    harness.masker.mask_attempt(ATTEMPT)
    harness.work()
    assert (harness.is_masked, harness.has_environment) == (True, True)


def test_the_environment_is_deleted_when_all_is_masked(harness: Harness) -> None:
    harness.masker.forget_batch("b")
    assert harness.has_environment
    harness.work()
    assert (harness.is_masked, harness.has_environment) == (True, False)


def test_an_environment_stays_if_something_cannot_be_masked(harness: Harness) -> None:
    (harness.transcript.parent / "outfit.failed").mkdir()
    harness.masker.forget_batch("b")
    harness.work()
    assert harness.has_environment


def test_the_environment_of_a_batch_that_is_opened_again_stays(harness: Harness) -> None:
    harness.masker.forget_batch("b")
    batch_files.write_batch_environment(harness.folder, "b", {"A_TOKEN": "another-zebra"})
    harness.work()
    assert batch_files.read_batch_environment(harness.folder, "b") == {"A_TOKEN": "another-zebra"}


def test_an_open_batch_whose_environment_was_deleted_gets_it_back(harness: Harness) -> None:
    """A front end saw the file just before it was deleted, and wrote none."""
    harness.masker.forget_batch("b")
    harness.work()
    harness.inputs.reload_batch("b")
    harness.inputs.restore_environment("b")
    assert batch_files.read_batch_environment(harness.folder, "b") == {"A_TOKEN": SECRET}


@pytest.mark.parametrize("exiting", [True, False])
def test_what_a_crashed_engine_left_is_masked_by_the_next_one(harness: Harness, *, exiting: bool) -> None:
    os.utime(harness.folder.batch("b") / batch_files.ENVIRONMENT_FILE, (1, 1))
    masker = harness.masker
    for wanted in (("b",), ()):
        assert (harness.is_masked, harness.has_environment) == (False, True)
        masker.forget_stale_batches_now(wanted, ()) if exiting else masker.forget_stale_batches(wanted)
        harness.work()
    assert (harness.is_masked, harness.has_environment) == (True, False)


def test_the_engine_log_contains_no_secret_of_a_batch(harness: Harness, capsys: pytest.CaptureFixture[str]) -> None:
    from plait.system import log

    harness.inputs.get_redactor("b")
    log.write_line(f"it failed with {SECRET}")
    assert "it failed with ***" in capsys.readouterr().err


def test_nothing_is_remembered_of_a_batch_that_is_masked(tmp_path: Path) -> None:
    transcript = tmp_path / "tasks" / "one" / "write-1" / "transcript"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("printed\n")
    masked = {tmp_path.parent / "other": 1}
    batch_secrets.mask_file(transcript, Redactor(), masked)
    assert transcript in masked
    batch_secrets.mask_batch(tmp_path, masked)
    assert masked == {tmp_path.parent / "other": 1}
