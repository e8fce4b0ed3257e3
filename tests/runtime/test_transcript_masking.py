"""Secrets in a transcript are overwritten on disk: no offset moves, and nothing that was redacted before becomes visible."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from plait.agents.redaction import Redactor, build_redactor
from plait.runtime import transcript_masking
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.transcript_masking import mask_transcript

SECRET = "correct-hörse-7"
REDACTOR = build_redactor({"A_TOKEN": SECRET})
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nQUJDRA==\n-----END PRIVATE KEY-----"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "transcript"


def mask(path: Path, text: str | bytes, redactor: Redactor = REDACTOR) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(data)
    assert mask_transcript(path, redactor) == len(data)
    masked = path.read_bytes()
    assert len(masked) == len(data)
    return masked


@pytest.mark.parametrize(
    "text",
    [
        f"a {SECRET} b\n{SECRET}\n{SECRET}",
        f"first\r\n\x1b[31m{SECRET[:5]}\x1b[0m{SECRET[5:]} red\n",
        f"before\n{KEY}\nafter\n",
        "git clone https://bob:x@example.org and https://bob:pa55@example.org",
        "Authorization: Bearer abcdef123456\nghp_0123456789abcdefghijABCDEFGHIJ012345\n",
        json.dumps({"text": f"{KEY} and {SECRET}"}) + "\n",
        "nothing secret here\n",
    ],
)
def test_a_masked_text_reads_as_the_redacted_one(path: Path, text: str) -> None:
    masked = mask(path, text).decode()
    assert REDACTOR(masked) == REDACTOR(text)
    assert SECRET not in masked
    assert masked.count("\n") == text.count("\n")
    assert mask(path, masked).decode() == masked


def test_masked_json_stays_json(path: Path) -> None:
    masked = mask(path, json.dumps({"type": "text", "text": f"it is {SECRET}, and\n{KEY}"}))
    assert json.loads(REDACTOR(masked.decode()))["text"].startswith("it is ***, and\n")
    assert json.loads(masked)["type"] == "text"


def test_bytes_that_are_no_text_stay(path: Path) -> None:
    assert mask(path, b"\xff\xfe" + SECRET.encode() + b"\x80\0\n").startswith(b"\xff\xfe***\x7f")
    assert path.read_bytes().endswith(b"\x80\0\n")


@pytest.mark.parametrize("secret", [SECRET, "sk-ant-" + "a1" * 40])
@pytest.mark.parametrize("line_end", ["\n", " "])  # many lines, or one that is longer than what is read at once
def test_a_secret_is_masked_wherever_the_transcript_is_cut(
    path: Path, monkeypatch: pytest.MonkeyPatch, secret: str, line_end: str
) -> None:
    monkeypatch.setattr(transcript_masking, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(transcript_masking, "_MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(transcript_masking, "_OVERLAP_BYTES", 200)
    text = "".join(f"{'x' * (number % 37)} {secret}{line_end}" for number in range(200))
    masked = mask(path, text).decode()
    assert REDACTOR(masked) == REDACTOR(text)
    assert secret[-8:] not in masked


def test_a_gap_stays_a_gap(path: Path) -> None:
    path.write_text(f"{SECRET}\n" * 100_000)
    size = path.stat().st_size
    if not FileTranscript(path).trim(256 << 10):
        pytest.skip("this file system punches no holes")
    blocks = path.stat().st_blocks
    mask_transcript(path, REDACTOR)
    assert (path.stat().st_size, path.stat().st_blocks) == (size, blocks)
    assert b"orrect" not in path.read_bytes()


def test_when_something_was_printed_stays_known(path: Path) -> None:
    path.write_text(SECRET)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    mask_transcript(path, REDACTOR)
    assert SECRET not in path.read_text()
    assert FileTranscript(path).last_written() == 1_000_000_000


def test_a_process_that_still_prints_is_not_disturbed(path: Path) -> None:
    with path.open("ab", buffering=0) as writer:
        writer.write(f"one {SECRET}\n".encode())
        mask_transcript(path, REDACTOR)
        writer.write(b"two\n")
    assert REDACTOR(path.read_text()) == "one ***\ntwo\n"


def test_a_missing_transcript_has_nothing_to_mask(path: Path) -> None:
    assert mask_transcript(path, REDACTOR) == 0
    assert not path.exists()


def test_a_transcript_is_masked_with_the_last_descriptor_that_is_left(path: Path) -> None:
    """Reading it must not fail unnoticed."""
    path.write_text(f"one {SECRET}\n")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, limits[1]))
        mask_transcript(path, REDACTOR)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert SECRET not in path.read_text()
