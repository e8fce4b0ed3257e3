"""A plan as a graph for other programs to draw: Mermaid and DOT."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.cli.output import replace_control_chars
from plait.core.graph__shape import find_file_conflicts, list_edges
from plait.core.plan import Plan
from plait.core.task import NeedKind, Task

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
        f"  {place[one]} -.-|{_quote_mermaid(file)}| {place[other]}"
        for file, one, other in _pair_shared_files(plan)
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
