"""Fitting out a workspace: first copies and links, once for each task; then setup, whenever what it reads has changed.

The stamp tells what is to become ours before it is made, and that it is there when all of it is. So whoever is interrupted
begins again, and what was left behind is no part of an agent's change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.site.outfitting.chosen import checkout, chosen, covers, include, missed
from plait.site.outfitting.copying import Copier
from plait.site.outfitting.disk import Room
from plait.site.outfitting.key import furnishing_key, setup_key
from plait.site.outfitting.placing import Placing
from plait.site.outfitting.settingup import SetUp
from plait.site.outfitting.spec import Spec, Wishes
from plait.site.outfitting.stamp import Stamp, read_stamp, write_stamp
from plait.site.outfitting.telling import Warnings, few, say
from plait.site.outfitting.tracked import Tracked


def wanted(workspace: Path, top: Path, outfit: Wishes) -> bool:
    """Whether there is anything left to do for this workspace, or to complain about. A few reads, seldom a call of git."""
    try:
        stamp = read_stamp(workspace)
        return _furnishing_due(stamp, top, outfit) or _setup_due(stamp, workspace, outfit)
    except (WorldError, OSError):
        return True  # whoever tries will tell what is wrong


def fit_out(spec: Spec) -> None:
    """All that the workspace still lacks. Raises WorldError or OSError."""
    stamp = read_stamp(spec.workspace)
    if _furnishing_due(stamp, spec.top, spec.outfit):
        stamp = _furnish(spec, stamp)
    if _setup_due(stamp, spec.workspace, spec.outfit):
        stamp = _set_up(spec, stamp)
    if not stamp.used:
        write_stamp(spec.workspace, replace(stamp, used=True))


def _furnishing_due(stamp: Stamp, top: Path, outfit: Wishes) -> bool:
    if stamp.fitted == furnishing_key(outfit):
        return False
    if outfit.copy or outfit.link:
        return True
    found = checkout(top)
    return found is not None and include(found) is not None


def _setup_due(stamp: Stamp, workspace: Path, outfit: Wishes) -> bool:
    if not outfit.setup:
        return False
    there = all(os.path.lexists(workspace / path) for path in stamp.made)
    return not (stamp.key and there and stamp.key == setup_key(workspace, outfit))


def _set_up(spec: Spec, stamp: Stamp) -> Stamp:
    key, ours = setup_key(spec.workspace, spec.outfit), [*stamp.ours]

    def note(paths: list[str]) -> None:
        ours.extend(paths)
        write_stamp(spec.workspace, replace(stamp, key="", ours=_once(ours)))

    made = SetUp(spec, key, note, keep=not stamp.used).do()
    return _stamped(spec, replace(stamp, key=key, ours=_once(ours), made=made))


@dataclass(frozen=True, slots=True)
class _Gifts:
    top: Path
    copies: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def _furnish(spec: Spec, stamp: Stamp) -> Stamp:
    gifts, tracked = _gifts(spec), Tracked(spec.workspace)
    before = {*stamp.ours, *(f"{path}/" for path in stamp.ours)}
    ours = _once([*stamp.ours, *_ours(gifts, tracked, spec.workspace, before)])
    write_stamp(spec.workspace, replace(stamp, fitted="", ours=ours))
    if gifts.copies or gifts.links:
        _place(spec, gifts, tracked, before)
    return _stamped(spec, replace(stamp, fitted=furnishing_key(spec.outfit), ours=ours))


def _gifts(spec: Spec) -> _Gifts:
    outfit, top = spec.outfit, checkout(spec.top)
    if top is None or top.samefile(spec.workspace):
        if outfit.copy or outfit.link:
            say("warning: there is no checkout to copy files from")
        return _Gifts(spec.top)
    links = chosen(top, outfit.link)
    copies = chosen(top, outfit.copy, include(top))
    for why in (*missed(top, outfit.copy, copies), *missed(top, outfit.link, links)):
        say(f"warning: {why}")
    return _Gifts(top, tuple(path for path in copies if not covers(links, path)), tuple(links))


def _ours(gifts: _Gifts, tracked: Tracked, workspace: Path, before: set[str]) -> Iterator[str]:
    """What will be put there: a folder as one, unless git tracks some of it. Somebody else's file stays theirs."""
    for path in (*gifts.links, *gifts.copies):
        plain = path.rstrip("/")
        if tracked.under(plain):
            yield from (each for each in _files(gifts.top, plain) if not tracked.at(each))
        elif not tracked.at(plain) and (covers(before, plain) or not os.path.lexists(workspace / plain)):
            yield plain


def _files(top: Path, path: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top / path):
        here = os.path.relpath(folder, top)
        yield from (f"{here}/{name}" for name in names)
        yield from (f"{here}/{name}" for name in folders if os.path.islink(f"{folder}/{name}"))  # noqa: PTH114


def _place(spec: Spec, gifts: _Gifts, tracked: Tracked, before: set[str]) -> None:
    warnings = Warnings()
    leave = {os.path.realpath(spec.cache)}  # other worktrees are known by their .git
    leave |= {str(gifts.top / path) for path in gifts.links}
    copier = Copier(Room(spec.workspace, spec.spare), warnings, leave.__contains__)
    with Placing(spec.workspace, tracked, before, copier, warnings) as placing:
        for path in gifts.copies:
            placing.copy(gifts.top, path)
        for path in gifts.links:
            placing.link(gifts.top, path)
    warnings.end()
    for what, paths in (("copied", gifts.copies), ("linked", gifts.links)):
        if paths:
            say(f"{what} from the checkout: {few(paths)}")


def _stamped(spec: Spec, stamp: Stamp) -> Stamp:
    write_stamp(spec.workspace, stamp)
    return stamp


def _once(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
