"""Builds the profile of sandbox-exec, the sandbox of macOS. Not tested: it was written from the documentation of its
language.

It has no mounts: a hidden folder can't be read instead of being empty, and the command sees the real home folder's
path. Private folders are reached by variables (HOME, TMPDIR) instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.runtime.sandbox.layout import Access, Mount, SandboxLayout
from plait.runtime.sandbox.task_variables import build_runner

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdout", "/dev/stderr")


def build_seatbelt_command(layout: SandboxLayout) -> tuple[str, ...]:
    """Return the words that go before a command."""
    return (PROGRAM, "-p", build_profile(layout), *build_runner())


def build_profile(layout: SandboxLayout) -> str:
    """Build the profile. The last rule that matches counts, so outer folders come first."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)", "(deny process-info* (target others))"]
    lines += ["(deny signal (target others))", "(allow signal (target same-sandbox))"]
    lines += ["(deny appleevent-send)", "(deny lsopen)", "(deny job-creation)"]  # what others would run for it, outside
    if not layout.share_network:
        lines += [
            "(deny network*)",
            '(allow network* (remote ip "localhost:*"))',
            '(allow network* (local ip "localhost:*"))',
        ]
    lines += [f"(allow file-write* (literal {_quote(path)}))" for path in _DEVICES]
    lines += [line for mount in layout.ordered_mounts for line in _build_rules(mount)]
    return "\n".join(lines) + "\n"


def _build_rules(mount: Mount) -> Iterable[str]:
    place = f"(subpath {_quote(mount.target)})"
    match mount.access:
        case Access.HIDDEN | Access.EMPTY:
            yield f"(deny file-read* file-write* network-outbound {place})"  # sockets, too
        case Access.READ:
            yield f"(allow file-read* {place})"
            yield f"(deny file-write* {place})"
        case Access.WRITE:
            yield f"(allow file-read* file-write* (subpath {_quote(mount.origin)}))"
            if mount.origin != mount.target:
                yield f"(deny file-read* file-write* {place})"


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
