"""The environment of this process, for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def use_environment(env: Mapping[str, str]) -> Iterator[None]:
    """These variables and no others: what is started from here belongs to whom they belong to."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
