"""The agents that are here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plait.adapters.checkup.logins import LoggedIn, detect_login
from plait.adapters.checkup.model import DoctorCheck, ok
from plait.adapters.checkup.programs import Program
from plait.agents.known import KNOWN_AGENTS


def check_agents(
    programs: Mapping[str, Program], environment: Mapping[str, str], home: Path, *, keychain: bool
) -> DoctorCheck:
    here = [known for known in KNOWN_AGENTS if known.program and programs[known.program].path]
    said = []
    for known in here:
        seen = detect_login(known.login, environment, home, keychain=keychain)
        out = ", not logged in" if seen.logged_in is LoggedIn.NO else ""
        said.append(f"{known.program} {programs[known.program].version or ''}".strip() + out)
    if not said:
        return ok("agents", "no coding tool is installed; plait agents tells how to get one")
    return ok("agents", f"{'; '.join(said)}; plait agents tells more")
