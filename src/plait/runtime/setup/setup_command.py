"""Runs the setup command of new workspaces, once for all workspaces in which it would have the same result.

Its spec is a small file without secrets, for `python -m plait.runtime.setup`.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.worktrees.metadata import read_gitdir_link
from plait.runtime.setup.messages import WarningPrinter, print_message, summarize_paths, to_single_line
from plait.runtime.setup.safe_copy import FilePlacer, TrackedFiles
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.copy_tree import TreeCache, TreeCopier, prune_tree_cache
from plait.system.disk import DiskBudget

if TYPE_CHECKING:
    from plait.git.interfaces import WorkspaceSetup  # importing it would make every start of an attempt slower

SETUP_FAILED_EXIT = 78
MIN_FREE_BYTES = 1 << 30  # that copying leaves free on the disk
MAX_CACHE_BYTES = 10 << 30  # that results of setup commands may take in the cache


@dataclass(frozen=True, slots=True)
class SetupSpec:
    """The setup of one workspace.

    `top` is the checkout, `cache` keeps results of setup commands, `failed` is the file for an error message. `sandbox`
    are the words that go before the setup command. The other fields are those of a WorkspaceSetup; `spare` and `keep`
    are the limits above.
    """

    workspace: Path
    top: Path
    cache: Path
    failed: Path
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: str | None = None
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    sandbox: tuple[str, ...] = ()
    spare: int = MIN_FREE_BYTES
    keep: int = MAX_CACHE_BYTES


def build_spec(  # noqa: PLR0913 - four paths
    options: WorkspaceSetup,
    *,
    workspace: Path,
    top: Path,
    cache: Path,
    failed: Path,
    sandbox: tuple[str, ...] = (),
    spare: int = MIN_FREE_BYTES,
) -> SetupSpec:
    lists = (options.copy, options.link, options.setup, options.reads, options.makes)
    return SetupSpec(workspace, top, cache, failed, *lists, sandbox, spare=spare)


def build_setup_command(spec_file: Path) -> tuple[str, ...]:
    """Return a command that prepares the workspace and then becomes the one whose words follow.

    -E: PYTHON… variables are meant for the agent, and may name files of the workspace.
    """
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.setup", str(spec_file), "--")


def write_spec(path: Path, spec: SetupSpec) -> None:
    make_private_folder(path.parent)
    spec.failed.unlink(missing_ok=True)
    replace_file(path, json.dumps(asdict(spec), default=str).encode())


def read_spec(path: Path) -> SetupSpec:
    try:
        content = json.loads(path.read_bytes())
        content |= {name: Path(content[name]) for name in ("workspace", "top", "cache", "failed")}
        content |= {name: tuple(content[name]) for name in ("copy", "link", "reads", "makes", "sandbox")}
        return SetupSpec(**content)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WorldError(f"can't read the setup file {path}: {error}") from error


def read_failure(spec_file: Path) -> str | None:
    """Say why the setup failed; None if it did not, or has not ended."""
    try:
        return read_spec(spec_file).failed.read_text("utf-8", "replace")
    except (OSError, WorldError):
        return None


_GLOB = frozenset("*?[\\")
_CHUNK_BYTES = 1 << 20
_SHELL = "/bin/sh"


def hash_setup(spec: SetupSpec) -> str:
    """Return the cache key: a hash of the command, what it makes, the kind of machine, and the content of what it
    reads.
    """
    machine = (sys.platform, os.uname().machine)
    content = (
        1,
        spec.setup,
        normalize_paths(spec.makes),
        normalize_paths(spec.reads),
        machine,
        _hash_inputs(spec.workspace, spec.reads),
    )
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:40]


def hash_files(spec: SetupSpec) -> str:
    return hashlib.sha256(json.dumps((spec.copy, spec.link)).encode()).hexdigest()[:40]


def normalize_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Normalize paths of the workspace. Raises WorldError for one outside of it, or in .git."""
    return tuple(_normalize_path(path) for path in paths)


