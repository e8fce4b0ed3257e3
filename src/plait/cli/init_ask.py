"""What goes into the file: what was found, or what a person says instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from plait.cli.init_text import line, visible
from plait.config.kinds import Unfit
from plait.config.schema import BY_NAME
from plait.core.frozen import dataclass
from plait.wiring import Place
from plait.wiring.sources import finding

if TYPE_CHECKING:
    from rich.console import Console

    from plait.wiring.sources import Findings

T = TypeVar("T")

NONE = "none"


class Ask(Protocol):
    """As `typer.prompt`: a question, what an empty answer means, and the answer."""

    def __call__(self, text: str, default: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Choice:
    sources: tuple[str, ...] = ()
    agent: str | None = None
    verify: str | None = None

    def settings(self) -> dict[str, object]:
        """By key; what is not chosen is left to its default."""
        said = {"sources.paths": list(self.sources), "run.agent": self.agent, "run.verify": self.verify}
        return {key: value for key, value in said.items() if value}


def suggested(found: Findings) -> Choice:
    """Sources that have tasks, the first of the well-known agents, the test command."""
    sources = tuple(seen.path for seen in found.sources if seen.problem is None)
    return Choice(sources, found.agent, found.verify.command if found.verify else None)


def prompt(out: Console) -> Ask:
    def ask(text: str, default: str) -> str:
        try:
            return out.input(f"{text} [{visible(default)}]: ", markup=False, emoji=False) or default
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None

    return ask


def asked(ask: Ask, out: Console, place: Place, found: Findings) -> Choice:
    """Keep, other or none, for each of the three."""
    first = suggested(found)
    line(out)
    line(out, "Return keeps what is in brackets; type something else instead, or none.")

    def sources(said: str) -> tuple[str, ...]:
        names = tuple(filter(None, map(str.strip, said.split(","))))
        for seen in (finding(place, name) for name in names):
            if seen.problem:
                raise Unfit(visible(f"{seen.path}: {seen.problem}"))
        return names

    kept = ", ".join(first.sources)
    return Choice(
        _answer(ask, out, "Sources", kept, lambda said: first.sources if said == kept else sources(said))
        or (),
        _answer(ask, out, "Agent", first.agent, lambda said: _sound("run.agent", said)),
        _answer(ask, out, "Test command", first.verify, lambda said: _sound("run.verify", said)),
    )


def _sound(key: str, said: str) -> str:
    kind = BY_NAME[key].kind
    try:
        kind.read(said)
    except Unfit:
        raise Unfit(f"this must be {kind.allowed}") from None
    return said


def _answer(ask: Ask, out: Console, what: str, kept: str | None, read: Callable[[str], T]) -> T | None:
    """Asks until the answer is one; None for none."""
    while True:
        said = ask(what, kept or NONE).strip() or kept or NONE
        if said.lower() == NONE:
            return None
        try:
            return read(said)
        except Unfit as unfit:
            line(out, f"  {unfit}", "yellow")
