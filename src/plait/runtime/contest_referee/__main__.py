"""`python -m plait.runtime.contest_referee SPEC`: choose, and leave the winner's change in the workspace."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from plait.agents.drivers.referee import RefereeSpec
from plait.core.errors import PlaitError
from plait.core.status import Category
from plait.runtime.agent_process import JobError
from plait.runtime.contest_referee.referee_output import ContestRow, RefereeReporter
from plait.runtime.contest_referee.selection import select_winner

_FAILED = 1


def main(words: Sequence[str]) -> int:
    file = Path(words[0]) if words else Path()
    reporter, rows = RefereeReporter(file.parent), list[ContestRow]()
    try:
        select_winner(_read_spec(file), reporter, rows)
    except JobError as error:
        reporter.report_failure(error, rows)
    except PlaitError as error:
        reporter.report_failure(JobError(error.message), rows)
    except OSError as error:
        reporter.report_failure(JobError(f"the system refused: {error}"), rows)
    else:
        return 0
    return _FAILED


def _read_spec(file: Path) -> RefereeSpec:
    try:
        return msgspec.json.decode(file.read_bytes(), type=RefereeSpec)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"what is to be chosen from can't be read from {file}: {error}"
        raise JobError(message, Category.USAGE) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
