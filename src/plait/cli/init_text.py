"""What `plait init` says on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.config.files import OWN
from plait.config.toml import write
from plait.wiring import Place

if TYPE_CHECKING:  # rich is slow to import, and `plait --help` reads this file
    from rich.console import Console

    from plait.wiring.sources import Findings, Seen

_WIDEST = 40


def line(out: Console, said: str = "", style: str | None = None) -> None:
    out.print(said, style=style, markup=False, highlight=False, emoji=False, soft_wrap=True)


def visible(said: str) -> str:
    """Nothing in a repository may steer a terminal: a text that could stands in quotes, escaped."""
    return said if said.isprintable() else write(said)


def show_findings(out: Console, place: Place, found: Findings) -> None:
    if not place.repository:
        line(
            out, f"{visible(str(place.top))} is in no git repository: {OWN} goes into this folder.", "yellow"
        )
    rows = [*_sources(found), _agent(found), _verify(found)]
    width = min(_WIDEST, max(len(what) for _, what, _ in rows))
    for label, what, note in rows:
        line(out, f"{label:8} {what:{width}}  {note}".rstrip())


def _sources(found: Findings) -> Iterator[tuple[str, str, str]]:
    if not found.sources:
        yield (
            "sources",
            "none found",
            "a folder tasks/ with a markdown file for each task will do, or a TODO.md",
        )
    for place, seen in enumerate(found.sources):
        yield "" if place else "sources", visible(seen.path), _told(seen)


def _told(seen: Seen) -> str:
    if seen.problem:
        return f"left out: {visible(seen.problem)}"
    tasks = "task" if seen.total == 1 else "tasks"
    return f"{seen.format} · {seen.open} of {seen.total} {tasks} open"


def _agent(found: Findings) -> tuple[str, str, str]:
    agent = found.agent
    others = ", ".join(name for name in found.agents if name != agent)
    if agent:
        return (
            "agent",
            agent,
            f"installed; so are {others}" if "," in others else f"installed{others and f'; so is {others}'}",
        )
    return "agent", "none found", f"none of {', '.join(found.preferred)}{others and f'; but {others}'}"


def _verify(found: Findings) -> tuple[str, str, str]:
    if found.verify is None:
        return "verify", "none found", "no file here tells how the tests are run"
    return "verify", found.verify.command, found.verify.why


def show_next(out: Console, place: Place, *, sources: bool, agent: bool) -> None:
    line(out)
    line(out, f"Wrote {visible(str(place.top / OWN))}.")
    if not agent:
        line(out, "No agent is set: install one of them, or name another under [run].")
    first = "" if sources else "write down some tasks, or name their source under [sources]; then "
    line(out, f"Next: {first}`plait plan` shows what would run, in which order, and why.")
