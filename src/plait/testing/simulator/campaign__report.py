"""The tally as a table for people."""

from __future__ import annotations

from plait.store.codec import EVENT_TYPES
from plait.testing.simulator.campaign import MAX_REPORTED, CampaignResult

PROGRAM = "python -m plait.testing.simulation"


def format_result(total: CampaignResult, seconds: float, *, complete: bool) -> str:
    rows = [
        ("runs", f"{total.runs:,}"),
        ("records", f"{total.records:,}"),
        ("crash points", f"{total.crash_points:,}"),
        ("crashes in storms", f"{total.crashes - total.crash_points:,}"),
        ("kinds of events", f"{len(EVENT_TYPES) - len(total.unseen_kinds)} of {len(EVENT_TYPES)}"),
        ("records per second", f"{total.records / max(seconds, 1e-9):,.0f}"),
        ("seconds", f"{seconds:.1f}"),
    ]
    lines = [f"{name:<20}{value:>12}" for name, value in rows]
    if total.unseen_kinds:
        lines.append(
            f"never seen: {', '.join(total.unseen_kinds)}{'' if complete else ' (few runs: no failure)'}"
        )
    lines += total.violations[:MAX_REPORTED]
    count = len(total.violations)
    lines.append(f"{count} violation{'' if count == 1 else 's'}")
    return "\n".join(lines).replace("replay: ", f"replay: {PROGRAM} ")
