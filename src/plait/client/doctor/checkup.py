"""Run all checks of `plait doctor`. This module has those of the machine, its coding tools and the repository."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import closing
from itertools import filterfalse
from pathlib import Path

from plait.agents.interface import AgentSpec
from plait.agents.table import AGENTS, load_agent
from plait.client.agent_specs import build_agent_specs, explain_missing, find_default_agent
from plait.client.doctor import state_checks
from plait.client.doctor.check import (
    GC_HINT,
    CheckStatus,
    DoctorCheck,
    find_write_problem,
    format_bytes,
    measure_disk_use,
    ok,
    problem,
    warning,
)
from plait.client.installed_agents import LoggedIn, Program, detect_login, probe_programs
from plait.client.programs import check_programs
from plait.client.project_state import read_past_batches, read_saved_settings
from plait.config.agent_keys import is_dotted_path
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.capacity import DEFAULT_LIMITS, MachineReadings, describe_shortage
from plait.core.errors import ConfigError
from plait.core.plan import Severity
from plait.core.settings import MachineLimits, SandboxMode
from plait.engine.daemon import LOG_FILE, find_engine
from plait.forges.forge import ForgeError, find_forge
from plait.forges.remote import find_remote, resolve_address
from plait.forges.tokens import PLAIT_VARIABLE, find_token
from plait.git.command import Git, GitError
from plait.git.gc.broken_refs import find_broken_refs
from plait.git.location import RepoLocation, find_repo
from plait.git.worktrees.preconditions import find_missing_identity
from plait.git.worktrees.worktree import Repository, WorkspaceLayout, find_worktrees_folder, list_children
from plait.runtime.sandbox.detection import list_support
from plait.store.interfaces import InboxError
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE, open_project_inbox, open_state_paths
from plait.store.state_claim import explain_foreign, list_set_aside
from plait.store.trust_store import ignore_untrusted_location
from plait.system.own_folder import find_risk
from plait.system.sensors import MachineSensors
from plait.system.shared_state import find_shared_state_folder

MIN_GIT_VERSION = (2, 38)

_LOW_DISK_BYTES = 2 * 2**30
_LOW_MEMORY_BYTES = 2**30  # an agent takes a third of it, or all
_VERSION_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_REMOTE, _WORKTREES = "remote", "worktrees"


def run_checks(where: Path) -> list[DoctorCheck]:
    """Run all checks, without changing anything."""
    location = find_repo(where)
    foreign = explain_foreign(location.state)
    if foreign is not None:
        return [state_checks.report_foreign_state(location.state, foreign)]
    readings = MachineSensors((location.state, location.top)).read()
    programs = probe_programs(["git", *(info.program for info in AGENTS.values() if info.program)])
    past, engine = read_past_batches(location), find_engine(location)
    config, settings = _check_settings(location)
    if config is not None:
        config = ignore_untrusted_location(location, config)
    worktrees = find_worktrees_folder(location, config) if config is not None and location.repository else None
    checks = [
        check_git(programs["git"]),
        ok("python", f"Python {platform.python_version()}, {sys.executable}"),
        check_shell(),
        check_disk(readings),
        check_memory(readings),
        *check_capacity(readings, str(location.top), config.machine_limits if config is not None else DEFAULT_LIMITS),
        *check_sandboxes(config.sandbox.image or "" if config is not None else ""),
        check_agents(programs, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        *settings,
        state_checks.check_state_folder(location.state),
        *state_checks.check_set_aside(list_set_aside(location.state)),
        state_checks.check_journal(location.state / JOURNAL_FILE, past.state, past.problems),
        _check_inbox(location),
        state_checks.check_engine(engine, location.state / LOG_FILE, past.state),
    ]
    if config is not None and worktrees is not None:
        checks.append(check_worktrees(worktrees, config.workspace.disk_cap))
        checks.append(check_remote(Git(location.git_dir), config))
        missing = find_missing_identity(Git(location.git_dir))
        checks += [warning("identity", missing.message, missing.hint)] if missing else []
        checks += check_refs(Repository(location.git_dir))
    if past.state is not None:  # without a journal, nothing is known to be left over
        checks += state_checks.check_write_back(past.state)
        git = location.state.parent if location.repository else None
        checks += state_checks.check_leftovers(
            open_state_paths(location), past.state, engine_runs=engine is not None, git=git, worktrees=worktrees
        )
    return [*checks, state_checks.check_shared_state(find_shared_state_folder())]


def check_refs(repository: Repository) -> list[DoctorCheck]:
    """Check whether the objects of plait's own branches, refs and worktrees are there."""
    try:
        broken = list(find_broken_refs(repository))
    except GitError as error:
        return [problem("refs", f"plait's refs can't be checked: {error.message}", "Find out more with git fsck.")]
    return [
        problem(
            "refs", f"{ref.name} is broken: {ref.missing}", "plait gc saves what is left, and repairs or removes it."
        )
        for ref in broken
    ]


