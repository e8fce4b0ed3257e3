"""The command line of bubblewrap, the sandbox of Linux."""

from __future__ import annotations

from plait.runtime.sandbox.layout import Access, SandboxLayout
from plait.runtime.sandbox.spec import SandboxLimits

PROGRAM = "bwrap"
# A user namespace of its own, so that root has no power over the machine either. Processes of its own, which all end with
# the sandbox; it ends with the supervisor. bwrap itself sets no_new_privs and, with /dev, a terminal folder of its own.
_NAMESPACES = (
    "--die-with-parent",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp")  # noqa: S108 - the sandbox's own


def build_bubblewrap_command(layout: SandboxLayout, program: str = PROGRAM) -> tuple[str, ...]:
    """The words that go before a command."""
    argv = [program, *_NAMESPACES, "--cap-drop", "ALL"]
    if not layout.share_network:
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    argv += ["--ro-bind-try", "/proc/sys", "/proc/sys"]  # root may write the kernel's settings without capabilities
    for mount in layout.ordered_mounts:
        match mount.access:
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
    """A shell that becomes the command: bwrap's own exit status of one that can't be run is 1, not 127.

    What a limit can't be set for is left unlimited. Shells don't agree on the option for processes.
    """
    lines = [f"ulimit -d {limits.memory >> 10}"] if limits.memory else []
    lines += [f"ulimit -f {limits.disk >> 9}"] if limits.disk else []
    lines += [f"ulimit -u {limits.processes} || ulimit -p {limits.processes}"] if limits.processes else []
    return ("/bin/sh", "-c", "; ".join([*(f"{{ {line}; }} 2>/dev/null" for line in lines), 'exec "$0" "$@"']))
