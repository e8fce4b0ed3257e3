"""Changing settings: what was asked for is judged as a whole, and either all of it is sound or nothing is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from plait.agents import table
from plait.agents.model import AgentSpec
from plait.config.key import AnyKey
from plait.config.kinds import Unfit
from plait.config.layers import SettingsError
from plait.config.load import load
from plait.config.model import Config
from plait.config.outside import saved_at
from plait.config.schema import BY_FIELD, BY_NAME, BY_SAVED, near
from plait.config.toml import shown
from plait.core import saved as saving
from plait.core.contest import REFEREE
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.front.preferences.shape import GIVEN
from plait.front.refusals import FieldError
from plait.front.trust import wanted
from plait.wiring import Place
from plait.wiring.sources import agent_specs

# The settings that name agents, and how each of them names them.
_NAMING = ("run.agent", "run.fallback", "run.judge", "agents.permissions")


class UnfitSettingsError(FieldError):
    """Nothing was saved. All that is wrong, each with the name of its setting."""

    def __init__(self, wrong: Sequence[tuple[str, Problem]]) -> None:
        self.wrong = tuple(wrong)
        self.fields = tuple(dict.fromkeys(name for name, _ in wrong))
        self.problems = tuple(problem for _, problem in wrong)
        told = "\n".join(dict.fromkeys(problem.message for problem in self.problems))
        super().__init__(told, field=self.fields[0], hint=self.problems[-1].hint)


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be saved, and the settings before and after. `untrusted` are keys with commands that only the repository says."""

    texts: tuple[tuple[str, str | None], ...]
    before: Config
    after: Config
    untrusted: frozenset[str] = frozenset()


def in_force(place: Place, saved: Mapping[str, str]) -> Config:
    """The settings that count, and a warning for each saved one that can't be read: else nobody could ever save another.

    Raises ConfigError where a file is wrong.
    """
    config, wrong = _loaded(place, saved)
    minor = (replace(problem, severity=Severity.WARNING) for problem in wrong)
    return replace(config, warnings=(*config.warnings, *minor))


def changes(place: Place, saved: Mapping[str, str], patch: Mapping[str, object]) -> Changes:
    """`patch` has values by name, as JSON says them; null forgets what was saved. Raises UnfitSettingsError or ConfigError."""
    before, known = _loaded(place, saved)
    texts, wrong = _texts(saved, patch)
    if wrong:
        raise UnfitSettingsError(wrong)
    try:
        after, found = _loaded(place, saving.after(saved, texts))
    except SettingsError as error:
        raise UnfitSettingsError([*_attributed(error.problems, patch)]) from error
    wrong = [*_attributed([problem for problem in found if problem not in known], patch)]
    wrong += () if wrong else _strangers(after, patch)
    if wrong:
        raise UnfitSettingsError(wrong)
    untrusted = frozenset(each.key for each in wanted(after, place) if not each.trusted)
    return Changes(texts, before, after, untrusted)


def _loaded(place: Place, saved: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """Without those of the saved settings that are in the way, and what is wrong with them."""
    left, problems = dict(saved), list[Problem]()
    while True:
        try:
            return load(place.top, saved=left), problems
        except SettingsError as error:
            if not left:
                raise
            guilty = {name for name in left for problem in error.problems if problem.at == saved_at(name)}
            problems += error.problems
            left = {name: text for name, text in left.items() if guilty and name not in guilty}


def _attributed(problems: Sequence[Problem], patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """What several settings have wrong together is told of all that were named now."""
    for problem in problems:
        own = [name for name in patch if problem.at == saved_at(name)]
        yield from ((name, problem) for name in own or patch)


def _texts(
    saved: Mapping[str, str], patch: Mapping[str, object]
) -> tuple[tuple[tuple[str, str | None], ...], list[tuple[str, Problem]]]:
    texts: list[tuple[str, str | None]] = []
    wrong: list[tuple[str, Problem]] = []
    for name, said in patch.items():
        try:
            texts.append((name, _text(saved, name, said)))
        except _Refusal as refusal:
            wrong.append((name, Problem(Severity.ERROR, refusal.args[0], hint=refusal.args[1])))
    why = None if wrong else saving.why_not(saved, texts)
    if why is not None:
        wrong += [(name, Problem(Severity.ERROR, why)) for name in patch]
    return tuple(texts), wrong


class _Refusal(Exception):  # noqa: N818 - told among all others, never raised alone
    """What is wrong with one setting, and the way out."""


def _text(saved: Mapping[str, str], name: str, said: object) -> str | None:
    key = BY_SAVED.get(name)
    if said is None and (key is not None or name in saved):  # what another version saved can be forgotten too
        return None
    if key is None:
        raise _unknown(name)
    if key.secret:
        raise _Refusal(
            f"{name} may hold a secret, and what is saved stays in the journal for ever",
            f"Put {key.field} into your own config.toml, or into {key.variable}.",
        )
    try:
        text = msgspec.json.encode(key.kind.plain(key.kind.read(said))).decode()
    except Unfit as unfit:
        raise _Refusal(f"{name} must be {key.kind.allowed}, not {shown(said)}", str(unfit)) from None
    if len(text) > saving.LONGEST:
        raise _Refusal(f"{name} is too long to be saved: {saving.LONGEST} characters are the most", "")
    return text


def _unknown(name: str) -> _Refusal:
    if name == GIVEN:
        return _Refusal(f"{GIVEN} tells who gave each setting, and can't be set", "Name settings alone.")
    same = BY_NAME.get(name) or BY_FIELD.get(name)
    alike = same.saved if same else near(name, BY_SAVED)
    hint = f"Did you mean {alike}?" if alike else "GET /api/settings lists them all."
    return _Refusal(f"there is no setting called {shown(name)[1:-1]}", hint)


def _strangers(config: Config, patch: Mapping[str, object]) -> Iterator[tuple[str, Problem]]:
    """Agents that there are not: told now, not when a batch wants them."""
    try:
        specs = {spec.name: spec for spec in agent_specs(config)}
    except PlaitError as error:
        yield from ((name, Problem(Severity.ERROR, error.message, hint=error.hint)) for name in patch)
        return
    for key in (BY_NAME[name] for name in _NAMING):
        named = _named(config, key) if patch.get(key.saved) is not None else ()
        for agent in named:
            problem = _why_not(specs.get(agent, AgentSpec(agent)))
            if problem is not None:
                yield key.saved, problem


def _named(config: Config, key: AnyKey) -> Sequence[str]:
    match config.value(key):
        case str() as one:
            return (one,)
        case tuple() as several:
            return tuple(each if isinstance(each, str) else each[0] for each in several)
        case _:
            return ()


def _why_not(spec: AgentSpec) -> Problem | None:
    if spec.name == REFEREE:
        return Problem(Severity.ERROR, f"{REFEREE} decides contests, and is given nothing else")
    try:
        table.load(spec)
    except PlaitError as error:
        return Problem(Severity.ERROR, error.message, hint=error.hint)
    return None
