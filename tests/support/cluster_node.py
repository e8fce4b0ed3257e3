"""A machine of a cluster as far as git is concerned: a mirror, worktrees, and bundles to and from the engine's repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from plait.core.task import Attempt, Step
from plait.git.bundles import create_bundle
from plait.git.interfaces import CapturedChange, CaptureOptions, CommitInfo, WorkspaceSetup
from plait.git.node_mirror import list_tips, open_node_mirror, receive_commits
from plait.git.refs import BASES
from plait.git.result_bundles import ExpectedResult, TakenResult, create_result_bundle, take_over_result
from plait.git.worktrees.workspaces import GitWorkspaces
from tests.support.git_repository import Files, GitRepository, environment, write_path

BATCH = "7f3a"
AUTHOR = CommitInfo(
    "Change it", (("Plait-Batch", BATCH), ("Plait-Task", "one"), ("Plait-Attempt", "1")), "A", "a@b.org"
)


class ClusterNode:
    """`repository` is the engine's."""

    def __init__(self, folder: Path, repository: GitRepository, object_format: str = "sha1") -> None:
        self.repository = repository
        self.mirror = open_node_mirror(folder / "mirror.git", object_format)
        self.workspaces = GitWorkspaces(self.mirror, folder / "worktrees", environment=environment())

    def git(self, *words: str, at: Path | None = None, feed: bytes = b"") -> str:
        """In the mirror, or as an agent in its workspace."""
        return os.fsdecode(self.git_bytes(*words, at=at, feed=feed)).rstrip("\n")

    def git_bytes(self, *words: str, at: Path | None = None, feed: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *words], cwd=at or self.mirror, env=environment(), input=feed, capture_output=True, check=False
        )
        assert not done.returncode, done.stderr.decode()
        return done.stdout

    def send(self, commit: str) -> bytes:
        """Send a commit to the node; the bundle."""
        refs = {f"{BASES}/{commit}": commit}
        data = create_bundle(self.repository.git_dir, refs, list_tips(self.mirror))
        receive_commits(self.mirror, data, refs)
        return data

    def prepare(self, task: str, base: str) -> Path:
        return Path(self.workspaces.prepare(BATCH, task, base, WorkspaceSetup(), top=str(self.mirror)))

    def run(self, attempt: Attempt, base: str, files: Files, *, max_file_bytes: int = 0) -> CapturedChange:
        """An attempt that writes these files."""
        self.send(base)
        workspace = self.prepare(attempt.task, base)
        for name, content in files.items():
            write_path(workspace / name, content)
        return self.capture(attempt, base, max_file_bytes=max_file_bytes)

    def capture(self, attempt: Attempt, base: str, *, max_file_bytes: int = 0) -> CapturedChange:
        options = CaptureOptions(AUTHOR, lambda _: None, max_file_bytes=max_file_bytes)
        return self.workspaces.capture(attempt, base, options)

    def return_result(self, attempt: Attempt, tip: str, base: str, *, max_file_bytes: int = 0) -> TakenResult:
        data = create_result_bundle(self.mirror, attempt, tip, base)
        expected = ExpectedResult(attempt, tip, base, max_file_bytes)
        return take_over_result(self.repository.git_dir, data, expected, environment())


def make_attempt(task: str = "one", n: int = 1) -> Attempt:
    return Attempt(BATCH, task, Step.WRITE, n)
