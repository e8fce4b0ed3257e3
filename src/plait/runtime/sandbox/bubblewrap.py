"""Builds the command line of bubblewrap, the sandbox of Linux."""

from __future__ import annotations

import os

from plait.runtime.sandbox.layout import Access, SandboxLayout
from plait.runtime.sandbox.spec import SandboxLimits
from plait.runtime.sandbox.task_variables import build_runner

PROGRAM = "bwrap"
# A user namespace of its own, so that root has no power over the machine either. Processes of its own, which all end with
# the sandbox; it ends with the supervisor. bwrap itself sets no_new_privs and, with /dev, a terminal folder of its own.
_NAMESPACES = (
    "--die-with-parent",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
)
# Who may change the kernel's settings, and restart the machine, without capabilities. Others need /proc for sandboxes of
# their own.
_PROTECTION_FROM_ROOT = ("--remount-ro", "/proc") if os.geteuid() == 0 else ()
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp")  # noqa: S108 - the sandbox's own

_HIDDEN_BYTES = 16 << 20  # that a hidden folder, in memory, has room for where there are limits


def build_bubblewrap_command(layout: SandboxLayout, program: str = PROGRAM) -> tuple[str, ...]:
    """Return the words that go before a command."""
    argv = [program, *_NAMESPACES, "--cap-drop", "ALL"]
    if not layout.share_network:
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *_PROTECTION_FROM_ROOT]
    if layout.limits.disk:  # both are in memory
        argv += ["--size", str(layout.limits.disk), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    for mount in layout.ordered_mounts:
        match mount.access:
            case Access.HIDDEN if layout.limits.disk:
                argv += ["--size", str(min(layout.limits.disk, _HIDDEN_BYTES)), "--tmpfs", mount.target]
            case Access.HIDDEN:
                argv += ["--tmpfs", mount.target]
            case Access.EMPTY:
                argv += ["--ro-bind", "/dev/null", mount.target]
            case Access.READ:
                argv += ["--ro-bind-try", mount.origin, mount.target]
            case Access.WRITE if layout.limits.disk and mount.target in _TEMPORARY_FOLDERS:
                argv += ["--size", str(layout.limits.disk), "--tmpfs", mount.target]
            case Access.WRITE:
                argv += ["--bind-try", mount.origin, mount.target]
    return (*argv, "--chdir", layout.workspace, "--", *_build_runner(layout.limits))


def _build_runner(limits: SandboxLimits) -> tuple[str, ...]:
    """Build the shell command that sets the limits and runs the command: bwrap's own exit status of a command that
    can't be run is 1, not 127.

    A limit that can't be set is left out. Shells don't agree on the option for processes.
    """
    lines = [f"ulimit -d {limits.memory >> 10}"] if limits.memory else []
    lines += [f"ulimit -f {limits.disk >> 9}"] if limits.disk else []
    lines += [f"ulimit -u {limits.processes} || ulimit -p {limits.processes}"] if limits.processes else []
    return build_runner(*(f"{{ {line}; }} 2>/dev/null" for line in lines))
