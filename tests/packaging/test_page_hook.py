"""What is shipped has the page: as it was built, or built for it, or not at all if somebody says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
FILES = ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py", ".gitignore", "src/plait/__init__.py")
NPM = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/said"
[ "$1" = ci ] && exit 0
mkdir -p ../src/plait/ui && echo built >../src/plait/ui/index.html
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of this repository as a package is made of."""
    made = tmp_path / "clone"
    for name in FILES:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, made / name)
    (made / "ui" / "node_modules").mkdir(parents=True)
    (made / "ui" / "package.json").write_text("{}")
    (made / "ui" / "node_modules" / "much.js").write_text("")
    return made


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH without npm, until somebody puts one there."""
    made = tmp_path / "bin"
    made.mkdir()
    for name in ("sh", "dirname", "mkdir"):
        (made / name).symlink_to(shutil.which(name) or name)
    return made


def build(clone: Path, tools: Path, kind: str, **env: str) -> subprocess.CompletedProcess[str]:
    said = {**os.environ, "PATH": str(tools), **env}
    words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "out"]
    return subprocess.run(words, cwd=clone, env=said, capture_output=True, text=True, check=False)


def shipped(clone: Path) -> set[str]:
    names = set[str]()
    for path in (clone / "out").glob("*.whl"):
        names |= {*zipfile.ZipFile(path).namelist()}
    for path in (clone / "out").glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            names |= {name.partition("/")[2] for name in archive.getnames()}
    return names


def page(clone: Path) -> None:
    (clone / "src/plait/ui/assets").mkdir(parents=True)
    (clone / "src/plait/ui/index.html").write_text("the page")
    (clone / "src/plait/ui/assets/index-a1b2.js").write_text("")


def test_a_built_page_is_shipped_although_git_ignores_it(clone: Path, tools: Path) -> None:
    page(clone)
    done = build(clone, tools, "wheel")
    assert done.returncode == 0, done.stderr
    assert {"plait/ui/index.html", "plait/ui/assets/index-a1b2.js"} <= shipped(clone)


def test_a_source_archive_has_the_page_and_its_sources(clone: Path, tools: Path) -> None:
    page(clone)
    done = build(clone, tools, "sdist")
    assert done.returncode == 0, done.stderr
    names = shipped(clone)
    assert {"src/plait/ui/index.html", "ui/package.json", "hatch_build.py"} <= names
    assert not [name for name in names if "node_modules" in name]


def test_a_missing_page_is_built(clone: Path, tools: Path) -> None:
    (tools / "npm").write_text(NPM)
    (tools / "npm").chmod(0o755)
    done = build(clone, tools, "wheel")
    assert done.returncode == 0, done.stderr
    assert "plait/ui/index.html" in shipped(clone)
    assert (tools / "said").read_text() == "ci --no-audit --no-fund\nrun build\n"


def test_a_failed_build_ships_nothing(clone: Path, tools: Path) -> None:
    (tools / "npm").write_text("#!/bin/sh\nexit 3\n")
    (tools / "npm").chmod(0o755)
    done = build(clone, tools, "wheel")
    assert done.returncode != 0
    assert "the page could not be built: npm ci --no-audit --no-fund failed" in done.stderr
    assert shipped(clone) == set()


def test_without_npm_the_error_says_what_to_do(clone: Path, tools: Path) -> None:
    done = build(clone, tools, "wheel")
    assert done.returncode != 0
    assert "there is no npm to build it with" in done.stderr
    assert "PLAIT_NO_PAGE=1" in done.stderr
    assert shipped(clone) == set()
    assert build(clone, tools, "wheel", PLAIT_NO_PAGE="1").returncode == 0
    assert "plait/__init__.py" in shipped(clone)


def test_an_install_from_a_source_archive_has_the_page_without_npm(clone: Path, tools: Path) -> None:
    page(clone)
    assert build(clone, tools, "sdist").returncode == 0
    (archive,) = (clone / "out").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(clone / "unpacked", filter="data")
    (unpacked,) = (clone / "unpacked").iterdir()
    done = build(unpacked, tools, "wheel")
    assert done.returncode == 0, done.stderr
    assert {"plait/ui/index.html", "plait/ui/assets/index-a1b2.js"} <= shipped(unpacked)


def test_an_editable_install_needs_no_npm(clone: Path, tools: Path) -> None:
    words = [sys.executable, "-c", "import hatchling.build as b; print(b.build_editable('.'))"]
    said = {**os.environ, "PATH": str(tools)}
    done = subprocess.run(words, cwd=clone, env=said, capture_output=True, text=True, check=False)
    assert (done.returncode, (clone / "src/plait/ui").exists()) == (0, False), done.stderr
