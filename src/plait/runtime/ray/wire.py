"""The messages between engines and nodes, sealed so that only the receiver can read them.

A request is pickled: anyone who may use a cluster may run anything on its nodes anyway. A node may be under an agent's
control, so its answers are plain data of a known form.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from plait.core.errors import AgentError, PlaitError, UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.git.bundles import BundleError, MissingCommitsError
from plait.git.interfaces import CapturedChange
from plait.git.worktrees.agent_worktree import WorktreeError
from plait.runtime.executor import AttemptSpec, CaptureSpec

# In the place of a node's own folder, and of its Python, in all that an engine sends.
NODE_ROOT = "/@plait-node"
NODE_PYTHON = f"{NODE_ROOT}/python"
MAX_CHUNK_BYTES = 1 << 20
MAX_POLL_BYTES = 8 << 20

T = TypeVar("T")


class NodeRefusedError(WorldError):
    """The node can't run an attempt now and has nothing of it; another node may be able to."""


class NodeFullError(NodeRefusedError):
    """The node has no slot for another attempt now."""


class StaleLeaseError(NodeRefusedError):
    """The engine's lease has run out: what it had started on the node was ended."""


class NodeDiskFullError(NodeRefusedError):
    """The node's disk is full."""


class UnsuitableNodeError(NodeRefusedError):
    """The node can't run this attempt: it lacks a program, or a sandbox. Another attempt may be fine there."""


class MissingFilesError(WorldError):
    """The node has no ignored files for the batch; they have to be sent again."""


class NodeGoneError(WorldError):
    """The node can't be reached."""


class BrokenNodeError(NodeGoneError):
    """The node can't be used until a person repairs it."""


@dataclass(frozen=True, slots=True)
class RepositoryFormat:
    """The format of the engine's repository, which a mirror must have, too."""

    object_format: str = "sha1"
    shallow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """Request: start an attempt.

    `commits` is a bundle of those in `refs` that the node lacks. `ignored` is an archive of the checkout's ignored
    files that the workspace is set up with, empty if there are none; None: the node has them. `resume` is what the
    task's last attempt left. `is_terminated`: the attempt is only prepared, not launched.
    """

    spec: AttemptSpec
    format: RepositoryFormat
    refs: Mapping[str, str]
    commits: bytes = field(repr=False)
    slots: int
    ignored: bytes | None = field(default=None, repr=False)
    resume: str = ""
    is_terminated: bool = False


@dataclass(frozen=True, slots=True)
class Terminate:
    attempt: Attempt
    at_once: bool


@dataclass(frozen=True, slots=True)
class Capture:
    """Request: commit a result. `base` is the commit in the engine's repository that the result follows."""

    spec: CaptureSpec


@dataclass(frozen=True, slots=True)
class Reset:
    attempt: Attempt
    commit: str
    commits: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Release:
    """Request: release the workspace of a task; without `task`, the gate's and all that the node has of the batch.

    `taken` are the task's attempts whose results the engine has. Those of other attempts are saved work.
    """

    batch: str
    task: str
    taken: frozenset[Attempt] = frozenset()


@dataclass(frozen=True, slots=True)
class Poll:
    """Request: report changes.

    It is answered as soon as there is something newer than `version`, or beyond an offset, and at the latest after
    `wait` seconds. A `version` counts for the envelope's incarnation only. `kept` are attempts that have ended, and
    whose output is all on the engine's machine: the node can delete it.
    """

    version: int = 0
    offsets: Mapping[Attempt, int] = field(default_factory=dict)
    wait: float = 0.0
    kept: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """Request: the engine has ended, and no longer uses the node."""


Request = Start | Terminate | Capture | Reset | Release | Poll | Leave


@dataclass(frozen=True, slots=True)
class Envelope:
    """A request with its sender.

    `owner` is the repository's plait, the same for all its engines; `reply_key` what the answer is sealed for. Several
    processes may work for it at the same time, each with a `session` of its own. `seen` is the number of the last
    answer of this `incarnation` that the engine got: its lease counts from when that was sent.
    """

    owner: str
    session: str
    lease_seconds: float
    reply_key: bytes
    body: Request
    incarnation: str = ""
    seen: int = 0


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node reports before anything is sealed. `problem`: why it can't run attempts."""

    version: str
    python: str
    key: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    kind: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    failure: Failure | None = None
    data: bytes = b""


