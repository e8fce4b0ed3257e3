"""A container as the sandbox: the same files, network and limits as strict, with the programs of an image.

    python -I container.py podman IMAGE PORT,PORT,… HOST,HOST,… FILE ARGUMENT…

The container gets no network but the filtering proxy, whose sockets are made in its network namespace before it starts. podman
creates and initialises a container first. docker can't stop in between, so its container joins the network of another one,
which waits until this process ends. Where this user can't enter that, as with a docker that root runs, it is not filtered.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.runtime.sandbox.layout import Access, SandboxLayout
from plait.runtime.sandbox.network import NetworkHelper, serve_proxy, wait_for_use, write_line
from plait.runtime.sandbox.spec import SandboxLimits
from plait.runtime.sandbox.task_variables import build_runner
from plait.system import log

PODMAN, DOCKER = "podman", "docker"
# Of the image or of the container itself.
_OWN_VARIABLES = frozenset(
    {"PATH", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONHOME"}
)
_OPEN_FILES, _PROCESSES = 8192, 8192
_REMOVAL_TRIES = 5
_PLACE_VARIABLES = ("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
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
    """Build the arguments of `create` or `run`, up to the command. Variables are only named, because their values are
    secrets.
    """
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
    return (*argv, "--workdir", layout.workspace, image, *build_runner())


def _build_ulimits(limits: SandboxLimits) -> list[str]:
    """Build limits that are lower than podman's own, which this process may not be allowed to set."""
    values = {"nofile": _OPEN_FILES, "nproc": limits.processes or _PROCESSES}
    values |= {"fsize": limits.disk} if limits.disk else {}
    return [word for name, value in values.items() for word in ("--ulimit", f"{name}={value}:{value}")]


def name_container(program: str, private: Path) -> str:
    """Make a name for the attempt's container, by which `remove_container` finds it."""
    name = f"plait-{os.getpid()}-{os.urandom(6).hex()}"
    (private / _NAME_FILE).write_text(f"{program} {name}")
    return name


def remove_container(private: Path) -> None:
    """Remove what is left of an attempt's container: if its process is killed, nothing else removes it."""
    with suppress(OSError, ValueError):
        program, name = (private / _NAME_FILE).read_text().split()
        error = b""
        for _ in range(_REMOVAL_TRIES):  # it can be in the way of the program's own clean-up
            done = subprocess.run(
                [program, "rm", "--force", name], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            if not done.returncode:
                return
            error = done.stderr
        log.write_line(f"warning: can't remove the container {name}: {error.decode(errors='replace').strip()}")


def build_probe_command(program: str, image: str) -> tuple[str, ...]:
    """Build a command that runs `true` in a container, without network."""
    options = ("run", "--rm", "--network", "none", "--cap-drop", "all", *_build_ulimits(SandboxLimits()))
    return (program, *options, image, "true")


def can_filter(program: str, image: str) -> bool:
    """Whether this user can make sockets in the network of a container. Raises OSError if it can't be started."""
    if program == PODMAN:
        return True
    with _open_network(program, image, [1]) as network:
        return bool(network.listeners)


def build_container_command(  # noqa: PLR0913 - they are the arguments above
    program: str, image: str, arguments: Sequence[str], *, ports: Sequence[int], hosts: Sequence[str], denials: str
) -> tuple[str, ...]:
    """Build the words that go before a command."""
    # How programs of the user find their service, which is not for what is in the container.
    place = [f"{name}={value}" for name in _PLACE_VARIABLES if (value := os.environ.get(name))]
    words = (sys.executable, "-I", __file__, program, image, ",".join(map(str, ports)), ",".join(hosts), denials)
    return (*(("/usr/bin/env", *place) if place else ()), *words, *arguments)


def main(argv: Sequence[str]) -> int:
    program, image, ports, hosts, denials, *arguments = argv
    proxy = _Proxy([int(port) for port in ports.split(",")], hosts.split(","), denials)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # for the command, whose end is awaited
    if program != PODMAN:
        return _run_beside(program, image, arguments, proxy)
    created = subprocess.run([program, "create", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if created.returncode:
        return created.returncode
    container = created.stdout.split()[-1]
    try:
        return _run_container(program, container, proxy)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        write_line(f"can't start the container: {error}")
        return 1
    finally:
        subprocess.run([program, "rm", "--force", container], stdout=subprocess.DEVNULL, check=False)


@dataclass(frozen=True, slots=True)
class _Proxy:
    ports: Sequence[int]
    hosts: Sequence[str]
    denials: str

    def serve(self, pidfd: int, listeners: Sequence[int], root: int = 0) -> None:
        serve_proxy(pidfd, self.hosts, dict(zip(self.ports, listeners, strict=True)), self.denials, root)


def _run_container(program: str, container: str, proxy: _Proxy) -> int:
    subprocess.run([program, "init", container], stdout=subprocess.DEVNULL, check=True)
    inspect = [program, "inspect", "--format", "{{.State.Pid}}", container]
    pid = int(subprocess.run(inspect, stdout=subprocess.PIPE, text=True, check=True).stdout)
    listeners = NetworkHelper().listen(pid, proxy.ports)
    process = subprocess.Popen([program, "start", "--attach", "--interactive", container])
    pidfd = os.pidfd_open(process.pid)
    if wait_for_use(pidfd, listeners):
        proxy.serve(pidfd, listeners, pid)
    return process.wait()


@dataclass(frozen=True, slots=True)
class _Network:
    """The network of a waiting container. `listeners` is empty if none could be made there."""

    container: str
    listeners: Sequence[int] = ()


@contextmanager
def _open_network(program: str, image: str, ports: Sequence[int]) -> Iterator[_Network]:
    """Open a network without a way out, in which sockets listen. Raises OSError."""
    name = f"plait-network-{os.getpid()}-{os.urandom(6).hex()}"
    options = ("--rm", "--interactive", "--read-only", "--network", "none", "--cap-drop", "all", "--name", name)
    process = subprocess.Popen(
        (program, "run", *options, *_build_ulimits(SandboxLimits()), image, "/bin/sh", "-c", "echo up; read line"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # a signal to the attempt is not for it
    )
    with process:  # its input is closed at the end, or if this process is killed
        assert process.stdout is not None
        if process.stdout.readline() != b"up\n":
            raise OSError("its network can't be made")
        pid = int(subprocess.check_output([program, "inspect", "--format", "{{.State.Pid}}", name]))
        listeners: Sequence[int] = ()
        try:
            listeners = NetworkHelper().listen(pid, ports)
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.EACCES, errno.ENOENT}:
                raise
        yield _Network(name, listeners)


def _run_beside(program: str, image: str, arguments: Sequence[str], proxy: _Proxy) -> int:
    try:
        with _open_network(program, image, proxy.ports) as network:
            if not network.listeners:
                write_line(
                    f"the network of this container is not filtered: that needs a {program} that runs as you, or plait as root"
                )
            joined = ["--network", f"container:{network.container}"] if network.listeners else []
            process = subprocess.Popen([program, "run", "--rm", *joined, *arguments])
            pidfd = os.pidfd_open(process.pid)
            if network.listeners:
                proxy.serve(pidfd, network.listeners)
            return process.wait()
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        write_line(f"can't start the container: {error}")
        return 1
    finally:  # where what ran it was killed
        name = arguments[arguments.index("--name") + 1]
        subprocess.run([program, "rm", "--force", name], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
