"""The first run in someone's repository: from `plait init` to a merged branch, as a person at a terminal does it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.temp_project import TempProject, remove_programs_from_path, temp_project
from tests.support.terminal import Terminal

# What it prints is what claude prints. It works on the sample task: everything else is up to plait.
CLAUDE = """\
#!/bin/sh
cat > /dev/null
echo 'What this project does.' > OVERVIEW.md
echo '{"type": "system", "subtype": "init", "session_id": "one"}'
echo '{"type": "result", "subtype": "success", "is_error": false, "result": "Done.", "session_id": "one"}'
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    """A repository without a remote, on a machine with one agent, and without uv."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    with temp_project(tmp_path, worktrees=True, forks=False) as made:
        made.git("remote", "remove", "origin")
        made.env["PATH"] = f"{programs}{os.pathsep}{remove_programs_from_path(made.env['PATH'], frozenset({'uv'}))}"
        made.env["IS_SANDBOX"] = "1"  # claude refuses to skip permissions as root otherwise
        yield made


def commit(project: TempProject) -> None:
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "begin")


def answer(terminal: Terminal, question: str, keys: str = "\n") -> None:
    terminal.wait_for(question)
    terminal.type(keys)


def init_and_run(project: TempProject) -> Terminal:
    """`plait init`, keeping what it suggests, and `plait run`, at a terminal."""
    init = project.terminal("init")
    for question in ("Sources [none]: ", "tasks/01-overview.md [yes]: ", "Agent [claude]: ", "Setup command [", "Test"):
        answer(init, question)
    assert init.wait() == 0, init.text
    run = project.terminal("run")
    answer(run, "Run this task? [Y/n] ")
    assert "claude (--dangerously-skip-permissions) runs with permission prompts disabled" in run.text
    assert run.wait() == 0, run.text
    assert "Do you trust these commands?" not in run.text
    assert "attempt 2" not in run.text
    return run


def test_a_node_project_from_init_to_a_merged_branch(project: TempProject) -> None:
    """Its tests need what `npm ci` makes, which is in no commit."""
    make = "node -e \\\"require('fs').writeFileSync('made.json', '[1]')\\\""
    scripts = f'{{"postinstall": "{make}", "test": "node test.js"}}'
    project.write("package.json", f'{{"name": "shop", "version": "1.0.0", "scripts": {scripts}}}')
    lock = '{"name": "shop", "version": "1.0.0", "hasInstallScript": true}'
    project.write("package-lock.json", f'{{"name": "shop", "lockfileVersion": 3, "packages": {{"": {lock}}}}}')
    project.write("test.js", 'process.exit(require("./made.json").length === 1 ? 0 : 1)')
    project.write(".gitignore", "made.json\nnode_modules")
    commit(project)
    init_and_run(project)
    config = project.read("plait.toml")
    assert 'setup = "npm ci"\n' in config
    assert 'verify = "npm test"\n' in config
    assert len(config.splitlines()) <= 13
    assert project.statuses() == {"01-overview": "done"}
    assert project.read_merged_files()["OVERVIEW.md"] == "What this project does."
    assert "made.json" not in project.read_merged_files()


def make_wheel(name: str, folder: Path) -> None:
    """The wheel of an installed package, so that pip can install it without the network."""
    package = distribution(name)
    wheel = folder / f"{name}-{package.version}-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        for path in package.files or ():
            if ".." not in path.parts and path.suffix != ".pyc":
                file.write(path.locate(), str(path))


def test_a_python_project_without_uv_from_init_to_a_merged_branch(project: TempProject, tmp_path: Path) -> None:
    """It has a lock file of uv, which is not installed; and nothing ignores the environment that setup makes."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        make_wheel(name, wheels)
    project.env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_NO_COMPILE": "1"}
    project.env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    project.write("pyproject.toml", '[project]\nname = "shop"\nversion = "1.0"')
    project.write("uv.lock", "version = 1")
    project.write("requirements-dev.txt", "pytest")
    project.write("shop.py", "def total(prices):\n    return sum(prices)")
    project.write("tests/test_shop.py", "import shop\n\ndef test_total():\n    assert shop.total([1, 2]) == 3")
    commit(project)
    init_and_run(project)
    config = project.read("plait.toml")
    assert 'setup = "python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt"\n' in config
    assert 'verify = ".venv/bin/python -m pytest"\n' in config
    assert project.statuses() == {"01-overview": "done"}
    merged = project.read_merged_files()
    assert merged["OVERVIEW.md"] == "What this project does."
    assert not [name for name in merged if name.startswith(".venv")]
