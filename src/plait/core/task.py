"""Task and Attempt: what is to be done, and one try at it."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b

from plait.core.fast_dataclass import dataclass

SECONDS_PER_WEIGHT = 600.0


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in a source that something comes from."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class NeedKind(StrEnum):
    """Why a task needs another. An entrant need is met when the entrant has ended, successfully or not."""

    NEED = "need"
    CHAIN = "chain"
    ENTRANT = "entrant"


@dataclass(frozen=True, slots=True)
class Need:
    """An edge: the task that carries it starts only after `on` is done."""

    on: str
    kind: NeedKind = NeedKind.NEED
    reason: str = ""
    at: Origin | None = None


VERIFICATION_PHASE = "verification"  # of an attempt at a model job: a second prompt judges what was written


class ModelJobMode(StrEnum):
    """What the model's answer contains: whole files, edits, parts of a file, insertions, or new fields."""

    REPLACE = "replace"
    EDIT = "edit"
    SPLIT = "split"
    REPLACE_PATTERN = "replace_pattern"
    UPDATE_FIXTURES = "update_fixtures"


@dataclass(frozen=True, slots=True)
class ModelJob:
    """A task for a model without a coding tool. Paths are relative to the repository; `output` is `output_dir` and
    `output_file` together.

    `tests` is written first, where there is one; `sequential`: one file after another, each with those before it.
    """

    output: str
    mode: ModelJobMode = ModelJobMode.REPLACE
    outputs: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    tests: str | None = None
    sequential: bool = False
    verify: bool = True
    struct_name: str = ""
    new_field: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work. `weight` and `estimate` are expected duration and only order the ready tasks.

    `body`, `run`, `env`, `job` and `sandbox` are for the agent, not for decisions: a journalled plan goes without them (`Plan.without_texts`).
    `entrant` is the contested task that this one is an entrant of: its own change is never merged.
    """

    id: str
    title: str = ""
    body: str = ""
    needs: tuple[Need, ...] = ()
    touches: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    exclusive: str | None = None
    phase: str | None = None
    gating: bool = True
    priority: int = 1
    weight: float = 1.0
    estimate: float | None = None
    slots: int = 1
    allow_empty: bool = False
    agent: str | None = None
    model: str | None = None
    verify: str | None = None
    timeout: float | None = None
    retries: int | None = None
    run: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    job: ModelJob | None = None
    sandbox: str | None = None
    entrant: str | None = None
    origin: Origin | None = None
    digest: str = ""  # of its texts, where a journalled plan goes without them

    @property
    def text_digest(self) -> str:
        """A digest that is equal only for tasks that ask for the same work."""
        text = "\0".join((self.title, self.body, self.run or "", repr(self.job) if self.job else ""))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

    @property
    def key(self) -> str:
        """The id of the task across batches of its source."""
        return f"{self.origin.file}\0{self.id}" if self.origin is not None else self.id

    @property
    def expected_seconds(self) -> float:
        """The expected duration without history."""
        return self.weight * SECONDS_PER_WEIGHT if self.estimate is None else self.estimate


class Step(StrEnum):
    """One stage of a task. Attempts are made at write and verify; merging is the batch's own work."""

    WRITE = "write"
    VERIFY = "verify"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, order=True)
class Attempt:
    """One try at one step of a task. Its name is its identity: starting it twice starts it once."""

    batch: str
    task: str
    step: Step
    n: int

    def __str__(self) -> str:
        return f"{self.batch}/{self.task}/{self.step}-{self.n}"

    @property
    def is_gate(self) -> bool:
        """Whether it checks a batch's merged result, and so belongs to no task."""
        return not self.task


def make_gate_attempt(batch: str, n: int) -> Attempt:
    """Return the name of the n-th run of a batch's gate. Its task is empty, also in names on disk."""
    return Attempt(batch, "", Step.VERIFY, n)


@dataclass(frozen=True, slots=True)
class Phase:
    """A stage of a source. It opens when enough of every phase in `after` is done; a gate, not a set of edges.

    `total` counts the gating tasks of the whole source; `settled` those that were done or skipped before this
    batch; the rest of them are in the batch or will not run. `opens_with` names a task whose completion alone opens it.
    `gate` is the share of the earlier phases that this one asks for, where its source says so: else the batch's setting.
    With a share of its own it is a barrier, which also holds tasks with explicit needs.
    """

    key: str
    title: str = ""
    after: tuple[str, ...] = ()
    total: int = 0
    settled: int = 0
    opens_with: str | None = None
    at: Origin | None = None
    reason: str = ""
    gate: float | None = None

    @property
    def label(self) -> str:
        """The phase's key, and its title where that says more."""
        known = {"", self.key.casefold(), f"phase {self.key}".casefold()}
        return self.key if self.title.casefold() in known else f"{self.key} ({self.title})"
