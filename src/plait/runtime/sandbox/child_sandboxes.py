"""Sandboxes for the commands that a trusted program of plait starts. Such a program, for example a contest's referee,
runs outside of one.

Each command has a workspace, a folder for its files and a home of its own, and what it started ends with it. So it
reaches neither the output of the attempt nor what others work in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode
from plait.git.worktrees.metadata import read_gitdir_link
from plait.runtime.executor import AttemptSpec
from plait.system.atomic_files import write_private_file
from plait.system.decoders import decode_json
from plait.system.state_paths import AttemptFolder


@dataclass(frozen=True, slots=True)
class ConfinedChild:
    """A sandbox for one command. `words` go before the command; files that are put into `files` appear in its folder."""

    words: tuple[str, ...]
    files: Path


@dataclass(frozen=True, slots=True)
class ChildSandboxes:
    """What sandboxes are built from. `spec` is that of the attempt, without its environment; the folders are as for
    `build_sandbox_command`.
    """

    spec: AttemptSpec
    state: str
    git_dir: str | None = None
    worktrees: str | None = None

    def save(self, attempt_folder: Path) -> None:
        if self.spec.sandbox is not None and self.spec.sandbox.mode is SandboxMode.CONTAINER:
            raise WorldError("contests can't run in a container: use the sandbox strict for them")
        kept = replace(self.spec, env={}, files=(), argv=(), checkouts=(), capture=None, inherited=None)
        write_private_file(AttemptFolder(attempt_folder).child_sandboxes, msgspec.json.encode(replace(self, spec=kept)))

    @classmethod
    def load(cls, attempt_folder: Path) -> ChildSandboxes | None:
        """Load what was stored for an attempt; None if the attempt has no sandbox. Raises OSError."""
        try:
            data = AttemptFolder(attempt_folder).child_sandboxes.read_bytes()
        except FileNotFoundError:
            return None
        return decode_json(data, cls)

    @contextmanager
    def confine(self, workspace: Path, folder: Path) -> Iterator[ConfinedChild]:
        """Yield a sandbox for one command in this workspace, with this folder for its files.

        Nothing of it is left afterwards but the files of the workspace; blocked hosts are written to standard error.
        Raises WorldError.
        """
        # Only where there are sandboxes.
        from plait.git.worktrees.replaced_repositories import disable_replaced_repositories
        from plait.git.worktrees.sandbox_view import discard_view
        from plait.runtime.sandbox.preparation import read_denials, remove_private_folder
        from plait.runtime.sandbox.wrapping import build_sandbox_command

        git_dir, worktrees = (Path(path) if path else None for path in (self.git_dir, self.worktrees))
        spec = replace(self.spec, workspace=str(workspace), env=dict(os.environ))
        gitdir = read_gitdir_link(workspace)
        if gitdir is not None:
            discard_view(gitdir)
        words = build_sandbox_command(spec, folder, Path(self.state), git_dir, worktrees)
        try:
            yield ConfinedChild(words, AttemptFolder(folder).sandbox_files)
        finally:
            if gitdir is not None:
                discard_view(gitdir)
                disable_replaced_repositories(gitdir)
            for line in read_denials(folder):
                os.write(sys.stderr.fileno(), line)
            remove_private_folder(AttemptFolder(folder).sandbox)


@contextmanager
def confine_child(sandboxes: ChildSandboxes | None, workspace: Path, folder: Path) -> Iterator[ConfinedChild]:
    """Do the same as `ChildSandboxes.confine`; without sandboxes, yield a sandbox that confines nothing."""
    if sandboxes is None:
        yield ConfinedChild((), folder)
        return
    with sandboxes.confine(workspace, folder) as child:
        yield child
