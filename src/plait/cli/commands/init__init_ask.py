"""What goes into the file: what was found, or what a person says instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from plait.cli.commands.init__init_text import print_line, quote_unprintable
from plait.client.project_sources import inspect_source
from plait.config.keys import KEYS_BY_NAME
from plait.config.value_types import InvalidValue
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from rich.console import Console

    from plait.client.repo_scan import RepoScan

T = TypeVar("T")

NO_ANSWER = "none"


class Prompt(Protocol):
    """As `typer.prompt`: a question, what an empty answer means, and the answer."""

    def __call__(self, text: str, default: str) -> str: ...


@dataclass(frozen=True, slots=True)
class InitChoice:
    sources: tuple[str, ...] = ()
    agent: str | None = None
    verify: str | None = None

    def settings(self) -> dict[str, object]:
        """By key; what is not chosen is left to its default."""
        chosen = {"sources.paths": list(self.sources), "run.agent": self.agent, "run.verify": self.verify}
        return {key: value for key, value in chosen.items() if value}


def suggest_choice(found: RepoScan) -> InitChoice:
    """Sources that have tasks, the first of the well-known agents, the test command."""
    sources = tuple(seen.path for seen in found.sources if seen.problem is None)
    return InitChoice(sources, found.agent, found.verify.command if found.verify else None)


def make_prompt(out: Console) -> Prompt:
    def ask(text: str, default: str) -> str:
        try:
            return out.input(f"{text} [{quote_unprintable(default)}]: ", markup=False, emoji=False) or default
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None

    return ask


def ask_choice(ask: Prompt, out: Console, place: RepoLocation, found: RepoScan) -> InitChoice:
    """Keep, other or none, for each of the three."""
    first = suggest_choice(found)
    print_line(out)
    print_line(out, "Return keeps what is in brackets; type something else instead, or none.")

    def sources(said: str) -> tuple[str, ...]:
        names = tuple(filter(None, map(str.strip, said.split(","))))
        for seen in (inspect_source(place, name) for name in names):
            if seen.problem:
                raise InvalidValue(quote_unprintable(f"{seen.path}: {seen.problem}"))
        return names

    kept = ", ".join(first.sources)
    return InitChoice(
        _ask_until_valid(
            ask, out, "Sources", kept, lambda said: first.sources if said == kept else sources(said)
        )
        or (),
        _ask_until_valid(ask, out, "Agent", first.agent, lambda said: _check_value("run.agent", said)),
        _ask_until_valid(
            ask, out, "Test command", first.verify, lambda said: _check_value("run.verify", said)
        ),
    )


def _check_value(key: str, value: str) -> str:
    kind = KEYS_BY_NAME[key].value_type
    try:
        kind.read(value)
    except InvalidValue:
        raise InvalidValue(f"this must be {kind.allowed}") from None
    return value


def _ask_until_valid(
    ask: Prompt, out: Console, label: str, default: str | None, read: Callable[[str], T]
) -> T | None:
    """Asks until the answer is one; None for none."""
    while True:
        answer = ask(label, default or NO_ANSWER).strip() or default or NO_ANSWER
        if answer.lower() == NO_ANSWER:
            return None
        try:
            return read(answer)
        except InvalidValue as unfit:
            print_line(out, f"  {unfit}", "yellow")
