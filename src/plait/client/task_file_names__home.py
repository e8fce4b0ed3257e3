"""Where new task files go: the folder of tasks that the sources have, or the one that is made."""

from __future__ import annotations

import glob
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from plait.client.api_errors__refusals import StateError
from plait.client.checkout_files import resolve_checkout_path
from plait.client.task_file_text__keys import FOLDER_FORMAT
from plait.config.config import Config
from plait.git.location import RepoLocation
from plait.sources.source_set import SourceSet

DEFAULT_FOLDER = "tasks"


def find_task_folder(location: RepoLocation, config: Config, source_set: SourceSet | None) -> Path:
    """The folder, be it there or not. Raises StateError where there can be none."""
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
    """The folders among the sources of the settings: also those that patterns of task files are about."""
    for said in config.sources.paths:
        parts = PurePosixPath(said).parts
        plain = [part for part in parts if not glob.has_magic(part)]
        pattern = len(plain) < len(parts)
        if pattern and parts[: len(plain)] == tuple(plain) and said.endswith(".md"):
            yield "/".join(plain)
        elif not pattern and not PurePosixPath(said).suffix:
            yield said


def _resolve_folder(location: RepoLocation, name: str) -> Path | None:
    """As sources spell it: a link inside the checkout is a name like any other."""
    path = location.top / name
    real = resolve_checkout_path(location, path)
    if real is None or not _can_be_folder(real):
        return None
    return real if ".." in path.parts else path


def _can_be_folder(path: Path) -> bool:
    """One look: somebody may make it at this moment."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False
