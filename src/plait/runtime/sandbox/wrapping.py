"""Puts an attempt's command into its sandbox."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.settings import SandboxMode
from plait.git.worktrees.metadata import read_gitdir_link
from plait.git.worktrees.sandbox_view import GitView, build_view
from plait.runtime.executor import AttemptSpec
from plait.runtime.sandbox import bubblewrap, seatbelt
from plait.runtime.sandbox.disk_watch import write_watch
from plait.runtime.sandbox.layout import SandboxLayout
from plait.runtime.sandbox.limits import build_limit_line
from plait.runtime.sandbox.preparation import SandboxPlaces, prepare_layout
from plait.runtime.sandbox.proxy_server import ProxyRequest, ProxyServer
from plait.runtime.sandbox.seccomp import add_filter, redirect
from plait.runtime.sandbox.spec import SandboxSpec
from plait.system.process_identity import TAG_VARIABLE
from plait.system.state_paths import AttemptFolder


def build_sandbox_command(  # noqa: PLR0913 - each is another place
    spec: AttemptSpec,
    attempt_folder: Path,
    state: Path,
    git_dir: Path | None = None,
    worktrees: Path | None = None,
    *,
    runs_once: bool = False,
) -> tuple[str, ...]:
    """Prepare the sandbox of an attempt whose workspace is ready; return the words that go before its command, () if it
    has no sandbox.

    `state` is plait's folder, or one around it, `git_dir` that of the repository whose worktree the workspace is,
    `worktrees` the folder of all; for an attempt in place, the repository is around the state. `runs_once`: the words
    go before one command, which then starts faster. Raises WorldError.
    """
    sandbox = spec.sandbox
    if sandbox is None or sandbox.mode is SandboxMode.OFF:
        return ()
    try:
        view = _build_git_view(Path(spec.workspace), git_dir or state.parent, spec.checkouts)
        places = SandboxPlaces(attempt_folder, state, worktrees, view)
        layout = prepare_layout(spec, sandbox, places)
        if layout.limits.disk:
            write_watch(places.private, layout.limits.disk, layout.writable)
    except OSError as error:
        raise WorldError(f"can't prepare the sandbox of {spec.attempt}: {error}") from error
    if sandbox.mode is SandboxMode.CONTAINER:
        return _build_container_command(spec, sandbox, layout, places)
    if sys.platform == "darwin":
        return seatbelt.build_seatbelt_command(layout)
    program = shutil.which(bubblewrap.PROGRAM)
    if program is None:
        raise WorldError("bubblewrap (bwrap) isn't installed, and this attempt may only run in a sandbox")
    command, redirection = add_filter(bubblewrap.build_bubblewrap_command(layout, program), places.private)
    if layout.share_network:
        return redirect(redirection, command)
    name = f"{os.getpid()}-{os.urandom(6).hex()}"
    limit = build_limit_line(name, layout.limits, places.private)
    command, pipes = _filter_network(command, sandbox.hosts, places, runs_once=runs_once)
    return redirect(f"{redirection} {pipes}".strip(), command, limit)


def _filter_network(
    command: tuple[str, ...], hosts: Sequence[str], places: SandboxPlaces, *, runs_once: bool
) -> tuple[tuple[str, ...], str]:
    """Build a command of bwrap without network, with a proxy as its only way out, and what a shell has to open for it."""
    from plait.runtime.sandbox.network import build_network_command, pick_ports  # only where the network is filtered

    if runs_once:
        transcript = str(AttemptFolder(places.attempt_folder).transcript)
        request = ProxyRequest(pick_ports(hosts), hosts, transcript, str(places.private), str(places.denials))
        started = _proxy_server().start_proxy(request, command)
        if started is not None:
            return started
    # bwrap ends with the process that filters its network, and that with the supervisor.
    setpriv = shutil.which("setpriv")
    dies_with_parent = (setpriv, "--pdeathsig", "KILL") if setpriv is not None else ()
    return (*dies_with_parent, *build_network_command(hosts, str(places.denials)), *command), ""


@cache
def _proxy_server() -> ProxyServer:
    """Return the proxy server of this process."""
    server = ProxyServer()
    atexit.register(server.close)
    return server


def _build_container_command(
    spec: AttemptSpec, sandbox: SandboxSpec, layout: SandboxLayout, places: SandboxPlaces
) -> tuple[str, ...]:
    from plait.runtime.sandbox import container  # only where there are containers
    from plait.runtime.sandbox.network import pick_ports

    program = container.find_container_program()
    if program is None or not sandbox.image:
        raise WorldError("a container needs podman or docker, and sandbox.image")
    if sys.executable in spec.argv[:1]:
        raise WorldError("this agent is part of plait, which the image doesn't have: use the sandbox strict for it")
    arguments = container.build_container_arguments(
        program,
        layout,
        sandbox.image,
        [TAG_VARIABLE, *spec.env],
        (os.geteuid(), os.getegid()),
    )
    arguments = ("--name", container.name_container(program, places.private), *arguments)
    return container.build_container_command(
        program,
        sandbox.image,
        arguments,
        ports=pick_ports(sandbox.hosts),
        hosts=sandbox.hosts,
        denials=str(places.denials),
    )


def _build_git_view(workspace: Path, common: Path, checkouts: Sequence[str]) -> GitView | None:
    """Build the view of git's folder; None if the workspace is no worktree of plait's. `checkouts` are those beside it."""
    gitdir = read_gitdir_link(workspace)
    if gitdir is None or os.path.realpath(gitdir.parent) != os.path.realpath(common / "worktrees"):
        return None
    if not gitdir.name.startswith("plait-"):
        return None
    sides = [side for path in checkouts if (side := read_gitdir_link(Path(path))) is not None]
    return build_view(common, gitdir, sides)
