"""The verdict: what the files of an attempt say of it. One that can't be read is as good as none, and never an error."""

from __future__ import annotations

from contextlib import suppress

from plait.adapters.local.census import Live
from plait.core.errors import WorldError
from plait.ports import Exited, Gone
from plait.site import claim, exitstatus
from plait.site.claim import Claim
from plait.site.launch import NO_ROOM

NOTHING = "nothing of it runs any more, and it left no exit status"


def claimed(live: Live) -> Claim | None:
    """None: by nobody. A claim that can't be read is somebody's: its warden is looked for among the processes."""
    try:
        return claim.read(live.folder.claim)
    except (OSError, WorldError):
        return Claim()


def status(live: Live) -> int | None:
    with suppress(OSError):
        return exitstatus.read(live.folder.exit)
    return None


def of(live: Live, code: int | None) -> Exited | Gone:
    """Its warden is over, and exited with `code`, if that is known."""
    try:
        found = exitstatus.read(live.folder.exit)
    except OSError as error:
        return Gone(f"its exit status can't be read: {error.strerror or error}")
    return Gone(_why(code)) if found is None else Exited(found)


def _why(code: int | None) -> str:
    if code == NO_ROOM:
        return "it did not start: its folder can't be written, or the disk has no room"
    if code is not None and code < 0:
        return f"its warden was ended by signal {-code}, and left no exit status"
    return NOTHING
