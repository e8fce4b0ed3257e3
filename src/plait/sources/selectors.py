"""Selectors: `63, 65-67`, `1.1 1.2`, `phase:1`, `all`, ids, globs, paths, or words to search for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.core.plan import Problem, Severity, has_errors
from plait.sources.references import is_within
from plait.sources.source_model import SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet, list_leaves

_DASHES = pattern(r"(?<=[\w.])[ \t]*[-\u2010-\u2015][ \t]*(?=\d)")
_SPLIT = pattern(r"[,;\s]+")
_NUMBER = r"\d+(?:\.\d+)*"
_RANGE = pattern(rf"(\S+:)?([A-Za-z]*)({_NUMBER})-\2({_NUMBER})\Z")
_LEADING = pattern(rf"({_NUMBER})(?:[-_. ].*)?\Z", re.DOTALL)
_OPEN_RANGE = pattern(rf"(?:{_NUMBER}-|-{_NUMBER})\Z")
_PHASE = pattern(r"(?:phase|p):(.*)\Z", re.IGNORECASE)
_PADDED = pattern(r"^0*(\d+)-")
_IDLIKE = pattern(r"(?:[A-Z]+-?|#)?\d[\w.#:-]*\Z")
_MAX_LISTED_RANGE = 100  # of a range whose members are all missing: more are not named one by one


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasks to run, in the order of the sources. `complete`: all selected tasks are finished already.

    `unreadable` tasks were selected too, and can't be run. `has_deferred`: some are left for later, or for never.
    """

    ids: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    complete: bool = False
    unreadable: tuple[str, ...] = ()
    has_deferred: bool = False

    @property
    def failed(self) -> bool:
        return has_errors(self.problems)


def select_tasks(source_set: SourceSet, text: str | None = None, *, resume: bool = False) -> Selection:
    """Select tasks; without a text, all. Missing and finished tasks are reported; an invalid selector is an error."""
    chosen = _Selector(source_set)
    if text is None or text.strip().lower() in {"all", "*"}:
        chosen.add_all()
    else:
        chosen.add_matching(text)
    return chosen.build(resume=resume, named=text is not None and not chosen.is_all)


def select_ids(source_set: SourceSet, ids: Iterable[str], *, resume: bool = False) -> Selection:
    """Select tasks by their exact ids, in this order; a missing one is an error."""
    chosen = _Selector(source_set)
    chosen.add_ids(ids)
    selection = chosen.build(resume=resume, named=True)
    return replace(selection, ids=tuple(name for name in chosen.ids if name in set(selection.ids)))


def add_needs(source_set: SourceSet, ids: Sequence[str]) -> tuple[str, ...]:
    """Return these tasks and all unfinished tasks that they need, directly or not."""
    wanted = set(ids)
    waiting = list(ids)
    while waiting:
        for need in source_set.by_id[waiting.pop()].task.needs:
            entry = source_set.by_id.get(need.on)
            if entry is not None and need.on not in wanted and not entry.status.is_closed and not entry.parts:
                wanted.add(need.on)
                waiting.append(need.on)
    return tuple(entry.task.id for entry in source_set.entries if entry.task.id in wanted)


def leave_out_dependents_of_stuck(source_set: SourceSet, ids: Sequence[str]) -> tuple[tuple[str, ...], list[Problem]]:
    """Return these ids without the tasks that need, directly or not, a task that another run left pending; and a note
    for each left out.

    That task may still run elsewhere, and the others don't have to wait for it.
    """
    left_out = {entry.task.id for entry in source_set.entries if entry.status is SourceStatus.STUCK}.difference(ids)
    if not left_out:
        return tuple(ids), []
    dependents: dict[str, list[str]] = {}
    for name in ids:
        for need in source_set.by_id[name].task.needs:
            dependents.setdefault(need.on, []).append(name)
    notes: dict[str, Problem] = {}
    waiting = sorted(left_out)
    while waiting:
        on = waiting.pop()
        state = "is left out" if on in notes else f"was interrupted ({source_set.by_id[on].status_text})"
        for name in dependents.get(on, []):
            if name not in notes:
                message = f"{name} needs {on}, which {state}: left out"
                hint = "Use --resume to run the interrupted tasks again, too, or --ignore-needs."
                notes[name] = Problem(Severity.WARNING, message, source_set.by_id[name].task.origin, hint)
                waiting.append(name)
    return tuple(name for name in ids if name not in notes), [notes[name] for name in ids if name in notes]


