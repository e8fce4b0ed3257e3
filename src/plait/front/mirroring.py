"""A mirror as a place to work: fetched just now, with a checkout to read sources from."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.wiring import Place, load_kit
from plait.wiring.mirror import mirrors_folder, open_mirror, tidy_checkouts
from plait.wiring.sources import history

# Nobody reads statuses in a mirror's checkout, so they go to the branch; and nobody would see what is done in it.
_TERMS: Mapping[str, object] = {"sources.write_back": "branch", "run.isolation": "worktree"}


@dataclass(frozen=True, slots=True)
class Mirrored:
    """`place` is its checkout; `url` holds no secret."""

    place: Place
    name: str
    url: str


def mirrored(
    url: str, *, base: str = "", in_use: Collection[Path] = (), tell: Callable[[str], None] = lambda _: None
) -> Mirrored:
    """The remote's default branch, or `base`, as it is now. Checkouts `in_use`, and those of open batches, stay as they are.

    Raises UserError or WorldError.
    """
    mirror = open_mirror(url, environment=os.environ, tell=tell)
    state = mirror.git_dir / "plait"
    used = [*in_use, *_tops(Place(mirror.git_dir, state, repository=True))]
    tidy_checkouts(mirror, used)
    return Mirrored(
        Place(mirror.checkout(mirror.resolve(base), used), state, repository=True), mirror.name, mirror.url
    )


def is_mirror(place: Place) -> bool:
    """Whether it is one that plait keeps: what is changed in its checkout is nobody's to see."""
    home = place.state.parent.parent.parent
    return place.repository and os.path.realpath(home) == os.path.realpath(mirrors_folder())


def terms(place: Place) -> Mapping[str, object]:
    """The settings that a batch of a mirror has, as flags; none for other places."""
    return _TERMS if is_mirror(place) else {}


def _tops(place: Place) -> Iterator[Path]:
    """The checkouts that open batches were submitted from."""
    state = history(place).state
    for batch in state.open if state else ():
        with suppress(PlaitError):
            yield Path(load_kit(place, batch).top)
