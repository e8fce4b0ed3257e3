"""What `plait init` says on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plait.config.loading__files import PLAIT_TOML
from plait.config.toml_file__toml import format_toml
from plait.git.location import RepoLocation

if TYPE_CHECKING:  # rich is slow to import, and `plait --help` reads this file
    from rich.console import Console

    from plait.client.repo_scan import FoundSource, RepoScan

_MAX_COLUMN_WIDTH = 40


def print_line(out: Console, text: str = "", style: str | None = None) -> None:
    out.print(text, style=style, markup=False, highlight=False, emoji=False, soft_wrap=True)


def quote_unprintable(text: str) -> str:
    """Nothing in a repository may steer a terminal: a text that could stands in quotes, escaped."""
    return text if text.isprintable() else format_toml(text)


def print_findings(out: Console, place: RepoLocation, found: RepoScan) -> None:
    if not place.repository:
        print_line(
            out,
            f"{quote_unprintable(str(place.top))} is in no git repository: {PLAIT_TOML} goes into this folder.",
            "yellow",
        )
    rows = [*_source_rows(found), _agent_row(found), _verify_row(found)]
    width = min(_MAX_COLUMN_WIDTH, max(len(what) for _, what, _ in rows))
    for label, what, note in rows:
        print_line(out, f"{label:8} {what:{width}}  {note}".rstrip())


def _source_rows(found: RepoScan) -> Iterator[tuple[str, str, str]]:
    if not found.sources:
        yield (
            "sources",
            "none found",
            "a folder tasks/ with a markdown file for each task will do, or a TODO.md",
        )
    for place, seen in enumerate(found.sources):
        yield "" if place else "sources", quote_unprintable(seen.path), _describe_source(seen)


def _describe_source(seen: FoundSource) -> str:
    if seen.problem:
        return f"left out: {quote_unprintable(seen.problem)}"
    tasks = "task" if seen.total == 1 else "tasks"
    return f"{seen.format} · {seen.open} of {seen.total} {tasks} open"


def _agent_row(found: RepoScan) -> tuple[str, str, str]:
    agent = found.agent
    others = ", ".join(name for name in found.agents if name != agent)
    if agent:
        return (
            "agent",
            agent,
            f"installed; so are {others}" if "," in others else f"installed{others and f'; so is {others}'}",
        )
    return "agent", "none found", f"none of {', '.join(found.preferred)}{others and f'; but {others}'}"


def _verify_row(found: RepoScan) -> tuple[str, str, str]:
    if found.verify is None:
        return "verify", "none found", "no file here tells how the tests are run"
    return "verify", found.verify.command, found.verify.why


def print_next_steps(out: Console, place: RepoLocation, *, sources: bool, agent: bool) -> None:
    print_line(out)
    print_line(out, f"Wrote {quote_unprintable(str(place.top / PLAIT_TOML))}.")
    if not agent:
        print_line(out, "No agent is set: install one of them, or name another under [run].")
    first = "" if sources else "write down some tasks, or name their source under [sources]; then "
    print_line(out, f"Next: {first}`plait plan` shows what would run, in which order, and why.")
