"""Random plans: small graphs of every shape, with files, groups, phases and weights that get in each other's way."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.task import Need, NeedKind, Phase, Task

FILES = ("src/api.py", "src/cli.py", "src/db.py", "src/ui/page.py", "src/ui/", "docs/*.md", "docs/use.md")
GROUPS = ("migrations", "release")


def make_plan(rng: Random, size: int, agents: tuple[str, ...], *, verify: float, phased: bool) -> Plan:
    """A plan of `size` tasks; needs point backwards only, so it has no cycle."""
    phases = _assign_phases(rng, size) if phased else [None] * size
    shape = rng.choice(("loose", "chains", "layers", "tight"))
    needs = [_make_needs(rng, shape, place) for place in range(size)]
    tasks = [
        replace(_make_task(rng, place, agents, verify=verify), phase=phases[place], needs=needs[place])
        for place in range(size)
    ]
    checked = build_checked_plan(tasks, phases=_make_phases(rng, tasks))
    assert checked.plan is not None, checked.problems
    return checked.plan


def _task_id(place: int) -> str:
    return f"t{place + 1:02}"


def _make_needs(rng: Random, shape: str, place: int) -> tuple[Need, ...]:
    if place == 0:
        return ()
    match shape:
        case "loose":
            chosen = rng.sample(range(place), k=min(place, rng.choice((0, 0, 0, 1, 2))))
        case "chains":
            chosen = [place - 1] if rng.random() < 0.7 else []
        case "layers":
            below = range(max(0, place // 5 * 5 - 5), place // 5 * 5)
            chosen = rng.sample(below, k=min(len(below), rng.choice((0, 1, 1, 2, 3))))
        case _:
            chosen = rng.sample(range(place), k=min(place, rng.choice((1, 1, 2, 3))))
    kind = NeedKind.CHAIN if shape == "chains" else NeedKind.NEED
    return tuple(Need(_task_id(on), kind, "said so") for on in sorted(chosen))


def _make_task(rng: Random, place: int, agents: tuple[str, ...], *, verify: float) -> Task:
    return Task(
        _task_id(place),
        title=f"Task {place + 1}",
        touches=tuple(sorted(rng.sample(FILES, k=rng.choice((0, 0, 0, 1, 1, 2))))),
        conflicts_with=(_task_id(rng.randrange(place)),) if place and rng.random() < 0.1 else (),
        exclusive=rng.choice(GROUPS) if rng.random() < 0.12 else None,
        gating=rng.random() < 0.85,
        priority=rng.choice((0, 1, 1, 1, 2)),
        weight=round(rng.uniform(0.5, 4.0), 2),
        estimate=round(rng.uniform(10, 300), 1) if rng.random() < 0.3 else None,
        slots=rng.choice((1, 1, 1, 1, 1, 1, 2, 3)),
        allow_empty=rng.random() < 0.15,
        agent=rng.choice(agents) if rng.random() < 0.4 else None,
        verify="make test" if rng.random() < verify else None,
        timeout=round(rng.uniform(60, 300)) if rng.random() < 0.2 else None,
        retries=rng.randrange(4) if rng.random() < 0.3 else None,
    )


def _assign_phases(rng: Random, size: int) -> list[str | None]:
    """Phases in written order, so that needs, which point backwards, agree with them."""
    cuts = sorted(rng.randrange(size + 1) for _ in range(rng.choice((1, 2))))
    return [str(1 + sum(cut <= place for cut in cuts)) for place in range(size)]


def _make_phases(rng: Random, tasks: list[Task]) -> tuple[Phase, ...]:
    keys = sorted({task.phase for task in tasks if task.phase is not None})
    phases = []
    for place, key in enumerate(keys):
        gating = sum(task.gating for task in tasks if task.phase == key)
        settled, missing = rng.choice(((0, 0), (0, 0), (1, 0), (0, 1), (2, 1)))
        earlier = [task.id for task in tasks if task.phase is not None and task.phase < key]
        phases.append(
            Phase(
                key,
                after=tuple(keys[:place]) if rng.random() < 0.9 else (),
                total=gating + settled + missing,
                settled=settled,
                opens_with=rng.choice(earlier) if earlier and rng.random() < 0.25 else None,
                gate=rng.choice((0.5, 1.0)) if rng.random() < 0.2 else None,
            )
        )
    return tuple(phases)
