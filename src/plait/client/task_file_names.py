"""Where a new task file goes, and its name: the next number in the folder's style, and words of the title."""

from __future__ import annotations

import glob
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from plait.client.api_errors import StateError
from plait.client.task_file_text import FOLDER_FORMAT
from plait.client.task_lookup import resolve_checkout_path
from plait.config.config import Config
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.sources import vocabulary
from plait.sources.formats.folder_task import strip_task_prefix
from plait.sources.source_set import SourceSet

_NUMBERED = re.compile(
    r"(?P<prefix>(?:task|writer-prompt)-)?(?P<number>\d{1,6})(?P<between>[-_. ])(?=\D)", re.IGNORECASE
)
_DATE = re.compile(r"(?:19|20)\d\d[-_.]\d\d")
# Files about the folder.
_RESERVED_STEMS = frozenset({"readme", "phases"})
_MAX_NAMES = 1000


@dataclass(frozen=True, slots=True)
class _NumberStyle:
    """`width`: numbers have as many digits, zeros in front."""

    prefix: str
    next: int
    width: int
    between: str

    def __call__(self, slug: str, step: int) -> str:
        return f"{self.prefix}{self.next + step:0{self.width}}{self.between}{slug}"


def iter_file_names(there: Collection[str], title: str, ids: Collection[str] = ()) -> Iterator[str]:
    """Names for a new file, best first, none of which is in the folder or would be another task's id."""
    slug = _make_ascii_slug(title)
    taken = {name.casefold() for name in there} | {f"{name.casefold()}.md" for name in ids}
    style = _detect_style([name for name in there if _is_task(name)])
    for step in range(_MAX_NAMES):
        stem = style(slug, step) if style else _unnumbered_name(slug, step)
        if taken.isdisjoint({f"{stem.casefold()}.md", f"{strip_task_prefix(stem).casefold()}.md"}):
            yield f"{stem}.md"


def _is_task(name: str) -> bool:
    stem, dot, suffix = name.casefold().rpartition(".")
    return bool(dot) and suffix == "md" and stem not in _RESERVED_STEMS and not stem.startswith(("_", "."))


def _make_ascii_slug(title: str) -> str:
    """ASCII alone: a name that every shell, branch and file system can carry."""
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    return vocabulary.make_slug(plain)


def _unnumbered_name(slug: str, step: int) -> str:
    name = f"task-{slug}" if slug in _RESERVED_STEMS else slug
    return name if step == 0 else f"{name}-{step + 1}"


def _detect_style(names: Sequence[str]) -> _NumberStyle | None:
    """The style of the numbered files, 01 in an empty folder, None if most files have no number."""
    if not names:
        return _NumberStyle("", 1, 2, "-")
    found = [match for name in names if not _DATE.match(name) and (match := _NUMBERED.match(name))]
    if 2 * len(found) < len(names):
        return None
    padded = [match["number"] for match in found if match["number"].startswith("0")]
    digits = Counter(map(len, padded or ["1"])).most_common(1)[0][0]
    return _NumberStyle(
        Counter(match["prefix"] or "" for match in found).most_common(1)[0][0],
        max(int(match["number"]) for match in found) + 1,
        digits,
        Counter(match["between"] for match in found).most_common(1)[0][0],
    )


DEFAULT_FOLDER = "tasks"


def find_task_folder(location: RepoLocation, config: Config, source_set: SourceSet | None) -> Path:
    """The folder for new tasks, which may not exist yet. Raises StateError if there is none."""
    names = (
        [source.path for source in source_set.sources if source.format == FOLDER_FORMAT]
        if source_set is not None
        else []
    )
    names += _list_configured_folders(config) if config.sources.paths else [DEFAULT_FOLDER]
    found = next((path for name in names if (path := _resolve_folder(location, name)) is not None), None)
    if found is None:
        raise StateError(
            f"the sources are {', '.join(config.sources.paths) or DEFAULT_FOLDER}, and none is a folder in this checkout "
            "that new task files could go to",
            state="elsewhere",
            hint="Add one to [sources] paths in the settings, or write the task where the others are.",
        )
    return found


def _list_configured_folders(config: Config) -> Iterator[str]:
    """The folders among the configured sources, including those of patterns such as `tasks/*.md`."""
    for value in config.sources.paths:
        parts = PurePosixPath(value).parts
        plain = [part for part in parts if not glob.has_magic(part)]
        pattern = len(plain) < len(parts)
        if pattern and parts[: len(plain)] == tuple(plain) and value.endswith(".md"):
            yield "/".join(plain)
        elif not pattern and not PurePosixPath(value).suffix:
            yield value


def _resolve_folder(location: RepoLocation, name: str) -> Path | None:
    """As sources spell it: a link inside the checkout is a name like any other."""
    path = location.top / name
    real = resolve_checkout_path(location, path)
    if real is None or not _can_be_folder(real):
        return None
    return real if ".." in path.parts else path


def _can_be_folder(path: Path) -> bool:
    """One stat call, since the folder may be created at any moment."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False
