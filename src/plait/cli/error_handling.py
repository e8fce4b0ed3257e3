"""Nothing ends in a traceback: whose fault it is, what it was and what to do is told, whatever a verb runs into."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from plait.cli import output, prestart
from plait.core.errors import PlaitError, WorldError


def prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed by whoever started this
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - to the end of the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, TextIOWrapper
        ):  # a sign that a terminal does not know is no reason to say nothing
            stream.reconfigure(errors="replace")


def run_guarded(call: Callable[[], int], *, as_json: bool) -> int:
    """The exit code."""
    try:
        code = call()
        sys.stdout.flush()
    except PlaitError as error:
        return output.report_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        _discard_output()
        return output.OK
    except OSError as error:
        _discard_output()
        return output.report_error(WorldError(output.describe_os_error(error)), cause=error)
    except Exception as error:  # noqa: BLE001 - the last one who can tell of it
        return output.report_error(output.wrap_as_bug(error), as_json=as_json, cause=error)
    return code


def exit_now(code: int) -> NoReturn:
    """At once: what Python tidies up at its end is the system's to take back anyway, and takes a while."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    prestart.drop_engine()
    os._exit(code)


def _discard_output() -> None:
    """What can't be written is dropped, so that Python does not complain about it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
