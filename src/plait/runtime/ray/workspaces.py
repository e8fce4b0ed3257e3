"""The workspaces on the nodes of a cluster. Results are fetched, checked, and put into the repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from plait.core.errors import describe_error
from plait.core.task import Attempt, Step
from plait.git.bundles import BundleError, MissingCommitsError, create_bundle
from plait.git.command import CommandControl, Git
from plait.git.interfaces import CapturedChange
from plait.git.refs import BASES, attempt_ref, may_have_ref, task_branch
from plait.git.result_bundles import ExpectedResult, RejectedResultError, ResultReceiver, take_over_result
from plait.git.worktrees.agent_worktree import WorktreeError
from plait.git.worktrees.capture import find_captured
from plait.git.worktrees.worktree import WorkspaceLayout
from plait.runtime.executor import CaptureSpec, OnError, OnWait
from plait.runtime.ray import wire
from plait.runtime.ray.connections import Connections
from plait.runtime.ray.needs import Needs
from plait.runtime.ray.node_link import NodeLink
from plait.runtime.ray.placements import Placements
from plait.runtime.ray.wire import NODE_ROOT, CaptureReply, NodeGoneError, ReleaseReply
from plait.runtime.worker_pool import WorkerPool
from plait.system import log
from plait.system.state_paths import StateFolder

NODE_STATE = StateFolder(Path(NODE_ROOT) / "state")
NODE_WORKTREES = WorkspaceLayout(Path(NODE_ROOT) / "worktrees")
CAPTURE_SECONDS = 600.0
RELEASE_SECONDS = 60.0

T = TypeVar("T")


class RayWorkspaces:
    """The workspaces of a cluster, as an AttemptWorkspaces."""

    disk_full_reason: str | None = None  # a node with a full disk gets no attempts

    def __init__(
        self, git_dir: Path, placements: Placements, needs: Needs, connections: Connections, workers: WorkerPool
    ) -> None:
        self._git_dir = git_dir
        self._placements = placements
        self._needs = needs
        self._connections = connections
        self._workers = workers
        self._captures: dict[Attempt, CommandControl] = {}
        self._releasing = defaultdict[tuple[str, str], set[str]](set)  # tasks, by node and batch
        self._ended: set[tuple[str, str]] = set()  # nodes and batches of which nothing else is left to release

    def path(self, attempt: Attempt) -> str:
        return str(NODE_WORKTREES.workspace(attempt.batch, attempt.task))

    def find_setup_failure(self, attempt: Attempt) -> str | None:
        placement = self._placements.read(attempt)
        return placement.setup_failure if placement is not None else None

    def is_missing(self, attempt: Attempt) -> bool:
        placement = self._placements.read(attempt)
        return placement is not None and placement.is_missing

    def capture(
        self, spec: CaptureSpec, on_done: Callable[[CapturedChange], None], on_error: OnError, on_wait: OnWait
    ) -> None:
        def end(callback: Callable[[T], None], result: T) -> None:
            self._captures.pop(spec.attempt, None)
            callback(result)

        def report(result: tuple[CapturedChange, ResultReceiver | None]) -> None:
            change, receiver = result
            end(on_done, change)
            if receiver is not None:
                self._workers.submit(("taken", spec.attempt), receiver.close, lambda _: None, _log_error)

        self._captures[spec.attempt] = self._workers.submit(
            ("node", spec.attempt.batch, spec.attempt.task),
            lambda: self._capture(spec),
            report,
            partial(end, on_error),
            on_wait,
        )

    def _capture(self, spec: CaptureSpec) -> tuple[CapturedChange, ResultReceiver | None]:
        link = self._find_link(spec.attempt)
        if link is None or link.is_lost:
            # The engine may have been killed after it had taken the result over, and before it could report that.
            if found := find_captured(Git(self._git_dir), spec.attempt, spec.base, spec.commit):
                return found, None
            raise WorktreeError(f"the node of {spec.attempt} was lost with its work")
        with ExitStack() as stack:
            receiver = ResultReceiver(self._git_dir, spec.base)
            stack.callback(receiver.close)
            reply = self._connections.request(link, wire.Capture(spec), CaptureReply, CAPTURE_SECONDS)
            change = reply.change
            expected = ExpectedResult(spec.attempt, change.tip, spec.base, spec.max_file_bytes)
            try:
                taken = receiver.take(reply.commits, expected)
            except BundleError as error:  # it is still on the node
                error.message = f"node {link.name} sent a damaged result of {spec.attempt}: {error.message}"
                raise
            stack.pop_all()  # it is closed after the report
        _, added, removed = change.diffstat
        files = taken.files
        change = replace(change, tip=taken.tip, files=files, diffstat=(len(files), added, removed), empty=not files)
        return change, receiver

    def cancel_capture(self, attempt: Attempt) -> None:
        if attempt in self._captures:
            self._captures[attempt].cancel()

    def reset(self, attempt: Attempt, commit: str, on_done: Callable[[], None], on_error: OnError) -> None:
        self._workers.submit(
            ("node", attempt.batch, attempt.task),
            lambda: self._reset(attempt, commit),
            lambda _: on_done(),
            on_error,
        )

    def _reset(self, attempt: Attempt, commit: str) -> None:
        link = self._find_link(attempt)
        if link is None or link.is_lost:
            return  # with its workspace
        refs = {f"{BASES}/{commit}": commit}
        for held in (tuple(link.sent), ()):
            commits = create_bundle(self._git_dir, refs, held)
            try:
                self._connections.request(link, wire.Reset(attempt, commit, commits), type(None), RELEASE_SECONDS)
            except MissingCommitsError:
                continue
            link.sent.add(commit)
            return

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        """Return what the task's last attempt left. What a running one has done is known to its node only."""
        git = Git(self._git_dir)
        tip = git.resolve_commit(f"refs/heads/{task_branch(batch, task)}")
        return tip if tip is not None and tip != base and git.is_ancestor(base, tip) else None

    def release(self, batch: str, task: str) -> None:
        for node in {each.node for each in self._placements.list_task(batch, task) if each.node}:
            self.release_on(self._connections.find(node), batch, task)

    def release_batch(self, batch: str, ended_tasks: Sequence[str], *, has_ended: bool) -> None:
        held = {(each.node, each.attempt.task) for each in self._placements.list_batch(batch) if each.node}
        tasks = {*ended_tasks}
        for node, task in sorted(held):
            if task in tasks:
                self.release_on(self._connections.find(node), batch, task)
        if has_ended:
            kept = {node for node, task in held if task and task not in tasks}  # the only place where their work is
            for node in {*self._placements.list_nodes(batch)} - kept:
                self._ended.add((node, batch))
                self._release_rest(self._connections.find(node), batch)

    def release_on(self, link: NodeLink, batch: str, task: str) -> None:
        """Release a task's workspace on a node, after saving the node's work of the task here."""
        releasing = self._releasing[link.id, batch]
        if task in releasing:  # the second one would not know what the first one has taken
            return
        releasing.add(task)
        self._needs.forget_home(batch, task)

        def end() -> None:
            releasing.remove(task)
            self._release_rest(link, batch)

        def log_error(error: Exception) -> None:
            _log_release_error(link, f"{batch} {task}", error)
            self._ended.discard((link.id, batch))
            end()

        self._workers.submit(
            ("node", batch, task), lambda: self._release(link, batch, task), lambda _: end(), log_error
        )

    def _release_rest(self, link: NodeLink, batch: str) -> None:
        """Remove what a node has of a batch that has ended, once the work of all its tasks is here."""
        key = link.id, batch
        if self._releasing[key]:
            return
        del self._releasing[key]
        if key in self._ended:
            self._ended.remove(key)
            if not (link.is_lost and link.is_alive):  # it may come back
                self._placements.remove_node(batch, link.id)  # before it is asked: the batch may be continued meanwhile

            def log_error(error: Exception) -> None:
                self._placements.add_node(batch, link.id)
                _log_release_error(link, f"batch {batch}", error)

            self._workers.submit(("node", batch, ""), lambda: self._release(link, batch, ""), lambda _: None, log_error)

    def _release(self, link: NodeLink, batch: str, task: str) -> None:
        placements = [each for each in self._placements.list_task(batch, task) if each.node == link.id]
        if not link.is_lost:
            try:
                taken = [each.attempt for each in placements if may_have_ref(self._git_dir, attempt_ref(each.attempt))]
                request = wire.Release(batch, task, frozenset(taken))
                reply = self._connections.request(link, request, ReleaseReply, RELEASE_SECONDS)
            except NodeGoneError:
                if not self._connections.is_gone(link):
                    raise
            else:
                base = next((each.base for each in placements if each.base), "")
                if reply.commits and base:
                    attempt = Attempt(batch, task, Step.WRITE, 1)  # its saved work is the task's
                    try:
                        take_over_result(self._git_dir, reply.commits, ExpectedResult(attempt, "", base))
                    except RejectedResultError as error:  # it would be refused the next time, too
                        log.write_line(
                            f"warning: what {batch} {task} left on node {link.name} was refused: {error.message}"
                        )
        for placement in placements:
            if not placement.is_running:
                self._placements.write(replace(placement, node=""))

    def check_disk_usage(self, now: float) -> None:
        """Do nothing: nodes check their own disks."""

    def _find_link(self, attempt: Attempt) -> NodeLink | None:
        placement = self._placements.read(attempt)
        return self._connections.find(placement.node) if placement is not None and placement.node else None


def _log_release_error(link: NodeLink, what: str, error: Exception) -> None:
    log.write_line(
        f"warning: could not release the workspace of {what} on node {link.name}: {describe_error(error)}"
        " (the node does when the lease has run out)"
    )


def _log_error(error: Exception) -> None:
    log.write_line(f"warning: {describe_error(error)}")
