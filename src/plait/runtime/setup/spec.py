"""The setup spec: what `python -m plait.runtime.setup` prepares, as a small file without secrets."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import make_private_folder, replace_file

if TYPE_CHECKING:
    from plait.git.interfaces import WorkspaceSetup  # importing it would make every start of an attempt slower

SETUP_FAILED_EXIT = 78
MIN_FREE_BYTES = 1 << 30  # that copying leaves free on the disk
MAX_CACHE_BYTES = 10 << 30  # that results of setup commands may take in the cache


@dataclass(frozen=True, slots=True)
class SetupSpec:
    """`top` is the checkout, `cache` keeps results of setup commands, `failed` is the file for an error message.

    The other fields are those of a WorkspaceSetup; `spare` and `keep` are the limits above.
    """

    workspace: Path
    top: Path
    cache: Path
    failed: Path
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: str | None = None
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    spare: int = MIN_FREE_BYTES
    keep: int = MAX_CACHE_BYTES


def build_spec(  # noqa: PLR0913 - four paths
    options: WorkspaceSetup, *, workspace: Path, top: Path, cache: Path, failed: Path, spare: int = MIN_FREE_BYTES
) -> SetupSpec:
    lists = (options.copy, options.link, options.setup, options.reads, options.makes)
    return SetupSpec(workspace, top, cache, failed, *lists, spare=spare)


def build_setup_command(spec_file: Path) -> tuple[str, ...]:
    """The command that prepares the workspace and then becomes the one whose words follow.

    -E: PYTHON… variables are meant for the agent, and may name files of the workspace.
    """
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.setup", str(spec_file), "--")


def write_spec(path: Path, spec: SetupSpec) -> None:
    make_private_folder(path.parent)
    spec.failed.unlink(missing_ok=True)
    replace_file(path, json.dumps(asdict(spec), default=str).encode())


def read_spec(path: Path) -> SetupSpec:
    try:
        content = json.loads(path.read_bytes())
        content |= {name: Path(content[name]) for name in ("workspace", "top", "cache", "failed")}
        content |= {name: tuple(content[name]) for name in ("copy", "link", "reads", "makes")}
        return SetupSpec(**content)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WorldError(f"can't read the setup file {path}: {error}") from error


def read_failure(spec_file: Path) -> str | None:
    """Why the setup failed; None: it did not, or has not ended."""
    try:
        return read_spec(spec_file).failed.read_text("utf-8", "replace")
    except (OSError, WorldError):
        return None
