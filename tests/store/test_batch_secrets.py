"""A batch's secrets are redacted while its environment exists, and masked before it is deleted."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from plait.agents.redaction import StreamRedactor
from plait.core.task import Attempt, Step, Task
from plait.store import batch_files, batch_secrets
from plait.store.batch_files import BatchInputs, BatchInputsError
from plait.system.state_paths import StateFolder

FIRST, SECOND = "zebra-of-the-first-run", "zebra-of-the-second-run"
INPUTS = BatchInputs("/work", (Task("1", env=(("A_TOKEN", "zebra-of-the-task"),)),))
ATTEMPT = Attempt("b", "1", Step.WRITE, 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateFolder:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    return StateFolder(tmp_path / "state")


def print_output(folder: StateFolder, text: str) -> Path:
    transcript = folder.attempt(ATTEMPT).transcript
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_text(text)
    return transcript


def end(folder: StateFolder) -> None:
    known = batch_secrets.identify_environment(folder.batch("b"))
    batch_secrets.mask_batch(folder.batch("b"), {})
    batch_secrets.delete_environments(folder.batch("b"), known)


def test_an_environment_that_is_written_while_the_batch_ends_is_not_deleted(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is about to be opened again."""
    batch_files.write_batch_environment(folder, "b", {"A_TOKEN": FIRST})
    known, replace = batch_secrets.identify_environment(folder.batch("b")), Path.replace

    def delete_and_replace(temp: Path, target: Path) -> Path:
        batch_secrets.delete_environments(folder.batch("b"), known)
        return replace(temp, target)

    monkeypatch.setattr(Path, "replace", delete_and_replace)
    batch_files.write_batch_environment(folder, "b", {"A_TOKEN": SECOND})
    batch_secrets.delete_environments(folder.batch("b"), known)
    assert batch_files.read_batch_environment(folder, "b") == {"A_TOKEN": SECOND}


def test_a_secret_of_the_batch_stays_masked_after_the_environment_is_deleted(folder: StateFolder) -> None:
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    said = f"it is {FIRST}, or zebra-of-the-task\n"
    transcript = print_output(folder, said)
    before = batch_secrets.load_redactor(folder, "b")(said)
    end(folder)
    assert "zebra" not in transcript.read_text()
    assert transcript.stat().st_size == len(said)
    assert batch_secrets.load_redactor(folder, "b")(transcript.read_text()) == before == "it is ***, or ***\n"
    assert not batch_files.has_environment(folder, "b")
    assert batch_files.read_batch_inputs(folder, "b") == INPUTS
    with pytest.raises(BatchInputsError, match="environment of batch b"):
        batch_files.read_batch_environment(folder, "b")


def test_an_environment_that_was_replaced_is_remembered_until_the_batch_ends(folder: StateFolder) -> None:
    """An attempt that started with it may still run."""
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    batch_files.write_batch_environment(folder, "b", {"A_TOKEN": SECOND})
    assert batch_files.read_batch_environment(folder, "b") == {"A_TOKEN": SECOND}
    assert batch_secrets.load_redactor(folder, "b")(f"{FIRST} {SECOND}") == "*** ***"
    transcript = print_output(folder, f"{FIRST} {SECOND}")
    end(folder)
    assert "zebra" not in transcript.read_text()
    assert not [*folder.batch("b").glob("environment*")]


def test_a_secret_in_a_diff_is_recognised_after_the_environment_is_deleted(folder: StateFolder) -> None:
    for environment in ({"A_TOKEN": FIRST}, {"A_TOKEN": SECOND}):  # it was resumed
        batch_files.write_batch_files(folder, "b", INPUTS, environment)
        end(folder)
    redact = batch_secrets.load_content_redactor(folder, "b")
    assert redact(f'TOKEN = "{FIRST}"; x{SECOND}y') == 'TOKEN = "***"; x***y'
    diff = f"@@ -1 +1,2 @@ {FIRST}\n-{SECOND}\n+a\n+é={FIRST}\n".encode()
    pieces = [diff[at : at + 7] for at in range(0, len(diff), 7)]
    assert b"".join(redact.redact_lines(pieces, line_start=1)).decode() == "@@ -1 +1,2 @@ ***\n-***\n+a\n+é=***\n"
    for path in (
        folder.batch("b") / batch_secrets.FINGERPRINTS_FILE,
        *Path(os.environ["XDG_STATE_HOME"]).rglob("*key"),
    ):
        assert b"zebra" not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0


