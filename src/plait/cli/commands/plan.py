"""`plait plan`: the checked graph, before anything runs.

A plan as people read it: waves, what each task waits for and why, shared files, the longest path, the problems.

A plan as a graph for other programs to draw: Mermaid and DOT.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from plait.cli.commands.trust import TrustCheck
from plait.cli.error_handling import get_error_exit_code, print_traceback
from plait.cli.format import MAX_NAMES, format_rough_duration
from plait.cli.output import OK, USAGE, Page, make_console, print_json, print_problems, replace_control_chars
from plait.cli.prompts import is_interactive
from plait.client.api_errors import list_error_problems
from plait.client.planning.plan_preview import PlanPreview, load_plan_preview
from plait.core.errors import PlaitError
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.plan import Plan, Problem
from plait.core.settings import Settings
from plait.core.task import Need, NeedKind, Phase, Task
from plait.core.text import join_names
from plait.sources.planning import PlanOptions, PlanResult
from plait.sources.source_model import SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet


class PlanFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


def plan_command(  # noqa: PLR0913, PLR0917 - what was said on the command line
    where: Path,
    source_names: Sequence[str],
    plan_options: PlanOptions,
    flags: Mapping[str, object],
    output_format: PlanFormat,
    prompt: str | None = None,
) -> int:
    """`prompt` names a task whose prompt is shown, in the place of the plan."""
    gc.disable()  # a process that ends when it has answered: looking for garbage costs more than it frees
    try:
        return _make_plan(where, source_names, plan_options, flags, output_format, prompt)
    except PlaitError as error:
        if output_format is not PlanFormat.JSON:
            raise
        return _print_error_json(error)


def _make_plan(  # noqa: PLR0913, PLR0917
    where: Path,
    source_names: Sequence[str],
    plan_options: PlanOptions,
    flags: Mapping[str, object],
    output_format: PlanFormat,
    prompt: str | None,
) -> int:
    trust = TrustCheck(interactive=is_interactive() and output_format is PlanFormat.TEXT, where=where)
    found = load_plan_preview(where, source_names, plan_options, flags, trust.check_before_reading)
    if prompt is not None:
        from plait.cli.commands.plan_prompt import print_prompt  # agents are many, and a plan needs none

        return print_prompt(found, prompt, as_json=output_format is PlanFormat.JSON)
    planned = found.planned
    if output_format is PlanFormat.JSON:
        print_plan_json(found)
    else:
        _print_as(found, output_format)
    return OK if planned.plan or planned.complete else USAGE


def print_plan_json(found: PlanPreview) -> None:
    from plait.client.planning.plan_preview import plan_json  # each shape brings its own

    planned = found.planned
    print_json(plan_json(planned.plan, found.survey.pile.by_id, planned.problems, found.eta, found.cost))


def _print_error_json(error: PlaitError) -> int:
    """A program that asked for JSON gets JSON."""
    from plait.client.planning.plan_preview import plan_json

    print_traceback(error)
    print_json(plan_json(None, {}, list_error_problems(error)))
    return get_error_exit_code(error)


def _print_as(found: PlanPreview, output_format: PlanFormat) -> None:
    plan = found.planned.plan
    if plan is None:
        print_no_plan(found.planned)
    elif output_format is PlanFormat.TEXT:
        print_plan(found, plan)
    else:
        print_problems(found.planned.problems)
        sys.stdout.write(render_mermaid(plan) if output_format is PlanFormat.MERMAID else render_dot(plan))


def print_no_plan(planned: PlanResult) -> None:
    print_problems(planned.problems)
    if planned.complete:
        make_console().print("Everything selected is complete: there is nothing to do.")


def print_plan(found: PlanPreview, plan: Plan) -> None:
    out = make_console()
    eta = (
        None
        if found.eta is None
        else f"{format_rough_duration(found.eta)} with {describe_parallel_limit(found.settings)}"
    )
    page = make_plan_page(
        plan,
        found.survey.pile,
        found.planned.problems,
        width=out.width,
        gate=found.settings.phase_gate,
        longest=max(plan.ranks),
        eta=eta,
    )
    page.show(out)


def describe_parallel_limit(settings: Settings) -> str:
    return f"{settings.max_parallel} at once" if settings.max_parallel else "no limit"


_MAX_ID_WIDTH = 32


_MAX_SOURCES = 3


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
    return f"{' · '.join(parts)} · from {join_names([source.path for source in pile.sources], _MAX_SOURCES)}"


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
        lines.append(f"needs {join_names([need.on for need in plain], MAX_NAMES)}{_format_origin(plain[0])}")
    entrants = [need.on for need in needs if need.kind is NeedKind.ENTRANT]
    if entrants:
        lines.append(f"chosen from {join_names(entrants, MAX_NAMES)}")
    if chains:
        why = f" ({chains[0].reason})" if chains[0].reason else ""
        lines.append(f"follows {join_names([need.on for need in chains], MAX_NAMES)}{why}")
    return lines


def _describe_phase(phase: Phase, phases: Mapping[str, Phase], gate: float) -> str:
    if phase.opens_with:
        return f"phase {phase.key} opens with {phase.opens_with}"
    held_by = [phases[key] for key in phase.after if key in phases and phases[key].settled < phases[key].total]
    if not held_by:
        return f"phase {phase.key} is open"
    last = held_by[-1]
    more = f" and {len(held_by) - 1} earlier" if len(held_by) > 1 else ""
    share = f"{gate if phase.gate is None else phase.gate:.0%} needed"
    far = f"{last.settled} of {last.total} done, {share}"
    return f"phase {phase.key} waits for phase {last.key}{more} ({far})"


def _format_origin(need: Need) -> str:
    return f" ({need.at})" if need.at else ""


def _add_shared_files(page: Page, plan: Plan) -> None:
    found = find_file_conflicts(plan)
    if not found:
        return
    page.add_line()
    page.add_line(("shared files · their tasks run one after another", "bold"))
    column = min(40, max(len(shared.file) for shared in found[:_MAX_SHARED_FILES]))
    for shared in found[:_MAX_SHARED_FILES]:
        page.add_line(f"  {shared.file:{column}}  {join_names(shared.tasks, MAX_NAMES)}")
    if len(found) > _MAX_SHARED_FILES:
        page.add_line((f"  and {len(found) - _MAX_SHARED_FILES} more files (--json has them all)", "dim"))


def _add_longest_path(page: Page, plan: Plan, longest: float, eta: str | None) -> None:
    path = find_critical_path(plan)
    shown = path if len(path) <= 8 else [*path[:4], f"… {len(path) - 7} more …", *path[-3:]]
    page.add_line()
    page.add_line(("longest path", "bold"), f"  {' → '.join(shown)} · {format_rough_duration(longest)} of work")
    if eta is not None:
        page.add_line(("ETA", "bold"), f"           {eta}")


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


_MAX_TITLE_CHARS = 60  # characters of a title


def render_mermaid(plan: Plan) -> str:
    """Needs are arrows, sequences thick ones, shared files dotted lines; phases are boxes around their tasks."""
    place = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["flowchart TD"]
    for title, tasks in _group_by_phase(plan):
        indent = "  "
        if title is not None:
            lines.append(f"  subgraph p{len(lines)}[{_quote_mermaid(title)}]")
            indent = "    "
        lines += [f"{indent}{place[task.id]}[{_quote_mermaid(_format_label(task))}]" for task in tasks]
        lines += ["  end"] if title is not None else []
    for task, need in list_edges(plan):
        arrow = "==>" if need.kind is NeedKind.CHAIN else "-->"
        lines.append(f"  {place[need.on]} {arrow} {place[task.id]}")
    lines += [
        f"  {place[one]} -.-|{_quote_mermaid(file)}| {place[other]}" for file, one, other in _pair_shared_files(plan)
    ]
    return "\n".join(lines) + "\n"


def render_dot(plan: Plan) -> str:
    place = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["digraph plan {", "  rankdir=LR;", "  node [shape=box];"]
    for number, (title, tasks) in enumerate(_group_by_phase(plan)):
        nodes = [f"{place[task.id]} [label={_quote_dot(_format_label(task))}];" for task in tasks]
        if title is None:
            lines += [f"  {node}" for node in nodes]
            continue
        lines.append(f"  subgraph cluster_{number} {{")
        lines += [f"    {line}" for line in (f"label={_quote_dot(title)};", *nodes)]
        lines.append("  }")
    for task, need in list_edges(plan):
        style = " [style=bold]" if need.kind is NeedKind.CHAIN else ""
        lines.append(f"  {place[need.on]} -> {place[task.id]}{style};")
    lines += [
        f"  {place[one]} -> {place[other]} [dir=none, style=dotted, label={_quote_dot(file)}, constraint=false];"
        for file, one, other in _pair_shared_files(plan)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _group_by_phase(plan: Plan) -> Iterator[tuple[str | None, list[Task]]]:
    """The tasks of no phase, then each phase's."""
    by_phase: dict[str | None, list[Task]] = {None: []}
    for task in plan.tasks:
        by_phase.setdefault(task.phase, []).append(task)
    if by_phase[None]:
        yield None, by_phase[None]
    for phase in plan.phases:
        if phase.key in by_phase:
            yield f"{phase.key}: {phase.title}" if phase.title else phase.key, by_phase[phase.key]


def _pair_shared_files(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """A shared file joins its tasks in a row: a line between any two of them would hide the graph."""
    for shared in find_file_conflicts(plan):
        for one, other in zip(shared.tasks, shared.tasks[1:], strict=False):
            yield shared.file, one, other


def _format_label(task: Task) -> str:
    title = task.title if len(task.title) <= _MAX_TITLE_CHARS else task.title[: _MAX_TITLE_CHARS - 1] + "…"
    return f"{task.id} {title}" if title and title != task.id else task.id


def _one_line(text: str) -> str:
    return replace_control_chars(re.sub(r"\s+", " ", text))


def _quote_mermaid(text: str) -> str:
    """Mermaid reads HTML entities written with # in quoted texts; everything that could end one is written so."""
    plain = _one_line(text)
    return '"' + re.sub(r'[#"<>&`\\;]', lambda sign: f"#{ord(sign[0])};", plain) + '"'


def _quote_dot(text: str) -> str:
    plain = _one_line(text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
