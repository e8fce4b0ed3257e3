"""Sends a node what it needs to start an attempt: the spec without what stays on this machine, and the commits."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.task import Step
from plait.git.bundles import SHA256_DIGITS, MissingCommitsError, create_bundle
from plait.git.command import Git
from plait.git.refs import BASES, task_branch
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray import wire
from plait.runtime.ray.connections import Connections
from plait.runtime.ray.ignored_files import pack_ignored_files
from plait.runtime.ray.node_link import NodeLink
from plait.runtime.ray.remote_attempt import RemoteAttempt

REQUEST_SECONDS = 120.0  # for a node to answer


def require_startable(spec: AttemptSpec) -> None:
    """Raise WorldError for an attempt that can't be started on any node."""
    if not spec.argv:
        raise WorldError(f"{spec.attempt} has no command to run")
    if not spec.workspace.startswith(wire.NODE_ROOT):
        raise WorldError(
            f"{spec.attempt} would work in {spec.workspace}, and a cluster's nodes have no access to this machine's folders",
            hint='Run it with isolation = "worktree", or without --executor ray.',
        )
    words = (*spec.argv, *spec.env.keys(), *spec.env.values())
    if any("\0" in word for word in words):
        raise WorldError(f"can't start {spec.attempt}: its command or environment has a NUL")


class StartSender:
    """Sends attempts to nodes, from worker threads. `env` are the names of variables that go to nodes."""

    def __init__(self, git_dir: Path, connections: Connections, env: Sequence[str]) -> None:
        self._git_dir = git_dir
        self._connections = connections
        self._env = env

    def send(self, state: RemoteAttempt, link: NodeLink) -> AttemptSpec:
        """Send an attempt; return the spec that was sent. Raises what the node raised, or NodeGoneError."""
        spec = state.spec
        assert spec is not None
        resumed = self._find_resumed(spec)
        commits = (spec.base, spec.task_base, resumed, *spec.commits)
        refs = {f"{BASES}/{commit}": commit for commit in commits if commit}
        if spec.attempt.batch in link.packed and link.sent.issuperset(refs.values()):
            self._send(state, spec, link, refs, resumed)
        else:  # another attempt that starts there at the same time needs the same
            with link.sending:
                self._send(state, spec, link, refs, resumed)
        return spec

    def _send(
        self, state: RemoteAttempt, spec: AttemptSpec, link: NodeLink, refs: Mapping[str, str], resumed: str
    ) -> None:
        node, incarnation, sent, packed = link.node, link.incarnation, link.sent, link.packed
        assert node is not None
        start = wire.Start(
            self._prepare_spec(spec),
            _read_repository_format(self._git_dir, spec.base),
            refs,
            create_bundle(self._git_dir, refs, tuple(sent)),
            node.slots,
            None if spec.attempt.batch in packed else _pack_files(spec),
            resumed,
            state.is_terminated,
        )
        for _ in range(2):
            try:
                self._connections.request(link, start, type(None), REQUEST_SECONDS, incarnation)
                break
            except MissingCommitsError:
                start = replace(start, commits=create_bundle(self._git_dir, refs, ()))
            except wire.MissingFilesError:
                start = replace(start, ignored=_pack_files(spec))
        else:
            self._connections.request(link, start, type(None), REQUEST_SECONDS, incarnation)
        sent.update(refs.values())
        packed.add(spec.attempt.batch)

    def _find_resumed(self, spec: AttemptSpec) -> str:
        """Return the commit that the task's last attempt left and this one continues; empty if there is none."""
        attempt = spec.attempt
        if attempt.step is not Step.WRITE or attempt.n < 2:
            return ""
        git = Git(self._git_dir)
        tip = git.resolve_commit(f"refs/heads/{task_branch(attempt.batch, attempt.task)}")
        return tip if tip is not None and tip != spec.base and git.is_ancestor(spec.base, tip) else ""

    def _prepare_spec(self, spec: AttemptSpec) -> AttemptSpec:
        inherited, env = spec.inherited, spec.env
        if inherited is not None:
            sent = {name for name in inherited if any(fnmatch.fnmatchcase(name, each) for each in self._env)}
            inherited = inherited - sent
            env = {name: value for name, value in env.items() if name not in inherited}
        python = Path(sys.executable)
        return replace(
            spec,
            argv=tuple(wire.NODE_PYTHON if word == str(python) else word for word in spec.argv),
            env=env,
            inherited=inherited,
            checkout="",
        )


def _pack_files(spec: AttemptSpec) -> bytes:
    return pack_ignored_files(Path(spec.checkout), spec.setup) if spec.checkout else b""


def _read_repository_format(git_dir: Path, commit: str) -> wire.RepositoryFormat:
    """Read the format of a repository with this commit."""
    shallow = git_dir / "shallow"
    commits = tuple(shallow.read_text().split()) if shallow.exists() else ()
    return wire.RepositoryFormat("sha256" if len(commit) == SHA256_DIGITS else "sha1", commits)
