"""The secret of a webhook, from a file that nobody else can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from plait.observe.channels__message import DeliveryError

_MAX_SECRET_BYTES = 4096  # bytes
_OTHERS_MODE = stat.S_IRWXG | stat.S_IRWXO


def read_secret(path: Path) -> bytes:
    """Without the white space around it. Raises Undelivered: what can't be signed is not sent."""
    try:
        fd = os.open(path.expanduser(), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise DeliveryError(f"the secret {path} can't be read: {why}", hint=_build_hint(path)) from None
    try:
        mode = os.fstat(fd).st_mode  # of what is read, whatever happens to its name
        if not stat.S_ISREG(mode):
            raise DeliveryError(f"the secret {path} is no regular file", hint=_build_hint(path))
        if mode & _OTHERS_MODE:
            raise DeliveryError(f"the secret {path} could be read by others", hint=f"chmod 600 {path}")
        found = os.read(fd, _MAX_SECRET_BYTES + 1).strip()
    finally:
        os.close(fd)
    if not found or len(found) > _MAX_SECRET_BYTES:
        raise DeliveryError(f"{path} holds no secret", hint=_build_hint(path))
    return found


def _build_hint(path: Path) -> str:
    return f"Make one: umask 077; openssl rand -hex 32 > {path}"
