"""Whether a tool is logged in, as far as that shows without asking its provider, which may cost something."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from plait.agents.table__known import AgentLogin
from plait.core.fast_dataclass import dataclass

_EMPTY_BYTES = 2  # bytes: `{}`


class LoggedIn(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LoginStatus:
    """`by` is the name of a variable or of a file, and never what is in it; `how` is how to log in."""

    logged_in: LoggedIn
    by: str = ""
    how: str = ""


def detect_login(
    login: AgentLogin | None, environment: Mapping[str, str], home: Path, *, keychain: bool = False
) -> LoginStatus:
    """`keychain`: this system keeps what tools would write into files. Whoever leaves no file may be logged in unseen."""
    if login is None:
        return LoginStatus(LoggedIn.UNKNOWN)
    variable = next((name for name in login.variables if environment.get(name, "").strip()), None)
    if variable is not None:
        return LoginStatus(LoggedIn.YES, variable, login.how)
    file = next((name for name in login.files if _has_content(home / name)), None)
    if file is not None:
        return LoginStatus(LoggedIn.YES, f"~/{file}", login.how)
    unseen = keychain or not login.files
    return LoginStatus(LoggedIn.UNKNOWN if unseen else LoggedIn.NO, how=login.how)


def _has_content(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > _EMPTY_BYTES
    except OSError:
        return False
