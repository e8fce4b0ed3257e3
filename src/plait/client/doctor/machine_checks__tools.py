"""The agents that are here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plait.agents.table__known import KNOWN_AGENTS
from plait.client.doctor.check import DoctorCheck, ok
from plait.client.installed_agents__logins import LoggedIn, detect_login
from plait.client.installed_agents__programs import Program


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
