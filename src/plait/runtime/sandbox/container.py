"""A container as the sandbox: the same files, network and limits as strict, with the programs of an image.

    python -I container.py podman PORT,PORT,… HOST,HOST,… ARGUMENT…

With podman, the container gets no network but the filtering proxy: it is created and initialised, sockets are made in its
network namespace, and then it is started. Docker can't stop in between, so its network is not filtered.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.runtime.sandbox.layout import Access, SandboxLayout
from plait.runtime.sandbox.network import listen_inside, serve_proxy, write_line
from plait.runtime.sandbox.spec import SandboxLimits

PODMAN, DOCKER = "podman", "docker"
# Of the image or of the container itself.
_OWN_VARIABLES = frozenset(
    {"PATH", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONHOME"}
)
_OPEN_FILES, _PROCESSES = 8192, 8192
_NAME_FILE = "container"  # in the attempt's private folder
_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp")  # noqa: S108 - the container's own


def find_container_program() -> str | None:
    return next((name for name in (PODMAN, DOCKER) if shutil.which(name)), None)


def build_container_arguments(
    program: str,
    layout: SandboxLayout,
    image: str,
    variables: Iterable[str],
    user: tuple[int, int],
) -> tuple[str, ...]:
    """The arguments of `create` or `run`, up to the image. Variables are named only: their values are secrets."""
    limits = layout.limits
    argv = ["--interactive", "--cap-drop", "all", "--security-opt", "no-new-privileges", "--read-only"]
    argv += ["--network", "none"] if program == PODMAN else []
    argv += ["--userns", "keep-id"] if program == PODMAN and user[0] else ["--user", f"{user[0]}:{user[1]}"]
    argv += ["--memory", str(limits.memory)] if limits.memory else []
    argv += ["--pids-limit", str(limits.processes)] if limits.processes else []
    argv += _build_ulimits(limits)
    size = f":size={limits.disk}" if limits.disk else ""
    argv += [word for folder in _TEMPORARY_FOLDERS for word in ("--tmpfs", f"{folder}{size}")]
    argv += [word for name in variables if name not in _OWN_VARIABLES for word in ("--env", name)]
    for mount in layout.ordered_mounts:
        if mount.access in {Access.READ, Access.WRITE} and mount.target not in _TEMPORARY_FOLDERS:
            if ":" in f"{mount.origin}{mount.target}":
                raise WorldError(f"a container can't have the path {mount.target}: it has a colon in it")
            mode = ":ro" if mount.access is Access.READ else ""
            argv += ["--volume", f"{mount.origin}:{mount.target}{mode}"]
    return (*argv, "--workdir", layout.workspace, image)


def _build_ulimits(limits: SandboxLimits) -> list[str]:
    """Lower than podman's own, which this process may not be allowed to set."""
    values = {"nofile": _OPEN_FILES, "nproc": limits.processes or _PROCESSES}
    values |= {"fsize": limits.disk} if limits.disk else {}
    return [word for name, value in values.items() for word in ("--ulimit", f"{name}={value}:{value}")]


def name_container(program: str, private: Path) -> str:
    """A name for the attempt's container, by which `remove_container` finds it."""
    name = f"plait-{os.getpid()}-{os.urandom(6).hex()}"
    (private / _NAME_FILE).write_text(f"{program} {name}")
    return name


def remove_container(private: Path) -> None:
    """Remove what is left of an attempt's container: killed with it, nothing else does."""
    with suppress(OSError, ValueError):
        program, name = (private / _NAME_FILE).read_text().split()

        subprocess.run([program, "rm", "--force", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def build_probe_command(program: str, image: str) -> tuple[str, ...]:
    """Runs `true` in a container, without network."""
    options = ("run", "--rm", "--network", "none", "--cap-drop", "all", *_build_ulimits(SandboxLimits()))
    return (program, *options, image, "true")


def build_container_command(
    program: str, arguments: Sequence[str], ports: Sequence[int], hosts: Sequence[str]
) -> tuple[str, ...]:
    """The words that go before a command."""
    return (sys.executable, "-I", __file__, program, ",".join(map(str, ports)), ",".join(hosts), *arguments)


def main(argv: Sequence[str]) -> int:
    program, ports, hosts, arguments = argv[0], argv[1], argv[2], argv[3:]
    if program != PODMAN:
        write_line("the network of this container is not filtered: that needs podman")
        os.execvp(program, [program, "run", "--rm", *arguments])  # noqa: S606 - no shell
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # for the command, whose end is awaited
    created = subprocess.run([program, "create", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if created.returncode:
        return created.returncode
    container = created.stdout.split()[-1]
    try:
        return _run_container(program, container, [int(port) for port in ports.split(",")], hosts.split(","))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        write_line(f"can't start the container: {error}")
        return 1
    finally:
        subprocess.run([program, "rm", "--force", container], stdout=subprocess.DEVNULL, check=False)


def _run_container(program: str, container: str, ports: Sequence[int], hosts: Sequence[str]) -> int:
    subprocess.run([program, "init", container], stdout=subprocess.DEVNULL, check=True)
    inspect = [program, "inspect", "--format", "{{.State.Pid}}", container]
    pid = int(subprocess.run(inspect, stdout=subprocess.PIPE, text=True, check=True).stdout)
    listeners = listen_inside(pid, ports)
    process = subprocess.Popen([program, "start", "--attach", "--interactive", container])
    pidfd = os.pidfd_open(process.pid)
    if pidfd not in select.select((pidfd, *listeners), (), ())[0]:
        serve_proxy(pidfd, hosts, listeners[0], dict(zip(ports[1:], listeners[1:], strict=True)))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
