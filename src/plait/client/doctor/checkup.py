"""Run all checks of `plait doctor`."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from itertools import filterfalse
from pathlib import Path

from plait.agents.interface import AgentSpec
from plait.agents.table import AGENTS, load_agent
from plait.client.agent_specs import build_agent_specs, explain_missing, find_default_agent
from plait.client.doctor import machine_checks, repository_checks, state_checks
from plait.client.doctor.check import DoctorCheck, ok, problem, warning
from plait.client.installed_agents import probe_programs
from plait.client.project_state import read_past_batches, read_saved_settings
from plait.config.agent_keys import is_dotted_path
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.errors import ConfigError
from plait.core.state import State
from plait.engine.daemon import LOG_FILE, find_engine
from plait.git.command import Git
from plait.git.location import RepoLocation, find_repo
from plait.git.worktrees.worktree import find_worktrees_folder
from plait.store.interfaces import InboxError
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE, open_project_inbox, open_state_paths
from plait.system.sensors import MachineSensors
from plait.system.shared_state import find_shared_state_folder


def run_checks(where: Path) -> list[DoctorCheck]:
    """Changes nothing."""
    place = find_repo(where)
    readings = MachineSensors((place.state, place.top)).read()
    programs = probe_programs(["git", *(known.program for known in AGENTS.values() if known.program)])
    past, engine = read_past_batches(place), find_engine(place)
    return [
        machine_checks.check_git(programs["git"]),
        machine_checks.check_python(),
        machine_checks.check_shell(),
        machine_checks.check_disk(readings),
        machine_checks.check_memory(readings),
        *machine_checks.check_capacity(readings, str(place.top)),
        machine_checks.check_agents(programs, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        *_check_settings(place),
        state_checks.check_state_folder(place.state),
        state_checks.check_journal(place.state / JOURNAL_FILE, past.state, past.problems),
        _check_inbox(place),
        state_checks.check_engine(engine, place.state / LOG_FILE, past.state),
        *_check_repository(place),
        *_check_leftovers(place, past.state, engine_runs=engine is not None),
        state_checks.check_shared_state(find_shared_state_folder()),
    ]


def _check_settings(place: RepoLocation) -> list[DoctorCheck]:
    try:
        config = load_config(place.top, saved=read_saved_settings(place)[0])
        specs = {spec.name: spec for spec in build_agent_specs(config)}
        # Loading a module would run it, and it may not be trusted.
        for name in filterfalse(is_dotted_path, config.default_agents):
            load_agent(specs.get(name, AgentSpec(name)))
            if absent := explain_missing(specs.get(name, AgentSpec(name))):
                return [problem("settings", *absent)]
    except ConfigError as error:
        return [problem("settings", error.message, error.hint)]
    warnings = [
        warning("settings", f"{each.at or ''}: {each.message}".lstrip(": "), each.hint) for each in config.warnings
    ]
    found = (
        f"none are set, the first here is {find_default_agent(config)[0]}"
        if find_default_agent(config)
        else "none are set"
    )
    return warnings or [ok("settings", f"agents: {', '.join(config.default_agents) or found}")]


def _check_inbox(place: RepoLocation) -> DoctorCheck:
    path = place.state / INBOX_FILE
    if not path.exists():  # opening it would create it
        return state_checks.check_inbox(path, 0, {})
    try:
        with closing(open_project_inbox(place)) as requests:
            return state_checks.check_inbox(path, len(requests.pending()), requests.unreadable())
    except InboxError as error:
        return problem("inbox", error.message, error.hint)


def _check_leftovers(place: RepoLocation, state: State | None, *, engine_runs: bool) -> list[DoctorCheck]:
    """None without a journal, which is needed to know what is left over."""
    if state is None:
        return []
    config = _load_config(place)
    worktrees = find_worktrees_folder(place, config) if config is not None and place.repository else None
    return state_checks.check_leftovers(
        open_state_paths(place),
        state,
        engine_runs=engine_runs,
        git=place.state.parent if place.repository else None,
        worktrees=worktrees,
    )


def _check_repository(place: RepoLocation) -> list[DoctorCheck]:
    """Worktrees and the remote, in a git repository."""
    config = _load_config(place)
    if config is None or not place.repository:
        return []
    cap = config.workspace.disk_cap
    return [
        repository_checks.check_worktrees(find_worktrees_folder(place, config), cap),
        repository_checks.check_remote(Git(place.git_dir), config),
    ]


def _load_config(place: RepoLocation) -> Config | None:
    """None: another check reports what is wrong with it."""
    try:
        return load_config(place.top, saved=read_saved_settings(place)[0])
    except ConfigError:
        return None
