"""The engine's log, `engine.log` in the state folder."""

from __future__ import annotations

import os
import sys
import time
import traceback
from contextlib import suppress
from functools import cache

from plait.agents.redaction import Redactor, build_redactor

_batch_redactors: dict[str, Redactor] = {}


def write_line(text: str) -> None:
    """Write a line without secrets; a log that cannot be written is ignored."""
    timestamp = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        text = _get_redactor()(text)
        for redact in _batch_redactors.values():
            text = redact(text)
        sys.stderr.write(f"{timestamp} {text}\n")
        sys.stderr.flush()


def add_redactor(batch: str, redactor: Redactor) -> None:
    """Redact the secrets of this batch, too, from now on."""
    _batch_redactors[batch] = redactor


def write_traceback(error: BaseException) -> None:
    write_line("".join(traceback.format_exception(error)).rstrip())


@cache
def _get_redactor() -> Redactor:
    """Make a redactor for the engine's environment, which is that of the client that started it."""
    return build_redactor(os.environ)
