"""One task file of a folder: everything it says about its task, with other tasks still by the names it gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources import words
from plait.sources.formats.folder.fields import Header, header
from plait.sources.formats.folder.names import Named, Names, plain
from plait.sources.formats.folder.owned import Paths, paths
from plait.sources.model import Document, Entry, Mark
from plait.sources.report import info, warning
from plait.sources.taskfiles.keys import Keys, Said
from plait.sources.taskfiles.text import body, title

NEEDS = ("needs", "depends_on", "dependencies")
TOUCHES = ("touches", "files", "target_files", "output_file", "output_files")
SERIAL = "serial"  # the exclusive group of all that say `parallel: false`
KEYS = tuple(
    """id title needs depends_on dependencies touches files target_files output_file output_files conflicts_with
    exclusive parallel phase priority weight complexity estimate slots allow_empty agent model recipe verify timeout
    retries env run""".split()  # noqa: SIM905 - words read better in lines
)
# What other tools put there.
QUIET = frozenset(
    """status created updated labels tags label tag assignee assignees author authors owner date description name type
    created_at updated_at created_date updated_date due version""".split()  # noqa: SIM905 - words read better in lines
)
_LONGEST_ID = 200
_PHASE = re.compile(r"phase[\s:_-]+", re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draft:
    """What one file says. `phase` is a key; `problems` grow as its other keys and the names in it are looked at."""

    named: Named
    document: Document
    keys: Keys
    header: Header
    paths: Paths
    title: str
    phase: str | None

    @property
    def id(self) -> str:
        return self.named.id

    @property
    def problems(self) -> list[Problem]:
        return self.keys.problems


def draft(document: Document, named: Named) -> Draft:
    keys = Keys(document)
    keys.unknown(KEYS, QUIET)
    if keys.has("recipe"):
        note = "recipes are not there yet: this key was passed over"
        keys.problems.append(info(document, keys.line("recipe"), note))
    own = _id(keys)
    return Draft(
        Named(own, named.stem) if own is not None else named,
        document,
        keys,
        header(document),
        paths(document),
        " ".join((keys.text("title") or title(document)).split()),
        _phase(keys.text("phase")),
    )


def _id(keys: Keys) -> str | None:
    said = keys.text("id")
    if said is not None and (len(said) > _LONGEST_ID or not said.isprintable()):
        keys.warn(
            "id", "is more than one line, or too long; the file's name is the id", "Give it a short one."
        )
        return None
    return said


def _phase(said: str | None) -> str | None:
    """`Phase 2` and `2` are the same."""
    if said is None:
        return None
    line = " ".join(said.split())
    return (_PHASE.sub("", line, count=1) if _PHASE.match(line) else line) or line


def entry(draft: Draft, names: Names, needs: Sequence[Need], told: tuple[Mark, str] | None) -> Entry:
    """The task and how far it is. `needs` and `told` are what others say of it; what it says itself comes first."""
    task = _task(draft, names, needs)
    mark, said = _mark(draft, told)
    if mark is Mark.TODO and not task.body.strip() and task.run is None:
        hint = "Write into it what is to be done."
        draft.problems.append(warning(draft.document, 0, "this file says nothing: it can't be run", hint))
        mark = Mark.UNREADABLE
    return Entry(task, mark, said, draft.paths.besides(task.touches), aliases=draft.named.aliases)


def _mark(draft: Draft, told: tuple[Mark, str] | None) -> tuple[Mark, str]:
    if draft.keys.front.broken:
        return Mark.UNREADABLE, ""
    said = draft.keys.text("status") or ""
    mark = words.mark(said)
    if mark is not None:
        return mark, said
    if told is not None:
        return told
    return (draft.header.mark, draft.header.said) if draft.header.mark else (Mark.TODO, "")


def _task(draft: Draft, names: Names, needs: Sequence[Need]) -> Task:
    keys, header = draft.keys, draft.header
    run = keys.text("run")
    return Task(
        draft.id,
        draft.title,
        body(draft.document),
        needs=_distinct((*_needs(draft, names), *needs)),
        touches=tuple(dict.fromkeys((*keys.paths(*TOUCHES), *header.files, *draft.paths.owned))),
        conflicts_with=_conflicts(draft, names),
        exclusive=exclusive(keys),
        phase=draft.phase,
        priority=_or(1, keys.priority("priority"), header.priority),
        weight=_or(1.0, keys.weight("weight"), keys.weight("complexity"), header.weight),
        estimate=_or(header.estimate, keys.seconds("estimate")),
        slots=_or(1, keys.whole("slots", 1)),
        allow_empty=bool(keys.flag("allow_empty")),
        agent=_or("shell" if run else None, keys.text("agent")),
        model=keys.text("model"),
        verify=_command(keys, "verify"),
        timeout=keys.seconds("timeout"),
        retries=keys.whole("retries", 0),
        run=run,
        env=keys.pairs("env"),
        origin=Origin(draft.document.path, 1),
    )


def _or(otherwise: T, *said: T | None) -> T:
    """The first that was said."""
    return next((value for value in said if value is not None), otherwise)


def _distinct(needs: Iterable[Need]) -> tuple[Need, ...]:
    """One need for each task: what was said first."""
    first: dict[str, Need] = {}
    for need in needs:
        first.setdefault(need.on, need)
    return tuple(first.values())


def _command(keys: Keys, name: str) -> str | None:
    said = keys.text(name)
    if said is not None and said.lower() in {"true", "false", "yes", "no"}:
        keys.warn(name, f"is not a command: {said}", f"Write it as {name}: make test.")
        return None
    return said


def exclusive(keys: Keys) -> str | None:
    """The group whose tasks run one at a time: the one that is named, or that of all that say `parallel: false`."""
    said = keys.text("exclusive")
    alone = keys.flag("parallel") is False
    if said is None or said.lower() in {"true", "false", "yes", "no"}:
        return SERIAL if alone or (said or "").lower() in {"true", "yes"} else None
    if alone:
        keys.warn("parallel", f"was passed over: the task is in the group {said}", "A task has one group.")
    return said


def _needs(draft: Draft, names: Names) -> Iterator[Need]:
    for said in draft.keys.names(*NEEDS):
        yield from _need(draft, names, said)
    for said in draft.header.needs:
        if " " in plain(said.text) and not names.find(said.text, draft.id):
            note = f"{said.reason}: this names no task, so nothing waits for it"
            draft.problems.append(info(draft.document, said.line, note))
        else:
            yield from _need(draft, names, said)


def _need(draft: Draft, names: Names, said: Said) -> Iterator[Need]:
    """A name that no task has stays as it is written: what that means is the plan's business."""
    found = names.find(said.text, draft.id)
    if len(found) > 1:
        draft.problems.append(several(draft.document, said.line, said.text, found))
    else:
        on = found[0] if found else said.text
        yield Need(on, reason=said.reason, at=Origin(draft.document.path, said.line + 1))


def several(document: Document, line: int, said: str, found: Sequence[str]) -> Problem:
    """What is said of a name that could be that of several tasks."""
    message = f"{said[:60]} could be {' or '.join(found[:10])}: it was passed over"
    return warning(document, line, message, "Write the whole name.")


def enabled(draft: Draft, names: Names) -> Iterator[tuple[str, Need]]:
    """Other tasks, by id, that wait for this one because it says so."""
    for said in draft.header.enables:
        found = names.find(said.text, draft.id)
        if len(found) > 1:
            draft.problems.append(several(draft.document, said.line, said.text, found))
        elif found:
            yield found[0], Need(draft.id, reason=said.reason, at=Origin(draft.document.path, said.line + 1))
        else:
            note = f"{said.reason}: this names no task here, so nothing waits because of it"
            draft.problems.append(info(draft.document, said.line, note))


def _conflicts(draft: Draft, names: Names) -> tuple[str, ...]:
    """A name that several tasks could have keeps all of them apart: that is never wrong, only slower."""
    found = ((names.find(said.text, draft.id), said.text) for said in draft.keys.names("conflicts_with"))
    return tuple(dict.fromkeys(name for ids, said in found for name in ids or (said,)))
