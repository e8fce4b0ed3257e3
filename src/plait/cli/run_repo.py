"""`plait run --repo URL`: the same run, in a checkout of the mirror that plait keeps of another repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plait.cli.run_options import RunOptions
from plait.cli.run_show import tell
from plait.core.errors import UserError
from plait.front.mirroring import mirrored as mirror, terms

_ISOLATION, _BASE = "run.isolation", "run.base"


def mirrored(options: RunOptions) -> RunOptions:
    """Fetched just now, so that its base is never old. Raises UserError or WorldError."""
    assert options.repo is not None
    if options.flags.get(_ISOLATION) == "in-place":
        raise UserError(
            "--repo works in worktrees: nobody would see what is done in the mirror's own checkout",
            hint="Leave --isolation in-place out.",
        )
    found = mirror(options.repo, base=str(options.flags.get(_BASE) or ""), tell=tell)
    where = found.place.top
    tell(f"{found.name} is mirrored; look at its batches with: plait -C {where} status")
    # The checkout is the base.
    flags = {name: value for name, value in options.flags.items() if name != _BASE}
    named = tuple(_named(word, where) for word in options.named)
    return replace(options, where=where, named=named, flags={**terms(found.place), **flags}, repo=None)


def _named(word: str, where: Path) -> str:
    """A source of that repository, or else one that lies here."""
    here = Path(word)
    return str(here.resolve()) if not (where / word).exists() and here.exists() else word
