"""Checks of the nodes of a cluster: `plait doctor --executor ray`. A plain task on each node makes them."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from plait import __version__
from plait.agents.table import AGENTS
from plait.client.doctor.check import (
    DoctorCheck,
    format_bytes,
    measure_disk_use,
    ok,
    problem,
    warning,
)
from plait.client.doctor.checkup import check_agents, check_disk, check_git, check_memory, check_shell
from plait.client.installed_agents import probe_programs
from plait.config.config import Config
from plait.core.errors import PlaitError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.runtime.ray.cluster import Call, Cluster, ClusterNode
from plait.runtime.ray.connections import compare_versions
from plait.runtime.ray.gateway import find_root
from plait.system.decoders import decode_json
from plait.system.own_folder import find_risk
from plait.system.sensors import MachineSensors

TIMEOUT_SECONDS = 60.0  # for all nodes together: a node may start its first Python process for this
MAX_CLOCK_SKEW_SECONDS = 5.0  # leases are measured on each node; but transcripts and Git have times
_TOPIC = "cluster"
_FOLDER_HINT = "Set ray.folder to one that only its user can write to."


@dataclass(frozen=True, slots=True)
class NodeFindings:
    """What a node reports about itself; `clock` is its wall clock when it began to check."""

    clock: float
    version: str
    python: str
    checks: tuple[DoctorCheck, ...]


def check_cluster(config: Config) -> list[DoctorCheck]:
    """Check the cluster once, and each node, whose name is the topic. Raises UserError without the extra."""
    try:
        with closing(Cluster(config.ray.address)) as cluster:
            return _check_nodes(cluster, config)
    except WorldError as error:
        return [problem(_TOPIC, error.message, error.hint)]


def _check_nodes(cluster: Cluster, config: Config) -> list[DoctorCheck]:
    nodes = cluster.list_nodes()
    slots = sum(node.slots for node in nodes)
    text = f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'} with {slots} slots"
    hint = "Start nodes with slots: ray start --resources '{\"agent\": 4}'."
    checks = [ok(_TOPIC, text) if slots else problem(_TOPIC, f"{text}: nothing can start", hint)]
    idle = [ok(node.name, f"{node.address}, no slots: it runs no attempts") for node in nodes if not node.slots]
    nodes = [node for node in nodes if node.slots]
    names = tuple(name for name in config.default_agents if name in AGENTS)
    calls = {node.id: (time.time(), cluster.start_task(node, inspect_node, config.ray.folder, names)) for node in nodes}
    waiting, deadline, answered_at = [call for _, call in calls.values()], time.monotonic() + TIMEOUT_SECONDS, {}
    while waiting and time.monotonic() < deadline:
        for call in cluster.wait(waiting, max(0.0, deadline - time.monotonic())):
            waiting.remove(call)
            answered_at[call] = time.time()
    for node in sorted(nodes, key=lambda node: node.name):
        sent_at, call = calls[node.id]
        checks += _describe_node(cluster, node, call, sent_at, answered_at.get(call, 0.0))
    return checks + idle


def _describe_node(
    cluster: Cluster, node: ClusterNode, call: Call, sent_at: float, answered_at: float
) -> Sequence[DoctorCheck]:
    if not answered_at:
        hint = "Check the node with: ray status; it may have no free worker."
        return [problem(node.name, f"it did not answer within {TIMEOUT_SECONDS:.0f} seconds", hint)]
    try:
        findings = decode_json(cluster.get(call), NodeFindings)
    except (PlaitError, msgspec.DecodeError) as error:
        return [problem(node.name, f"it can't be checked: {error}")]
    clock = _check_clock(findings.clock, sent_at, answered_at)
    mismatch = compare_versions(findings.version, findings.python)
    versions = problem(node.name, mismatch) if mismatch else ok(node.name, f"plait: {findings.version}")
    found = [DoctorCheck(node.name, each.verdict, f"{each.topic}: {each.text}", each.hint) for each in findings.checks]
    slots = ok(node.name, f"{node.address}, {node.slots} slots")
    return [slots, versions, *found, *(DoctorCheck(node.name, each.verdict, each.text, each.hint) for each in clock)]


def _check_clock(clock: float, sent_at: float, answered_at: float) -> list[DoctorCheck]:
    """Check a node's clock, which was read at some time between the other two."""
    skew = clock - sent_at if clock < sent_at else max(0.0, clock - answered_at)
    if abs(skew) <= MAX_CLOCK_SKEW_SECONDS:
        return [ok("clock", "clock: right")]
    what = "ahead of" if skew > 0 else "behind"
    return [warning("clock", f"clock: {abs(skew):.0f} seconds {what} this machine's", "Set it, such as with NTP.")]


def _check_mirrors(place: Path) -> DoctorCheck:
    """Report the mirrors of all nodes of this machine, and their size."""
    mirrors = [str(path) for path in place.glob("*/engine-*")]
    size, is_complete = measure_disk_use(mirrors)
    used = f"{format_bytes(size)}{'' if is_complete else ' or more'}"
    text = f"{len(mirrors)} with {used}" if mirrors else "none"
    return ok("mirrors", f"{text}, in {place}; those not used for a month are removed")


def inspect_node(folder: str, agents: tuple[str, ...]) -> bytes:
    """Return NodeFindings as JSON. Runs on a node."""
    clock, place = time.time(), find_root(folder)
    programs = probe_programs(["git", *(info.program for info in AGENTS.values() if info.program)])
    existing = next(path for path in (place, *place.parents) if path.exists())
    readings = MachineSensors((existing,)).read()
    missing = [name for name in agents if (program := AGENTS[name].program) and programs[program].path is None]
    checks = [
        check_git(programs["git"]),
        check_shell(),
        check_disk(readings),
        check_memory(readings),
        _check_mirrors(place),
        check_agents(programs, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        *(problem("agents", f"{name} is not installed", AGENTS[name].install) for name in missing),
    ]
    if why := find_risk(place / "node"):
        checks.append(problem("folder", f"{place} isn't safe to work in: {why}", _FOLDER_HINT))
    elif not os.access(existing, os.W_OK | os.X_OK):
        checks.append(problem("folder", f"{existing} can't be written to", _FOLDER_HINT))
    return msgspec.json.encode(NodeFindings(clock, __version__, platform.python_version(), tuple(checks)))