def _check_settings(location: RepoLocation) -> tuple[Config | None, list[DoctorCheck]]:
    """Return the settings, or None if they are invalid; and the checks."""
    try:
        config = load_config(location.top, saved=read_saved_settings(location)[0])
    except ConfigError as error:
        return None, [problem("settings", error.message, error.hint)]
    try:
        specs = {spec.name: spec for spec in build_agent_specs(config)}
        # Loading a module would run it, and it may not be trusted.
        for name in filterfalse(is_dotted_path, config.default_agents):
            load_agent(specs.get(name, AgentSpec(name)))
            if missing := explain_missing(specs.get(name, AgentSpec(name))):
                return config, [problem("settings", *missing)]
    except ConfigError as error:
        return config, [problem("settings", error.message, error.hint)]
    warnings = [
        warning("settings", f"{found.at or ''}: {found.message}".lstrip(": "), found.hint) for found in config.warnings
    ]
    found_programs = check_programs(config, config.batch_settings(tasks=1, cores=1), ())
    warnings += [
        (problem if found.severity is Severity.ERROR else warning)("settings", found.message, found.hint)
        for found in found_programs
    ]
    default = find_default_agent(config)
    default_text = f"none are set, the first here is {default[0]}" if default else "none are set"
    return config, warnings or [ok("settings", f"agents: {', '.join(config.default_agents) or default_text}")]


def _check_inbox(location: RepoLocation) -> DoctorCheck:
    path = location.state / INBOX_FILE
    if not path.exists():  # opening it would create it
        return state_checks.check_inbox(path, 0, {})
    try:
        with closing(open_project_inbox(location)) as requests:
            return state_checks.check_inbox(path, len(requests.pending()), requests.unreadable())
    except InboxError as error:
        return problem("inbox", error.message, error.hint)


def check_git(program: Program) -> DoctorCheck:
    least = ".".join(map(str, MIN_GIT_VERSION))
    if program.path is None:
        return problem("git", "git isn't on PATH", f"Install git {least} or newer.")
    numbers = _VERSION_NUMBERS.match(program.version or "")
    if numbers is None:
        return warning(
            "git", f"{program.path} doesn't report its version{f': {program.problem}' if program.problem else ''}"
        )
    if (int(numbers[1]), int(numbers[2])) < MIN_GIT_VERSION:
        return problem("git", f"git {program.version} is too old", f"plait needs {least} or newer.")
    return ok("git", f"git {program.version}")


def check_shell() -> DoctorCheck:
    path = shutil.which("sh")
    if path is None:
        return problem("sh", "sh isn't on PATH", "plait starts agents through sh: fix PATH.")
    return ok("sh", path)


def check_disk(readings: MachineReadings) -> DoctorCheck:
    left = f"{format_bytes(readings.disk)} of {format_bytes(readings.disk_total)} left"
    if readings.disk < _LOW_DISK_BYTES:
        return warning("disk", left, "Transcripts and worktrees need space: free some.")
    return ok("disk", left)


def check_memory(readings: MachineReadings) -> DoctorCheck:
    left = f"{format_bytes(readings.memory)} of {format_bytes(readings.memory_total)} left, {readings.cores} cores"
    if readings.memory < _LOW_MEMORY_BYTES:
        return warning("memory", left, "An agent takes 200 MB to 1 GB: fewer tasks may run at once than you set.")
    return ok("memory", left)


