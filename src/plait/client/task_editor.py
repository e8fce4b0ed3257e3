"""Create and edit task files. What is written is read back and compared with the draft."""

from __future__ import annotations

import glob
import hashlib
import re
import stat
import time
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from plait.client.api_errors import FieldError, StateError
from plait.client.planning.completed_tasks import iter_task_keys, list_source_addresses
from plait.client.project_sources import LoadedSources, read_sources
from plait.client.task_file_text import FOLDER_FORMAT, TaskDraft, apply_draft, compose_task_file, validate_draft
from plait.client.task_lookup import (
    LocatedTask,
    find_located_task,
    find_task_of_file,
    get_own_file,
    spell_needs,
)
from plait.config.config import Config
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.state import State
from plait.core.text import strip_task_prefix
from plait.git.location import RepoLocation
from plait.sources import vocabulary
from plait.sources.formats import load_format
from plait.sources.planning import PlanOptions, plan_tasks
from plait.sources.source_model import SourceStatus
from plait.sources.source_set import SourceSet
from plait.sources.text import BOM, TextLines, encode, find_invalid_utf8_line
from plait.store.file_access import resolve_checkout_path
from plait.store.project_files import LOCKS_FOLDER
from plait.system import file_exchange
from plait.system.atomic_files import create_file
from plait.system.status_files import hold_file_lock, replace_file_text

_NUMBERED = re.compile(
    r"(?P<prefix>(?:task|writer-prompt)-)?(?P<number>\d{1,6})(?P<between>[-_. ])(?=\D)", re.IGNORECASE
)
_DATE = re.compile(r"(?:19|20)\d\d[-_.]\d\d")
# Files about the folder.
_RESERVED_STEMS = frozenset({"readme", "phases"})
_MAX_NAMES = 1000
_DEFAULT_FOLDER = "tasks"


@dataclass(frozen=True, slots=True)
class SavedTask:
    """A task that was written. `loaded` has the sources with the task; `version` is for the next edit."""

    loaded: LoadedSources
    located: LocatedTask
    version: str
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        return self.located.entry.task.id

    @property
    def file(self) -> str:
        return self.located.file


def hash_version(text: str) -> str:
    """Return the version of a text: equal for the same bytes."""
    return hashlib.sha256(encode(text)).hexdigest()[:32]


def make_saved_task(loaded: LoadedSources, located: LocatedTask, text: str) -> SavedTask:
    return SavedTask(loaded, located, hash_version(text), tuple(dict.fromkeys(_find_plan_problems(loaded, located))))


def _find_plan_problems(loaded: LoadedSources, located: LocatedTask) -> list[Problem]:
    """Return the problems of the task's file, and whatever keeps the tasks from being planned, such as a new cycle."""
    options = replace(PlanOptions(), unknown=loaded.config.sources.unknown_needs)
    problems = (*loaded.problems, *plan_tasks(loaded.source_set, options).problems)
    return [
        problem
        for problem in problems
        if problem.severity is Severity.ERROR or (problem.at is not None and problem.at.file == located.file)
    ]


def find_running_copies(source_set: SourceSet, located: LocatedTask, state: State | None) -> list[Problem]:
    """Warn about open batches with this task: they have its text from when they were submitted."""
    if state is None:
        return []
    ((task_key, _),) = iter_task_keys([located.entry.task], list_source_addresses(source_set))
    problems = []
    for batch in state.open.values():
        unfinished = (task.task for task in batch.tasks if task.status is None and task.task.entrant is None)
        if any(key == task_key for key, _ in iter_task_keys(unfinished, batch.sources)):
            message = f"batch {batch.id} has its own copy of {located.entry.task.id}, and keeps using it"
            problems.append(Problem(Severity.INFO, message, hint="The next batch has what is written now."))
    return problems


