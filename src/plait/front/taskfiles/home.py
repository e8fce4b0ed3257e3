"""Where new task files go: the folder of tasks that the sources have, or the one that is made."""

from __future__ import annotations

import glob
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from plait.config.model import Config
from plait.front.refusals import StateError
from plait.front.taskfiles.keys import FOLDER
from plait.sources.pile import Pile
from plait.wiring import Place
from plait.wiring.writing import real_path

USUAL = "tasks"


def home(place: Place, config: Config, pile: Pile | None) -> Path:
    """The folder, be it there or not. Raises StateError where there can be none."""
    names = [source.path for source in pile.sources if source.format == FOLDER] if pile is not None else []
    names += _named(config) if config.sources.paths else [USUAL]
    found = next((path for name in names if (path := _folder(place, name)) is not None), None)
    if found is None:
        raise StateError(
            f"the sources are {', '.join(config.sources.paths) or USUAL}, and none is a folder in this checkout "
            "that new task files could go to",
            state="elsewhere",
            hint="Add one to [sources] paths in the settings, or write the task where the others are.",
        )
    return found


def _named(config: Config) -> Iterator[str]:
    """The folders among the sources of the settings: also those that patterns of task files are about."""
    for said in config.sources.paths:
        parts = PurePosixPath(said).parts
        plain = [part for part in parts if not glob.has_magic(part)]
        pattern = len(plain) < len(parts)
        if pattern and parts[: len(plain)] == tuple(plain) and said.endswith(".md"):
            yield "/".join(plain)
        elif not pattern and not PurePosixPath(said).suffix:
            yield said


def _folder(place: Place, name: str) -> Path | None:
    """As sources spell it: a link inside the checkout is a name like any other."""
    path = place.top / name
    real = real_path(place, path)
    if real is None or not _may_be_folder(real):
        return None
    return real if ".." in path.parts else path


def _may_be_folder(path: Path) -> bool:
    """One look: somebody may make it at this moment."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False
