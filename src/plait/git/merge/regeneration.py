"""Regenerates files by a command in a temporary export of the merged commit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.git.command import LOCATION_VARIABLES, Git

if TYPE_CHECKING:
    from plait.git.merge.change_merger import Regenerate

TIMEOUT_SECONDS = 900.0  # seconds: a lock file may need a network
_MAX_OUTPUT_CHARS = 400  # of a command's output


def build_regenerator(git_dir: Path, root: Path) -> Regenerate:
    def regenerate(commit: str, command: str, files: tuple[str, ...]) -> Mapping[str, bytes]:
        with _export_commit(git_dir, root, commit) as folder:
            _run_command(folder, command)
            return {path: (folder / path).read_bytes() for path in files if _is_file_inside(folder, path)}

    return regenerate


def _is_file_inside(folder: Path, path: str) -> bool:
    """A regular file not reached through a link: nothing from outside gets into a commit."""
    file = folder / path
    return file.is_file() and not file.is_symlink() and folder.resolve() in file.parent.resolve().joinpath("x").parents


@contextmanager
def _export_commit(git_dir: Path, root: Path, commit: str) -> Iterator[Path]:
    root.mkdir(parents=True, exist_ok=True)
    whole = Path(tempfile.mkdtemp(prefix="regenerate-", dir=root))
    folder = whole / "tree"
    folder.mkdir()
    try:
        places = {"GIT_DIR": git_dir, "GIT_WORK_TREE": folder, "GIT_INDEX_FILE": whole / "index"}
        git = Git(folder, variables={name: str(path) for name, path in places.items()})
        git.run("read-tree", commit)
        git.run("checkout-index", "--all", f"--prefix={folder}/")
        yield folder
    finally:
        shutil.rmtree(whole, ignore_errors=True)


def _run_command(folder: Path, command: str) -> None:
    env = {name: value for name, value in os.environ.items() if name not in LOCATION_VARIABLES}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            ["sh", "-c", command],  # the user's own, trusted command
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            raise WorldError(f"{command} did not end in {TIMEOUT_SECONDS / 60:.0f} minutes") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if code:
            log.seek(max(0, log.tell() - 4 * _MAX_OUTPUT_CHARS))
            output = " ".join(log.read().decode("utf-8", "replace").split())[-_MAX_OUTPUT_CHARS:]
            raise WorldError(f"{command} failed with exit status {code}: {output}")
