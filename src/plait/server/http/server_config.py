"""Whether a certificate and its key will do, told before anything listens."""

from __future__ import annotations

import os
import ssl
import stat
from pathlib import Path

from plait.core.errors import UserError


def check_tls_files(certfile: Path, keyfile: Path | None = None) -> UserError | None:
    """None if the server can be started with these. Without a key file, the key is in the certificate's."""
    key = keyfile or certfile
    for option, path in (("--certfile", certfile), ("--keyfile", key)):
        if problem := _check_readable(option, path):
            return problem
    if key.stat().st_mode & stat.S_IRWXO:
        return UserError(f"the key {key} could be read by others", hint=f"chmod 600 {key}")
    return _check_key_pair(certfile, key)


def _check_readable(option: str, path: Path) -> UserError | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return UserError(
            f"{option} {path} can't be read: {error.strerror}", hint="See that the path is right: ls -l."
        )
    try:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
    finally:
        os.close(fd)
    return None if regular else UserError(f"{option} {path} is no file", hint="Name the PEM file itself.")


def _check_key_pair(certfile: Path, key: Path) -> UserError | None:
    def ask() -> str:  # else OpenSSL asks on the terminal, where there may be none
        raise UserError(
            f"the key {key} is protected by a passphrase",
            hint="Use one without: openssl pkey -in KEY -out PLAIN.",
        )

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certfile, key, password=ask)
    except UserError as problem:
        return problem
    except ssl.SSLError as error:
        return _describe_ssl_error(error, certfile, key)
    except OSError as error:
        return UserError(f"{certfile} can't be used: {error.strerror}", hint="See that it is a PEM file.")
    return None


def _describe_ssl_error(error: ssl.SSLError, certfile: Path, key: Path) -> UserError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return UserError(
            f"the key {key} does not belong to the certificate {certfile}",
            hint="Name the two that were made together.",
        )
    return UserError(
        f"{certfile} and {key} can't be used: {error.reason or 'they are no PEM files'}",
        hint="Both have to be PEM files: a certificate (with its chain), and its key.",
    )
