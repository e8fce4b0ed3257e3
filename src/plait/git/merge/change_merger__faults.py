"""From what git says to what a person should be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plait.core.errors import WorldError
from plait.git.command import GitError

_HINTS = (
    (("No space left on device", "Disk quota exceeded", "File too large"), "Free some space on the disk."),
    (
        (
            "unable to read",
            "inflate:",
            "corrupt",
            "missing blob",
            "bad object",
            "bad tree",
            "not a valid object",
            "could not read",
        ),
        "An object of the repository is missing or damaged: `git fsck` tells which.",
    ),
    (("Permission denied", "Read-only file system", "insufficient permission"), "Check who may write there."),
    (("exists; cannot create",), "Rename the branch that stands in the way."),
    (
        ("gpg failed to sign", "Couldn't sign", "failed to write commit object"),
        "Check how git signs commits.",
    ),
)


@contextmanager
def map_errors(what: str) -> Iterator[None]:
    """Whatever goes wrong inside is told with what was being done, and with the way out where it is known."""
    try:
        yield
    except GitError as error:
        heard = f"{error.stderr} {error.message}"
        way = next((way for signs, way in _HINTS if any(sign in heard for sign in signs)), error.hint)
        raise WorldError(f"{what}: {error.message}", hint=way) from error
    except OSError as error:
        raise WorldError(f"{what}: {error}", hint="Look at the disk and at who may write there.") from error


def make_missing_commit_error(commit: str, whose: str, error: type[WorldError] = WorldError) -> WorldError:
    return error(
        f"{whose} {commit[:12] if commit.isalnum() else repr(commit)} is not in the repository any more",
        hint="If it was pruned or never fetched, fetch it again, or retry the task.",
    )
