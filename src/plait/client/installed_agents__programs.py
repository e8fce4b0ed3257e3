"""Programs: where they are, and which version they say they are. All are asked at once, and none is waited for long."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from signal import SIGKILL
from tempfile import TemporaryFile

from plait.core.fast_dataclass import dataclass

VERSION_TIMEOUT_SECONDS = 10.0  # seconds; some start slowly
_VERSION_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_MAX_OUTPUT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Program:
    """`path` None: it is not there. `version` None: it did not say; then `trouble` tells why, where that is known."""

    name: str
    path: str | None = None
    version: str | None = None
    trouble: str = ""


def probe_programs(
    names: Sequence[str], path: str | None = None, *, timeout: float = VERSION_TIMEOUT_SECONDS
) -> Mapping[str, Program]:
    """`path` is the PATH to look on; None: this process's own."""
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        return dict(
            zip(names, pool.map(lambda name: _probe_program(name, path, timeout), names), strict=True)
        )


def _probe_program(name: str, path: str | None, patience: float) -> Program:
    found = shutil.which(name, path=path)
    if found is None:
        return Program(name)
    try:
        said, code = _read_output([found, "--version"], patience)
    except subprocess.TimeoutExpired:
        return Program(name, found, trouble=f"no answer in {patience:g} seconds")
    except OSError as error:
        return Program(name, found, trouble=error.strerror or str(error))
    number = _VERSION_NUMBER.search(said)
    if code:
        return Program(name, found, trouble=f"--version ended with exit status {code}")
    return Program(name, found, number[0] if number else None)


def _read_output(words: Sequence[str], patience: float) -> tuple[str, int]:
    """To a file, not to a pipe: what a program leaves running would keep a pipe open for ever."""
    with TemporaryFile() as out:
        process = subprocess.Popen(  # noqa: S603 - a program that a person installed, and a fixed word
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd="/",
        )
        try:
            code = process.wait(patience)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            process.wait()
            raise
        out.seek(0)
        return out.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace"), code
