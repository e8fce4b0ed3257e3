"""What people ask for. A request is a fact when it arrives; whether it is granted is a decision of its own.

Each carries an id chosen by the front that sends it: a second copy changes nothing.

Wording: the title and the body that a person wants a pull request to have, instead of those that plait would write.
"""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.core.plan import Plan
from plait.core.settings import EngineSettings, Publish, Settings


@dataclass(frozen=True, slots=True)
class Submit:
    """Run this plan. `seed` is where every jitter of the batch comes from."""

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
    """Start nothing new; what runs goes on."""

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
    """Take up a task that has ended, and with it those that were blocked by it alone."""

    id: str
    batch: str
    task: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Go on without this task; what it merged is taken out of the batch branch."""

    id: str
    batch: str
    task: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """A new attempt with these words, or the answer to the question a task waits on."""

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
    """Go on with a stopped or paused batch: interrupted steps again, done tasks not."""

    id: str
    batch: str


@dataclass(frozen=True, slots=True)
class Ship:
    """Publish the batch branch as it is now: push it, or open its pull request or bring it up to date.

    `title` and `body` are a person's own for the pull request; "": plait's again; None: as it was said last.
    """

    id: str
    batch: str
    publish: Publish = Publish.PR
    title: str | None = None
    body: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Take the named fields from `settings`; the others stay, so that two people can change different things."""

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
    """Keep these JSON texts by their names for whoever reads settings; None forgets one, and the others stay."""

    id: str
    changes: tuple[tuple[str, str | None], ...]


TaskRequest = CancelTask | Retry | Drop | Feedback
BatchRequest = CancelBatch | Pause | Unpause | Approve | Stop | Resume | Ship | ChangeSettings
Request = Submit | BatchRequest | TaskRequest | ChangeEngineSettings | SaveSettings
MAX_OVERRIDE_TITLE_CHARS = 255  # characters that every forge takes
MAX_OVERRIDE_BODY_CHARS = 60_000  # characters: forges take 65,536, and people may add theirs there
_LINE_BREAK = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = pattern(r"[\ud800-\udfff]")
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # forges refuse some, terminals obey others


@dataclass(frozen=True, slots=True)
class PullRequestOverride:
    """What is empty is plait's to write."""

    title: str = ""
    body: str = ""

    def with_changes(self, title: str | None, body: str | None) -> PullRequestOverride:
        """What was not said anew (None) stays as it was said last; who says nothing ("") leaves it to plait again."""
        return PullRequestOverride(self.title if title is None else title, self.body if body is None else body)


NO_OVERRIDE = PullRequestOverride()


def check_title(title: str | None) -> str | None:
    if not title:
        return None
    if not title.strip():
        return "a title has to have words"
    if _LINE_BREAK.search(title) or _SURROGATE.search(title):
        return "a title has to be one line of text"
    return (
        f"a title has at most {MAX_OVERRIDE_TITLE_CHARS} characters" if len(title) > MAX_OVERRIDE_TITLE_CHARS else None
    )


def check_body(body: str | None) -> str | None:
    if not body:
        return None
    if _SURROGATE.search(body):
        return "the body is no text"
    if _CONTROL.search(body):
        return "the body has control characters in it"
    return f"a body has at most {MAX_OVERRIDE_BODY_CHARS:,} characters" if len(body) > MAX_OVERRIDE_BODY_CHARS else None
