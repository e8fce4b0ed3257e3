from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from plait.client import repo_scan

PYTEST = "[tool.pytest.ini_options]\n"
LISTED = '[dependency-groups]\ndev = ["pytest>=8"]\n'
NPM_PLACEHOLDER = 'echo "Error: no test specified" && exit 1'


def write_files(top: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def command(top: Path) -> str | None:
    found = repo_scan.suggest_test_command(top)
    return found.command if found else None


def package(test: object, **others: object) -> str:
    return json.dumps({"scripts": {"test": test}, **others})


FOUND: dict[str, tuple[dict[str, str], str]] = {
    "make": ({"Makefile": "test:\n\tgo test\n"}, "make test"),
    "just": ({"justfile": "test:\n  go test\n"}, "just test"),
    "npm": ({"package.json": package("jest")}, "npm test"),
    "npm with its lock": ({"package.json": package("jest"), "package-lock.json": "{}"}, "npm test"),
    "pnpm": ({"package.json": package("jest"), "pnpm-lock.yaml": ""}, "pnpm test"),
    "yarn": ({"package.json": package("jest"), "yarn.lock": ""}, "yarn test"),
    "bun, whose own `test` is no script": ({"package.json": package("jest"), "bun.lock": ""}, "bun run test"),
    "bun's older lock": ({"package.json": package("jest"), "bun.lockb": ""}, "bun run test"),
    "the manager that is asked for": (
        {"package.json": package("jest", packageManager="pnpm@9.1.0")},
        "pnpm test",
    ),
    "a watch that is switched off": ({"package.json": package("jest --watchAll=false")}, "npm test"),
    "pytest": ({"pyproject.toml": PYTEST}, "pytest"),
    "pytest 9": ({"pyproject.toml": "[tool.pytest]\nminversion = '9'\n"}, "pytest"),
    "pytest listed": ({"pyproject.toml": LISTED}, "pytest"),
    "uv": ({"pyproject.toml": LISTED, "uv.lock": ""}, "uv run pytest"),
    "uv with a group": (
        {"pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n', "uv.lock": ""},
        "uv run --group test pytest",
    ),
    "uv with a group that is installed anyway": (
        {
            "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n[tool.uv]\ndefault-groups = ["test"]\n',
            "uv.lock": "",
        },
        "uv run pytest",
    ),
    "uv with a group within a group": (
        {
            "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\ndev = [{include-group = "test"}]\n',
            "uv.lock": "",
        },
        "uv run pytest",
    ),
    "uv with groups in a ring": (
        {
            "pyproject.toml": '[dependency-groups]\ndev = [{include-group = "b"}]\n'
            'b = [{include-group = "dev"}, "pytest-cov"]\n',
            "uv.lock": "",
        },
        "uv run pytest",
    ),
    "uv with an extra": (
        {"pyproject.toml": '[project.optional-dependencies]\ntests = ["pytest"]\n', "uv.lock": ""},
        "uv run --extra tests pytest",
    ),
    "uv with a name that a shell would read": (
        {"pyproject.toml": '[project.optional-dependencies]\n"a; rm -r" = ["pytest"]\n', "uv.lock": ""},
        "uv run pytest",
    ),
    "uv with a folder of tests": ({"tests/unit/test_a.py": "", "uv.lock": ""}, "uv run pytest"),
    "poetry": (
        {"pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n', "poetry.lock": ""},
        "poetry run pytest",
    ),
    "poetry of old": (
        {"pyproject.toml": '[tool.poetry.dev-dependencies]\npytest = "^6"\n', "poetry.lock": ""},
        "poetry run pytest",
    ),
    "pdm": (
        {"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["pytest"]\n', "pdm.lock": ""},
        "pdm run pytest",
    ),
    "tox": ({"pyproject.toml": PYTEST, "tox.ini": "[testenv]\ncommands = pytest\n"}, "tox -e py"),
    "tox in pyproject": ({"pyproject.toml": "[tool.tox]\nenv_list = ['py']\n"}, "tox -e py"),
    "a tox.ini that is about pytest": ({"tox.ini": "[pytest]\n"}, "pytest"),
    "nox": ({"noxfile.py": "import nox\n"}, "nox"),
    "nox with a session": ({"noxfile.py": "@nox.session\ndef tests(session): ...\n"}, "nox -s tests"),
    "hatch": ({"pyproject.toml": "[tool.hatch.envs.default.scripts]\ntest = 'pytest'\n"}, "hatch run test"),
    "hatch test": ({"pyproject.toml": "[tool.hatch.envs.hatch-test]\n"}, "hatch test"),
    "a pytest.ini": ({"pytest.ini": ""}, "pytest"),
    "a setup.cfg": ({"setup.cfg": "[metadata]\nname = x\n[tool:pytest]\n"}, "pytest"),
    "a folder of tests": ({"tests/test_a.py": ""}, "pytest"),
    "cargo": ({"Cargo.toml": "[package]\nname = 'x'\n"}, "cargo test"),
    "cargo without a package of its own": ({"Cargo.toml": "[workspace]\nmembers = ['a']\n"}, "cargo test"),
    "cargo with more packages": ({"Cargo.toml": "[package]\n[workspace]\n"}, "cargo test --workspace"),
    "go": ({"go.mod": "module x\n"}, "go test ./..."),
    "mix": ({"mix.exs": ""}, "mix test"),
    "rspec": ({"Gemfile": "group :test do\n  gem 'rspec-rails', '~> 6'\nend\n"}, "bundle exec rspec"),
    "rake": ({"Gemfile": "gem 'rake'\n", "Rakefile": "Rake::TestTask.new(:test)\n"}, "bundle exec rake test"),
    "maven": ({"pom.xml": ""}, "mvn test"),
    "gradle": ({"build.gradle": ""}, "gradle test"),
    "gradle in kotlin": ({"build.gradle.kts": ""}, "gradle test"),
    "composer": ({"composer.json": '{"scripts": {"test": ["phpunit"]}}'}, "composer test"),
    "deno's task": (
        {"deno.jsonc": '{"tasks": {/* all */ "test": "deno test -A",}} // end'},
        "deno task test",
    ),
    "deno": ({"deno.json": "{}", "tests/a_test.ts": ""}, "deno test"),
    "a byte order mark": ({"package.json": "\ufeff" + package("jest")}, "npm test"),
}
NONE: dict[str, dict[str, str]] = {
    "an empty folder": {},
    "a Makefile without tests": {"Makefile": ".PHONY: test\nall:\n\techo\n"},
    "npm's placeholder": {"package.json": package(NPM_PLACEHOLDER)},
    "an empty script": {"package.json": package("  ")},
    "a script that is no text": {"package.json": package(["jest"])},
    "a script that never ends": {"package.json": package("jest --watch")},
    "a package that lists nothing": {"package.json": "[]"},
    "a pyproject for other tools": {"pyproject.toml": "[tool.ruff]\n[tool.hatch.build]\n"},
    "a package that is called much like pytest": {"pyproject.toml": '[project]\ndependencies = ["pytester"]\n'},
    "a folder of tests without tests": {"tests/data.py": ""},
    "a tox.ini about something else": {"tox.ini": "[flake8]\n"},
    "a Cargo.toml about nothing": {"Cargo.toml": ""},
    "a Gemfile without tests": {"Gemfile": "# gem 'rspec'\ngem 'rails'\n"},
    "deno without tests": {"deno.json": "{}"},
    "cmake": {"CMakeLists.txt": "enable_testing()\n"},
}


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND.keys())
def test_the_test_command_follows_from_the_files(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert command(write_files(tmp_path, files)) == expected


@pytest.mark.parametrize("files", NONE.values(), ids=NONE.keys())
def test_without_evidence_no_command_is_suggested(tmp_path: Path, files: dict[str, str]) -> None:
    assert command(write_files(tmp_path, files)) is None


def test_the_reason_names_the_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": PYTEST, "uv.lock": ""})
    found = repo_scan.suggest_test_command(tmp_path)
    assert found is not None
    assert found.why == "pyproject.toml sets pytest up, and there is a uv.lock"


def test_a_makefile_is_preferred_to_the_tools_it_calls(tmp_path: Path) -> None:
    files = {"go.mod": "", "pyproject.toml": PYTEST, "package.json": package("jest")}
    assert command(write_files(tmp_path, files)) == "npm test"
    assert command(write_files(tmp_path, {"justfile": "test: a\n"})) == "just test"
    assert command(write_files(tmp_path, {"Makefile": "test: a\n"})) == "make test"


def test_only_the_makefile_that_make_reads_counts(tmp_path: Path) -> None:
    write_files(tmp_path, {"GNUmakefile": "all:\n\techo\n", "Makefile": "test:\n\techo\n"})
    assert command(tmp_path) is None


@pytest.mark.parametrize("wrapper", ["mvnw", "gradlew"])
def test_a_wrapper_is_used_if_it_can_be_run(tmp_path: Path, wrapper: str) -> None:
    tool, build = ("mvn", "pom.xml") if wrapper == "mvnw" else ("gradle", "build.gradle")
    write_files(tmp_path, {build: "", wrapper: "#!/bin/sh\n"})
    (tmp_path / wrapper).chmod(0o644)
    assert command(tmp_path) == f"{tool} test"
    (tmp_path / wrapper).chmod(0o755)
    assert command(tmp_path) == f"./{wrapper} test"


NAMES = (
    "Makefile",
    "justfile",
    "package.json",
    "pyproject.toml",
    "tox.ini",
    "noxfile.py",
    "setup.cfg",
    "Cargo.toml",
)
OTHERS = ("Gemfile", "Rakefile", "composer.json", "deno.json")
BROKEN = {
    "nonsense": b"{[\"'\\ ]]] = <<<",
    "bytes": bytes(range(256)) * 4,
    "too deep for JSON": b"[" * 200_000,
    "too deep for TOML": b"a = " + b"[" * 200_000,
    "too long": b"test:\n\techo\n" + b"#" * 2_000_000,
    "numbers without end": b'{"a": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_broken_files_are_ignored(tmp_path: Path, data: bytes) -> None:
    for name in (*NAMES, *OTHERS):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "noxfile.py").unlink()
    (tmp_path / "go.mod").touch()
    assert command(tmp_path) == "go test ./..."


def test_a_folder_with_the_name_of_a_file_is_ignored(tmp_path: Path) -> None:
    """A pipe would be waited for, and a link may lead in a circle."""
    for name in NAMES:
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "Gemfile")
    (tmp_path / "composer.json").symlink_to("composer.json")
    assert command(tmp_path) is None


def test_installed_agents_are_those_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, name in ((here, "codex"), (here, "qwen"), (there, "claude"), (there, "vim")):
        folder.mkdir(exist_ok=True)
        (folder / name).touch(0o755)
    (here / "aider").touch(0o644)
    monkeypatch.setenv("PATH", str(there))
    assert repo_scan.find_installed_agents(str(here)) == ("codex", "qwen")
    assert repo_scan.find_installed_agents(f"{here}{os.pathsep}{there}") == (
        "claude",
        "codex",
        "qwen",
    )
    assert repo_scan.find_installed_agents("") == ()
