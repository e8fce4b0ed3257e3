"""A plan as people read it: waves, what each task waits for and why, shared files, the longest path, the problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.cli.say import Page
from plait.core.plan import Plan, Problem
from plait.core.shape import conflicts, critical_path, edges, waves
from plait.core.task import Need, NeedKind, Phase, Task
from plait.sources.model import Entry, Mark
from plait.sources.pile import Pile

_WIDEST_ID = 32
_MOST_NAMES = 4
_MOST_CONFLICTS = 20


def plan_page(  # noqa: PLR0913 - all that is shown
    plan: Plan,
    pile: Pile,
    problems: Sequence[Problem],
    *,
    width: int,
    gate: float,
    longest: float,
    eta: str | None,
) -> Page:
    """`width` is the terminal's; titles are cut to it, reasons and problems are not. `gate` is the batch's setting."""
    page = Page()
    levels = waves(plan)
    page.line((_headline(plan, pile, len(levels)), "bold"))
    said: dict[str, list[Need]] = {}
    for task, need in edges(plan):
        said.setdefault(task.id, []).append(need)
    tasks = {task.id: task for task in plan.tasks}
    every = {phase.key: phase for phase in plan.phases}
    phases = dict(every)  # each is told of once, at its first task
    column = min(_WIDEST_ID, width // 3, max(len(task.id) for task in plan.tasks))
    for number, ids in enumerate(levels, 1):
        page.line()
        page.line((f"wave {number} of {len(levels)} · {_count(len(ids), 'task')}", "bold"))
        for name in ids:
            page.line(_row(tasks[name], pile.by_id[tasks[name].entrant or name], column, width))
            reasons = _reasons(said.get(name, ()))
            phase = phases.pop(tasks[name].phase or "", None)
            if phase is not None and (phase.after or phase.opens_with):
                reasons.append(_phase(phase, every, gate))
            for why in reasons:
                page.line((f"  {'':{column}}  {why}", "dim"))
    _show_conflicts(page, plan)
    _show_length(page, plan, longest, eta)
    if problems:
        page.line()
        page.problems(problems)
    return page


def _headline(plan: Plan, pile: Pile, levels: int) -> str:
    entrants = sum(task.entrant is not None for task in plan.tasks)
    parts = [_count(len(plan.tasks) - entrants, "task"), _count(levels, "wave")]
    parts[1:1] = [_count(entrants, "entrant")] if entrants else []
    sources = ", ".join(source.path for source in pile.sources[:3])
    more = f" and {len(pile.sources) - 3} more" if len(pile.sources) > 3 else ""
    return f"{' · '.join(parts)} · from {sources}{more}"


def _row(task: Task, entry: Entry, column: int, width: int) -> str:
    notes = [] if entry.mark is Mark.TODO else [entry.mark.value.replace("_", " ")]
    notes += [f"agent {task.agent}"] if task.agent else []
    notes += [f"{task.slots} slots"] if task.slots > 1 else []
    note = f"  ({', '.join(notes)})" if notes else ""
    room = max(20, width - max(column, len(task.id)) - 4 - len(note))
    title = task.title if len(task.title) <= room else task.title[: room - 1] + "…"
    return f"  {task.id:{column}}  {title}{note}"


def _reasons(needs: Sequence[Need]) -> list[str]:
    """What it waits for, one line for each kind."""
    lines = []
    plain = [need for need in needs if need.kind is NeedKind.NEED]
    chains = [need for need in needs if need.kind is NeedKind.CHAIN]
    if plain:
        lines.append(f"needs {_names([need.on for need in plain])}{_at(plain[0])}")
    entrants = [need.on for need in needs if need.kind is NeedKind.ENTRANT]
    if entrants:
        lines.append(f"chosen from {_names(entrants)}")
    if chains:
        why = f" ({chains[0].reason})" if chains[0].reason else ""
        lines.append(f"follows {_names([need.on for need in chains])}{why}")
    return lines


def _phase(phase: Phase, phases: Mapping[str, Phase], gate: float) -> str:
    if phase.opens_with:
        return f"phase {phase.key} opens with {phase.opens_with}"
    held_by = [
        phases[key] for key in phase.after if key in phases and phases[key].settled < phases[key].total
    ]
    if not held_by:
        return f"phase {phase.key} is open"
    last = held_by[-1]
    more = f" and {len(held_by) - 1} earlier" if len(held_by) > 1 else ""
    share = f"{gate if phase.gate is None else phase.gate:.0%} needed"
    far = f"{last.settled} of {last.total} done, {share}"
    return f"phase {phase.key} waits for phase {last.key}{more} ({far})"


def _at(need: Need) -> str:
    return f" ({need.at})" if need.at else ""


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else shown


def _show_conflicts(page: Page, plan: Plan) -> None:
    found = conflicts(plan)
    if not found:
        return
    page.line()
    page.line(("shared files · their tasks run one after another", "bold"))
    column = min(40, max(len(shared.file) for shared in found[:_MOST_CONFLICTS]))
    for shared in found[:_MOST_CONFLICTS]:
        page.line(f"  {shared.file:{column}}  {_names(shared.tasks)}")
    if len(found) > _MOST_CONFLICTS:
        page.line((f"  and {len(found) - _MOST_CONFLICTS} more files (--json has them all)", "dim"))


def _show_length(page: Page, plan: Plan, longest: float, eta: str | None) -> None:
    path = critical_path(plan)
    shown = path if len(path) <= 8 else [*path[:4], f"… {len(path) - 7} more …", *path[-3:]]
    page.line()
    page.line(("longest path", "bold"), f"  {' → '.join(shown)} · {span(longest)} of work")
    if eta is not None:
        page.line(("ETA", "bold"), f"           {eta}")


def span(seconds: float) -> str:
    """`45s`, `20m`, `3h 20m`, `2d 4h`: two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {minutes}m" if minutes else f"{hours}h"
    days, hours = divmod(hours, 24)
    return f"{days}d {hours}h" if hours else f"{days}d"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
