"""The command line of bubblewrap, the sandbox of Linux."""

from __future__ import annotations

from plait.runtime.sandbox.layout import Access, SandboxLayout

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
# bwrap's own exit status of a command that can't be run is 1, not 127.
_RUN_COMMAND = ("/bin/sh", "-c", 'exec "$0" "$@"')


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
            case Access.WRITE:
                argv += ["--bind-try", mount.origin, mount.target]
    return (*argv, "--chdir", layout.workspace, "--", *_RUN_COMMAND)
