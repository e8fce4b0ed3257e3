"""`plait run --repo URL`: the same run, in a checkout of the mirror that plait keeps of another repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plait.cli.commands.run_options import RunOptions
from plait.cli.live.renderers import print_notice
from plait.client.mirrors import get_mirror_settings, open_mirrored_repo as mirror
from plait.core.errors import UserError

_ISOLATION_KEY, _BASE_KEY = "run.isolation", "run.base"


def use_mirror(options: RunOptions) -> RunOptions:
    """Fetched just now, so that its base is never old. Raises UserError or WorldError."""
    assert options.repo is not None
    if options.flags.get(_ISOLATION_KEY) == "in-place":
        raise UserError(
            "--repo works in worktrees: nobody would see what is done in the mirror's own checkout",
            hint="Leave --isolation in-place out.",
        )
    found = mirror(options.repo, base=str(options.flags.get(_BASE_KEY) or ""), on_progress=print_notice)
    where = found.place.top
    print_notice(f"{found.name} is mirrored; look at its batches with: plait -C {where} status")
    # The checkout is the base.
    flags = {name: value for name, value in options.flags.items() if name != _BASE_KEY}
    named = tuple(_resolve_source(word, where) for word in options.named)
    return replace(
        options, where=where, named=named, flags={**get_mirror_settings(found.place), **flags}, repo=None
    )


def _resolve_source(name: str, mirror: Path) -> str:
    """A source of that repository, or else one that lies here."""
    local = Path(name)
    return str(local.resolve()) if not (mirror / name).exists() and local.exists() else name
