"""The layers that are no files: saved settings, variables, flags."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.key import PREFIX
from plait.config.layers import Heard
from plait.config.model import Layer
from plait.config.schema import BY_NAME, BY_SAVED, BY_VARIABLE, near
from plait.core.task import Origin

_ALIKE = 0.7

# What attempts are told, so that a plait inside of one is not warned of its own surroundings.
TOLD = frozenset(
    PREFIX + name
    for name in """TASK_ID BATCH ATTEMPT STEP WORKSPACE PORT PORTS NAME MARK FEEDBACK_FILE TASK_FILE PROMPT_FILE TITLE
    DEBUG""".split()  # noqa: SIM905 - words read better in lines
)


def saved(settings: Mapping[str, str]) -> Heard:
    """JSON texts by the names of the page and the API. A name of another version is passed over with a warning."""
    heard = Heard(Layer.SAVED)
    if not settings:
        return heard
    import msgspec  # noqa: PLC0415 - only those who have saved something need it

    for name, text in settings.items():
        at = saved_at(name)
        if name not in BY_SAVED:
            heard.warn("this version has no such setting; it is passed over", at, _meant(name, BY_SAVED))
            continue
        try:
            said = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            heard.refuse("this is not JSON", at, "Save it again on the page or through the API.")
        else:
            heard.take(BY_SAVED[name], said, at)
    return heard


def saved_at(name: str) -> Origin:
    """Where a saved setting was said."""
    return Origin(f"saved setting {name}")


def environment(variables: Mapping[str, str]) -> Heard:
    """`PLAIT_RETRIES` is `run.retries`, `PLAIT_SOURCES_TAG` is `sources.tag`; an empty variable says nothing.

    Attempts and plugins have `PLAIT_` variables of their own, so an unknown one is passed over; only one that looks like
    a setting with a slip in it is worth a warning.
    """
    heard = Heard(Layer.ENVIRONMENT)
    for name, text in variables.items():
        if not name.startswith(PREFIX) or not text or name in TOLD:
            continue
        if name in BY_VARIABLE:
            heard.take(BY_VARIABLE[name], text, Origin(name), aloud=True)
            continue
        known = {variable.removeprefix(PREFIX): variable for variable in BY_VARIABLE}
        alike = near(name.removeprefix(PREFIX), known, _ALIKE)
        if alike:
            heard.warn("no setting goes by this name", Origin(name), f"Did you mean {known[alike]}?")
    return heard


def flags(given: Mapping[str, object]) -> Heard:
    """Values by key, as the command line gives them: texts, or what it has made of them. None is a flag not given."""
    heard = Heard(Layer.FLAG)
    for name, said in given.items():
        if said is not None:
            key = BY_NAME[name]
            heard.take(key, said, Origin(key.flag or name), aloud=True)
    return heard


def _meant(word: str, names: Mapping[str, object]) -> str:
    alike = near(word, names)
    return f"Did you mean {alike}?" if alike else ""
