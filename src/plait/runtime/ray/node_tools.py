"""Checks what attempts need of the node that they run on: the programs of their agents, and a sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from plait.core.settings import SandboxMode
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray.wire import UnsuitableNodeError


def name_tools(spec: AttemptSpec) -> str:
    """Return a name for the tools of an attempt. All attempts with this name need the same."""
    mode = SandboxMode.OFF if spec.sandbox is None else spec.sandbox.mode
    return " ".join((*spec.programs, mode.value))


def find_missing(programs: Sequence[str], path: str | None = None) -> list[str]:
    """List programs that are not installed here, except those in the workspace, which can't be checked. `path` is a
    PATH, as in an environment.
    """
    known = [each for each in programs if "/" not in each or each.startswith("/")]
    return [each for each in known if shutil.which(each, path=path) is None]


def require_tools(spec: AttemptSpec) -> None:
    """Check the node's tools, on the node, before anything is prepared. Raises UnsuitableNodeError."""
    sandbox = spec.sandbox
    mode = SandboxMode.OFF if sandbox is None else sandbox.mode
    if mode is not SandboxMode.CONTAINER and (missing := find_missing(spec.programs, spec.env.get("PATH"))):
        raise UnsuitableNodeError(f"{missing[0]} is not installed there")
    if sandbox is None or mode is SandboxMode.OFF:
        return
    from plait.runtime.sandbox.detection import forget_probes, list_support  # only where there are sandboxes

    support = next((each for each in list_support(sandbox.image) if each.mode is mode), None)
    if support is None or not support.works:
        forget_probes()  # the engine asks again later
        why = f": {support.text}" if support is not None else ""
        raise UnsuitableNodeError(f"the sandbox {mode} doesn't work there{why}", hint=support.hint if support else "")