@dataclass
class _Selector:
    source_set: SourceSet
    ids: dict[str, None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    is_all: bool = False

    def __post_init__(self) -> None:
        self.groups = {entry.task.id: entry.parts for entry in self.source_set.entries if entry.parts}
        self.ids_by_name: dict[str, list[str]] = {}
        for entry in self.source_set.entries:
            for name in {entry.task.id, *entry.aliases, _strip_source(entry.task.id)}:
                self.ids_by_name.setdefault(name.lower(), []).append(entry.task.id)

    def add_all(self) -> None:
        self.is_all = True
        self.ids = dict.fromkeys(entry.task.id for entry in self.source_set.entries if not entry.parts)

    def add_ids(self, ids: Iterable[str]) -> None:
        for name in dict.fromkeys(ids):
            if name in self.source_set.by_id:
                self._add([name])
            else:
                self._error(f"there is no task {name}", self._suggest(name))

    def add_matching(self, text: str) -> None:
        tokens = [token for token in _SPLIT.split(_DASHES.sub("-", text.strip())) if token]
        if not tokens:
            self._error("nothing is selected", 'Name tasks ("63, 65-67"), or leave --select out for all of them.')
        words = [token for token in tokens if not self._add_token(token)]
        if words and len(words) == len(tokens):
            self._add_by_words(words)
        else:
            for word in words:
                self._error(f"{word} is neither a task nor a range, a phase or a pattern", self._suggest(word))

    def _add_token(self, token: str) -> bool:
        """Whether this token is a selector, valid or not; otherwise it is a search word."""
        if token.lower() == "all":
            self.add_all()
            return True
        named = self.ids_by_name.get(token.lower())
        if named:
            self._add_unambiguous(token, named)
            return True
        inside = self._find_in_file(token)
        if inside:
            self._add(inside)
            return True
        phase = _PHASE.match(token)
        if phase:
            self._add_phase(phase[1])
        elif _RANGE.match(token):
            self._add_range(token)
        elif _OPEN_RANGE.match(token):
            self._error(f"{token} is a range with one end", 'Write both, as in "63-67".')
        elif any(sign in token for sign in "*?["):
            self._add_glob(token)
        elif not self._add_by_prefix(token) and not _IDLIKE.match(token):
            return False
        return True

    def _add_unambiguous(self, token: str, named: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(named))
        if len(distinct) > 1:
            self._error(f"{token} could be {', '.join(distinct[:-1])} or {distinct[-1]}", "Name the one you mean.")
        else:
            self._add(distinct)

    def _find_in_file(self, token: str) -> list[str]:
        """Return the tasks of the file that the token names, by its path or the end of it."""
        path = token.removeprefix("./")
        return [
            entry.task.id
            for entry in self.source_set.entries
            if entry.task.origin is not None and f"/{entry.task.origin.file}".endswith(f"/{path}")
        ]

    def _add_phase(self, key: str) -> None:
        keys = {phase.key for phase in self.source_set.phases if key in {phase.key, _strip_source(phase.key)}}
        matching = [entry.task.id for entry in self.source_set.entries if entry.task.phase in keys and not entry.parts]
        if not key or not keys:
            existing = ", ".join(phase.key for phase in self.source_set.phases) or "none"
            self._error(f"there is no phase {key or 'without a name'}", f"The phases: {existing}.")
        elif not matching:
            self._warn(f"phase {key} has no tasks")
        self._add(matching)

    def _add_range(self, token: str) -> None:
        """Add the tasks in a range. An id that only begins with a number (`01-walls`) counts by that."""
        source, prefix, first, last = _RANGE.match(token).groups("")  # type: ignore[union-attr]  # it matched before
        low, high = _parse_number(first), _parse_number(last)
        if low > high:
            self._error(f"{token} runs backwards", f"Write {source}{prefix}{last}-{prefix}{first}.")
            return
        numbers = {
            entry.task.id: number
            for entry in self.source_set.entries
            if not entry.parts
            and (not source or _is_from_source(entry, source))
            and (number := _parse_leading_number(_strip_source(entry.task.id), prefix))
            and low <= number
            and is_within(number, high)
        }
        self._add(numbers)
        if len(low) == len(high) == 1 and high[0] - low[0] < _MAX_LISTED_RANGE:
            existing = {number[0] for number in numbers.values()}
            gone = (number for number in range(low[0], high[0] + 1) if number not in existing)
            self.missing += [f"{source}{prefix}{number}" for number in gone]
        elif not numbers:
            self.missing.append(token)

    def _add_glob(self, token: str) -> None:
        matching = [
            entry.task.id
            for entry in self.source_set.entries
            if any(fnmatchcase(name, token) for name in (entry.task.id, _strip_source(entry.task.id), *entry.aliases))
        ]
        if not matching:
            self._error(f"no task's id matches {token}")
        self._add(matching)

    def _add_by_prefix(self, token: str) -> bool:
        """Add the only task whose id begins like this: `01` for `01-pyproject`. A token without a match that looks like
        an id is missing.
        """
        ids = [entry.task.id for entry in self.source_set.entries]
        matching = [name for name in ids if _strip_source(name).startswith(f"{token}-")]
        if not matching and token.isdecimal():  # 1 for 01-pyproject
            matching = [name for name in ids if _PADDED.sub(r"\1-", _strip_source(name)).startswith(f"{int(token)}-")]
        if matching:
            self._add_unambiguous(token, matching)
        elif _IDLIKE.match(token):
            self.missing.append(token)
        return bool(matching)

    def _add_by_words(self, words: Sequence[str]) -> None:
        lowered = [word.lower() for word in words]
        matching = [
            entry.task.id
            for entry in self.source_set.entries
            if all(word in f"{entry.task.id} {entry.task.title}".lower() for word in lowered)
        ]
        if not matching:
            value = " ".join(words)
            self._error(f"no task is called {value}, and no title contains it", self._suggest(value))
        self._add(matching)

    def _add(self, ids: Iterable[str]) -> None:
        for name in ids:
            self.ids.update(dict.fromkeys(list_leaves(name, self.groups) if name in self.groups else [name]))

    def build(self, *, resume: bool, named: bool) -> Selection:
        for name in dict.fromkeys(self.missing):
            self._warn(f"there is no task {name}: skipped", self._suggest(name))
        if not self.ids and not has_errors(self.problems):
            self._error("none of the selected tasks exists" if self.missing else "there are no tasks")
        chosen = [entry for entry in self.source_set.entries if entry.task.id in self.ids]
        wanted = [entry for entry in chosen if _is_runnable(entry, resume=resume)]
        self.problems += _report_skipped(chosen, named=named, resume=resume)
        complete = bool(chosen) and all(entry.status.is_closed for entry in chosen)
        ids = tuple(dict.fromkeys(entry.task.id for entry in wanted))
        unreadable = (entry.task.id for entry in chosen if entry.status is SourceStatus.UNREADABLE)
        has_deferred = any(entry.status is SourceStatus.SKIPPED for entry in chosen)
        return Selection(ids, tuple(self.problems), complete, tuple(dict.fromkeys(unreadable)), has_deferred)

    def _suggest(self, name: str) -> str:
        ids = [entry.task.id for entry in self.source_set.entries[:2000]]
        similar = get_close_matches(name, ids, n=1)
        return f"Did you mean {similar[0]}?" if similar else "plait plan lists the tasks that are there."

    def _error(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(Severity.ERROR, message, hint=hint))

    def _warn(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(Severity.WARNING, message, hint=hint))


def _is_runnable(entry: SourceEntry, *, resume: bool) -> bool:
    if entry.status is SourceStatus.STUCK:
        return resume
    return not entry.status.is_closed and entry.status is not SourceStatus.UNREADABLE


def _report_skipped(chosen: Sequence[SourceEntry], *, named: bool, resume: bool) -> Iterator[Problem]:
    """Report finished tasks one by one if tasks were named, else in one line."""
    closed = [entry for entry in chosen if entry.status.is_closed]
    if named:
        for entry in closed:
            yield Problem(
                Severity.INFO, f"{entry.task.id} is {_describe_status(entry)} already: skipped", entry.task.origin
            )
    else:
        yield from _count_closed(chosen, closed)
    for entry in chosen:
        if entry.status is SourceStatus.STUCK and not resume:
            message = f"{entry.task.id} was interrupted ({entry.status_text}): skipped"
            yield Problem(Severity.INFO, message, entry.task.origin, "Use --resume to run it again.")
        elif entry.status is SourceStatus.UNREADABLE:
            message = f"{entry.task.id} can't be read: skipped"
            yield Problem(Severity.WARNING, message, entry.task.origin)


def _count_closed(chosen: Sequence[SourceEntry], closed: Sequence[SourceEntry]) -> Iterator[Problem]:
    """Count the finished tasks; those left for later, or for never, are not called complete."""
    left_out = [entry for entry in closed if entry.status is SourceStatus.SKIPPED]
    done = len(closed) - len(left_out)
    if done and len(closed) < len(chosen):
        yield Problem(Severity.INFO, f"{done} of {len(chosen)} tasks {'is' if done == 1 else 'are'} complete already")
    if left_out:
        count = "1 task is" if len(left_out) == 1 else f"{len(left_out)} tasks are"
        message = f"{count} deferred or abandoned in the source: left out"
        yield Problem(Severity.INFO, message, left_out[0].task.origin)


def _describe_status(entry: SourceEntry) -> str:
    return "complete" if entry.status is SourceStatus.DONE else (entry.status_text or "skipped").strip("[]").lower()


def _strip_source(name: str) -> str:
    """Remove the name of its source from an id."""
    return name.rpartition(":")[2]


def _parse_number(number: str) -> tuple[int, ...]:
    return tuple(int(part[:15]) for part in number.split(".") if part.isdigit())


def _parse_leading_number(name: str, prefix: str) -> tuple[int, ...]:
    """Return the number that a name begins with, after the prefix; empty if it does not."""
    if not name.lower().startswith(prefix.lower()):
        return ()
    match = _LEADING.match(name, len(prefix))
    return _parse_number(match[1]) if match else ()


def _is_from_source(entry: SourceEntry, source: str) -> bool:
    return any(name.lower().startswith(source.lower()) for name in (entry.task.id, *entry.aliases))