def check_written_task(
    loaded: LoadedSources,
    file: str,
    draft: TaskDraft,
    *,
    before: LocatedTask | None = None,
    unknown: Collection[str] = (),
) -> LocatedTask:
    """Return the task of this file. Raises FieldError.

    `before`: how the file's task was, if it was one. `unknown`: needs that no task has as a name.
    """
    located = find_task_of_file(loaded.source_set, file)
    if located is None:
        raise FieldError(
            f"{file} is not read as a task by the sources of this repository",
            field=_likely_field(draft),
            hint="Look at [sources] paths, format and exclude in the settings.",
        )
    if located.source.format != (FOLDER_FORMAT if before is None else before.source.format):
        message = f"all of {located.source.path} would be read in the format {located.source.format}"
        raise FieldError(message, field=_likely_field(draft), hint="Look at the keys of its front matter.")
    if located.source_entry.status is SourceStatus.UNREADABLE and (
        before is None or before.source_entry.status is not SourceStatus.UNREADABLE
    ):
        raise _make_field_error(
            _likely_field(draft), _find_file_problems(loaded, file), f"{file} would not be a task that can be run"
        )
    _check_values(loaded, located, draft)
    task = located.source_entry.task
    if draft.title is not None and task.title != draft.title:
        raise FieldError(f"the title would be read as {task.title!r}", field="title", hint="Choose another title.")
    _check_lists(located, draft)
    if draft.needs:
        _check_known(loaded, located, unknown)
    return located


def _check_values(loaded: LoadedSources, located: LocatedTask, draft: TaskDraft) -> None:
    """Raise the format's own message about a value that it can't use."""
    problems = _find_file_problems(loaded, located.file)
    for name, value in (*draft.words.items(), *draft.lists.items()):
        keys = load_format(located.source.format).keys.get(name, (name,))
        matching = [problem for problem in problems if problem.message.startswith(tuple(f"{key} " for key in keys))]
        if value and matching:
            raise _make_field_error(name, matching, f"{name} can't be used")


def _check_lists(located: LocatedTask, draft: TaskDraft) -> None:
    task = located.source_entry.task
    read_back = {
        "needs": {need.on: str(need.at or located.file) for need in task.needs},
        "touches": dict.fromkeys(task.touches, located.file),
    }
    for name, wanted in draft.lists.items():
        missing = [item for item in wanted if item not in read_back[name]]
        if missing:
            raise FieldError(f"{name}: {missing[0]} would not be read as such", field=name, hint="Spell it out.")
        extra = [item for item in read_back[name] if item not in wanted]
        if extra:
            where = read_back[name][extra[0]]
            message = f"{name}: {extra[0]} is also set in another place ({where})"
            raise FieldError(message, field=name, hint="Change it there, or edit the whole text.")


def _check_known(loaded: LoadedSources, located: LocatedTask, unknown: Collection[str]) -> None:
    """Check that a need still means the task it was resolved to: a new source may have changed the names of others."""
    needs = (need.on for need in located.entry.task.needs if need.on not in unknown)
    missing = next((on for on in needs if on not in loaded.source_set.by_id), None)
    if missing is not None:
        raise FieldError(f"needs: no source has a task {missing}", field="needs", hint="Name it by its id.")


def _likely_field(draft: TaskDraft) -> str:
    """Return the field that most likely causes the problem."""
    fields = ("text", "run", "verify", "body", "title")
    return next((name for name in fields if getattr(draft, name) is not None), "title")


def _find_file_problems(loaded: LoadedSources, file: str) -> list[Problem]:
    problems = (*loaded.problems, *loaded.source_set.problems)
    serious = (problem for problem in problems if problem.severity is not Severity.INFO)
    return [problem for problem in serious if problem.at is not None and problem.at.file == file]


def _make_field_error(field: str, problems: list[Problem], default_message: str) -> FieldError:
    if not problems:
        return FieldError(default_message, field=field)
    first = next((problem for problem in problems if "can't be" in problem.message), problems[0])
    return FieldError(f"{first.message} ({first.at})", field=field, hint=first.hint)


def create_task_file(location: RepoLocation, config: Config, draft: TaskDraft) -> SavedTask:
    """Create a task's file; if it does not read as asked for, it is removed again.

    The settings must be trusted as far as they name code. Raises FieldError, StateError or WorldError.
    """
    draft = _require_title(validate_draft(draft))
    before = _read_current_sources(location, config)
    folder = _find_task_folder(location, config, before)
    needs, unknown = spell_needs(before, location.relative_name(folder), draft.needs or ())
    draft = replace(draft, needs=needs or None)
    text = compose_task_file(draft.title or "", draft.body or "")
    text = apply_draft(FOLDER_FORMAT, "new.md", text, replace(draft, title=None, body=None))
    new_folders = [parent for parent in (folder, *folder.parents) if not parent.exists()]  # the inner ones first
    with ExitStack() as undo:
        undo.callback(_remove_empty_folders, new_folders)
        path = _create_file(location, folder, draft, text, before)
        undo.callback(_remove_file, path, text)
        loaded = read_sources(location, config)
        located = check_written_task(loaded, location.relative_name(path), draft, unknown=unknown)
        undo.pop_all()
    return make_saved_task(loaded, located, text)


