"""The layers that are no files: saved settings, variables, flags."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.config import Layer
from plait.config.key import ENV_PREFIX
from plait.config.keys import KEYS_BY_NAME, KEYS_BY_SAVED_NAME, KEYS_BY_VARIABLE, find_similar
from plait.config.layers import LayerValues
from plait.core.task import Origin

_MIN_ENV_SIMILARITY = 0.7

# What attempts are told, so that a plait inside of one is not warned of its own surroundings.
ATTEMPT_VARIABLES = frozenset(
    ENV_PREFIX + name
    for name in """TASK_ID BATCH ATTEMPT STEP WORKSPACE PORT PORTS NAME MARK FEEDBACK_FILE TASK_FILE PROMPT_FILE TITLE
    DEBUG""".split()  # noqa: SIM905 - words read better in lines
)


def read_saved(settings: Mapping[str, str]) -> LayerValues:
    """JSON texts by the names of the page and the API. A name of another version is passed over with a warning."""
    heard = LayerValues(Layer.SAVED)
    if not settings:
        return heard
    import msgspec  # noqa: PLC0415 - only those who have saved something need it

    for name, text in settings.items():
        at = saved_origin(name)
        if name not in KEYS_BY_SAVED_NAME:
            heard.add_warning(
                "this version has no such setting; it is passed over", at, _suggest(name, KEYS_BY_SAVED_NAME)
            )
            continue
        try:
            said = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            heard.add_error("this is not JSON", at, "Save it again on the page or through the API.")
        else:
            heard.add(KEYS_BY_SAVED_NAME[name], said, at)
    return heard


def saved_origin(name: str) -> Origin:
    """Where a saved setting was said."""
    return Origin(f"saved setting {name}")


def read_environment(variables: Mapping[str, str]) -> LayerValues:
    """`PLAIT_RETRIES` is `run.retries`, `PLAIT_SOURCES_TAG` is `sources.tag`; an empty variable says nothing.

    Attempts and plugins have `PLAIT_` variables of their own, so an unknown one is passed over; only one that looks like
    a setting with a slip in it is worth a warning.
    """
    heard = LayerValues(Layer.ENVIRONMENT)
    for name, text in variables.items():
        if not name.startswith(ENV_PREFIX) or not text or name in ATTEMPT_VARIABLES:
            continue
        if name in KEYS_BY_VARIABLE:
            heard.add(KEYS_BY_VARIABLE[name], text, Origin(name), from_text=True)
            continue
        known = {variable.removeprefix(ENV_PREFIX): variable for variable in KEYS_BY_VARIABLE}
        alike = find_similar(name.removeprefix(ENV_PREFIX), known, _MIN_ENV_SIMILARITY)
        if alike:
            heard.add_warning("no setting goes by this name", Origin(name), f"Did you mean {known[alike]}?")
    return heard


def read_flags(given: Mapping[str, object]) -> LayerValues:
    """Values by key, as the command line gives them: texts, or what it has made of them. None is a flag not given."""
    heard = LayerValues(Layer.FLAG)
    for name, said in given.items():
        if said is not None:
            key = KEYS_BY_NAME[name]
            heard.add(key, said, Origin(key.flag or name), from_text=True)
    return heard


def _suggest(word: str, names: Mapping[str, object]) -> str:
    alike = find_similar(word, names)
    return f"Did you mean {alike}?" if alike else ""
