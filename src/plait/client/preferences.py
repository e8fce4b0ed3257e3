"""Changing settings: what was asked for is judged as a whole, and either all of it is sound or nothing is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from plait.agents import table
from plait.agents.interface import AgentSpec
from plait.client.api_errors__refusals import FieldError
from plait.client.preferences__shape import GIVEN_FIELD
from plait.client.project_sources import load_agent_specs
from plait.client.trust import list_repo_commands
from plait.config.config import Config
from plait.config.key import AnyKey
from plait.config.keys import KEYS_BY_FIELD, KEYS_BY_NAME, KEYS_BY_SAVED_NAME, find_similar
from plait.config.layers import SettingsError
from plait.config.layers__outside import saved_origin
from plait.config.loading__load import load_config
from plait.config.toml_file__toml import format_short
from plait.config.value_types import InvalidValue
from plait.core import settings__saved as saving
from plait.core.contest import REFEREE
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.git.location import RepoLocation

# The settings that name agents, and how each of them names them.
_AGENT_KEYS = ("run.agent", "run.fallback", "run.judge", "agents.permissions")


class InvalidSettingsError(FieldError):
    """Nothing was saved. All that is wrong, each with the name of its setting."""

    def __init__(self, wrong: Sequence[tuple[str, Problem]]) -> None:
        self.field_problems = tuple(wrong)
        self.fields = tuple(dict.fromkeys(name for name, _ in wrong))
        self.problems = tuple(problem for _, problem in wrong)
        told = "\n".join(dict.fromkeys(problem.message for problem in self.problems))
        super().__init__(told, field=self.fields[0], hint=self.problems[-1].hint)


@dataclass(frozen=True, slots=True)
class SettingsChanges:
    """What is to be saved, and the settings before and after. `untrusted` are keys with commands that only the repository says."""

    texts: tuple[tuple[str, str | None], ...]
    before: Config
    after: Config
    untrusted: frozenset[str] = frozenset()


def load_effective_config(place: RepoLocation, saved: Mapping[str, str]) -> Config:
    """The settings that count, and a warning for each saved one that can't be read: else nobody could ever save another.

    Raises ConfigError where a file is wrong.
    """
    config, wrong = _load_config(place, saved)
    minor = (replace(problem, severity=Severity.WARNING) for problem in wrong)
    return replace(config, warnings=(*config.warnings, *minor))


def check_changes(
    place: RepoLocation, saved: Mapping[str, str], patch: Mapping[str, object]
) -> SettingsChanges:
    """`patch` has values by name, as JSON says them; null forgets what was saved. Raises UnfitSettingsError or ConfigError."""
    before, known = _load_config(place, saved)
    texts, wrong = _encode_values(saved, patch)
    if wrong:
        raise InvalidSettingsError(wrong)
    try:
        after, found = _load_config(place, saving.merge_saved_settings(saved, texts))
    except SettingsError as error:
        raise InvalidSettingsError([*_attribute_problems(error.problems, patch)]) from error
    wrong = [*_attribute_problems([problem for problem in found if problem not in known], patch)]
    wrong += () if wrong else _check_agents(after, patch)
    if wrong:
        raise InvalidSettingsError(wrong)
    untrusted = frozenset(each.key for each in list_repo_commands(after, place) if not each.trusted)
    return SettingsChanges(texts, before, after, untrusted)


def _load_config(place: RepoLocation, saved: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """Without those of the saved settings that are in the way, and what is wrong with them."""
    left, problems = dict(saved), list[Problem]()
    while True:
        try:
            return load_config(place.top, saved=left), problems
        except SettingsError as error:
            if not left:
                raise
            guilty = {name for name in left for problem in error.problems if problem.at == saved_origin(name)}
            problems += error.problems
            left = {name: text for name, text in left.items() if guilty and name not in guilty}


def _attribute_problems(
    problems: Sequence[Problem], patch: Mapping[str, object]
) -> Iterator[tuple[str, Problem]]:
    """What several settings have wrong together is told of all that were named now."""
    for problem in problems:
        own = [name for name in patch if problem.at == saved_origin(name)]
        yield from ((name, problem) for name in own or patch)


def _encode_values(
    saved: Mapping[str, str], patch: Mapping[str, object]
) -> tuple[tuple[tuple[str, str | None], ...], list[tuple[str, Problem]]]:
    texts: list[tuple[str, str | None]] = []
    wrong: list[tuple[str, Problem]] = []
    for name, said in patch.items():
        try:
            texts.append((name, _encode_value(saved, name, said)))
        except _InvalidSetting as refusal:
            wrong.append((name, Problem(Severity.ERROR, refusal.args[0], hint=refusal.args[1])))
    why = None if wrong else saving.why_not_save(saved, texts)
    if why is not None:
        wrong += [(name, Problem(Severity.ERROR, why)) for name in patch]
    return tuple(texts), wrong


class _InvalidSetting(Exception):  # noqa: N818 - told among all others, never raised alone
    """What is wrong with one setting, and the way out."""


def _encode_value(saved: Mapping[str, str], name: str, said: object) -> str | None:
    key = KEYS_BY_SAVED_NAME.get(name)
    if said is None and (key is not None or name in saved):  # what another version saved can be forgotten too
        return None
    if key is None:
        raise _unknown_setting(name)
    if key.is_secret:
        raise _InvalidSetting(
            f"{name} may hold a secret, and what is saved stays in the journal for ever",
            f"Put {key.field} into your own config.toml, or into {key.env_variable}.",
        )
    try:
        text = msgspec.json.encode(key.value_type.plain(key.value_type.read(said))).decode()
    except InvalidValue as unfit:
        raise _InvalidSetting(
            f"{name} must be {key.value_type.allowed}, not {format_short(said)}", str(unfit)
        ) from None
    if len(text) > saving.MAX_SAVED_TEXT_CHARS:
        raise _InvalidSetting(
            f"{name} is too long to be saved: {saving.MAX_SAVED_TEXT_CHARS} characters are the most", ""
        )
    return text


def _unknown_setting(name: str) -> _InvalidSetting:
    if name == GIVEN_FIELD:
        return _InvalidSetting(
            f"{GIVEN_FIELD} tells who gave each setting, and can't be set", "Name settings alone."
        )
    same = KEYS_BY_NAME.get(name) or KEYS_BY_FIELD.get(name)
    alike = same.saved_name if same else find_similar(name, KEYS_BY_SAVED_NAME)
    hint = f"Did you mean {alike}?" if alike else "GET /api/settings lists them all."
    return _InvalidSetting(f"there is no setting called {format_short(name)[1:-1]}", hint)


def _check_agents(config: Config, patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """Agents that there are not: told now, not when a batch wants them."""
    try:
        specs = {spec.name: spec for spec in load_agent_specs(config)}
    except PlaitError as error:
        yield from ((name, Problem(Severity.ERROR, error.message, hint=error.hint)) for name in patch)
        return
    for key in (KEYS_BY_NAME[name] for name in _AGENT_KEYS):
        named = _list_named_agents(config, key) if patch.get(key.saved_name) is not None else ()
        for agent in named:
            problem = _check_agent(specs.get(agent, AgentSpec(agent)))
            if problem is not None:
                yield key.saved_name, problem


def _list_named_agents(config: Config, key: AnyKey) -> Sequence[str]:
    match config.value(key):
        case str() as one:
            return (one,)
        case tuple() as several:
            return tuple(each if isinstance(each, str) else each[0] for each in several)
        case _:
            return ()


def _check_agent(spec: AgentSpec) -> Problem | None:
    if spec.name == REFEREE:
        return Problem(Severity.ERROR, f"{REFEREE} decides contests, and is given nothing else")
    try:
        table.load_agent(spec)
    except PlaitError as error:
        return Problem(Severity.ERROR, error.message, hint=error.hint)
    return None
