"""Which one-time codes were used: an empty file for each, whose name says until when it matters.

A name can be made only once, so of two who use a code at the same time one has it, whichever server they ask, and a server
that starts again knows.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from plait.client.server_tokens import find_user_state_folder
from plait.core.errors import WorldError
from plait.system.atomic_files import fsync_path, make_private_folder

_RETENTION_SECONDS = 86_400  # seconds beyond its end: a clock that is set back must not make a code good again


class UsedCodes:
    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def redeem(self, code: str, until: float) -> bool:
        """Whether it was unused. Durable on return; raises WorldError if it can't be remembered: then it is not to be used."""
        name = f"{int(until)}-{hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()}"
        try:
            make_private_folder(self._folder)
            self._delete_expired()
            return self._claim(self._folder / name)
        except OSError as error:
            raise WorldError(
                f"the used code can't be remembered in {self._folder}: {error.strerror}",
                hint="See who may write there, and whether the disk is full: ls -ld, df.",
            ) from error

    def _claim(self, path: Path) -> bool:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        fsync_path(self._folder)
        return True

    def _delete_expired(self) -> None:
        over = self._now() - _RETENTION_SECONDS
        for name in os.listdir(self._folder):  # noqa: PTH208 - names are wanted
            until = name.partition("-")[0]
            if until.isascii() and until.isdigit() and int(until) < over:
                with suppress(OSError):  # another server sweeps too
                    (self._folder / name).unlink()


def open_used_codes() -> UsedCodes:

    return UsedCodes(find_user_state_folder() / "spent-codes")
