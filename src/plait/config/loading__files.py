"""The files that hold settings: where they are and what is in them. The only module here that touches the disk."""

from __future__ import annotations

import stat
from pathlib import Path

from plait.config import toml_file__toml
from plait.config.loading import ConfigDocument
from plait.core.errors import ConfigError

PLAIT_TOML = "plait.toml"
PYPROJECT = "pyproject.toml"
_PYPROJECT_TABLE = ("tool", "plait")
_BOM = b"\xef\xbb\xbf"


def find_user_file() -> Path:
    from platformdirs import user_config_path  # noqa: PLC0415 - `plait --help` goes without

    return user_config_path("plait", appauthor=False) / "config.toml"


def read_user_file(path: Path) -> ConfigDocument | None:
    data = _read_bytes(path, str(path))
    return None if data is None else _parse_document(data, str(path))


def read_repository_file(top: Path) -> ConfigDocument | None:
    own = _read_bytes(top / PLAIT_TOML, PLAIT_TOML)
    ours = None if own is None else _parse_document(own, PLAIT_TOML)
    theirs = _read_pyproject(top / PYPROJECT)
    if ours and theirs:
        raise ConfigError(
            f"there are settings in {PLAIT_TOML} and under [tool.plait] at {theirs.origin_of()}",
            hint=f"Keep one of them: move what is under [tool.plait] to {PLAIT_TOML}, or delete {PLAIT_TOML}.",
        )
    return ours or theirs


def _read_pyproject(path: Path) -> ConfigDocument | None:
    """That file is not ours: what is wrong with it concerns us only if it speaks of plait."""
    try:
        data = _read_bytes(path, PYPROJECT) or b""
    except ConfigError:
        return None
    if b"plait" not in data:
        return None
    document = _parse_document(data, PYPROJECT, _PYPROJECT_TABLE)
    return None if document.settings is None else document


def _parse_document(data: bytes, file: str, table_path: tuple[str, ...] = ()) -> ConfigDocument:
    data = data.removeprefix(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: this line is not UTF-8", hint="Save the file as UTF-8.") from error
    return ConfigDocument(file, toml_file__toml.parse_toml(text, file), table_path)


def _read_bytes(path: Path, name: str) -> bytes | None:
    """None if there is nothing of that name."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # a pipe would be waited for
            what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise ConfigError(
                f"{name} is {what}, where a file with settings should be", hint="Move it or rename it."
            )
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ConfigError(f"{name} is a link that leads nowhere", hint="Mend it or delete it.") from None
        return None
    except OSError as error:
        raise ConfigError(
            f"{name} can't be read: {error.strerror}", hint="See who may read it: ls -l."
        ) from error
