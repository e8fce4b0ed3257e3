"""A command imports what its sources, agents and output need, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.temp_project import TempProject

LOADED = "import sys; from plait.cli.app import run_cli; code = run_cli(sys.argv[1:]); print(*sys.modules, file=sys.stderr); sys.exit(code)"
RUN = ("--agent-command", "true", "--isolation", "in-place", "--yes")


def loaded(project: TempProject, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "-C", str(project.top), *words],
        env=project.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1 done" in done.stdout
    return set(done.stderr.split())


def test_a_json_file_needs_neither_markdown_nor_yaml_nor_a_terminal(project: TempProject) -> None:
    tasks = [{"id": 1, "title": "one", "status": "pending", "dependencies": []}]
    (project.top / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    found = loaded(project, "run", "tasks.json", *RUN)
    assert found.isdisjoint({"markdown_it", "yaml", "rich", "plait.sources.formats.beads", "ray", "plait.runtime.ray"})


def test_a_command_needs_no_other_agent(project: TempProject) -> None:
    project.task("01-one")
    found = loaded(project, "run", "tasks", *RUN)
    assert "plait.agents.drivers.command" in found
    drivers = {name for name in found if name.startswith("plait.agents.drivers.")}
    assert drivers == {"plait.agents.drivers.command"}


def test_an_engine_imports_ray_for_a_batch_on_a_cluster_only() -> None:
    code = "import sys, plait.engine.__main__, plait.server.serve; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"ray", "nacl", "plait.runtime.ray"}.isdisjoint(done.stdout.split())
