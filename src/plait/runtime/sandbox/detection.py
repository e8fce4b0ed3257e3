"""Finds out which sandboxes work on this machine, by running `true` in one, and which mode a setting means here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode
from plait.runtime.sandbox import bubblewrap, seatbelt
from plait.runtime.sandbox.layout import SandboxLayout
from plait.runtime.sandbox.seccomp import add_filter, redirect
from plait.runtime.sandbox.spec import SandboxLimits

_PROBE_SECONDS, _PROBE_BYTES = 20.0, 1 << 20
_IS_ADVICE = re.compile(r"(Run|See) '.*\bhelp'")  # of docker, after its error
_INSTALL_HINT = "Install bubblewrap: apt-get install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap."
_NAMESPACE_HINT = (
    "Unprivileged user namespaces are needed: see the sysctls kernel.unprivileged_userns_clone and "
    "kernel.apparmor_restrict_unprivileged_userns; in a container, run it with --security-opt seccomp=unconfined."
)

_FILTER_HINT = "podman can filter it (apt-get install podman), and docker if you run it yourself."


@dataclass(frozen=True, slots=True)
class SandboxSupport:
    """Whether a mode works here. `text` says with what, or why not; `hint` what to do then. `filters`: it filters the
    network as it should.
    """

    mode: SandboxMode
    works: bool
    text: str
    hint: str = ""
    filters: bool = True


def list_support(image: str = "") -> list[SandboxSupport]:
    """List the modes that confine something, the weakest first; `image` is that of containers."""
    worktree = probe_worktree()
    return [worktree, probe_strict(worktree), probe_container(image)]


@cache
def probe_container(image: str) -> SandboxSupport:
    from plait.runtime.sandbox.container import build_probe_command, can_filter, find_container_program

    mode, program = SandboxMode.CONTAINER, find_container_program()
    if program is None:
        hint = "Install podman: apt-get install podman."
        return SandboxSupport(mode, works=False, text="neither podman nor docker is installed", hint=hint)
    if not image:
        hint = "Set sandbox.image to an image with git, the agent and what checks need."
        return SandboxSupport(mode, works=False, text=f"{program} is installed, but no image is set", hint=hint)
    problem = _try_command(build_probe_command(program, image))
    if problem:
        return SandboxSupport(mode, works=False, text=f"{program} can't run {image}: {problem}")
    try:
        filters = can_filter(program, image)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        return SandboxSupport(mode, works=False, text=f"{program} can't run {image}: {error}")
    if not filters:
        text = f"{program}, {image}; its network is not filtered"
        return SandboxSupport(mode, works=True, text=text, hint=_FILTER_HINT, filters=False)
    return SandboxSupport(mode, works=True, text=f"{program}, {image}")


def probe_strict(worktree: SandboxSupport) -> SandboxSupport:
    """Find out whether strict works: it needs what worktree needs, and a network of its own."""
    mode = SandboxMode.STRICT
    if sys.platform != "linux":
        return SandboxSupport(mode, works=False, text="it exists on Linux only")
    if not worktree.works:
        return SandboxSupport(mode, works=False, text=worktree.text, hint=worktree.hint)
    return _probe_network(worktree.text)


@cache
def _probe_network(text: str) -> SandboxSupport:
    from plait.runtime.sandbox.network import build_network_command

    layout = SandboxLayout("/", (), share_network=False, limits=SandboxLimits(disk=_PROBE_BYTES))
    with TemporaryDirectory() as folder:
        command, redirection = add_filter(bubblewrap.build_bubblewrap_command(layout), Path(folder))
        problem = _try_command((*redirect(redirection, (*build_network_command(()), *command)), "true"))
    if "--size" in problem:
        why = f"it can't limit folders in memory: {problem}"
        hint = "Install bubblewrap 0.7 or newer, without setuid."
        return SandboxSupport(SandboxMode.STRICT, works=False, text=why, hint=hint)
    if problem:
        why = f"its network can't be filtered: {problem}"
        return SandboxSupport(SandboxMode.STRICT, works=False, text=why, hint=_NAMESPACE_HINT)
    return SandboxSupport(SandboxMode.STRICT, works=True, text=text)


@cache
def probe_worktree() -> SandboxSupport:
    mode = SandboxMode.WORKTREE
    if sys.platform == "darwin":
        works = shutil.which(seatbelt.PROGRAM) is not None
        return SandboxSupport(mode, works, "sandbox-exec (untested)" if works else "sandbox-exec isn't there")
    if sys.platform != "linux":
        return SandboxSupport(mode, works=False, text=f"there is none for {sys.platform}")
    program = shutil.which(bubblewrap.PROGRAM)
    if program is None:
        return SandboxSupport(mode, works=False, text="bubblewrap (bwrap) isn't installed", hint=_INSTALL_HINT)
    with TemporaryDirectory() as folder:
        command = bubblewrap.build_bubblewrap_command(SandboxLayout("/", ()), program)
        command, redirection = add_filter(command, Path(folder))
        problem = _try_command((*redirect(redirection, command), "true"))
    if problem:
        return SandboxSupport(
            mode, works=False, text=f"bubblewrap can't make a sandbox: {problem}", hint=_NAMESPACE_HINT
        )
    return SandboxSupport(mode, works=True, text=f"bubblewrap, {program}")


def forget_probes() -> None:
    """Forget the results: something may have been installed since."""
    for probe in (probe_container, _probe_network, probe_worktree):
        probe.cache_clear()


def _try_command(argv: tuple[str, ...]) -> str:
    """Say why a command fails; "" if it does not."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = [line for line in done.stderr.splitlines() if line and not _IS_ADVICE.match(line)]
    return (lines[-1] if lines else f"exit status {done.returncode}") if done.returncode else ""


@dataclass(frozen=True, slots=True)
class ResolvedMode:
    """The mode that a setting means here; `note` says why it is no stronger one, `warning` what it lacks."""

    mode: SandboxMode
    note: str = ""
    warning: str = ""


def resolve_mode(wanted: SandboxMode, image: str = "") -> ResolvedMode:
    """Choose the mode that a setting means here. Raises UserError if it names one that doesn't work here."""
    if wanted is SandboxMode.OFF:
        return ResolvedMode(wanted)
    support = {each.mode: each for each in list_support(image)}
    if wanted is SandboxMode.AUTO:
        # A container without a filtered network is weaker than strict.
        working = sorted((each for each in support.values() if each.works), key=lambda each: each.filters)
        why = "; ".join(dict.fromkeys(each.text for each in support.values() if not each.works))
        return ResolvedMode(working[-1].mode, why) if working else ResolvedMode(SandboxMode.OFF, why)
    found = support.get(wanted)
    if found is None or not found.works:
        why = f": {found.text}" if found else ""
        raise UserError(
            f"the sandbox {wanted} doesn't work here{why}", hint=found.hint if found else "See plait doctor."
        )
    return ResolvedMode(wanted, warning="" if found.filters else found.text)
