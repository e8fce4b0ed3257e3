"""The secrets of a batch: redacting them while its environment exists, and forgetting them when it has ended.

An environment is deleted only after its secrets were masked in all transcripts of the batch. What remains of them are
fingerprints, by which they are still recognised in diffs. The key for these is in the user's own folder, not in the
repository, so that a copy of the repository is of no use for guessing a secret.
"""

from __future__ import annotations

import os
import time
from codecs import getincrementaldecoder
from collections.abc import Collection, Iterable, Iterator, MutableMapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import msgspec

from plait.agents.fingerprints import KEY_BYTES, Fingerprint, FingerprintRedactor, make_fingerprints
from plait.agents.redaction import Redactor, StreamRedactor, build_redactor
from plait.runtime.transcript_masking import mask_transcript
from plait.store.batch_files import (
    ENVIRONMENT_FILE,
    ENVIRONMENT_FILES,
    INPUTS_FILE,
    BatchInputs,
    read_environment_file,
)
from plait.system.atomic_files import create_file, make_private_folder, read_private_file, replace_file
from plait.system.decoders import decode_json
from plait.system.flock import try_lock
from plait.system.state_paths import StateFolder

FINGERPRINTS_FILE = "fingerprints.json"
# What a process leaves that is killed while it writes an environment.
_UNFINISHED_FILES = f".{ENVIRONMENT_FILES}.*"
# What processes of an attempt printed: its output, and why its setup failed.
_PRINTED_FILES = ("tasks/*/*/transcript", "tasks/*/*/outfit.failed")


def load_redactor(folder: StateFolder, batch: str) -> Redactor:
    """Make a redactor for the output of a batch: for secrets of its environments, its tasks, and this process."""
    return _build_redactor(folder.batch(batch))


class ContentRedactor:
    """Redacts texts from git. These can't be masked on disk, so after the batch has ended fingerprints are needed."""

    def __init__(self, redactor: Redactor, past: FingerprintRedactor) -> None:
        self._redactor = redactor
        self._past = past

    def __call__(self, text: str) -> str:
        return self._past(self._redactor(text))

    def redact_lines(self, pieces: Iterable[bytes], *, line_start: int) -> Iterator[bytes]:
        """Yield the lines without secrets. In a diff, `line_start` is 1: the signs are no content."""
        stream = StreamRedactor(self._redactor, line_start)
        decoder = getincrementaldecoder("utf-8")("surrogateescape")
        kept = ""  # of a long line that comes in parts: a secret may begin here
        for piece in pieces:
            if text := stream.feed(decoder.decode(piece)):
                text = self._past(kept + text)
                cut = len(text) if text.endswith("\n") else max(0, len(text) - stream.KEPT_CHARS)
                kept = text[cut:]
                yield text[:cut].encode("utf-8", "surrogateescape")
        rest = stream.feed(decoder.decode(b"", final=True)) + stream.finish()
        yield self._past(kept + rest).encode("utf-8", "surrogateescape")


def load_content_redactor(folder: StateFolder, batch: str) -> ContentRedactor:
    path = folder.batch(batch)
    fingerprints, key = _read_fingerprints(path), b""
    if fingerprints:
        with suppress(OSError):  # they were made elsewhere
            key = read_private_file(_find_key_file(), KEY_BYTES)
    return ContentRedactor(_build_redactor(path), FingerprintRedactor(fingerprints if key else (), key))


def read_secret_environments(folder: StateFolder, batch: str) -> list[dict[str, str]]:
    """Read all environments of the batch that aren't deleted yet."""
    return _read_environments(folder.batch(batch))


def identify_environment(path: Path) -> tuple[int, int] | None:
    """Return the identity of a batch folder's environment file, which changes with it; None: deleted."""
    try:
        status = (path / ENVIRONMENT_FILE).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


STALE_SECONDS = 60.0  # a newer environment may belong to a batch that is about to be submitted
STALE_AFTER_END_SECONDS = 1.0  # … or to one that is about to be opened again


