"""Prepares a workspace: copies and links once for each task, and runs the setup command whenever its inputs have
changed.

The metadata lists files before they are made, and records when all exist. An interrupted preparation starts again, and
what it left is not mistaken for an agent's change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.worktrees.metadata import SetupMetadata, read_setup_metadata, write_setup_metadata
from plait.runtime.setup.messages import WarningPrinter, print_message, summarize_paths
from plait.runtime.setup.safe_copy import (
    FilePlacer,
    TrackedFiles,
    explain_missed,
    find_checkout_top,
    find_include_file,
    is_covered,
    select_files,
)
from plait.runtime.setup.setup_command import SetupRunner, SetupSpec, hash_files, hash_setup
from plait.system.copy_tree import TreeCopier
from plait.system.disk import DiskBudget


def is_setup_needed(spec: SetupSpec) -> bool:
    """Whether there is anything to do for this workspace, or to warn about. Takes a few reads, rarely a call of git."""
    try:
        metadata = read_setup_metadata(spec.workspace)
        return _are_files_due(metadata, spec) or _is_setup_due(metadata, spec)
    except (WorldError, OSError):
        return True  # trying reports what is wrong


def prepare_workspace(spec: SetupSpec) -> None:
    """Do what is left to do for the workspace. Raises WorldError or OSError."""
    metadata = read_setup_metadata(spec.workspace)
    if _are_files_due(metadata, spec):
        metadata = _place_files(spec, metadata)
    if _is_setup_due(metadata, spec):
        metadata = _run_setup(spec, metadata)
    if not metadata.used:
        write_setup_metadata(spec.workspace, replace(metadata, used=True))


def _are_files_due(metadata: SetupMetadata, spec: SetupSpec) -> bool:
    if metadata.fitted == hash_files(spec):
        return False
    if spec.copy or spec.link:
        return True
    folder = Path(os.path.realpath(spec.top))
    if all(find_include_file(each) is None for each in (folder, *folder.parents)):
        return False  # git need not be asked which of them is the checkout's top
    found = find_checkout_top(spec.top)
    return found is not None and find_include_file(found) is not None


def _is_setup_due(metadata: SetupMetadata, spec: SetupSpec) -> bool:
    if not spec.setup:
        return False
    there = all(os.path.lexists(spec.workspace / path) for path in metadata.made)
    return not (metadata.key and there and metadata.key == hash_setup(spec))


def _run_setup(spec: SetupSpec, metadata: SetupMetadata) -> SetupMetadata:
    key, ours = hash_setup(spec), [*metadata.ours]

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
    files, tracked = _select(spec), TrackedFiles(spec.workspace)
    before = {*metadata.ours, *(f"{path}/" for path in metadata.ours)}
    ours = _unique([*metadata.ours, *_list_placed(files, tracked, spec.workspace, before)])
    write_setup_metadata(spec.workspace, replace(metadata, fitted="", ours=ours))
    if files.copies or files.links:
        _copy_and_link(spec, files, tracked, before)
    return _save_metadata(spec, replace(metadata, fitted=hash_files(spec), ours=ours))


def _select(spec: SetupSpec) -> _SelectedFiles:
    top = find_checkout_top(spec.top)
    if top is None or top.samefile(spec.workspace):
        if spec.copy or spec.link:
            print_message("warning: there is no checkout to copy files from")
        return _SelectedFiles(spec.top)
    links = select_files(top, spec.link)
    copies = select_files(top, spec.copy, find_include_file(top))
    for why in (*explain_missed(top, spec.copy, copies), *explain_missed(top, spec.link, links)):
        print_message(f"warning: {why}")
    return _SelectedFiles(top, tuple(path for path in copies if not is_covered(links, path)), tuple(links))


def _list_placed(files: _SelectedFiles, tracked: TrackedFiles, workspace: Path, before: set[str]) -> Iterator[str]:
    """Yield the paths that will be made: a folder as one, unless git tracks some of it; no file that exists already."""
    for path in (*files.links, *files.copies):
        plain = path.rstrip("/")
        if tracked.has_below(plain):
            yield from (each for each in _walk_files(files.top, plain) if not tracked.contains(each))
        elif not tracked.contains(plain) and (is_covered(before, plain) or not os.path.lexists(workspace / plain)):
            yield plain


def _walk_files(top: Path, path: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top / path):
        relative = os.path.relpath(folder, top)
        yield from (f"{relative}/{name}" for name in names)
        yield from (f"{relative}/{name}" for name in folders if os.path.islink(f"{folder}/{name}"))  # noqa: PTH114


def _copy_and_link(spec: SetupSpec, files: _SelectedFiles, tracked: TrackedFiles, before: set[str]) -> None:
    warnings = WarningPrinter()
    excluded = {os.path.realpath(spec.cache)}  # other worktrees are known by their .git
    excluded |= {str(files.top / path) for path in files.links}
    copier = TreeCopier(DiskBudget(spec.workspace, spec.spare), warnings.add, excluded.__contains__)
    with FilePlacer(spec.workspace, tracked, before, copier, warnings) as placing:
        for path in files.copies:
            placing.copy(files.top, path)
        for path in files.links:
            placing.link(files.top, path)
    warnings.print_summary()
    for what, paths in (("copied", files.copies), ("linked", files.links)):
        if paths:
            print_message(f"{what} from the checkout: {summarize_paths(paths)}")


def _save_metadata(spec: SetupSpec, metadata: SetupMetadata) -> SetupMetadata:
    write_setup_metadata(spec.workspace, metadata)
    return metadata


def _unique(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
