"""`python -m plait.site.referee SPEC`: choose, and leave the winner's change in the workspace."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from plait.agents.tools.referee import RefereeSpec
from plait.core.errors import PlaitError
from plait.core.status import Category
from plait.site.referee.choosing import choose
from plait.site.referee.telling import RefereeError, Row, Telling

_FAILED = 1


def main(words: Sequence[str]) -> int:
    file = Path(words[0]) if words else Path()
    telling, rows = Telling(file.parent), list[Row]()
    try:
        choose(_read(file), telling, rows)
    except RefereeError as error:
        telling.failed(error, rows)
    except PlaitError as error:
        telling.failed(RefereeError(error.message), rows)
    except OSError as error:
        telling.failed(RefereeError(f"the system refused: {error}"), rows)
    else:
        return 0
    return _FAILED


def _read(file: Path) -> RefereeSpec:
    try:
        return msgspec.json.decode(file.read_bytes(), type=RefereeSpec)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"what is to be chosen from can't be read from {file}: {error}"
        raise RefereeError(message, Category.USAGE) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
