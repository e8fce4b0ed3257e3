"""The engine's log: a line per thing a person may want to know afterwards, in `engine.log` of the state folder."""

from __future__ import annotations

import sys
import time
import traceback
from contextlib import suppress


def say(text: str) -> None:
    """A log that can't be written is no reason to stop."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        print(f"{stamp} {text}", file=sys.stderr, flush=True)  # noqa: T201 - standard error is the log


def say_trace(error: BaseException) -> None:
    say("".join(traceback.format_exception(error)).rstrip())
