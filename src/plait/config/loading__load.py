"""All layers put together: what `plait` goes by, here and now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.config import layers__outside, loading, loading__files
from plait.config.config import Config, Layer
from plait.config.layers import LayerValues, merge_layers


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
        _read_layer(loading__files.read_user_file(user or loading__files.find_user_file()), Layer.USER),
        _read_layer(loading__files.read_repository_file(top), Layer.REPOSITORY),
        layers__outside.read_saved(saved or {}),
        layers__outside.read_environment(os.environ if environment is None else environment),
        layers__outside.read_flags(flags or {}),
    )
    return merge_layers(layers)


def _read_layer(found: loading.ConfigDocument | None, layer: Layer) -> LayerValues:
    return loading.read_document(found, layer) if found else LayerValues(layer)
