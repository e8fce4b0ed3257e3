"""`python -m plait.runtime.setup SPEC -- COMMAND…`: prepares the workspace, then becomes the command."""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from plait.core.errors import PlaitError, WorldError
from plait.runtime.setup.messages import print_message, to_single_line
from plait.runtime.setup.preparation import prepare_workspace
from plait.runtime.setup.setup_command import SETUP_FAILED_EXIT, read_spec
from plait.system.atomic_files import replace_file

_SHELL = "/bin/sh"
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126  # as in shells


def main(argv: list[str]) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _restore_locale()
    if len(argv) < 3 or argv[1] != "--":
        print_message("usage: python -m plait.runtime.setup SPEC -- COMMAND…")
        sys.exit(SETUP_FAILED_EXIT)
    _prepare(Path(argv[0]))
    _become_command(argv[2:])


def _prepare(spec_file: Path) -> None:
    try:
        spec = read_spec(spec_file)
    except WorldError as error:
        print_message(error.message)
        sys.exit(SETUP_FAILED_EXIT)
    try:
        prepare_workspace(spec)
    except (PlaitError, OSError) as error:
        why = to_single_line(str(error))
        with suppress(OSError):
            replace_file(spec.failed, why.encode("utf-8", "replace"))
        print_message(why)
        sys.exit(SETUP_FAILED_EXIT)


def _restore_locale() -> None:
    """Restore the original locale, if the system reveals it: Python replaces the C locale in the environment."""
    with suppress(OSError):
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
        os.environ.pop("LC_CTYPE", None)
        for each in given:
            if each.startswith(b"LC_CTYPE="):
                os.environb[b"LC_CTYPE"] = each.removeprefix(b"LC_CTYPE=")


def _become_command(argv: list[str]) -> NoReturn:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the agent would inherit that
        signal.signal(number, signal.SIG_DFL)
    try:
        _exec(argv)
    except (OSError, ValueError) as error:
        print_message(f"{to_single_line(argv[0])} can't be run: {getattr(error, 'strerror', None) or error}")
        sys.exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)


def _exec(argv: list[str]) -> NoReturn:
    try:
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - no shell
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    import shutil  # seldom needed

    script = shutil.which(argv[0]) or argv[0]  # a script without #! is run by sh, as from a shell
    os.execve(_SHELL, [_SHELL, script, *argv[1:]], os.environ)  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