def list_stale_environments(folder: StateFolder, keep: Collection[str], ended: Collection[str] = ()) -> list[Path]:
    """List the folders of batches with an old environment, except for the batches `keep`: the batch has `ended`, or its
    submission failed or was never sent.
    """
    kept, done, stale = ({folder.batch(batch) for batch in batches} for batches in (keep, ended, ()))
    for path in chain(*(folder.batches.glob(f"*/{name}") for name in (ENVIRONMENT_FILE, _UNFINISHED_FILES))):
        with suppress(OSError):
            age = time.time() - path.stat().st_mtime
            if path.parent not in kept and age >= (STALE_AFTER_END_SECONDS if path.parent in done else STALE_SECONDS):
                stale.add(path.parent)
    return sorted(stale)


def mask_batch(path: Path, masked: MutableMapping[Path, int]) -> None:
    """Mask all that was printed in the batch with this folder, and save fingerprints of its secrets. Raises OSError.

    `masked` maps each file to the size up to which it is masked already.
    """
    environments = [_read_whole_environment(file) for file in sorted(path.glob(ENVIRONMENT_FILES))]
    redactor = _build_redactor(path)
    for name in _PRINTED_FILES:
        for file in path.glob(name):
            mask_file(file, redactor, masked)
    secrets = build_redactor({}, *(environment.items() for environment in environments)).values
    if secrets:
        fingerprints = {*_read_fingerprints(path), *make_fingerprints(secrets, _read_or_create_key())}
        replace_file(path / FINGERPRINTS_FILE, msgspec.json.encode(sorted(fingerprints)), durable=True)
    for file in [file for file in masked if path in file.parents]:
        del masked[file]  # it has ended


def mask_file(file: Path, redactor: Redactor, masked: MutableMapping[Path, int]) -> None:
    with suppress(FileNotFoundError):
        if masked.get(file) != file.stat().st_size:
            masked[file] = mask_transcript(file, redactor)


def delete_environments(path: Path, known: tuple[int, int] | None) -> None:
    """Delete the environments in this batch folder: they hold secrets, which an ended batch doesn't need.

    Nothing is deleted if one is being written, or if it isn't the `known` one any more, because the batch is about to
    be opened again. Unfinished files that a killed process left are deleted too.
    """
    with try_lock(StateFolder(path.parents[1]).environments_lock) as is_free:
        if is_free and identify_environment(path) == known:
            files = chain(path.glob(_UNFINISHED_FILES), path.glob(ENVIRONMENT_FILES))
            for file in sorted(files):  # the current one last: by it the others are found after a crash
                file.unlink(missing_ok=True)


def _build_redactor(path: Path) -> Redactor:
    tasks: tuple[Iterable[tuple[str, str]], ...] = ()
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        inputs = decode_json((path / INPUTS_FILE).read_bytes(), BatchInputs)
        tasks = tuple(task.env for task in inputs.tasks)
    return build_redactor(os.environ, *(environment.items() for environment in _read_environments(path)), *tasks)


def _read_environments(path: Path) -> list[dict[str, str]]:
    environments = []
    for file in sorted(path.glob(ENVIRONMENT_FILES)):
        with suppress(OSError, msgspec.DecodeError):
            environments.append(read_environment_file(file))
    return environments


def _read_whole_environment(file: Path) -> dict[str, str]:
    """Read an environment; a damaged one is empty, because it can never be read. Raises OSError."""
    try:
        return read_environment_file(file)
    except msgspec.DecodeError:
        return {}


def _read_fingerprints(path: Path) -> tuple[Fingerprint, ...]:
    with suppress(OSError, msgspec.DecodeError):
        return decode_json((path / FINGERPRINTS_FILE).read_bytes(), tuple[Fingerprint, ...])
    return ()


def _read_or_create_key() -> bytes:
    """Return the key. Two processes that create it at once get the same one."""
    path = _find_key_file()
    if not path.exists():
        make_private_folder(path.parent)
        with suppress(FileExistsError):
            create_file(path, os.urandom(KEY_BYTES), durable=True)
    return read_private_file(path, KEY_BYTES)


def _find_key_file() -> Path:
    from platformdirs import user_state_path

    return user_state_path("plait") / "fingerprint-key"
