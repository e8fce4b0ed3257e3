"""A repository of its own for each test, with nothing of the user's around it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from plait.git.command import Git

SURROUNDINGS = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


class Clone:
    """A repository with one commit on `main`, and the environment that counts in it."""

    def __init__(self, where: Path, environment: Mapping[str, str]) -> None:
        where.mkdir()
        self.where = where
        self.environment = dict(environment)
        self.git = Git(where, environment=self.environment)
        self.git.run("init", "--quiet", "--initial-branch=main")
        self.first = self.commit("first")

    def commit(self, text: str, *parents: str, path: str = "file") -> str:
        """Without a checkout: the commit is in the repository, and on no branch."""
        blob = self.git.text("hash-object", "-w", "--stdin", stdin=text.encode())
        tree = self.git.text("mktree", stdin=f"100644 blob {blob}\t{path}\n".encode())
        options = [word for parent in parents for word in ("-p", parent)]
        return self.git.text("commit-tree", tree, "-m", text, *options)

    def refs(self) -> dict[str, str]:
        lines = self.git.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ", 1) for line in lines)


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {**SURROUNDINGS, "HOME": str(home)}


@pytest.fixture
def clone(tmp_path: Path, surroundings: dict[str, str]) -> Clone:
    made = Clone(tmp_path / "clone", surroundings)
    made.git.run("update-ref", "refs/heads/main", made.first)
    return made


@pytest.fixture
def bare(tmp_path: Path, clone: Clone) -> Git:
    """The clone's `origin`: a bare repository with the same `main`, which is its default branch."""
    where = tmp_path / "bare.git"
    clone.git.run("init", "--quiet", "--bare", "--initial-branch=main", str(where))
    clone.git.run("remote", "add", "origin", str(where))
    clone.git.run("push", "--quiet", "origin", "main:refs/heads/main")
    return Git(where, environment=clone.environment)


@pytest.fixture
def programs(tmp_path: Path, clone: Clone) -> Path:
    """A folder in front of the PATH, for programs that a test makes."""
    folder = tmp_path / "programs"
    folder.mkdir()
    clone.environment["PATH"] = f"{folder}{os.pathsep}{clone.environment['PATH']}"
    clone.git = Git(clone.where, environment=clone.environment)
    return folder
