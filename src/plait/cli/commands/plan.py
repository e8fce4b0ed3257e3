"""A plan as people read it: waves, what each task waits for and why, shared files, the longest path, the problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.cli.output import Page
from plait.core.graph__shape import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.plan import Plan, Problem
from plait.core.task import Need, NeedKind, Phase, Task
from plait.sources.source_model import SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet

_MAX_ID_WIDTH = 32
_MAX_NAMES = 4
_MAX_SHARED_FILES = 20


def make_plan_page(  # noqa: PLR0913 - all that is shown
    plan: Plan,
    pile: SourceSet,
    problems: Sequence[Problem],
    *,
    width: int,
    gate: float,
    longest: float,
    eta: str | None,
) -> Page:
    """`width` is the terminal's; titles are cut to it, reasons and problems are not. `gate` is the batch's setting."""
    page = Page()
    levels = group_waves(plan)
    page.add_line((_headline(plan, pile, len(levels)), "bold"))
    needs_by_task: dict[str, list[Need]] = {}
    for task, need in list_edges(plan):
        needs_by_task.setdefault(task.id, []).append(need)
    tasks = {task.id: task for task in plan.tasks}
    phase_by_key = {phase.key: phase for phase in plan.phases}
    untold_phases = dict(phase_by_key)  # each is told of once, at its first task
    column = min(_MAX_ID_WIDTH, width // 3, max(len(task.id) for task in plan.tasks))
    for number, ids in enumerate(levels, 1):
        page.add_line()
        page.add_line((f"wave {number} of {len(levels)} · {_pluralize(len(ids), 'task')}", "bold"))
        for name in ids:
            page.add_line(_format_task(tasks[name], pile.by_id[tasks[name].entrant or name], column, width))
            reasons = _describe_needs(needs_by_task.get(name, ()))
            phase = untold_phases.pop(tasks[name].phase or "", None)
            if phase is not None and (phase.after or phase.opens_with):
                reasons.append(_describe_phase(phase, phase_by_key, gate))
            for why in reasons:
                page.add_line((f"  {'':{column}}  {why}", "dim"))
    _add_shared_files(page, plan)
    _add_longest_path(page, plan, longest, eta)
    if problems:
        page.add_line()
        page.add_problems(problems)
    return page


def _headline(plan: Plan, pile: SourceSet, levels: int) -> str:
    entrants = sum(task.entrant is not None for task in plan.tasks)
    parts = [_pluralize(len(plan.tasks) - entrants, "task"), _pluralize(levels, "wave")]
    parts[1:1] = [_pluralize(entrants, "entrant")] if entrants else []
    sources = ", ".join(source.path for source in pile.sources[:3])
    more = f" and {len(pile.sources) - 3} more" if len(pile.sources) > 3 else ""
    return f"{' · '.join(parts)} · from {sources}{more}"


def _format_task(task: Task, entry: SourceEntry, column: int, width: int) -> str:
    notes = [] if entry.status is SourceStatus.TODO else [entry.status.value.replace("_", " ")]
    notes += [f"agent {task.agent}"] if task.agent else []
    notes += [f"{task.slots} slots"] if task.slots > 1 else []
    note = f"  ({', '.join(notes)})" if notes else ""
    room = max(20, width - max(column, len(task.id)) - 4 - len(note))
    title = task.title if len(task.title) <= room else task.title[: room - 1] + "…"
    return f"  {task.id:{column}}  {title}{note}"


def _describe_needs(needs: Sequence[Need]) -> list[str]:
    """What it waits for, one line for each kind."""
    lines = []
    plain = [need for need in needs if need.kind is NeedKind.NEED]
    chains = [need for need in needs if need.kind is NeedKind.CHAIN]
    if plain:
        lines.append(f"needs {_join_names([need.on for need in plain])}{_format_origin(plain[0])}")
    entrants = [need.on for need in needs if need.kind is NeedKind.ENTRANT]
    if entrants:
        lines.append(f"chosen from {_join_names(entrants)}")
    if chains:
        why = f" ({chains[0].reason})" if chains[0].reason else ""
        lines.append(f"follows {_join_names([need.on for need in chains])}{why}")
    return lines


def _describe_phase(phase: Phase, phases: Mapping[str, Phase], gate: float) -> str:
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


def _format_origin(need: Need) -> str:
    return f" ({need.at})" if need.at else ""


def _join_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMES])
    return f"{shown} and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else shown


def _add_shared_files(page: Page, plan: Plan) -> None:
    found = find_file_conflicts(plan)
    if not found:
        return
    page.add_line()
    page.add_line(("shared files · their tasks run one after another", "bold"))
    column = min(40, max(len(shared.file) for shared in found[:_MAX_SHARED_FILES]))
    for shared in found[:_MAX_SHARED_FILES]:
        page.add_line(f"  {shared.file:{column}}  {_join_names(shared.tasks)}")
    if len(found) > _MAX_SHARED_FILES:
        page.add_line((f"  and {len(found) - _MAX_SHARED_FILES} more files (--json has them all)", "dim"))


def _add_longest_path(page: Page, plan: Plan, longest: float, eta: str | None) -> None:
    path = find_critical_path(plan)
    shown = path if len(path) <= 8 else [*path[:4], f"… {len(path) - 7} more …", *path[-3:]]
    page.add_line()
    page.add_line(
        ("longest path", "bold"), f"  {' → '.join(shown)} · {format_rough_duration(longest)} of work"
    )
    if eta is not None:
        page.add_line(("ETA", "bold"), f"           {eta}")


def format_rough_duration(seconds: float) -> str:
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


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
