"""`plait run --repo URL`: the same run, in a checkout of the mirror that plait keeps of another repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.cli.run_options import RunOptions
from plait.cli.run_show import tell
from plait.core.errors import PlaitError, UserError
from plait.wiring import Place, load_kit
from plait.wiring.mirror import open_mirror, tidy_checkouts
from plait.wiring.sources import history

_ISOLATION, _BASE, _WRITE_BACK = "run.isolation", "run.base", "sources.write_back"


def mirrored(options: RunOptions) -> RunOptions:
    """Fetched just now, so that its base is never old. Raises UserError or WorldError."""
    assert options.repo is not None
    if options.flags.get(_ISOLATION) == "in-place":
        raise UserError(
            "--repo works in worktrees: nobody would see what is done in the mirror's own checkout",
            hint="Leave --isolation in-place out.",
        )
    mirror = open_mirror(options.repo, environment=os.environ, tell=tell)
    in_use = list(_tops(Place(mirror.git_dir, mirror.git_dir / "plait", repository=True)))
    tidy_checkouts(mirror, in_use)
    where = mirror.checkout(mirror.resolve(str(options.flags.get(_BASE) or "")), in_use)
    tell(f"{mirror.name} is mirrored; look at its batches with: plait -C {where} status")
    # The checkout is the base. Nobody reads statuses there, so they go to the branch.
    flags = {name: value for name, value in options.flags.items() if name != _BASE}
    flags = {_WRITE_BACK: "branch", **flags, _ISOLATION: "worktree"}
    named = tuple(_named(word, where) for word in options.named)
    return replace(options, where=where, named=named, flags=flags, repo=None)


def _named(word: str, where: Path) -> str:
    """A source of that repository, or else one that lies here."""
    here = Path(word)
    return str(here.resolve()) if not (where / word).exists() and here.exists() else word


def _tops(place: Place) -> Iterator[Path]:
    """The checkouts that open batches were submitted from."""
    state = history(place).state
    for batch in state.open if state else ():
        with suppress(PlaitError):
            yield Path(load_kit(place, batch).top)
