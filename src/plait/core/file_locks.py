"""Locks that a task takes together at its start and holds until it ends: merged, and gated where there is a gate.

`file:PATH` comes from what it touches, `group:NAME` from its exclusive group, `pair:A|B` from a conflict with one other
task. Two touched paths overlap exactly when they share a lock:

A path stands for one file; if it ends in a slash, or the plan names something beneath it, it is a folder and stands
for all that is in it. A glob stands for what it matches. A folder or glob takes the locks of what it contains, never the
reverse: two files of one folder must not conflict. Two globs count as overlapping unless their prefixes exclude each
other; they share locks of their own (`src/a*/`: no path is spelled like that), for a prefix says nothing about
files and folders.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from plait.core.dependencies import DependencyRow, UnplannedTasks
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Task

FILE_PREFIX = "file:"
ROOT = "."
GROUP_PREFIX = "group:"
PAIR_PREFIX = "pair:"
LockNames = tuple[str, ...]

_WILDCARD = re.compile(r"[*?\[]")
_PIECE = re.compile(r"(?P<star>\*+)|(?P<one>\?)|\[(?P<no>!?)(?P<of>[^/\]]+)\]|(?P<plain>[^*?\[]+|\[)")

# With four at once, the default, a file that more than a quarter of the tasks share sets the length of the batch.
_MIN_CROWD = 5
_CROWD_DIVISOR = 4


def assign_locks(
    tasks: Sequence[Task], index_by_id: Mapping[str, int], outside: UnplannedTasks
) -> tuple[list[LockNames], list[Problem]]:
    """Return the sorted locks of each task, and the problems with what tasks touch or conflict with."""
    pairs, problems = _pair_locks(tasks, index_by_id, outside)
    normals = {
        written: normalize_touch(written)
        for written in dict.fromkeys(chain.from_iterable(task.touches for task in tasks))
    }
    problems += _check_touched_paths(tasks, normals)
    taken = find_file_locks({touch for touch in normals.values() if touch is not None})
    locks_by_touch = {written: taken[touch] for written, touch in normals.items() if touch is not None}
    held: list[LockNames] = []
    for index, task in enumerate(tasks):
        if not (task.touches or task.exclusive or index in pairs):
            held.append(())
            continue
        locks = set(chain.from_iterable(locks_by_touch.get(written, ()) for written in task.touches))
        locks.update(pairs.get(index, ()))
        if task.exclusive:
            locks.add(GROUP_PREFIX + task.exclusive)
        held.append(tuple(sorted(locks)))
    return held, problems


def _pair_locks(
    tasks: Sequence[Task], index_by_id: Mapping[str, int], outside: UnplannedTasks
) -> tuple[dict[int, list[str]], list[Problem]]:
    pairs: dict[int, list[str]] = {}
    problems = []
    for index, task in enumerate(tasks):
        for other in task.conflicts_with:
            if other in index_by_id and other != task.id:
                lock = PAIR_PREFIX + "|".join(sorted((task.id, other)))
                pairs.setdefault(index, []).append(lock)
                pairs.setdefault(index_by_id[other], []).append(lock)
            elif other not in index_by_id and other not in outside.known and other not in outside.finished:
                message = f"{task.id} conflicts with {other}, which is not in any source"
                problems.append(Problem(Severity.WARNING, message, task.origin))
    return pairs, problems


def _check_touched_paths(tasks: Sequence[Task], normals: Mapping[str, str | None]) -> Iterator[Problem]:
    bad = {written for written, touch in normals.items() if touch is None}
    for task in tasks if bad else ():
        for written in dict.fromkeys(task.touches):
            if written in bad:
                message = (
                    f"{task.id} touches {written or 'a file without a name'}, which is not in the repository: ignored"
                )
                hint = "Paths are written from the top of the repository, without / or .. in front."
                yield Problem(Severity.WARNING, message, task.origin, hint)


def file_of_lock(lock: str) -> str | None:
    """Return the file, folder or glob that a lock stands for, as people write it; None for other locks."""
    return lock.removeprefix(FILE_PREFIX).removesuffix("/") if lock.startswith(FILE_PREFIX) else None


def find_crowded_files(held: Sequence[LockNames], needs: Sequence[DependencyRow]) -> list[Problem]:
    """Warn about files that alone keep many tasks from running side by side."""
    counts = Counter(chain.from_iterable(held))
    limit = max(_MIN_CROWD, len(held) // _CROWD_DIVISOR + 1)
    crowded = {lock: set[int]() for lock, count in counts.items() if count >= limit and file_of_lock(lock)}
    for index, hold in enumerate(held) if crowded else ():
        for lock in crowded.keys() & set(hold):
            crowded[lock].add(index)
    loose = {lock: sum(sharers.isdisjoint(needs[index]) for index in sharers) for lock, sharers in crowded.items()}
    worst = max(loose, key=lambda lock: loose[lock], default="")
    if loose.get(worst, 0) < limit:
        return []
    others = sum(count >= limit for count in loose.values()) - 1
    others_text = f", and so do {others} more files" if others > 1 else ", and so does another file" if others else ""
    message = (
        f"{file_of_lock(worst)} forces {len(crowded[worst])} of {len(held)} tasks to run one at a time{others_text}"
    )
    return [Problem(Severity.WARNING, message, hint='If they can share it, set file_conflicts to "declared" or "off".')]


def normalize_touch(written: str) -> str | None:
    """Return the one spelling of a path; a folder keeps its slash. None if it is empty or lies outside the repository."""
    names: list[str] = []
    for name in written.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in {"", "."}:
            names.append(name)
    if not written or written.startswith("/"):
        return None
    folder = written.endswith(("/", "/.", "/.."))
    path = "/".join(names)
    if not folder:
        return path or f"{ROOT}/"
    return f"{path}/**" if is_glob(path) else f"{path or ROOT}/"


def list_uncovered(touches: Iterable[str], files: Iterable[str]) -> Iterator[str]:
    """Yield the files that a task with these touches was not expected to change. A folder covers all that is in it."""
    written = [touch for touch in map(normalize_touch, touches) if touch is not None]
    globs = [parse_glob(touch) for touch in written if is_glob(touch)]
    paths = {touch.removesuffix("/") for touch in written if not is_glob(touch)}
    for file in files:
        *names, root = list_enclosing_folders(file)
        if paths.isdisjoint((*names, root)) and not any(glob.matches(name) for glob in globs for name in names):
            yield file


def find_file_locks(touches: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the locks of each touch. Touches and locks are in their normal spelling."""
    globs = [parse_glob(touch) for touch in touches if is_glob(touch)]
    paths = {touch.removesuffix("/") for touch in touches if not is_glob(touch)}
    inside = _find_contained(paths, globs)
    taken = {
        path: [FILE_PREFIX + path, *(FILE_PREFIX + touch for touch in touches)] for path, touches in inside.items()
    }
    if globs:
        folders = inside.keys() | {touch[:-1] for touch in touches if touch.endswith("/")}
        taken |= _find_glob_locks(globs, sorted(paths - folders), sorted(folders))
    return {
        touch: tuple(taken[path]) if (path := touch.removesuffix("/")) in taken else (FILE_PREFIX + path,)
        for touch in touches
    }


