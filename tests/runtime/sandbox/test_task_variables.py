"""What a task sets is set in its sandbox, and nowhere else."""

from __future__ import annotations

import os
import subprocess

import pytest

from plait.runtime.sandbox.task_variables import build_runner, encode_variables

VARIABLES = {"PATH": f"/mine:{os.defpath}", "A": "'$(touch x)' \"\\\n\t*", "IFS": ",", "EMPTY": "", "é": "ü"}


def test_nothing_has_its_name_outside() -> None:
    assert {"PATH", "A", "IFS", "EMPTY"}.isdisjoint(encode_variables(VARIABLES))
    assert encode_variables({}) == {}


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_shell_in_the_sandbox_sets_them_as_they_are(shell: str) -> None:
    held = {**encode_variables({**VARIABLES, "LATER": "1", "UID": "5"}), "KEPT": "kept", "PATH": os.defpath}
    words = (shell, *build_runner("KEPT=2")[1:], "env", "-0")
    output = subprocess.run(words, env=held, capture_output=True, text=True, check=True).stdout
    seen = dict(line.split("=", 1) for line in output.split("\0") if line)
    wanted = {**VARIABLES, "LATER": "1", "KEPT": "2"}
    del wanted["é"]
    assert {name: seen.get(name) for name in wanted} == wanted
    assert not [name for name in seen if name.startswith("PLAIT_")]
