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
from plait.core.fast_dataclass import dataclass
from plait.git.worktrees.metadata import SetupMetadata, read_setup_metadata, write_setup_metadata
from plait.runtime.setup.file_selection import (
    TrackedFiles,
    explain_missed,
    find_checkout_top,
    find_include_file,
    is_covered,
    select_files,
)
from plait.runtime.setup.safe_copy import FilePlacer
from plait.runtime.setup.setup_command import SetupRunner, hash_files, hash_setup
from plait.runtime.setup.spec import SetupOptions, SetupSpec
from plait.system.copy_tree import TreeCopier
from plait.system.disk import DiskBudget
from plait.system.stdout_messages import WarningPrinter, print_message, summarize_paths


def is_setup_needed(workspace: Path, top: Path, options: SetupOptions) -> bool:
    """Whether there is anything left to do for this workspace, or to complain about. A few reads, seldom a call of git."""
    try:
        stamp = read_setup_metadata(workspace)
        return _are_files_due(stamp, top, options) or _is_setup_due(stamp, workspace, options)
    except (WorldError, OSError):
        return True  # whoever tries will tell what is wrong


def prepare_workspace(spec: SetupSpec) -> None:
    """All that the workspace still lacks. Raises WorldError or OSError."""
    stamp = read_setup_metadata(spec.workspace)
    if _are_files_due(stamp, spec.top, spec.outfit):
        stamp = _place_files(spec, stamp)
    if _is_setup_due(stamp, spec.workspace, spec.outfit):
        stamp = _run_setup(spec, stamp)
    if not stamp.used:
        write_setup_metadata(spec.workspace, replace(stamp, used=True))


def _are_files_due(metadata: SetupMetadata, top: Path, options: SetupOptions) -> bool:
    if metadata.fitted == hash_files(options):
        return False
    if options.copy or options.link:
        return True
    found = find_checkout_top(top)
    return found is not None and find_include_file(found) is not None


def _is_setup_due(metadata: SetupMetadata, workspace: Path, options: SetupOptions) -> bool:
    if not options.setup:
        return False
    there = all(os.path.lexists(workspace / path) for path in metadata.made)
    return not (metadata.key and there and metadata.key == hash_setup(workspace, options))


def _run_setup(spec: SetupSpec, metadata: SetupMetadata) -> SetupMetadata:
    key, ours = hash_setup(spec.workspace, spec.outfit), [*metadata.ours]

    def note(paths: list[str]) -> None:
        ours.extend(paths)
        write_setup_metadata(spec.workspace, replace(metadata, key="", ours=_unique(ours)))

    made = SetupRunner(spec, key, note, may_store=not metadata.used).run()
    return _save_metadata(spec, replace(metadata, key=key, ours=_unique(ours), made=made))


@dataclass(frozen=True, slots=True)
class _SelectedFiles:
    top: Path
    copies: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def _place_files(spec: SetupSpec, metadata: SetupMetadata) -> SetupMetadata:
    gifts, tracked = _select(spec), TrackedFiles(spec.workspace)
    before = {*metadata.ours, *(f"{path}/" for path in metadata.ours)}
    ours = _unique([*metadata.ours, *_list_placed(gifts, tracked, spec.workspace, before)])
    write_setup_metadata(spec.workspace, replace(metadata, fitted="", ours=ours))
    if gifts.copies or gifts.links:
        _copy_and_link(spec, gifts, tracked, before)
    return _save_metadata(spec, replace(metadata, fitted=hash_files(spec.outfit), ours=ours))


def _select(spec: SetupSpec) -> _SelectedFiles:
    outfit, top = spec.outfit, find_checkout_top(spec.top)
    if top is None or top.samefile(spec.workspace):
        if outfit.copy or outfit.link:
            print_message("warning: there is no checkout to copy files from")
        return _SelectedFiles(spec.top)
    links = select_files(top, outfit.link)
    copies = select_files(top, outfit.copy, find_include_file(top))
    for why in (*explain_missed(top, outfit.copy, copies), *explain_missed(top, outfit.link, links)):
        print_message(f"warning: {why}")
    return _SelectedFiles(top, tuple(path for path in copies if not is_covered(links, path)), tuple(links))


def _list_placed(gifts: _SelectedFiles, tracked: TrackedFiles, workspace: Path, before: set[str]) -> Iterator[str]:
    """What will be put there: a folder as one, unless git tracks some of it. Somebody else's file stays theirs."""
    for path in (*gifts.links, *gifts.copies):
        plain = path.rstrip("/")
        if tracked.has_below(plain):
            yield from (each for each in _walk_files(gifts.top, plain) if not tracked.contains(each))
        elif not tracked.contains(plain) and (is_covered(before, plain) or not os.path.lexists(workspace / plain)):
            yield plain


def _walk_files(top: Path, path: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top / path):
        here = os.path.relpath(folder, top)
        yield from (f"{here}/{name}" for name in names)
        yield from (f"{here}/{name}" for name in folders if os.path.islink(f"{folder}/{name}"))  # noqa: PTH114


def _copy_and_link(spec: SetupSpec, gifts: _SelectedFiles, tracked: TrackedFiles, before: set[str]) -> None:
    warnings = WarningPrinter()
    leave = {os.path.realpath(spec.cache)}  # other worktrees are known by their .git
    leave |= {str(gifts.top / path) for path in gifts.links}
    copier = TreeCopier(DiskBudget(spec.workspace, spec.spare), warnings, leave.__contains__)
    with FilePlacer(spec.workspace, tracked, before, copier, warnings) as placing:
        for path in gifts.copies:
            placing.copy(gifts.top, path)
        for path in gifts.links:
            placing.link(gifts.top, path)
    warnings.print_summary()
    for what, paths in (("copied", gifts.copies), ("linked", gifts.links)):
        if paths:
            print_message(f"{what} from the checkout: {summarize_paths(paths)}")


def _save_metadata(spec: SetupSpec, metadata: SetupMetadata) -> SetupMetadata:
    write_setup_metadata(spec.workspace, metadata)
    return metadata


def _unique(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
