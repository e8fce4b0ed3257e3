"""The template of prompts that the settings name."""

from __future__ import annotations

from pathlib import Path

from plait.agents import templates
from plait.config.config import Config, Layer
from plait.core.errors import ConfigError
from plait.git.location import RepoLocation

_MAX_TEMPLATE_BYTES = 1 << 20  # bytes


def load_prompt_template(place: RepoLocation, config: Config) -> str:
    """Its text; "" where plait's own will do. Raises ConfigError."""
    named, given = config.run.prompt, config.origins["run.prompt"]
    if not named:
        return ""
    path = place.top / Path(named).expanduser()
    inside = path.resolve().is_relative_to(place.top.resolve())
    if given.layer is Layer.REPOSITORY and not inside:  # what it is read for, a stranger's model sees
        raise ConfigError(
            f"{given}: the template of prompts {named} lies outside of the repository",
            hint="A repository's own settings name files of its own; yours may name any.",
        )
    try:
        text = _read_template(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{given}: the template of prompts {named} can't be read: {why}",
            hint="Put a text with {task} in it there, or take run.prompt out of the settings.",
        ) from error
    templates.check_template(text, named)
    return text


def _read_template(path: Path) -> str:
    if not path.is_file():  # a device would never end
        raise FileNotFoundError(2, "there is no such file")
    if path.stat().st_size > _MAX_TEMPLATE_BYTES:
        raise ValueError(f"it has more than {_MAX_TEMPLATE_BYTES >> 20} MB")
    return path.read_bytes().decode("utf-8-sig")