def _require_title(draft: TaskDraft) -> TaskDraft:
    if draft.text is not None:
        raise FieldError(
            "a new task is given by its title and body, not as a whole text", field="text", hint="Leave it out."
        )
    if draft.title is None:
        raise FieldError("a task needs a title", field="title", hint="Describe the task in a few words.")
    words = {name: word for name, word in draft.words.items() if word}
    return TaskDraft(draft.title, draft.body, draft.needs or None, draft.touches or None, **words)


def _read_current_sources(location: RepoLocation, config: Config) -> SourceSet | None:
    """Read the sources; None if there are none yet."""
    try:
        return read_sources(location, config).source_set
    except UserError:
        return None


def _create_file(location: RepoLocation, folder: Path, draft: TaskDraft, text: str, before: SourceSet | None) -> Path:
    ids = before.by_id if before is not None else ()
    try:
        naming_lock = location.state / LOCKS_FOLDER / "naming.lock"
        with hold_file_lock(naming_lock, folder, time.sleep, "no file was made"):
            folder.mkdir(parents=True, exist_ok=True)
            existing = [path.name for path in folder.iterdir()]
            for name in _iter_file_names(existing, draft.title or "", ids):
                with suppress(FileExistsError):
                    create_file(folder / name, text.encode(), mode=0o666, durable=True)
                    return folder / name
    except OSError as error:
        raise WorldError(
            f"no task file could be made in {folder}: {error.strerror or error}",
            hint="Check the folder's owner and mode, and the free disk space.",
        ) from error
    raise WorldError(f"no name is left for this task in {folder}", hint="Give it another title.")


def _remove_file(path: Path, text: str) -> None:
    """Remove the file, unless it was changed meanwhile."""
    with suppress(OSError):
        if path.read_bytes() == text.encode():
            path.unlink()


