"""Looking after things: what `plait doctor` and `plait agents` ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

from plait.config.choices import ForgeKind
from plait.config.load import load as load_config
from plait.config.model import Config
from plait.core.errors import ConfigError
from plait.wiring import (
    INBOX,
    JOURNAL,
    LOG,
    Place,
    commons_folder,
    engine_of,
    find_place,
    inbox,
    state_folder,
)
from plait.wiring.repository import git_dir, worktrees_folder
from plait.wiring.sources import agent_specs, history, saved_settings

if TYPE_CHECKING:
    from plait.adapters.checkup.model import Check  # noqa: TC004 - names for type checkers only
    from plait.adapters.checkup.programs import Program  # noqa: TC004
    from plait.core.state import State

__all__ = ["Check", "Program"]


def programs(names: Sequence[str]) -> Mapping[str, Program]:
    """Which of these are here, and which versions they say they are. Each is run."""
    from plait.adapters.checkup.programs import ask  # noqa: PLC0415 - only for those who ask

    return ask(names)


def checkup(where: Path) -> list[Check]:
    """All that `plait doctor` looks at. Nothing is changed."""
    from plait.adapters.checkup import book, machine, store, tools  # noqa: PLC0415 - only for the doctor
    from plait.adapters.sensors import MachineSensors  # noqa: PLC0415
    from plait.agents.known import KNOWN  # noqa: PLC0415

    place = find_place(where)
    weather = MachineSensors((place.state, place.top)).read()
    found = programs(["git", *(known.program for known in KNOWN if known.program)])
    told, engine = history(place), engine_of(place)
    pid, since, trouble = (engine.pid, engine.since, engine.trouble) if engine else (None, 0.0, "")
    return [
        machine.git(found["git"]),
        machine.python(),
        machine.shell(),
        machine.disk(weather),
        machine.memory(weather),
        *machine.room(weather, str(place.top)),
        tools.agents(found, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        *_settings_checked(place),
        store.state(place.state),
        book.journal(place.state / JOURNAL, told.state, told.problems),
        _inbox_checked(place),
        book.engine(pid, since, place.state / LOG, told.state, trouble),
        *_repository_checked(place),
        *_leftovers(place, told.state, at_work=engine is not None),
        store.commons(commons_folder()),
    ]


def _settings_checked(place: Place) -> list[Check]:
    from plait.adapters.checkup.model import ok, problem, warning  # noqa: PLC0415
    from plait.agents.model import AgentSpec as Spec  # noqa: PLC0415
    from plait.agents.table import dotted, load as load_agent  # noqa: PLC0415
    from plait.wiring.tools import first_here, missing  # noqa: PLC0415

    try:
        config = load_config(place.top, saved=saved_settings(place)[0])
        specs = {spec.name: spec for spec in agent_specs(config)}
        for name in filterfalse(
            dotted, config.serving
        ):  # a module would be run, and nobody has trusted it yet
            load_agent(specs.get(name, Spec(name)))
            if absent := missing(specs.get(name, Spec(name))):
                return [problem("settings", *absent)]
    except ConfigError as error:
        return [problem("settings", error.message, error.hint)]
    told = [
        warning("settings", f"{each.at or ''}: {each.message}".lstrip(": "), each.hint)
        for each in config.warnings
    ]
    found = (
        f"none are set, the first here is {first_here(config)[0]}" if first_here(config) else "none are set"
    )
    return told or [ok("settings", f"agents: {', '.join(config.serving) or found}")]


def _inbox_checked(place: Place) -> Check:
    from plait.adapters.checkup import book, model  # noqa: PLC0415
    from plait.ports import InboxError  # noqa: PLC0415

    path = place.state / INBOX
    if not os.path.exists(path):  # noqa: PTH110 - it never raises; opening it would make it
        return book.inbox(path, 0, {})
    try:
        with closing(inbox(place)) as requests:
            return book.inbox(path, len(requests.pending()), requests.aside())
    except InboxError as error:
        return model.problem("inbox", error.message, error.hint)


def _leftovers(place: Place, state: State | None, *, at_work: bool) -> list[Check]:
    """Without a journal nobody can tell what is left over."""
    if state is None:
        return []
    from plait.adapters.checkup import book, leftovers  # noqa: PLC0415
    from plait.adapters.kits import ENVIRONMENT  # noqa: PLC0415

    git = place.state.parent if place.repository else None
    known = book.known(state, engine=at_work)
    root = _worktrees_root(place)
    return leftovers.leftovers(state_folder(place), known, environment=ENVIRONMENT, git=git, worktrees=root)


def _repository_checked(place: Place) -> list[Check]:
    """Worktrees and the remote: only a repository has them."""
    config = _config(place)
    if config is None or not place.repository:
        return []
    from plait.adapters.checkup import worktrees  # noqa: PLC0415

    cap = config.workspace.disk_cap
    return [worktrees.worktrees(worktrees_folder(place, config), cap), _remote_checked(place, config)]


def _remote_checked(place: Place, config: Config) -> Check:
    """What is set and found here; nobody is asked over the network, and no token is told."""
    from plait.adapters.checkup import remotes  # noqa: PLC0415
    from plait.adapters.forge.address import kind_of  # noqa: PLC0415
    from plait.adapters.forge.remote import home, remote  # noqa: PLC0415
    from plait.adapters.forge.tokens import find_token, variables  # noqa: PLC0415
    from plait.ports import ForgeError  # noqa: PLC0415
    from plait.site.git import Git  # noqa: PLC0415

    name, git = config.pr.remote, Git(git_dir(place))
    try:
        url = remote(git, name).fetch
    except ForgeError:
        return remotes.no_remote(name)
    try:
        where = home(url, os.environ)
        kind = kind_of(where, "" if config.pr.forge is ForgeKind.AUTO else config.pr.forge.value)
    except ForgeError as error:
        return remotes.no_forge(name, error.message)
    try:
        token = find_token(kind, where, git, os.environ)
    except ForgeError as error:
        return remotes.odd_token(name, error.message)
    source = token.source if token is not None else None
    return remotes.forge(name, where.host, kind.value, source, variables(kind, where, os.environ))


def _worktrees_root(place: Place) -> Path | None:
    config = _config(place)
    return worktrees_folder(place, config) if config is not None and place.repository else None


def _config(place: Place) -> Config | None:
    """None: it is told elsewhere what is wrong with it."""
    try:
        return load_config(place.top, saved=saved_settings(place)[0])
    except ConfigError:
        return None
