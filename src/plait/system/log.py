"""The engine's log: a line per thing a person may want to know afterwards, in `engine.log` of the state folder."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress
from functools import cache

from plait.agents.redaction import Redactor, build_env_redactor


def write_line(text: str) -> None:
    """A log that can't be written is no reason to stop. What others say is told without secrets."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        print(f"{stamp} {_get_redactor()(text)}", file=sys.stderr, flush=True)  # noqa: T201 - standard error is the log


def write_traceback(error: BaseException) -> None:
    write_line("".join(traceback.format_exception(error)).rstrip())


@cache
def _get_redactor() -> Redactor:
    """The environment of an engine is that of the front that started it."""
    return build_env_redactor(os.environ)
