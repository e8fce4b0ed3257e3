"""Looking after things: what `plait doctor` and `plait agents` ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

from plait.client.agent_specs import build_agent_specs
from plait.client.project_state import read_past_batches, read_saved_settings
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.errors import ConfigError
from plait.engine.daemon import LOG_FILE, find_engine
from plait.git.location import RepoLocation, find_repo
from plait.git.worktrees.worktree import find_worktrees_folder
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE, open_project_inbox, open_state_paths
from plait.system.shared_state import find_shared_state_folder

if TYPE_CHECKING:
    from plait.client.doctor.check import DoctorCheck  # noqa: TC004 - names for type checkers only
    from plait.client.installed_agents import Program  # noqa: TC004
    from plait.core.state import State

__all__ = ["DoctorCheck", "Program"]


def find_programs(names: Sequence[str]) -> Mapping[str, Program]:
    """Which of these are here, and which versions they say they are. Each is run."""
    from plait.client.installed_agents import probe_programs  # only for those who ask

    return probe_programs(names)


def run_checks(where: Path) -> list[DoctorCheck]:
    """All that `plait doctor` looks at. Nothing is changed."""
    from plait.agents.table import AGENTS
    from plait.client.doctor import machine_checks, state_checks
    from plait.system.sensors import MachineSensors

    place = find_repo(where)
    weather = MachineSensors((place.state, place.top)).read()
    found = find_programs(["git", *(known.program for known in AGENTS.values() if known.program)])
    told, engine = read_past_batches(place), find_engine(place)
    pid, since, trouble = (engine.pid, engine.since, engine.trouble) if engine else (None, 0.0, "")
    return [
        machine_checks.check_git(found["git"]),
        machine_checks.check_python(),
        machine_checks.check_shell(),
        machine_checks.check_disk(weather),
        machine_checks.check_memory(weather),
        *machine_checks.check_capacity(weather, str(place.top)),
        machine_checks.check_agents(found, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        *_check_settings(place),
        state_checks.check_state_folder(place.state),
        state_checks.check_journal(place.state / JOURNAL_FILE, told.state, told.problems),
        _check_inbox(place),
        state_checks.check_engine(pid, since, place.state / LOG_FILE, told.state, trouble),
        *_check_repository(place),
        *_check_leftovers(place, told.state, at_work=engine is not None),
        state_checks.check_shared_state(find_shared_state_folder()),
    ]


def _check_settings(place: RepoLocation) -> list[DoctorCheck]:
    from plait.agents.interface import AgentSpec as Spec
    from plait.agents.table import load_agent
    from plait.client.agent_specs import explain_missing, find_default_agent
    from plait.client.doctor.check import ok, problem, warning
    from plait.config.agent_keys import is_dotted_path

    try:
        config = load_config(place.top, saved=read_saved_settings(place)[0])
        specs = {spec.name: spec for spec in build_agent_specs(config)}
        for name in filterfalse(
            is_dotted_path, config.default_agents
        ):  # a module would be run, and nobody has trusted it yet
            load_agent(specs.get(name, Spec(name)))
            if absent := explain_missing(specs.get(name, Spec(name))):
                return [problem("settings", *absent)]
    except ConfigError as error:
        return [problem("settings", error.message, error.hint)]
    told = [warning("settings", f"{each.at or ''}: {each.message}".lstrip(": "), each.hint) for each in config.warnings]
    found = (
        f"none are set, the first here is {find_default_agent(config)[0]}"
        if find_default_agent(config)
        else "none are set"
    )
    return told or [ok("settings", f"agents: {', '.join(config.default_agents) or found}")]


def _check_inbox(place: RepoLocation) -> DoctorCheck:
    from plait.client.doctor import check, state_checks
    from plait.store.interfaces import InboxError

    path = place.state / INBOX_FILE
    if not os.path.exists(path):  # noqa: PTH110 - it never raises; opening it would make it
        return state_checks.check_inbox(path, 0, {})
    try:
        with closing(open_project_inbox(place)) as requests:
            return state_checks.check_inbox(path, len(requests.pending()), requests.unreadable())
    except InboxError as error:
        return check.problem("inbox", error.message, error.hint)


def _check_leftovers(place: RepoLocation, state: State | None, *, at_work: bool) -> list[DoctorCheck]:
    """Without a journal nobody can tell what is left over."""
    if state is None:
        return []
    from plait.client.doctor import state_checks
    from plait.store.batch_files import ENVIRONMENT_FILE

    git = place.state.parent if place.repository else None
    known = state_checks.summarize_journal(state, engine=at_work)
    root = _find_worktrees_root(place)
    return state_checks.check_leftovers(
        open_state_paths(place), known, environment=ENVIRONMENT_FILE, git=git, worktrees=root
    )


def _check_repository(place: RepoLocation) -> list[DoctorCheck]:
    """Worktrees and the remote: only a repository has them."""
    config = _load_config(place)
    if config is None or not place.repository:
        return []
    from plait.client.doctor import repository_checks

    cap = config.workspace.disk_cap
    return [
        repository_checks.check_worktrees(find_worktrees_folder(place, config), cap),
        _check_remote(place, config),
    ]


def _check_remote(place: RepoLocation, config: Config) -> DoctorCheck:
    """What is set and found here; nobody is asked over the network, and no token is told."""
    from plait.client.doctor import repository_checks
    from plait.forges.interfaces import ForgeError
    from plait.forges.registry import find_forge
    from plait.forges.remote import find_remote, resolve_address
    from plait.forges.tokens import PLAIT_VARIABLE, find_token
    from plait.git.command import Git

    name, git = config.pr.remote, Git(place.git_dir)
    try:
        url = find_remote(git, name).fetch
    except ForgeError:
        return repository_checks.report_missing_remote(name)
    try:
        where = resolve_address(url, os.environ)
        forge = find_forge(where, config.pr.forge)
    except ForgeError as error:
        return repository_checks.report_unknown_forge(name, error.message)
    try:
        token = find_token(forge, where, git, os.environ)
    except ForgeError as error:
        return repository_checks.report_invalid_token(name, error.message)
    source = token.source if token is not None else None
    variables = (PLAIT_VARIABLE, *forge.list_token_variables(where, os.environ))
    return repository_checks.report_forge(name, where.host, forge, source, variables)


def _find_worktrees_root(place: RepoLocation) -> Path | None:
    config = _load_config(place)
    return find_worktrees_folder(place, config) if config is not None and place.repository else None


def _load_config(place: RepoLocation) -> Config | None:
    """None: it is told elsewhere what is wrong with it."""
    try:
        return load_config(place.top, saved=read_saved_settings(place)[0])
    except ConfigError:
        return None