def _normalize_path(path: str) -> str:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or not parts or {"..", ".git"} & {*parts} or "\0" in path:
        raise WorldError(
            f"setup can't read or make {path!r}",
            hint="setup_reads and setup_makes name files and folders inside of the workspace",
        )
    return "/".join(parts)


def _hash_inputs(workspace: Path, reads: Sequence[str]) -> list[tuple[str, str]]:
    plain, patterns = set(), []
    for each in normalize_paths(reads):
        if _GLOB & {*each} or (workspace / each).is_dir():
            patterns.append(f":(glob){each}")
        else:
            plain.add(each)
    if patterns:
        args = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
        plain.update(Git(workspace).run(*args).fields)
    return [(path, _hash_file(workspace, path)) for path in sorted(plain)]


def _hash_file(workspace: Path, path: str) -> str:
    """Hash a file; a link is followed."""
    try:
        fd = os.open(workspace / path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return f"error {error.errno}"
    with open(fd, "rb", buffering=0) as file:  # noqa: PTH123 - opened without waiting for a pipe
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "no file"
        digest = hashlib.sha256()
        while piece := file.read(_CHUNK_BYTES):
            digest.update(piece)
        return digest.hexdigest()


class SetupRunner:
    """One setup in one workspace. `note` takes the paths that it made, as soon as they are known.

    `may_store`: no agent has been here, so the result may be cached.
    """

    def __init__(self, spec: SetupSpec, key: str, note: Callable[[list[str]], None], *, may_store: bool) -> None:
        self._spec = spec
        self._key = key
        self._note = note
        self._workspace = spec.workspace
        self._git = Git(spec.workspace)
        self._command = spec.setup or ""
        self._makes = normalize_paths(spec.makes)
        self._may_store = may_store
        self._has_reported_wait = False

    def run(self) -> tuple[str, ...]:
        """Run the setup; return those of `makes` that exist afterwards. Raises WorldError."""
        self._note(self._list_made(TrackedFiles(self._workspace)))
        if not (self._makes and self._spec.reads):
            self._run_command()  # its result can't be cached
        else:
            self._run_or_fetch(TreeCache(self._spec.cache))
        return tuple(path for path in self._makes if os.path.lexists(self._workspace / path))

    def _run_or_fetch(self, cache: TreeCache) -> None:
        spoiled = False
        while True:
            with cache.lock(self._key, shared=True, on_wait=self._wait):
                if not spoiled and cache.is_complete(self._key):
                    if self._fetch_cached(cache):
                        return
                    spoiled = True
            with cache.lock(self._key, on_wait=self._wait):
                if spoiled or not cache.is_complete(self._key):
                    if self._may_store:  # an agent of an earlier task may have changed it
                        self._clear()
                    self._run_command()
                    self._store(cache)
                    return

    def _wait(self) -> None:
        if not self._has_reported_wait:
            print_message(f"waiting for the same setup in another workspace: {to_single_line(self._command)}")
        self._has_reported_wait = True

    def _clear(self) -> None:
        """Remove what setup makes, except tracked files."""
        for path in self._makes:
            self._git.run("clean", "-ffdxq", "--", f":(literal){path}")

    def _fetch_cached(self, cache: TreeCache) -> bool:
        """Copy the result from the cache, over no tracked file. False if not all of it could be read."""
        self._clear()
        warnings = WarningPrinter()
        copier = TreeCopier(DiskBudget(self._workspace, self._spec.spare), warnings.add)
        tracked = TrackedFiles(self._workspace)
        with FilePlacer(self._workspace, tracked, (), copier, warnings) as placing:
            for path in self._makes:
                placing.copy(cache.tree_path(self._key), path)
        warnings.print_summary()
        self._note(self._list_made(tracked))
        if not copier.skipped_count:
            print_message(f"reused cached setup: {summarize_paths(self._makes)}")
        return not copier.skipped_count

    def _run_command(self) -> None:
        print_message(f"setting up: {to_single_line(self._command)}")
        changed, others = self._list_changed(), self._list_untracked()
        gitdir = read_gitdir_link(self._workspace) if self._spec.sandbox else None
        code = subprocess.run(
            [*self._spec.sandbox, _SHELL, "-c", self._command],
            cwd=self._workspace,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
        if gitdir is not None:
            from plait.git.worktrees.replaced_repositories import (
                disable_replaced_repositories,  # only where there are sandboxes
            )

            disable_replaced_repositories(gitdir)
        made = self._list_made(TrackedFiles(self._workspace))
        self._note([*made, *self._list_stray(others, made)])
        if code:
            raise WorldError(f"setup failed with {_format_exit(code)}: {to_single_line(self._command)}")
        if newly_changed := self._list_changed() - changed:
            print_message(
                f"warning: setup changed tracked files; the changes count as the agent's: {summarize_paths(sorted(newly_changed))}"
            )
        for path in self._makes:
            if not os.path.lexists(self._workspace / path):
                print_message(f"warning: setup made no {path}")

    def _store(self, cache: TreeCache) -> None:
        """Store the result in the cache. A failure is only a warning: setup runs again in the next workspace."""
        if not self._may_store or not all(self._is_inside(path) for path in self._makes):
            return
        known, top = TrackedFiles(self._workspace), len(str(self._workspace)) + 1
        warnings = WarningPrinter()
        copier = TreeCopier(
            DiskBudget(self._spec.cache, self._spec.spare), warnings.add, lambda path: known.contains(path[top:])
        )
        try:
            kept = cache.store(self._key, self._workspace, self._makes, copier)
            prune_tree_cache(self._spec.cache, self._spec.keep)
        except (OSError, WorldError) as error:
            kept = False
            print_message(f"warning: {error.message if isinstance(error, WorldError) else error}")
        warnings.print_summary()
        if not kept:
            print_message("warning: the result of setup is not cached for other workspaces")

    def _is_inside(self, path: str) -> bool:
        """Whether the path exists, and no link on the way leads out of the workspace."""
        whole = self._workspace / path
        return os.path.lexists(whole) and whole.parent.resolve() == (self._workspace.resolve() / path).parent

    def _list_made(self, tracked: TrackedFiles) -> list[str]:
        """List what is no agent's change: the folders that setup makes, except tracked files in them."""
        found: list[str] = []
        for path in self._makes:
            if tracked.has_below(path):
                found += self._git.run("ls-files", "-z", "--others", "--", f":(literal){path}").fields
            elif not tracked.contains(path):
                found.append(path)
        return found

    def _list_stray(self, before: set[str], made: Sequence[str]) -> list[str]:
        """List other untracked files that setup made, also in submodules."""
        stray = sorted(
            path
            for path in self._list_untracked() - before
            if not any(path == each or path.startswith(f"{each}/") for each in made)
        )
        if stray:
            print_message(
                f"setup made files that git does not ignore; they are left out of the change: {summarize_paths(stray)}"
            )
        return [path.rstrip("/") for path in stray]

    def _list_untracked(self) -> set[str]:
        new = {*self._git.run("ls-files", "-z", "--others", "--exclude-standard").fields}
        if (self._workspace / ".gitmodules").is_file():
            from plait.git.worktrees.submodule_changes import list_submodule_folders  # few repositories have some

            new.update(path for each in list_submodule_folders(self._git) for path in each.list_untracked())
        return new

    def _list_changed(self) -> set[str]:
        options = ("--untracked-files=no", "--no-renames", "--ignore-submodules=dirty")
        return {line[3:] for line in self._git.run("status", "--porcelain", "-z", *options).fields}


def _format_exit(code: int) -> str:
    if code > 0:
        return f"exit status {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
