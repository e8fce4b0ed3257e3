"""All layers put together: what `plait` goes by, here and now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.config import document, files, outside
from plait.config.layers import Heard, merge
from plait.config.model import Config, Layer


def load(
    top: Path,
    *,
    flags: Mapping[str, object] | None = None,
    saved: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    user: Path | None = None,
) -> Config:
    """The settings of the repository at `top`; raises ConfigError. `flags` are by key (`run.retries`), None if not given.

    `saved` is what `JournalReader.settings` gives. The process's own variables and the user's own file are the default.
    """
    layers = (
        _heard(files.read_user(user or files.user_file()), Layer.USER),
        _heard(files.read_repository(top), Layer.REPOSITORY),
        outside.saved(saved or {}),
        outside.environment(os.environ if environment is None else environment),
        outside.flags(flags or {}),
    )
    return merge(layers)


def _heard(found: document.Document | None, layer: Layer) -> Heard:
    return document.hear(found, layer) if found else Heard(layer)
