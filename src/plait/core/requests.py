"""What people request. A request is a fact when it arrives; granting it is a separate decision.

Each carries an id chosen by its sender: a second copy changes nothing.
"""

from __future__ import annotations

from enum import StrEnum

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.core.plan import Plan
from plait.core.settings import EngineSettings, Publish, Settings


@dataclass(frozen=True, slots=True)
class Submit:
    """Run this plan. `seed` is the source of all jitter of the batch."""

    id: str
    batch: str
    plan: Plan
    settings: Settings
    base: str = ""
    branch: str = ""
    seed: int = 0
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelBatch:
    id: str
    batch: str


@dataclass(frozen=True, slots=True)
class CancelTask:
    id: str
    batch: str
    task: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Start nothing new; running attempts continue."""

    id: str
    batch: str


@dataclass(frozen=True, slots=True)
class Unpause:
    id: str
    batch: str


@dataclass(frozen=True, slots=True)
class Approve:
    """Let a task of a queue start when its turn comes: the one named, else the one whose turn it is."""

    id: str
    batch: str
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry a task that has ended, and the tasks that only it blocked. A change that conflicts is made again on the branch."""

    id: str
    batch: str
    task: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Recheck:
    """Verify and merge the finished work of a task that ended without success; no agent runs."""

    id: str
    batch: str
    task: str


class FileChoice(StrEnum):
    """How a person resolved a file in conflict: with the batch branch's version, the task's, or their own text."""

    BATCH = "batch"
    TASK = "task"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    path: str
    choice: FileChoice


@dataclass(frozen=True, slots=True)
class Resolve:
    """Verify and merge `commit` in the place of a change that conflicts: a person resolved the conflict.

    `commit` is that change made again on `onto`, and is in the repository already. The person saw the batch branch at `onto`
    and the task's change at `tip`: if either is another by now, it is refused.
    """

    id: str
    batch: str
    task: str
    onto: str
    tip: str
    commit: str
    diffstat: tuple[int, int, int] | None = None
    files: tuple[ResolvedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """Continue without this task; what it merged is removed from the batch branch."""

    id: str
    batch: str
    task: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """A new attempt with this feedback, or the answer to the task's question."""

    id: str
    batch: str
    task: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Start nothing, end what runs (`now`: without grace) and keep it resumable."""

    id: str
    batch: str
    now: bool = False


@dataclass(frozen=True, slots=True)
class Resume:
    """Resume a stopped or paused batch; finished tasks are not run again."""

    id: str
    batch: str


@dataclass(frozen=True, slots=True)
class Ship:
    """Publish the batch branch as it is now: push it, or open its pull request or bring it up to date.

    `title` and `body` are a person's own for the pull request; "": plait's again; None: the last one.
    """

    id: str
    batch: str
    publish: Publish = Publish.PR
    title: str | None = None
    body: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Take the named fields from `settings`; the others stay, so that two people can change different settings."""

    id: str
    batch: str
    settings: Settings
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeEngineSettings:
    id: str
    settings: EngineSettings
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SaveSettings:
    """Save these settings as JSON texts by name; None removes one, and the others stay."""

    id: str
    changes: tuple[tuple[str, str | None], ...]


RETRY_INSTEAD = "retry its tasks instead"  # what a refused Resume says of a batch that has ended
TaskRequest = CancelTask | Retry | Recheck | Resolve | Drop | Feedback
BatchRequest = CancelBatch | Pause | Unpause | Approve | Stop | Resume | Ship | ChangeSettings
Request = Submit | BatchRequest | TaskRequest | ChangeEngineSettings | SaveSettings
MAX_OVERRIDE_TITLE_CHARS = 255  # characters that every forge takes
MAX_OVERRIDE_BODY_CHARS = 60_000  # characters: forges take 65,536, and people may add theirs there
_LINE_BREAK = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = pattern(r"[\ud800-\udfff]")
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # forges refuse some, terminals obey others


@dataclass(frozen=True, slots=True)
class PullRequestOverride:
    """A person's own title and body; plait writes what is empty."""

    title: str = ""
    body: str = ""

    def with_changes(self, title: str | None, body: str | None) -> PullRequestOverride:
        """Return the override with these changes: None keeps the last text; an empty one returns to plait's own."""
        return PullRequestOverride(self.title if title is None else title, self.body if body is None else body)


NO_OVERRIDE = PullRequestOverride()


def check_title(title: str | None) -> str | None:
    if not title:
        return None
    if not title.strip():
        return "the title is blank"
    if _LINE_BREAK.search(title) or _SURROGATE.search(title):
        return "the title must be one line of text"
    return (
        f"a title has at most {MAX_OVERRIDE_TITLE_CHARS} characters" if len(title) > MAX_OVERRIDE_TITLE_CHARS else None
    )


def check_body(body: str | None) -> str | None:
    if not body:
        return None
    if _SURROGATE.search(body):
        return "the body is not valid text"
    if _CONTROL.search(body):
        return "the body contains control characters"
    return f"a body has at most {MAX_OVERRIDE_BODY_CHARS:,} characters" if len(body) > MAX_OVERRIDE_BODY_CHARS else None