def _remove_empty_folders(folders: Sequence[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def edit_task_file(location: RepoLocation, config: Config, name: str, draft: TaskDraft, *, version: str) -> SavedTask:
    """Edit a task's file, if it is still of this version and reads as asked for afterwards.

    The settings must be trusted as far as they name code. Raises NotFoundError, StateError, FieldError or WorldError.
    """
    draft = validate_draft(draft)
    loaded = read_sources(location, config)
    located = find_located_task(loaded.source_set, name)
    path = get_own_file(location, located)
    text = read_task_file(path, located.file)
    if hash_version(text) != version:
        raise _changed_error(located)
    needs, unknown = spell_needs(loaded.source_set, located.source.path, draft.needs or ())
    draft = draft if draft.needs is None else replace(draft, needs=needs)
    new_text = _make_new_text(located, text, draft)
    after = read_sources(location, config, overrides={located.file: new_text})
    edited = check_written_task(after, located.file, draft, before=located, unknown=unknown)
    if new_text != text and not replace_file_text(path, text, new_text, locks=location.state / LOCKS_FOLDER):
        raise _changed_error(located)
    return make_saved_task(after, edited, new_text)


def read_task_file(path: Path, file: str) -> str:
    """Read a task's file; raises WorldError."""
    try:
        return file_exchange.read_snapshot(path).text
    except OSError as error:
        hint = "It may have been moved or removed just now."
        raise WorldError(f"{file} can't be read: {error.strerror or error}", hint=hint) from error


def _make_new_text(located: LocatedTask, text: str, draft: TaskDraft) -> str:
    if find_invalid_utf8_line(text) is not None and (draft.text is not None or draft.body is not None):
        # What is shown of such bytes is not what they are: saving it would lose them.
        field = "body" if draft.text is None else "text"
        raise FieldError(f"{located.file} has bytes that are not UTF-8", field=field, hint="Save it as UTF-8 first.")
    if draft.text is None:
        return apply_draft(located.source.format, located.file, text, draft)
    bom = BOM if text.startswith(BOM) and not draft.text.startswith(BOM) else ""
    return bom + draft.text.replace("\n", TextLines(text).eol)


def _changed_error(located: LocatedTask) -> StateError:
    return StateError(
        f"{located.file} has changed since you opened it; nothing saved",
        state="changed",
        hint="Reload it and apply your change again.",
    )


@dataclass(frozen=True, slots=True)
class _NumberStyle:
    """How files are numbered. `width`: numbers have this many digits, with leading zeros."""

    prefix: str
    next: int
    width: int
    between: str

    def __call__(self, slug: str, step: int) -> str:
        return f"{self.prefix}{self.next + step:0{self.width}}{self.between}{slug}"


def _iter_file_names(existing: Collection[str], title: str, ids: Collection[str] = ()) -> Iterator[str]:
    """Yield names for a new file, best first, none of which is in the folder or would be another task's id."""
    slug = _make_ascii_slug(title)
    taken = {name.casefold() for name in existing} | {f"{name.casefold()}.md" for name in ids}
    style = _detect_style([name for name in existing if _is_task(name)])
    for step in range(_MAX_NAMES):
        stem = style(slug, step) if style else _unnumbered_name(slug, step)
        if taken.isdisjoint({f"{stem.casefold()}.md", f"{strip_task_prefix(stem).casefold()}.md"}):
            yield f"{stem}.md"


def _is_task(name: str) -> bool:
    stem, dot, suffix = name.casefold().rpartition(".")
    return bool(dot) and suffix == "md" and stem not in _RESERVED_STEMS and not stem.startswith(("_", "."))


def _make_ascii_slug(title: str) -> str:
    """Make a slug of ASCII alone, which is valid in every shell, branch name and file system."""
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    return vocabulary.make_slug(plain)


def _unnumbered_name(slug: str, step: int) -> str:
    name = f"task-{slug}" if slug in _RESERVED_STEMS else slug
    return name if step == 0 else f"{name}-{step + 1}"


def _detect_style(names: Sequence[str]) -> _NumberStyle | None:
    """Return the style of the numbered files, 01 in an empty folder, None if most files have no number."""
    if not names:
        return _NumberStyle("", 1, 2, "-")
    matches = [match for name in names if not _DATE.match(name) and (match := _NUMBERED.match(name))]
    if 2 * len(matches) < len(names):
        return None
    padded = [match["number"] for match in matches if match["number"].startswith("0")]
    digits = Counter(map(len, padded or ["1"])).most_common(1)[0][0]
    return _NumberStyle(
        Counter(match["prefix"] or "" for match in matches).most_common(1)[0][0],
        max(int(match["number"]) for match in matches) + 1,
        digits,
        Counter(match["between"] for match in matches).most_common(1)[0][0],
    )


def _find_task_folder(location: RepoLocation, config: Config, source_set: SourceSet | None) -> Path:
    """Return the folder for new tasks, which may not exist yet. Raises StateError if there is none."""
    names = (
        [source.path for source in source_set.sources if source.format == FOLDER_FORMAT]
        if source_set is not None
        else []
    )
    names += _list_configured_folders(config) if config.sources.paths else [_DEFAULT_FOLDER]
    folder = next((path for name in names if (path := _resolve_folder(location, name)) is not None), None)
    if folder is None:
        raise StateError(
            f"the sources are {', '.join(config.sources.paths) or _DEFAULT_FOLDER}, and none is a folder in this checkout "
            "that new task files could go to",
            state="elsewhere",
            hint="Add one to [sources] paths in the settings, or write the task where the others are.",
        )
    return folder


def _list_configured_folders(config: Config) -> Iterator[str]:
    """Yield the folders among the configured sources, including those of patterns such as `tasks/*.md`."""
    for value in config.sources.paths:
        parts = PurePosixPath(value).parts
        plain = [part for part in parts if not glob.has_magic(part)]
        pattern = len(plain) < len(parts)
        if pattern and parts[: len(plain)] == tuple(plain) and value.endswith(".md"):
            yield "/".join(plain)
        elif not pattern and not PurePosixPath(value).suffix:
            yield value


def _resolve_folder(location: RepoLocation, name: str) -> Path | None:
    """Resolve a folder as sources are named: a link inside the checkout is a name like any other."""
    path = location.top / name
    real = resolve_checkout_path(location, path)
    if real is None or not _can_be_folder(real):
        return None
    return real if ".." in path.parts else path


def _can_be_folder(path: Path) -> bool:
    """Whether the path is a folder or free. One stat call, since the folder may be created at any moment."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False