def test_the_lines_of_a_private_key_are_redacted_in_a_diff(folder: StateFolder) -> None:
    lines = ("-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG", "-----END PRIVATE KEY-----")
    redact = batch_secrets.load_content_redactor(folder, "b")
    for sign in "+- ":
        diff = "".join(f"{sign}{line}\n" for line in lines).encode()
        assert b"".join(redact.redact_lines([diff], line_start=1)).decode().splitlines()[1] == f"{sign}***"


def test_a_copy_of_the_repository_has_no_key_for_its_fingerprints(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    end(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another-user"))
    assert batch_secrets.load_content_redactor(folder, "b")(FIRST) == FIRST


def test_only_old_environments_of_unknown_batches_are_stale(folder: StateFolder) -> None:
    now = time.time()
    for batch, age in (("wanted", 1000), ("stale", 1000), ("new", 10), ("ended", 10), ("reopened", 0)):
        batch_files.write_batch_files(folder, batch, INPUTS, {"SECRET": "s"})
        os.utime(folder.batch(batch) / batch_files.ENVIRONMENT_FILE, (now - age, now - age))
    assert batch_secrets.list_stale_environments(folder, {"wanted"}) == [folder.batch("stale")]
    stale = batch_secrets.list_stale_environments(folder, {"wanted"}, {"wanted", "ended", "reopened"})
    assert stale == [folder.batch("ended"), folder.batch("stale")]


def test_what_was_printed_after_an_attempt_has_ended_is_masked_with_the_batch(folder: StateFolder) -> None:
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    transcript, masked = print_output(folder, f"{FIRST}\n"), dict[Path, int]()
    batch_secrets.mask_file(transcript, batch_secrets.load_redactor(folder, "b"), masked)
    with transcript.open("a") as file:
        file.write(f"late {FIRST}\n")
    batch_secrets.mask_batch(folder.batch("b"), masked)
    assert "zebra" not in transcript.read_text()


def test_a_batch_is_not_masked_while_an_environment_cannot_be_read(folder: StateFolder) -> None:
    """It would be deleted, and its secrets would stay in transcripts."""
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    (folder.batch("b") / "environment-1.json").mkdir()
    with pytest.raises(OSError, match="environment-1"):
        batch_secrets.mask_batch(folder.batch("b"), {})


@pytest.mark.parametrize("before", [None, {"A_TOKEN": SECOND}])
def test_what_a_killed_process_left_of_an_environment_is_deleted(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch, before: dict[str, str] | None
) -> None:
    if before is not None:
        batch_files.write_batch_environment(folder, "b", before)
    monkeypatch.setattr(Path, "replace", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    child = os.fork()
    if not child:
        try:
            batch_files.write_batch_environment(folder, "b", {"A_TOKEN": FIRST})
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    monkeypatch.undo()
    left = [path for path in folder.batch("b").iterdir() if path.name.startswith(".")]
    assert left
    for path in folder.batch("b").iterdir():
        os.utime(path, (1, 1))
    assert batch_secrets.list_stale_environments(folder, ()) == [folder.batch("b")]
    end(folder)
    assert [path.name for path in folder.batch("b").iterdir() if "environment" in path.name] == []


def test_a_secret_is_recognised_where_a_long_line_comes_in_parts(folder: StateFolder) -> None:
    batch_files.write_batch_files(folder, "b", INPUTS, {"A_TOKEN": FIRST})
    end(folder)
    redact = batch_secrets.load_content_redactor(folder, "b")
    for size in range(len(FIRST) + 2):
        # The line is cut here, since it is so long.
        begun = "+" + "x" * (StreamRedactor.MAX_LINE_CHARS - StreamRedactor.KEPT_CHARS - size) + FIRST
        rest = "y" * (StreamRedactor.MAX_LINE_CHARS + 1 - len(begun))
        pieces = [(begun + rest).encode(), b"z\n+" + FIRST.encode() + b"\n", b" last"]
        expected = f"{begun}{rest}z\n+{FIRST}\n last".replace(FIRST, "***")
        assert b"".join(redact.redact_lines(pieces, line_start=1)).decode() == expected
