"""What a node says of programs and sandboxes that it lacks."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray.node_tools import require_tools
from plait.runtime.ray.wire import UnsuitableNodeError
from plait.runtime.sandbox.detection import forget_probes
from plait.runtime.sandbox.spec import SandboxSpec

SPEC = AttemptSpec(Attempt("b", "t", Step.WRITE, 1), ("true",), "/w", {"PATH": os.environ["PATH"]})


def test_programs_are_looked_for_on_the_path_of_the_attempt(tmp_path: Path) -> None:
    require_tools(replace(SPEC, programs=("sh", "./in-the-workspace")))
    with pytest.raises(UnsuitableNodeError, match="sh is not installed there"):
        require_tools(replace(SPEC, programs=("sh",), env={"PATH": str(tmp_path)}))


def test_a_sandbox_that_is_installed_later_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(SPEC, sandbox=SandboxSpec(SandboxMode.WORKTREE))
    forget_probes()
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        with pytest.raises(UnsuitableNodeError, match="isn't installed"):
            require_tools(spec)
    require_tools(spec)