def check_capacity(readings: MachineReadings, where: str, limits: MachineLimits) -> list[DoctorCheck]:
    """Report what keeps an engine from starting tasks now."""
    shortage = describe_shortage(readings, None, where, limits)
    hint = "The limits are max_load and max_memory_stall under [engine]." if shortage else ""
    return [warning("room", f"waiting: {shortage}", hint)] if shortage else []


def check_sandboxes(image: str) -> list[DoctorCheck]:
    """Try each kind of sandbox. None is needed, unless a setting asks for it: then the plan is refused."""
    support = [each for each in list_support(image) if image or each.mode is not SandboxMode.CONTAINER]
    working = [f"{each.mode} ({each.text})" for each in support if each.works]
    checks = [ok("sandbox", ", ".join(working))] if working else []
    return checks + [
        warning("sandbox", f"{each.mode} doesn't work here: {each.text}", each.hint)
        for each in support
        if not each.works
    ]


def check_agents(
    programs: Mapping[str, Program], environment: Mapping[str, str], home: Path, *, keychain: bool
) -> DoctorCheck:
    installed = [info for info in AGENTS.values() if info.program and programs[info.program].path]
    tools = []
    for info in installed:
        login = detect_login(info.login, environment, home, keychain=keychain)
        suffix = ", not logged in" if login.logged_in is LoggedIn.NO else ""
        tools.append(f"{info.program} {programs[info.program].version or ''}".strip() + suffix)
    if not tools:
        return ok("agents", "no coding tool is installed; see plait agents")
    return ok("agents", f"{'; '.join(tools)}; see plait agents")


def check_remote(git: Git, config: Config) -> DoctorCheck:
    """Check the remote, without the network. Having none, or none with a forge, only keeps batches on local branches."""
    name = config.pr.remote
    try:
        url = find_remote(git, name).fetch
    except ForgeError:
        text = f"no remote named {name}: batches stay on a local branch"
        return DoctorCheck(_REMOTE, CheckStatus.OK, text, "Add one with git remote add, or set pr.remote.")
    try:
        address = resolve_address(url, os.environ)
        forge = find_forge(address, config.pr.forge)
    except ForgeError as error:
        return ok(_REMOTE, f"{name}: branches can be pushed, but not proposed as pull requests: {error.message}")
    try:
        token = find_token(forge, address, git, os.environ)
    except ForgeError as error:
        return warning(_REMOTE, f"{name}: {error.message}")
    if token is not None:
        return ok(_REMOTE, f"{name} at {address.host} ({forge.kind}), with a token from {token.source}")
    text = f"{name} at {address.host} ({forge.kind}): no token found, so pull requests have to be opened by hand"
    variables = " or ".join((PLAIT_VARIABLE, *forge.list_token_variables(address, os.environ)))
    hint = f"Set {variables}{f', or log in: {forge.login_command}' if forge.login_command else ''}."
    return DoctorCheck(_REMOTE, CheckStatus.OK, text, hint)


def check_worktrees(root: Path, cap: int) -> DoctorCheck:
    """Check the worktrees; `cap` is workspace.disk_cap, in bytes."""
    write_problem = find_write_problem(root) or find_risk(root)
    if write_problem:
        hint = "No task can have a worktree there: see workspace.location."
        return warning(_WORKTREES, f"{root}: {write_problem}", hint)
    layout = WorkspaceLayout(root)
    worktrees = layout.list_all()
    if not worktrees:
        return ok(_WORKTREES, f"{root}: none yet")
    used, complete = measure_disk_use([str(path) for path in worktrees])
    pooled = len(list_children(layout.pool))
    in_use = sum(len(list_children(folder)) for folder in layout.list_batches())
    usage = f"{root}: {in_use} in use, {pooled} kept for the next tasks"
    disk = f"{'' if complete else 'more than '}{format_bytes(used)} of {format_bytes(cap)} (workspace.disk_cap)"
    if used > cap:
        return warning(_WORKTREES, f"{usage}, {disk}: no task starts in a new one", GC_HINT)
    return ok(_WORKTREES, f"{usage}, {disk}")
