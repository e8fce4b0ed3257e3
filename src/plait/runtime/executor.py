from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt


class Timer(Protocol):
    def cancel(self) -> None:
        """Too late is no error."""


class Reactor(Protocol):
    """The engine's one loop, as adapters see it. Everything but `post` is called from the loop's own thread."""

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever there is something to read."""

    def unwatch(self, fd: int) -> None: ...

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer: ...

    def call_soon(self, then: Callable[[], None]) -> None:
        """From any thread: call it in the loop, soon."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """One attempt as an executor starts it. `env` is the whole environment, `stdin` a file (None: nothing to read)."""

    attempt: Attempt
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    stdin: str | None = None


@dataclass(frozen=True, slots=True)
class RunningProcess:
    pid: int


@dataclass(frozen=True, slots=True)
class ExitedProcess:
    """`code` as a shell tells it: 128 + n after signal n."""

    code: int


@dataclass(frozen=True, slots=True)
class LostProcess:
    """It was started, it does not run any more, and it left no exit status."""

    why: str


# What a probe finds; None: it was never started.
ProbeResult = RunningProcess | ExitedProcess | LostProcess | None


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """Bytes from `start` on. What lies between the offset that was asked for and `start` is gone."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        """Where the next chunk is read from."""
        return self.start + len(self.data)


class Transcript(Protocol):
    """What one attempt prints, readable from any offset. Offsets stay valid when its middle is dropped."""

    def size(self) -> int:
        """How many bytes were printed, dropped ones included; 0 if there is no transcript."""

    def last_written(self) -> float:
        """When something was last printed, in seconds since the epoch; 0 if there is no transcript."""

    def read(self, start: int, max_bytes: int) -> TranscriptChunk:
        """The bytes from `start` on, or from the end of the gap that `start` lies in, up to the next gap.

        Empty at the end.
        """

    def tail(self, max_bytes: int) -> bytes:
        """The last bytes, without a gap."""


class ExecutorCallbacks(Protocol):
    """Who an executor tells what it sees, in the loop's thread. A fact may be told twice."""

    def on_launched(self, attempt: Attempt, pid: int) -> None: ...

    def on_exited(self, attempt: Attempt, code: int) -> None: ...

    def on_lost(self, attempt: Attempt, why: str) -> None: ...


class Executor(Protocol):
    """How attempts reach a site. An attempt's name is its identity: whatever is done twice is done once."""

    def start(self, job: LaunchSpec) -> None:
        """Start it, unless that was done before: then tell what became of it. Raise WorldError if it can't be started."""

    def adopt(self, attempt: Attempt) -> ProbeResult:
        """What became of an attempt that an earlier engine started; one that runs is watched from now on."""

    def terminate(self, attempt: Attempt, *, at_once: bool) -> None:
        """Ask the whole tree to end, ever more firmly; `now`: without grace. What is over already is told again."""

    def open_transcript(self, attempt: Attempt) -> Transcript:
        """What the attempt prints, whether or not it has started yet."""

    def end_leftovers(self) -> int:
        """End what outlived its attempts; how many processes are still being ended. Raise OSError if nobody can tell."""

    def measure_memory(self) -> Mapping[Attempt, int]:
        """The memory, in bytes, that each running attempt's whole tree takes now."""

    def close(self) -> None:
        """Stop watching; what runs goes on."""