# What an attempt is doing, as its node says.
PREPARING, RUNNING, EXITED, LOST, FAILED = "preparing", "running", "exited", "lost", "failed"


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """The state of an attempt. `size` is that of the transcript once the attempt has ended; the other fields are valid
    then, too. `files` are those that its process left for plait.
    """

    attempt: Attempt
    state: str
    code: int = 0
    why: str = ""
    failure: Failure | None = None
    size: int = 0
    setup_failure: str | None = None
    is_missing: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    attempt: Attempt
    start: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class PollReply:
    """The answer to a poll. `number` names this answer in the next poll; `used` counts the attempts of all engines."""

    incarnation: str
    version: int
    number: int
    used: int
    free_memory: int
    memory_total: int
    disk_full_reason: str = ""
    attempts: tuple[AttemptReport, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    memory: tuple[tuple[Attempt, int], ...] = ()
    tips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptureReply:
    """A committed result and its bundle. The engine finds out by itself which files the change has."""

    change: CapturedChange
    commits: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReleaseReply:
    """The task's saved work as a bundle; empty if there is none."""

    commits: bytes = field(default=b"", repr=False)


_ERRORS: Mapping[str, type[PlaitError]] = {
    each.__name__: each
    for each in (
        *(AgentError, UserError, WorldError, WorktreeError, BundleError, MissingCommitsError),
        *(NodeFullError, StaleLeaseError, NodeDiskFullError, UnsuitableNodeError, MissingFilesError),
    )
}


def describe_failure(error: Exception) -> Failure:
    if isinstance(error, PlaitError):
        kind = next((each.__name__ for each in type(error).__mro__ if each.__name__ in _ERRORS), "WorldError")
        return Failure(kind, clean_text(error.message), clean_text(error.hint))
    return Failure("WorldError", clean_text(f"{type(error).__name__}: {error}"))


def clean_text(text: str) -> str:
    """Return the text with names that are not UTF-8 made valid for messages."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def make_error(failure: Failure, node: str) -> PlaitError:
    """Make the error that a node reported, with the node's name."""
    kind = _ERRORS.get(failure.kind, WorldError)
    message = failure.message if kind is AgentError else f"{failure.message} (on node {node})"
    error = kind(message)
    error.hint = failure.hint
    return error


class Sealer:
    """A key pair: only this process can open what is sealed for its public key."""

    def __init__(self) -> None:
        from nacl.public import PrivateKey, SealedBox

        private = PrivateKey.generate()
        self.key = bytes(private.public_key)
        self._box = SealedBox(private)

    def open(self, data: bytes) -> bytes:
        """Open sealed data. Raises WorldError if it was sealed for another key, or changed on the way."""
        from nacl.exceptions import CryptoError

        try:
            return self._box.decrypt(data)
        except CryptoError as error:
            raise WorldError("a message between the engine and a node can't be decrypted") from error

    def open_request(self, data: bytes) -> Envelope:
        envelope = pickle.loads(self.open(data))  # noqa: S301 - see above
        assert isinstance(envelope, Envelope)
        return envelope

    def open_reply(self, data: bytes) -> Reply:
        return decode(self.open(data), Reply)


def seal(data: bytes, key: bytes) -> bytes:
    from nacl.public import PublicKey, SealedBox

    return SealedBox(PublicKey(key)).encrypt(data)


def seal_request(envelope: Envelope, key: bytes) -> bytes:
    return seal(pickle.dumps(envelope, pickle.HIGHEST_PROTOCOL), key)


def encode(value: object) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """Decode a node's answer. Raises WorldError."""
    import msgspec

    from plait.system.decoders import decode_msgpack

    try:
        return decode_msgpack(data, kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise WorldError(f"a node's answer can't be read: {error}") from error
