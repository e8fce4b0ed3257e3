"""Mirrors of remote repositories: where they are kept, and an up-to-date one with a checkout to read sources from."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from plait.client.project_state import read_past_batches
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.store.project_files import load_batch_inputs


def find_mirrors_folder() -> Path:
    """Return the folder for mirrors. No cache: they contain journals, and branches that exist nowhere else."""
    from platformdirs import user_data_path

    return user_data_path("plait", appauthor=False) / "mirrors"


# No person sees a mirror's checkout, so statuses go to the branch, and tasks don't run in place.
_MIRROR_SETTINGS: Mapping[str, object] = {"sources.write_back": "branch", "run.isolation": "worktree"}


@dataclass(frozen=True, slots=True)
class MirroredRepo:
    """A repository that plait mirrors. `location` is its checkout; `url` doesn't hold a secret."""

    location: RepoLocation
    name: str
    url: str


def open_mirrored_repo(
    url: str,
    *,
    base: str = "",
    in_use: Collection[Path] = (),
    on_progress: Callable[[str], None] = lambda _: None,
) -> MirroredRepo:
    """Open the remote's default branch, or `base`, as it is now. Checkouts `in_use`, and those of open batches, stay as
    they are.

    Raises UserError or WorldError.
    """
    from plait.git.mirror import list_stale_checkouts, open_mirror, remove_checkout

    mirror = open_mirror(url, find_mirrors_folder(), environment=os.environ, report=on_progress)
    state = mirror.git_dir / "plait"
    used = [*in_use, *_list_open_checkouts(RepoLocation(mirror.git_dir, state, repository=True))]
    for path in list_stale_checkouts(mirror, used):
        remove_checkout(mirror, path)  # after saving changes in it
    return MirroredRepo(
        RepoLocation(mirror.checkout(mirror.resolve(base), used), state, repository=True),
        mirror.name,
        mirror.url,
    )


def is_mirror(location: RepoLocation) -> bool:
    """Whether this is a mirror that plait keeps, so that no person sees changes in its checkout."""
    home = location.state.parent.parent.parent
    return location.repository and os.path.realpath(home) == os.path.realpath(find_mirrors_folder())


def get_mirror_settings(location: RepoLocation) -> Mapping[str, object]:
    """Return the settings of a mirror's batches, as flags; none for other places."""
    return _MIRROR_SETTINGS if is_mirror(location) else {}


def _list_open_checkouts(location: RepoLocation) -> Iterator[Path]:
    """List the checkouts that open batches were submitted from."""
    state = read_past_batches(location).state
    for batch in state.open if state else ():
        with suppress(PlaitError):
            yield Path(load_batch_inputs(location, batch).top)
