"""A certificate and its key are checked before the server listens."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plait.core.errors import UserError
from plait.server.serve import TlsFiles, check_tls_files


def made(folder: Path, name: str, *more: str) -> tuple[Path, Path]:
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    args = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run(
        [*args, "-keyout", str(key), "-out", str(cert), *(more or ["-nodes"])],
        check=True,
        capture_output=True,
        timeout=60,
    )
    key.chmod(0o600)
    return cert, key


def problem(cert: Path, key: Path | None = None) -> str:
    with pytest.raises(UserError) as caught:
        check_tls_files(TlsFiles(cert, key))
    assert caught.value.hint
    return caught.value.message


def test_a_matching_certificate_and_key_are_accepted(tmp_path: Path) -> None:
    cert, key = made(tmp_path, "one")
    check_tls_files(TlsFiles(cert, key))
    both = tmp_path / "both.pem"
    both.touch(0o600)
    both.write_text(cert.read_text() + key.read_text())
    check_tls_files(TlsFiles(both))


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    cert, key = made(tmp_path, "one")[0], made(tmp_path, "two")[1]
    assert problem(cert, key) == f"the key {key} does not belong to the certificate {cert}"


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    cert, key = made(tmp_path, "one")
    key.chmod(0o644)
    assert problem(cert, key) == f"the key {key} is readable by others"


def test_a_missing_tls_file_is_reported(tmp_path: Path) -> None:
    cert, key = made(tmp_path, "one")
    gone = tmp_path / "gone"
    assert problem(gone, key) == f"--certfile {gone} can't be read: No such file or directory"
    assert problem(cert, gone) == f"--keyfile {gone} can't be read: No such file or directory"
    assert problem(tmp_path, key) == f"--certfile {tmp_path} can't be read: not a regular file"


def test_a_key_with_a_passphrase_is_refused_without_a_prompt(tmp_path: Path) -> None:
    cert, key = made(tmp_path, "one", "-passout", "pass:secret")
    assert problem(cert, key) == f"the key {key} is protected by a passphrase"


@pytest.mark.parametrize("text", ["", "no PEM at all"])
def test_an_invalid_certificate_is_refused(tmp_path: Path, text: str) -> None:
    cert, key = made(tmp_path, "one")
    cert.write_text(text)
    assert problem(cert, key).startswith(f"{cert} and {key} can't be used")
