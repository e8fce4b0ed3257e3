from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.git.mirror import Mirror, open_mirror


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_", "XDG_"))}
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "ann"), ("EMAIL", "ann@localhost"))
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}
    return {**kept, **who, **alone}


@pytest.fixture
def bare(tmp_path: Path, env: dict[str, str]) -> Path:
    """The remote repository."""
    path = tmp_path / "remotes" / "site.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "trunk", str(path)], env=env, check=True)
    return path


@pytest.fixture
def commit(tmp_path: Path, env: dict[str, str], bare: Path) -> Callable[..., str]:
    """Push a commit to it, as somebody else would: `commit(file, branch=…)`; its id. There is one already."""
    top = tmp_path / "ann"
    subprocess.run(["git", "init", "--quiet", str(top)], env=env, check=True)

    def git(*args: str) -> str:
        done = subprocess.run(["git", *args], cwd=top, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def make(name: str, *, branch: str = "trunk") -> str:
        (top / name).write_text(f"{name}\n")
        git("add", "--all")
        git("commit", "--quiet", "-m", f"Change {name}")
        git("push", "--quiet", "--force", str(bare), f"HEAD:refs/heads/{branch}")
        return git("rev-parse", "HEAD")

    make("one.txt")
    return make


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def mirror(cache: Path, env: dict[str, str]) -> Callable[..., Mirror]:
    """Open the mirror of an address."""
    return lambda url: open_mirror(str(url), cache, environment=env)
