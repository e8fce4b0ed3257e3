"""The setup spec: what `python -m plait.runtime.setup` prepares, as a small file without secrets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Protocol

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import make_private_folder, replace_file

SETUP_FAILED_EXIT = 78
MIN_FREE_BYTES = 1 << 30  # that copying leaves free on the disk
MAX_CACHE_BYTES = 10 << 30  # that results of setup commands may take in the cache


class SetupOptions(Protocol):
    """The part of a WorkspaceSetup that is done here; importing that class would make every start slower."""

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
    """`top` is the checkout, `cache` keeps results of setup commands, `failed` is the file for an error message."""

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


def build_setup_command(spec_file: Path) -> tuple[str, ...]:
    """The command that prepares the workspace and then becomes the one whose words follow.

    -E: PYTHON… variables are meant for the agent, and may name files of the workspace.
    """
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.setup", str(spec_file), "--")


def write_spec(path: Path, spec: SetupSpec) -> None:
    options = spec.outfit
    content = {
        "workspace": str(spec.workspace),
        "top": str(spec.top),
        "cache": str(spec.cache),
        "failed": str(spec.failed),
        "spare": spec.spare,
        "keep": spec.keep,
        "copy": options.copy,
        "link": options.link,
        "setup": options.setup,
        "reads": options.reads,
        "makes": options.makes,
    }
    make_private_folder(path.parent)
    spec.failed.unlink(missing_ok=True)
    replace_file(path, json.dumps(content).encode())


def read_spec(path: Path) -> SetupSpec:
    try:
        content = json.loads(path.read_bytes())
        lists = {name: tuple(content[name]) for name in ("copy", "link", "reads", "makes")}
        return SetupSpec(
            workspace=Path(content["workspace"]),
            top=Path(content["top"]),
            outfit=_ParsedOptions(setup=content["setup"], **lists),
            cache=Path(content["cache"]),
            failed=Path(content["failed"]),
            spare=content["spare"],
            keep=content["keep"],
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WorldError(f"can't read the setup file {path}: {error}") from error


def read_failure(spec_file: Path) -> str | None:
    """Why the setup failed; None: it did not, or has not ended."""
    try:
        return read_spec(spec_file).failed.read_text("utf-8", "replace")
    except (OSError, WorldError):
        return None
