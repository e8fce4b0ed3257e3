"""The spec: what one process is to fit out, as a small file. It holds no secret."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import make_private_folder, replace_file

SETUP_FAILED_EXIT = 78  # how a process exits that could not fit the workspace out


MIN_FREE_BYTES = 1 << 30  # bytes that copying leaves free on the disk


MAX_CACHE_BYTES = 10 << 30  # bytes that what setups made may take in the cache


class SetupOptions(Protocol):
    """The part of an outfit that is done here. An `Outfit` is one; to import it would cost every start its codec."""

    @property
    def copy(self) -> tuple[str, ...]: ...
    @property
    def link(self) -> tuple[str, ...]: ...
    @property
    def setup(self) -> str | None: ...
    @property
    def reads(self) -> tuple[str, ...]: ...
    @property
    def makes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class SetupSpec:
    """`top` is a folder of the checkout, `cache` where results of setups are kept, `failed` where a failure is told."""

    workspace: Path
    top: Path
    outfit: SetupOptions
    cache: Path
    failed: Path
    spare: int = MIN_FREE_BYTES
    keep: int = MAX_CACHE_BYTES


@dataclass(frozen=True, slots=True)
class _ParsedOptions:
    copy: tuple[str, ...]
    link: tuple[str, ...]
    setup: str | None
    reads: tuple[str, ...]
    makes: tuple[str, ...]


def wrap_with_setup(argv: Sequence[str], spec_file: Path) -> tuple[str, ...]:
    """The command that fits the workspace out and then becomes this one.

    Without PYTHON… variables (-E): they are meant for the agent, and may name the workspace's own files.
    """
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.setup", str(spec_file), "--", *argv)


def write_spec(path: Path, spec: SetupSpec) -> None:
    wishes = spec.outfit
    told = {
        "workspace": str(spec.workspace),
        "top": str(spec.top),
        "cache": str(spec.cache),
        "failed": str(spec.failed),
        "spare": spec.spare,
        "keep": spec.keep,
        "copy": wishes.copy,
        "link": wishes.link,
        "setup": wishes.setup,
        "reads": wishes.reads,
        "makes": wishes.makes,
    }
    make_private_folder(path.parent)
    spec.failed.unlink(missing_ok=True)
    replace_file(path, json.dumps(told).encode())


def read_spec(path: Path) -> SetupSpec:
    try:
        told = json.loads(path.read_bytes())
        lists = {name: tuple(told[name]) for name in ("copy", "link", "reads", "makes")}
        return SetupSpec(
            workspace=Path(told["workspace"]),
            top=Path(told["top"]),
            outfit=_ParsedOptions(setup=told["setup"], **lists),
            cache=Path(told["cache"]),
            failed=Path(told["failed"]),
            spare=told["spare"],
            keep=told["keep"],
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WorldError(f"what the workspace is to be given can't be read from {path}: {error}") from error


def read_failure(spec_file: Path) -> str | None:
    """Why fitting out failed; None: it did not, or was not over."""
    try:
        return read_spec(spec_file).failed.read_text("utf-8", "replace")
    except (OSError, WorldError):
        return None
