"""The settings: shown with who gave them, saved, and in force at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from plait.core.plan import Problem, Severity
from plait.front.preferences import changes, course, in_force, preferences_json, preferences_schema
from plait.front.problems import problem_json
from plait.front.refusals import StateError
from plait.server.acts.asking import asked, once
from plait.server.office import Office

Json = dict[str, object]

REFUSED = "refused"
_SAVING = "settings"  # what changes mean follows from what is in force: one after another


async def shown(office: Office) -> Json:
    """Every setting by the name of the API, and under `given` who gave it."""
    saved = await office.look(lambda desk: desk.state.saved)
    config = await asyncio.to_thread(in_force, office.place, saved)
    return preferences_json(config, saved)


async def described() -> Json:
    """What each of them means, and what may be said in its place."""
    return preferences_schema()


async def change(office: Office, patch: Mapping[str, object]) -> Json:
    """The settings as they are then, and in `notes` which open batches keep what they have; null forgets what was saved.

    `accepted`: it is safe, and no engine has answered yet. Raises UnfitSettingsError or ConfigError; then nothing was saved.
    """
    async with once(office, _SAVING):
        saved = await office.look(lambda desk: desk.state.saved)
        wanted = await asyncio.to_thread(changes, office.place, saved, patch)
        way = await office.look(lambda desk: course(office.place, desk.state, wanted))
        answers = await asked(office, way.requests) if way.requests else []
    refused = [answer.why for answer in answers if answer.granted is False]
    if refused:
        raise StateError(refused[0], state=REFUSED)
    stuck = {answer.why for answer in answers if answer.granted is None and answer.why}
    notes = (*way.notes, *(Problem(Severity.WARNING, why) for why in stuck))
    return await shown(office) | {
        "notes": [problem_json(note) for note in notes],
        "accepted": any(answer.granted is None for answer in answers),
    }
