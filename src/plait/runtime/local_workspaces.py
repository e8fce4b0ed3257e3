"""The workspaces of this machine's attempts: git worktrees, prepared and captured in worker threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from plait.core.errors import describe_error
from plait.core.task import Attempt, Step
from plait.git.command import CommandControl
from plait.git.interfaces import CapturedChange, CaptureOptions, FindStatusRestorer
from plait.runtime.executor import AttemptKind, AttemptSpec, CaptureSpec, OnError, OnWait
from plait.runtime.worker_pool import WorkerPool
from plait.sources.source_set import SourceAddress
from plait.sources.text import decode, encode
from plait.system import log
from plait.system.atomic_files import make_private_folder
from plait.system.state_paths import AttemptFolder, StateFolder

if TYPE_CHECKING:
    from plait.git.worktrees.workspaces import GitWorkspaces
    from plait.runtime.setup.setup_command import SetupSpec

DISK_CHECK_SECONDS = 60.0
_ENDED_SANDBOX_PREFIX = "sandbox-"

T = TypeVar("T")
Argv = tuple[str, ...]


class LocalWorkspaces:
    """The workspaces on this machine, as an AttemptWorkspaces. The worktrees are opened when the first batch needs
    them.
    """

    def __init__(  # noqa: PLR0913 - each is another place
        self,
        open_worktrees: Callable[[], GitWorkspaces],
        workers: WorkerPool,
        folder: StateFolder,
        setups_folder: Path,
        *,
        disk_cap: int = 0,
        private_root: Path | None = None,
    ) -> None:
        """Store the settings. `setups_folder` keeps what setup commands made; `disk_cap`: bytes that all workspaces may
        take.

        `private_root` contains all that plait keeps and no sandboxed attempt may see; by default, the state folder.
        """
        self._open_worktrees = open_worktrees
        self._worktrees: GitWorkspaces | None = None
        self._workers = workers
        self.folder = folder
        self._setups_folder = setups_folder
        self._disk_cap = disk_cap
        self._private_root = private_root or folder.root
        self._measured_at = 0.0
        self.disk_full_reason: str | None = None
        self._captures: dict[Attempt, CommandControl] = {}

    @property
    def worktrees(self) -> GitWorkspaces:
        if self._worktrees is None:
            self._worktrees = self._open_worktrees()
        return self._worktrees

    def path(self, attempt: Attempt) -> str:
        return self.worktrees.path(attempt.batch, attempt.task)

    def prepare(self, spec: AttemptSpec, on_ready: Callable[[Argv], None], on_error: OnError) -> None:
        """Prepare a workspace. `on_ready` gets the words that go before the attempt's command; () if the workspace is
        set up already.
        """
        self._submit(spec.attempt.batch, spec.attempt.task, lambda: self._prepare(spec), on_ready, on_error)

    def find_setup_failure(self, attempt: Attempt) -> str | None:
        spec = self.folder.attempt(attempt).setup_spec
        if not spec.exists():
            return None
        from plait.runtime.setup.setup_command import read_failure  # only where a workspace was new

        return read_failure(spec)

    def is_missing(self, attempt: Attempt) -> bool:
        """Whether the worktree no longer exists, also if something else, without a `.git`, was made in its place."""
        return not (Path(self.path(attempt)) / ".git").exists()

    def capture(
        self, spec: CaptureSpec, on_done: Callable[[CapturedChange], None], on_error: OnError, on_wait: OnWait
    ) -> None:
        def end(callback: Callable[[T], None], result: T) -> None:
            self._captures.pop(spec.attempt, None)
            callback(result)

        self._captures[spec.attempt] = self._workers.submit(
            ("workspace", spec.attempt.batch, spec.attempt.task),
            lambda: self.commit_result(spec),
            partial(end, on_done),
            partial(end, on_error),
            on_wait,
        )

    def cancel_capture(self, attempt: Attempt) -> None:
        if attempt in self._captures:
            self._captures[attempt].cancel()

    def reset(self, attempt: Attempt, commit: str, on_done: Callable[[], None], on_error: OnError) -> None:
        self._submit(
            attempt.batch,
            attempt.task,
            lambda: self.worktrees.reset(attempt, commit),
            lambda _: on_done(),
            on_error,
        )

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        return self.worktrees.preview_commit(batch, task, base)

    def release(self, batch: str, task: str) -> None:
        self._submit_release(batch, task, lambda: self.worktrees.release(batch, task))

    def release_batch(self, batch: str, ended_tasks: Sequence[str], *, has_ended: bool) -> None:
        """Release the batch's workspaces one by one: a task that is retried meanwhile waits for its own workspace only."""
        if not Path(self.worktrees.path(batch, "")).parent.is_dir():
            return
        for task in ended_tasks:
            if Path(self.worktrees.path(batch, task)).is_dir():
                self.release(batch, task)
        if has_ended:
            self._submit_release(batch, "", lambda: self.worktrees.release_gate(batch))

    def check_disk_usage(self, now: float) -> None:
        if self._worktrees is not None and now - self._measured_at >= DISK_CHECK_SECONDS:
            self._measured_at = now
            self._workers.submit("disk", self._measure_usage, self._record_usage, _log_disk_error)

    def _measure_usage(self) -> int:
        """Measure the disk usage, in bytes. If it is too much, idle worktrees of the pool are removed first."""
        if (used := self.worktrees.measure_disk_usage()) > self._disk_cap:
            self.worktrees.trim_pool()
            used = self.worktrees.measure_disk_usage()
        return used

    def _record_usage(self, used: int) -> None:
        mb = 1_000_000
        self.disk_full_reason = (
            f"worktrees take {used // mb:,} of {self._disk_cap // mb:,} MB (workspace.disk_cap);"
            " plait gc shows what can go"
            if used > self._disk_cap
            else None
        )

    def _submit(
        self, batch: str, task: str, job: Callable[[], T], on_done: Callable[[T], None], on_error: OnError
    ) -> None:
        self._workers.submit(("workspace", batch, task), job, on_done, on_error)

    def _submit_release(self, batch: str, task: str, job: Callable[[], None]) -> None:
        def log_error(error: Exception) -> None:
            name = f"{batch} {task}" if task else f"batch {batch}"
            log.write_line(
                f"warning: could not release the workspace of {name}: {describe_error(error)}"
                " (plait gc removes it later)"
            )

        self._submit(batch, task, job, lambda _: None, log_error)

    def _prepare(self, spec: AttemptSpec) -> Argv:
        batch, task = spec.attempt.batch, spec.attempt.task
        if spec.kind is AttemptKind.GATE:
            self.worktrees.checkout(batch, spec.base, spec.setup, top=spec.checkout)
        elif spec.attempt.step is Step.VERIFY:
            # The task's folder, with exactly what was captured in it; made again if it was removed.
            if not Path(spec.workspace).is_dir():
                self.worktrees.prepare(batch, task, spec.task_base or spec.base, spec.setup, top=spec.checkout)
            self.worktrees.reset(spec.attempt, spec.base)
        else:
            self.worktrees.prepare(batch, task, spec.base, spec.setup, top=spec.checkout)
        for place in spec.checkouts:
            self.worktrees.checkout(batch, spec.base, spec.setup, top=spec.checkout, place=place)
        # Also before a check: what the agent changed may need another setup.
        setup = self._find_setup(spec)
        if spec.confines_others:
            self._save_child_sandboxes(spec)
            return (
                self._write_setup(spec, setup, self.build_sandbox(spec, runs_once=False)) if setup is not None else ()
            )
        sandbox = self.build_sandbox(spec, runs_once=setup is None)
        return (*self._write_setup(spec, setup, sandbox), *sandbox) if setup is not None else sandbox

    def _save_child_sandboxes(self, spec: AttemptSpec) -> None:
        if spec.sandbox is None:
            return
        from plait.runtime.sandbox.child_sandboxes import ChildSandboxes  # only where there are sandboxes

        folder = StateFolder(self.folder.root.resolve())
        make_private_folder(folder.attempt(spec.attempt).path)
        root = self._private_root.resolve()
        places = ChildSandboxes(spec, str(root), str(self.worktrees.git_dir), str(self.worktrees.root))
        places.save(folder.attempt(spec.attempt).path)

    def build_sandbox(self, spec: AttemptSpec, *, runs_once: bool = True) -> Argv:
        """Return the words that put a command into the attempt's sandbox; () if it has none. `runs_once`: for one
        command only.
        """
        if spec.sandbox is None or not spec.argv:
            return ()
        from plait.runtime.sandbox.wrapping import build_sandbox_command  # only where there are sandboxes

        private, folder = self._private_root.resolve(), StateFolder(self.folder.root.resolve())
        attempt_folder = folder.attempt(spec.attempt).path
        if spec.kind is AttemptKind.IN_PLACE and not self._has_worktree_at(spec.workspace):
            return build_sandbox_command(spec, attempt_folder, private, runs_once=runs_once)
        git_dir, root = self.worktrees.git_dir, self.worktrees.root
        return build_sandbox_command(spec, attempt_folder, private, git_dir, root, runs_once=runs_once)

    def _has_worktree_at(self, path: str) -> bool:
        """Whether the path is in a worktree: an attempt may work in place in what an earlier one left."""
        return self._worktrees is not None and Path(path).resolve().is_relative_to(self._worktrees.root.resolve())

    def close_sandbox(self, folder: AttemptFolder) -> bool:
        """Close the sandbox of an attempt that has ended: keep the files that it wrote for plait. False if it had no
        sandbox.

        Its home and /tmp are moved to where `remove_sandboxes` finds them, also after a crash.
        """
        if not folder.sandbox.exists() and not folder.child_sandboxes.exists():
            return False
        from plait.runtime.sandbox.preparation import collect_attempt_files, remove_planted_link, restore_denials

        remove_planted_link(self.folder.root.parent)
        collect_attempt_files(folder.path)
        restore_denials(folder.path)
        make_private_folder(self._trash)
        for path in (folder.sandbox, *folder.path.glob("*/sandbox")):
            with suppress(FileNotFoundError):
                path.rename(self._trash / f"{_ENDED_SANDBOX_PREFIX}{uuid4().hex}")
        return True

    def remove_sandboxes(self) -> None:
        """Remove the homes of attempts that have ended, and what limited these attempts."""
        for private in self._trash.glob(f"{_ENDED_SANDBOX_PREFIX}*"):
            from plait.runtime.sandbox.preparation import remove_private_folder  # only where there are sandboxes

            job = partial(remove_private_folder, private)
            self._workers.submit(("sandbox", private.name), job, lambda _: None, lambda _: None)

    @property
    def _trash(self) -> Path:
        """Return the trash folder, which gc empties, too."""
        return self.folder.root / "trash"

    def _find_setup(self, spec: AttemptSpec) -> SetupSpec | None:
        """Return what is left to do for the workspace, or to warn about; None if there is nothing."""
        from plait.runtime.setup.preparation import is_setup_needed  # only where there are workspaces
        from plait.runtime.setup.setup_command import build_spec

        setup = build_spec(
            spec.setup,
            workspace=Path(spec.workspace),
            top=Path(spec.checkout),
            cache=self._setups_folder,
            failed=self.folder.attempt(spec.attempt).path / "outfit.failed",
        )
        return setup if is_setup_needed(setup) else None

    def _write_setup(self, spec: AttemptSpec, setup: SetupSpec, sandbox: Argv) -> Argv:
        """Write the setup as part of the attempt: its output goes to the transcript, and it is ended with the attempt."""
        from plait.runtime.setup.setup_command import build_setup_command, write_spec

        if spec.sandbox is not None and spec.sandbox.confine_setup:
            setup = replace(setup, sandbox=sandbox)
        path = self.folder.attempt(spec.attempt).setup_spec
        write_spec(path, setup)
        return build_setup_command(path)

    def commit_result(
        self, spec: CaptureSpec, on_packed: Callable[[CapturedChange], None] | None = None
    ) -> CapturedChange:
        """Commit the result, in a worker, in order with other work on the workspace. `on_packed` as in CaptureOptions."""
        restorer = _build_status_restorer(spec)
        options = CaptureOptions(spec.commit, restorer, spec.run_hooks, spec.max_file_bytes, on_packed)
        return self.worktrees.capture(spec.attempt, spec.base, options)


def _build_status_restorer(spec: CaptureSpec) -> FindStatusRestorer:
    """Build a function that restores, in a source's new text, the statuses that it has at the base."""
    addresses = [SourceAddress.parse(source) for source in spec.sources]

    def find_restorer(path: str) -> Callable[[bytes, bytes], bytes] | None:
        around = [each for each in addresses if each.path in {".", path} or path.startswith(f"{each.path}/")]
        address = max(around, key=lambda each: len(each.path), default=None)
        if address is None:
            return None
        # Importing the formats is slow, and few agents change sources.
        from plait.sources.formats import get_entry
        from plait.sources.status_restore import restore_statuses

        if path not in spec.source_files and path.rpartition("/")[2] != get_entry(address.format).status_file:
            return None
        return lambda base, new: encode(restore_statuses(address.format, path, decode(base), decode(new)))

    return find_restorer


def _log_disk_error(error: Exception) -> None:
    log.write_line(f"warning: can't measure what workspaces take: {describe_error(error)}")
