"""Report every error as a message with a hint and an exit code, never as a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from plait.cli import fast_path, output
from plait.cli.output import FAILED, INTERNAL, USAGE, print_json, print_note
from plait.client.api_errors import DEBUG_VARIABLE, add_bug_hint, list_error_problems
from plait.core.errors import Bug, Fault, PlaitError, WorldError


def prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # print what the terminal's encoding lacks as ?
            stream.reconfigure(errors="replace")


def run_guarded(call: Callable[[], int], *, as_json: bool) -> int:
    """Run a command, report what it raises, and return the exit code."""
    try:
        code = call()
        sys.stdout.flush()
    except PlaitError as error:
        return report_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, such as `head`
        _discard_output()
        return output.OK
    except OSError as error:
        _discard_output()
        return report_error(WorldError(describe_os_error(error)), cause=error)
    except Exception as error:  # noqa: BLE001 - reported as a bug
        bug = Bug(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        return report_error(bug, as_json=as_json, cause=error)
    return code


def exit_now(code: int) -> NoReturn:
    """Exit without Python's cleanup, which takes a while."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    fast_path.drop_engine()
    os._exit(code)


def _discard_output() -> None:
    """Drop what can't be written, so that Python doesn't complain about it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_error(error: PlaitError, *, as_json: bool = False, cause: BaseException | None = None) -> int:
    """Print an error, as JSON if asked for, and return its exit code."""
    print_traceback(cause or error)
    error = add_bug_hint(error)
    if as_json:
        from plait.client.api_models import make_problem  # only for --json

        print_json({"problems": list(map(make_problem, list_error_problems(error)))})
    else:
        print_note(error.message, error.hint)
    return get_error_exit_code(error)


def print_traceback(error: BaseException) -> None:
    """Print the traceback if the debug variable is set."""
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)


def describe_os_error(error: OSError) -> str:
    message = error.strerror or str(error)
    return f"{error.filename}: {message}" if error.filename else message


def get_error_exit_code(error: PlaitError) -> int:
    match error.fault:
        case Fault.USER | Fault.CONFIG:
            return USAGE
        case Fault.BUG:
            return INTERNAL
        case Fault.AGENT | Fault.WORLD:
            return FAILED
