from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.client import repo_scan


def test_installed_agents_are_those_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, name in ((here, "codex"), (here, "qwen"), (there, "claude"), (there, "vim")):
        folder.mkdir(exist_ok=True)
        (folder / name).touch(0o755)
    (here / "aider").touch(0o644)
    monkeypatch.setenv("PATH", str(there))
    assert repo_scan.find_installed_agents(str(here)) == ("codex", "qwen")
    assert repo_scan.find_installed_agents(f"{here}{os.pathsep}{there}") == (
        "claude",
        "codex",
        "qwen",
    )
    assert repo_scan.find_installed_agents("") == ()
