"""A plan as a graph for other programs to draw: Mermaid and DOT."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plait.cli.say import harmless
from plait.core.plan import Plan
from plait.core.shape import conflicts, edges
from plait.core.task import NeedKind, Task

_MOST = 60  # characters of a title


def mermaid(plan: Plan) -> str:
    """Needs are arrows, sequences thick ones, shared files dotted lines; phases are boxes around their tasks."""
    place = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["flowchart TD"]
    for title, tasks in _grouped(plan):
        indent = "  "
        if title is not None:
            lines.append(f"  subgraph p{len(lines)}[{_quoted(title)}]")
            indent = "    "
        lines += [f"{indent}{place[task.id]}[{_quoted(_label(task))}]" for task in tasks]
        lines += ["  end"] if title is not None else []
    for task, need in edges(plan):
        arrow = "==>" if need.kind is NeedKind.CHAIN else "-->"
        lines.append(f"  {place[need.on]} {arrow} {place[task.id]}")
    lines += [f"  {place[one]} -.-|{_quoted(file)}| {place[other]}" for file, one, other in _pairs(plan)]
    return "\n".join(lines) + "\n"


def dot(plan: Plan) -> str:
    place = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["digraph plan {", "  rankdir=LR;", "  node [shape=box];"]
    for number, (title, tasks) in enumerate(_grouped(plan)):
        nodes = [f"{place[task.id]} [label={_string(_label(task))}];" for task in tasks]
        if title is None:
            lines += [f"  {node}" for node in nodes]
            continue
        lines.append(f"  subgraph cluster_{number} {{")
        lines += [f"    {line}" for line in (f"label={_string(title)};", *nodes)]
        lines.append("  }")
    for task, need in edges(plan):
        style = " [style=bold]" if need.kind is NeedKind.CHAIN else ""
        lines.append(f"  {place[need.on]} -> {place[task.id]}{style};")
    lines += [
        f"  {place[one]} -> {place[other]} [dir=none, style=dotted, label={_string(file)}, constraint=false];"
        for file, one, other in _pairs(plan)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _grouped(plan: Plan) -> Iterator[tuple[str | None, list[Task]]]:
    """The tasks of no phase, then each phase's."""
    by_phase: dict[str | None, list[Task]] = {None: []}
    for task in plan.tasks:
        by_phase.setdefault(task.phase, []).append(task)
    if by_phase[None]:
        yield None, by_phase[None]
    for phase in plan.phases:
        if phase.key in by_phase:
            yield f"{phase.key}: {phase.title}" if phase.title else phase.key, by_phase[phase.key]


def _pairs(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """A shared file joins its tasks in a row: a line between any two of them would hide the graph."""
    for shared in conflicts(plan):
        for one, other in zip(shared.tasks, shared.tasks[1:], strict=False):
            yield shared.file, one, other


def _label(task: Task) -> str:
    title = task.title if len(task.title) <= _MOST else task.title[: _MOST - 1] + "…"
    return f"{task.id} {title}" if title and title != task.id else task.id


def _one_line(text: str) -> str:
    return harmless(re.sub(r"\s+", " ", text))


def _quoted(text: str) -> str:
    """Mermaid reads HTML entities written with # in quoted texts; everything that could end one is written so."""
    plain = _one_line(text)
    return '"' + re.sub(r'[#"<>&`\\;]', lambda sign: f"#{ord(sign[0])};", plain) + '"'


def _string(text: str) -> str:
    plain = _one_line(text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
