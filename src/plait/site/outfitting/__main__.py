"""`python -m plait.site.outfitting SPEC -- COMMAND…`: fit the workspace out, then become the command."""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from plait.core.errors import PlaitError, WorldError
from plait.site.outfitting.fitting import fit_out
from plait.site.outfitting.spec import EXIT, put, read_spec
from plait.site.outfitting.telling import say, shown

_SHELL = "/bin/sh"
_NOT_FOUND, _NOT_RUN = 127, 126  # as shells tell it


def main(words: list[str]) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _restore_locale()
    if len(words) < 3 or words[1] != "--":
        say("usage: python -m plait.site.outfitting SPEC -- COMMAND…")
        sys.exit(EXIT)
    _fit_out(Path(words[0]))
    _become(words[2:])


def _fit_out(spec_file: Path) -> None:
    try:
        spec = read_spec(spec_file)
    except WorldError as error:
        say(error.message)
        sys.exit(EXIT)
    try:
        fit_out(spec)
    except (PlaitError, OSError) as error:
        why = shown(str(error))
        with suppress(OSError):
            put(spec.failed, why.encode("utf-8", "replace"))
        say(why)
        sys.exit(EXIT)


def _restore_locale() -> None:
    """Python puts a locale of its own in the place of the plain one. The agent gets what was meant for it, where the system
    tells what that was.
    """
    with suppress(OSError):
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
        os.environ.pop("LC_CTYPE", None)
        for each in given:
            if each.startswith(b"LC_CTYPE="):
                os.environb[b"LC_CTYPE"] = each.removeprefix(b"LC_CTYPE=")


def _become(argv: list[str]) -> NoReturn:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the agent would
        signal.signal(number, signal.SIG_DFL)
    try:
        _exec(argv)
    except (OSError, ValueError) as error:
        say(f"{shown(argv[0])} can't be run: {getattr(error, 'strerror', None) or error}")
        sys.exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN)


def _exec(argv: list[str]) -> NoReturn:
    try:
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - words, never a line for a shell
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    import shutil  # noqa: PLC0415 - seldom needed

    script = shutil.which(argv[0]) or argv[0]  # a script that does not say whose: sh's, as from a shell
    os.execve(_SHELL, [_SHELL, script, *argv[1:]], os.environ)  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
