"""A temporary folder outside /tmp, of which each sandbox has its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_PARENT = Path(__file__).parents[2] / ".pytest_cache"  # git ignores it, should a test be killed


@contextmanager
def visible_folder() -> Iterator[Path]:
    _PARENT.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=_PARENT) as folder:
        yield Path(folder)