def _find_contained(paths: Collection[str], globs: list[Glob]) -> dict[str, list[str]]:
    """For each named path that turns out to be a folder, list the named paths and globs that lie in it."""
    inside: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}  # the named paths among a folder and the folders around it
    for touch, folder in _list_parents(paths, globs):
        if folder not in named:
            named[folder] = [around for around in list_enclosing_folders(folder) if around in paths]
        for around in named[folder]:
            inside.setdefault(around, []).append(touch)
    return inside


def _list_parents(paths: Collection[str], globs: list[Glob]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if path != ROOT:
            yield path, path.rpartition("/")[0]
    for glob in globs:
        yield glob.text, glob.folder


def list_enclosing_folders(folder: str) -> Iterator[str]:
    """Yield the folder, then each folder that contains it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ROOT


def _find_glob_locks(globs: list[Glob], files: list[str], folders: list[str]) -> dict[str, list[str]]:
    prefixes = sorted({glob.prefix for glob in globs})
    return {
        glob.text: [
            FILE_PREFIX + glob.text,
            *(FILE_PREFIX + path for path in _list_with_prefix(glob.prefix, files) if glob.matches(path)),
            # A folder that the whole glob lies in holds the glob's lock already.
            *(FILE_PREFIX + path for path in folders if not _is_inside(glob, path) and glob.reaches(path)),
            *(f"{FILE_PREFIX}{prefix}*/" for prefix in _list_with_prefix(glob.prefix, prefixes)),
        ]
        for glob in globs
    }


def _list_with_prefix(prefix: str, names: list[str]) -> Iterator[str]:
    for index in range(bisect_left(names, prefix), len(names)):
        if not names[index].startswith(prefix):
            return
        yield names[index]


def _is_inside(glob: Glob, folder: str) -> bool:
    return folder == ROOT or f"{glob.folder}/".startswith(f"{folder}/")


def is_glob(path: str) -> bool:
    return _WILDCARD.search(path) is not None


@dataclass(frozen=True, slots=True)
class Glob:
    """A path pattern. `*`, `?` and `[ab]` stay within a name; `**` between slashes stands for any number of folders.

    `prefix` is the text before the first wildcard, `folder` the folder that contains all it matches.
    """

    text: str
    prefix: str
    folder: str
    pattern: re.Pattern[str]
    folder_pattern: re.Pattern[str]

    def matches(self, path: str) -> bool:
        return self.pattern.fullmatch(path) is not None

    def reaches(self, folder: str) -> bool:
        """Whether it could match anything inside this folder."""
        return self.folder_pattern.fullmatch(f"/{folder}") is not None


def parse_glob(text: str) -> Glob:
    prefix = _WILDCARD.split(text, maxsplit=1)[0]
    parts = text.split("/")
    names = [name for place, name in enumerate(parts) if name != "**" or parts[place - 1 : place] != ["**"]]
    whole, above = (re.compile(pattern, re.DOTALL) for pattern in (_full_pattern(names), _folder_pattern(names)))
    return Glob(text, prefix, prefix.rpartition("/")[0], whole, above)


def _full_pattern(names: list[str]) -> str:
    *folders, last = names
    crossed = "".join("(?:[^/]+/)*" if name == "**" else f"{_name_pattern(name)}/" for name in folders)
    return crossed + (".+" if last == "**" else _name_pattern(last))


def _folder_pattern(names: list[str]) -> str:
    """Return a pattern for folders (a slash before every name) that may contain matches of the remaining names."""
    pattern = ""
    for place, name in reversed(list(enumerate(names))):
        if name == "**":
            pattern = "(?:/.*)?"
        elif place < len(names) - 1:
            pattern = f"(?:/{_name_pattern(name)}{pattern})?"
    return pattern


def _name_pattern(name: str) -> str:
    """Return the pattern of one name. Text between stars matches without backtracking, so that no name takes long."""
    runs = [""]
    for piece in _PIECE.finditer(name):
        if piece["star"]:
            runs.append("")
        else:
            runs[-1] += _piece_pattern(piece)
    first, *between = runs
    last = f"[^/]*{between.pop()}" if between else ""
    return first + "".join(f"(?>[^/]*?{run})" for run in between) + last


def _piece_pattern(found: re.Match[str]) -> str:
    if found["one"]:
        return "[^/]"
    if found["plain"]:
        return re.escape(found["plain"])
    ranges = re.sub(r"(.)-(.)|(.)", _range_pattern, found["of"], flags=re.DOTALL)
    return f"[^/{ranges}]" if found["no"] else f"(?!/)[{ranges}]"


def _range_pattern(found: re.Match[str]) -> str:
    low, high, single = found.groups()
    if single is not None:
        return re.escape(single)
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else "".join(map(re.escape, (low, "-", high)))
