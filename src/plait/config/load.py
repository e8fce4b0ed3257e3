"""All layers put together: what `plait` goes by, here and now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.config import document, files, outside
from plait.config.layers import LayerValues, merge_layers
from plait.config.model import Config, Layer


def load_config(
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
        _read_layer(files.read_user_file(user or files.find_user_file()), Layer.USER),
        _read_layer(files.read_repository_file(top), Layer.REPOSITORY),
        outside.read_saved(saved or {}),
        outside.read_environment(os.environ if environment is None else environment),
        outside.read_flags(flags or {}),
    )
    return merge_layers(layers)


def _read_layer(found: document.ConfigDocument | None, layer: Layer) -> LayerValues:
    return document.read_document(found, layer) if found else LayerValues(layer)
