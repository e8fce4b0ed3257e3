"""Listening to processes of plait's own: each line that they print is an object, `{"type": …}`; what is none was printed by
something else, and means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.model import Doing, Signal
from plait.agents.tools.events import Error, Events, Json, doing
from plait.agents.waits import NO_WAIT, Wait
from plait.core.status import Category

_LONGEST_WAIT = 40 * 86400.0  # seconds: no provider means more


class Own(Events):
    """A listener. What is spent and what came of it, each process tells in its own way."""

    def usage(self, event: Json) -> Iterator[Signal]:
        raise NotImplementedError

    def result(self, event: Json) -> None:
        raise NotImplementedError

    def text(self, line: str) -> Iterator[Signal]:
        yield from doing(line, Doing.SAYS)

    def event(self, event: Json) -> Iterator[Signal]:
        match event.get("type"):
            case "phase":
                yield from self.stage(event.get("name"))
            case "activity":
                yield from doing(event.get("text"), _kind(event.get("doing")))
            case "usage":
                yield from self.usage(event)
            case "result":
                self.finished = True
                self.result(event)
            case "error":
                self.error = _error(event)
                yield from doing(self.error.said, Doing.FAILS)
            case _:
                pass


def text_of(event: Json, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _error(event: Json) -> Error:
    status, category = event.get("status"), _category(event.get("category"))
    number = status if isinstance(status, int) else None
    return Error(text_of(event, "message"), number, category, wait=_wait(event.get("retry_after")))


def _wait(after: object) -> Wait:
    sound = isinstance(after, int | float) and not isinstance(after, bool) and 0 < after <= _LONGEST_WAIT
    return Wait(float(after)) if sound else NO_WAIT  # type: ignore[arg-type]  # a number, as was just seen


def _category(said: object) -> Category | None:
    return Category(said) if isinstance(said, str) and said in set(Category) else None


def _kind(said: object) -> Doing:
    return Doing(said) if isinstance(said, str) and said in set(Doing) else Doing.SAYS
