"""The engine's log, `engine.log` in the state folder."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress
from functools import cache

from plait.agents.redaction import Redactor, build_redactor


def write_line(text: str) -> None:
    """Write a line without secrets; a log that cannot be written is ignored."""
    timestamp = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        sys.stderr.write(f"{timestamp} {_get_redactor()(text)}\n")
        sys.stderr.flush()


def write_traceback(error: BaseException) -> None:
    write_line("".join(traceback.format_exception(error)).rstrip())


@cache
def _get_redactor() -> Redactor:
    """The engine's environment is that of the client that started it."""
    return build_redactor(os.environ)
