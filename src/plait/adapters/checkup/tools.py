"""The agents that are here."""

from __future__ import annotations

from collections.abc import Mapping

from plait.adapters.checkup.model import Check, ok
from plait.adapters.checkup.programs import Program
from plait.agents.known import KNOWN


def agents(programs: Mapping[str, Program]) -> Check:
    here = [programs[known.program] for known in KNOWN if known.program and programs[known.program].path]
    said = ", ".join(f"{each.name} {each.version or ''}".strip() for each in here) or "no coding tool"
    return ok("agents", f"{said}; plait agents tells more")
