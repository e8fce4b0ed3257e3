from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from plait.client.toolchains import ProjectCommands, suggest_commands

PYTEST = "[tool.pytest.ini_options]\n"
LISTED = '[dependency-groups]\ndev = ["pytest>=8"]\n'
NPM_PLACEHOLDER = 'echo "Error: no test specified" && exit 1'


def write_files(top: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


EVERYTHING = (
    *("make", "just", "npm", "pnpm", "yarn", "bun", "uv", "poetry", "pdm", "pipenv", "tox", "nox", "hatch", "pytest"),
    *("python3", "cargo", "go", "mix", "bundle", "mvn", "gradle", "composer", "deno"),
)


@pytest.fixture(scope="session")
def path_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """A PATH on which there are these programs."""

    @cache
    def make(*names: str) -> str:
        folder = tmp_path_factory.mktemp("bin")
        for name in names:
            (folder / name).touch(0o755)
        return str(folder)

    return make


Suggest = Callable[..., ProjectCommands]


@pytest.fixture
def suggest(tmp_path: Path, path_with: Callable[..., str]) -> Suggest:
    """What is suggested for these files on a machine with these programs: all of them, unless some are named."""

    def suggest(files: Mapping[str, str], *programs: str, in_worktrees: bool = True) -> ProjectCommands:
        top = write_files(tmp_path, files)
        return suggest_commands(top, path_with(*(programs or EVERYTHING)), in_worktrees=in_worktrees)

    return suggest


def verify(commands: ProjectCommands) -> str | None:
    return commands.verify.command if commands.verify else None


def setup(commands: ProjectCommands) -> str | None:
    return commands.setup.command if commands.setup else None


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
    "pytest listed": ({"pyproject.toml": LISTED}, ".venv/bin/python -m pytest"),
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
    "uv with a folder of tests": ({"tests/unit/test_a.py": "", "uv.lock": ""}, "uv run --with pytest pytest"),
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
def test_the_test_command_follows_from_the_files(suggest: Suggest, files: dict[str, str], expected: str) -> None:
    assert verify(suggest(files)) == expected


@pytest.mark.parametrize("files", NONE.values(), ids=NONE.keys())
def test_without_evidence_no_command_is_suggested(suggest: Suggest, files: dict[str, str]) -> None:
    assert verify(suggest(files)) is None


def test_the_reason_names_the_file(suggest: Suggest) -> None:
    commands = suggest({"pyproject.toml": PYTEST, "uv.lock": ""})
    assert commands.setup is not None
    assert commands.setup.why == "there is a uv.lock"
    assert commands.verify is not None
    assert commands.verify.why == "pyproject.toml sets pytest up, and there is a uv.lock"


def test_a_makefile_is_preferred_to_the_tools_it_calls(suggest: Suggest) -> None:
    files = {"go.mod": "", "pyproject.toml": PYTEST, "package.json": package("jest")}
    assert verify(suggest(files)) == "npm test"
    assert verify(suggest({"justfile": "test: a\n"})) == "just test"
    assert verify(suggest({"Makefile": "test: a\n"})) == "make test"


def test_only_the_makefile_that_make_reads_counts(tmp_path: Path, suggest: Suggest) -> None:
    write_files(tmp_path, {"GNUmakefile": "all:\n\techo\n", "Makefile": "test:\n\techo\n"})
    assert verify(suggest({})) is None


@pytest.mark.parametrize("wrapper", ["mvnw", "gradlew"])
def test_a_wrapper_is_used_if_it_can_be_run(tmp_path: Path, wrapper: str, suggest: Suggest) -> None:
    tool, build = ("mvn", "pom.xml") if wrapper == "mvnw" else ("gradle", "build.gradle")
    write_files(tmp_path, {build: "", wrapper: "#!/bin/sh\n"})
    (tmp_path / wrapper).chmod(0o644)
    assert verify(suggest({})) == f"{tool} test"
    (tmp_path / wrapper).chmod(0o755)
    assert verify(suggest({})) == f"./{wrapper} test"


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
def test_broken_files_are_ignored(tmp_path: Path, data: bytes, suggest: Suggest) -> None:
    for name in (*NAMES, *OTHERS):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "noxfile.py").unlink()
    (tmp_path / "go.mod").touch()
    assert verify(suggest({})) == "go test ./..."


def test_a_folder_with_the_name_of_a_file_is_ignored(tmp_path: Path, suggest: Suggest) -> None:
    """A pipe would be waited for, and a link may lead in a circle."""
    for name in NAMES:
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "Gemfile")
    (tmp_path / "composer.json").symlink_to("composer.json")
    assert verify(suggest({})) is None


SETUP: dict[str, tuple[dict[str, str], str | None]] = {
    "npm with its lock": ({"package.json": package("jest"), "package-lock.json": "{}"}, "npm ci"),
    "a package without a script": ({"package.json": '{"name": "x"}', "npm-shrinkwrap.json": "{}"}, "npm ci"),
    "npm without a lock": ({"package.json": package("jest", devDependencies={"jest": "1"})}, "npm install"),
    "a package that needs nothing": ({"package.json": package("node a.js")}, None),
    "pnpm": ({"package.json": package("jest"), "pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile"),
    "yarn": ({"package.json": package("jest"), "yarn.lock": ""}, "yarn install --frozen-lockfile"),
    "yarn 2": (
        {"package.json": package("jest"), "yarn.lock": "", ".yarnrc.yml": ""},
        "yarn install --immutable",
    ),
    "bun": ({"package.json": package("jest"), "bun.lock": ""}, "bun install --frozen-lockfile"),
    "the lock of another manager": (
        {
            "package.json": package("jest", packageManager="pnpm@9", dependencies={"a": "1"}),
            "package-lock.json": "{}",
        },
        "pnpm install",
    ),
    "uv": ({"pyproject.toml": LISTED, "uv.lock": ""}, "uv sync"),
    "uv with a group": (
        {"pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n', "uv.lock": ""},
        "uv sync --group test",
    ),
    "poetry": ({"pyproject.toml": PYTEST, "poetry.lock": ""}, "poetry install"),
    "pdm": ({"pyproject.toml": PYTEST, "pdm.lock": ""}, "pdm install"),
    "pipenv": ({"tests/test_a.py": "", "Pipfile.lock": ""}, "pipenv sync --dev"),
    "tox, which makes its own": ({"tox.ini": "[testenv]\n", "requirements.txt": ""}, None),
    "pip": ({"requirements.txt": "flask\n"}, "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"),
    "pip with pytest, which no file lists": (
        {"requirements.txt": "flask\n# pytest\n", "tests/test_a.py": ""},
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt pytest",
    ),
    "pip with two files": (
        {"requirements.txt": "flask\n", "requirements/test.txt": "pytest-cov\n", "tests/test_a.py": ""},
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt -r requirements/test.txt",
    ),
    "pip with hashes, which it then wants for all": (
        {"requirements.txt": "flask==3 \\\n  --hash=sha256:00\n", "setup.py": "", "tests/test_a.py": ""},
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/pip install -e . pytest",
    ),
    "a group that a file makes unnecessary": (
        {"pyproject.toml": LISTED, "requirements/dev.txt": "pytest==9\n"},
        "python3 -m venv .venv && .venv/bin/pip install -r requirements/dev.txt",
    ),
    "a package with an extra": (
        {"pyproject.toml": '[build-system]\n[project.optional-dependencies]\nqa = ["pytest"]\n'},
        "python3 -m venv .venv && .venv/bin/pip install -e '.[qa]'",
    ),
    "a package with an extra that a shell would read": (
        {"pyproject.toml": '[build-system]\n[project.optional-dependencies]\n"a\'; rm" = ["pytest"]\n'},
        "python3 -m venv .venv && .venv/bin/pip install -e . pytest",
    ),
    "a package of old": (
        {"setup.py": "", "tests/test_a.py": ""},
        "python3 -m venv .venv && .venv/bin/pip install -e . pytest",
    ),
    "a group": (
        {"pyproject.toml": LISTED},
        "python3 -m venv .venv && .venv/bin/pip install --upgrade pip && .venv/bin/pip install --group dev",
    ),
    "tests that the installed pytest can run": ({"tests/test_a.py": ""}, None),
    "cargo": ({"Cargo.toml": "[package]\n"}, "cargo fetch"),
    "go": ({"go.mod": ""}, "go mod download"),
    "mix": ({"mix.exs": ""}, "mix deps.get"),
    "bundler": ({"Gemfile": "gem 'rails'\n"}, "bundle install"),
    "composer": ({"composer.json": '{"name": "a/b"}'}, "composer install"),
    "gradle": ({"build.gradle": ""}, None),
    "nothing": ({}, None),
    "make with all that it may use": (
        {"Makefile": "test: a\n", "package.json": package("jest"), "package-lock.json": "{}", "go.mod": ""},
        "npm ci && go mod download",
    ),
    "make with an environment that it doesn't name": (
        {"Makefile": "test:\n\tpytest\n", "requirements.txt": "pytest\n"},
        None,
    ),
    "make with an environment that it names": (
        {"Makefile": "test:\n\t.venv/bin/pytest\n", "requirements.txt": "pytest\n"},
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    ),
}


@pytest.mark.parametrize(("files", "expected"), SETUP.values(), ids=SETUP.keys())
def test_the_setup_command_follows_from_the_files(
    suggest: Suggest, files: dict[str, str], expected: str | None
) -> None:
    assert setup(suggest(files)) == expected


def test_a_command_is_suggested_only_if_its_program_is_installed(suggest: Suggest) -> None:
    commands = suggest({"package.json": package("jest"), "package-lock.json": "{}"}, "node")
    assert (setup(commands), verify(commands)) == (None, None)
    assert commands.missing == "`npm test` needs npm, which is not installed"


def test_without_make_the_tool_that_it_calls_is_used(suggest: Suggest) -> None:
    commands = suggest({"Makefile": "test: a\n", "go.mod": ""}, "go")
    assert verify(commands) == "go test ./..."
    assert commands.missing == "`make test` needs make, which is not installed"


def test_without_uv_a_project_of_uv_is_installed_by_pip(suggest: Suggest) -> None:
    text = '[project]\ndependencies = ["flask"]\n[project.optional-dependencies]\ntest = ["pytest"]\n'
    commands = suggest({"pyproject.toml": text, "uv.lock": ""}, "python3", "pytest")
    assert setup(commands) == "python3 -m venv .venv && .venv/bin/pip install -e '.[test]'"
    assert verify(commands) == ".venv/bin/python -m pytest"
    assert commands.missing == "`uv run --extra test pytest` needs uv, which is not installed"


def test_without_pytest_it_is_installed(suggest: Suggest) -> None:
    commands = suggest({"tests/test_a.py": ""}, "python3")
    assert setup(commands) == "python3 -m venv .venv && .venv/bin/pip install pytest"
    assert verify(commands) == ".venv/bin/python -m pytest"


def test_the_pytest_of_an_environment_in_the_checkout_is_not_used(
    tmp_path: Path, path_with: Callable[..., str]
) -> None:
    """It would test the code in the checkout, not that in the worktree."""
    write_files(tmp_path, {"tests/test_a.py": "", "venv/pyvenv.cfg": "", "venv/bin/pytest": ""})
    (tmp_path / "venv" / "bin" / "pytest").chmod(0o755)
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{path_with('python3')}"
    assert verify(suggest_commands(tmp_path, path)) == ".venv/bin/python -m pytest"


def test_setup_runs_again_when_the_files_that_it_reads_change(suggest: Suggest) -> None:
    found = suggest({"requirements.txt": "flask\n", "pyproject.toml": PYTEST}).setup
    assert found is not None
    assert found.reads == ("requirements.txt", "pyproject.toml")
    assert found.makes == ()  # an environment can't be copied: its scripts name their folder


DEPENDENCIES = {"dependencies": {"a": "1"}}


@pytest.mark.parametrize(
    ("others", "files", "makes"),
    [
        (DEPENDENCIES, {}, ("node_modules",)),
        ({}, {}, ()),
        ({**DEPENDENCIES, "workspaces": ["a"]}, {}, ()),
        ({**DEPENDENCIES, "scripts": {"test": "jest", "postinstall": "make"}}, {}, ()),
        (DEPENDENCIES, {"pnpm-workspace.yaml": ""}, ()),
    ],
    ids=["packages", "no packages", "workspaces", "a script that makes more", "workspaces of pnpm"],
)
def test_node_modules_are_reused_if_that_is_all_that_setup_makes(
    suggest: Suggest, others: dict[str, object], files: dict[str, str], makes: tuple[str, ...]
) -> None:
    text = json.dumps({"scripts": {"test": "jest"}, **others})
    found = suggest({"package.json": text, "package-lock.json": "{}", **files}).setup
    assert found is not None
    assert (found.reads, found.makes) == (("package.json", "package-lock.json"), makes)


def test_in_place_nothing_is_set_up(tmp_path: Path, suggest: Suggest) -> None:
    commands = suggest({"requirements.txt": "pytest\n", "tests/test_a.py": ""}, in_worktrees=False)
    assert (setup(commands), verify(commands)) == (None, "pytest")
    write_files(tmp_path, {".venv/bin/python": ""})
    assert verify(suggest({}, in_worktrees=False)) == ".venv/bin/python -m pytest"


def test_projects_in_subfolders_are_named_and_no_command_is_guessed(suggest: Suggest) -> None:
    package = json.dumps({"scripts": {"test": "jest"}})
    files = {
        "web app/package.json": package,
        "web app/package-lock.json": "{}",
        "packages/api/pyproject.toml": PYTEST,
        "node_modules/left-pad/package.json": package,
        ".hidden/package.json": package,
        "README.md": "two projects",
    }
    commands = suggest(files)
    assert (commands.setup, commands.verify) == (None, None)
    assert commands.missing == (
        "the projects are in packages/api, web app, and none at the top: set commands yourself, "
        "such as verify = `cd packages/api && pytest`"
    )


def test_the_example_for_a_subfolder_has_its_setup(suggest: Suggest) -> None:
    commands = suggest({"web app/package.json": json.dumps({"scripts": {"test": "jest"}}), "web app/yarn.lock": ""})
    assert commands.missing.endswith(
        "such as setup = `cd 'web app' && yarn install --frozen-lockfile` and verify = `cd 'web app' && yarn test`"
    )


def test_subfolders_do_not_matter_where_the_top_has_a_project(suggest: Suggest) -> None:
    commands = suggest({"go.mod": "module x", "web/package.json": "{}"})
    assert (verify(commands), commands.missing) == ("go test ./...", "")


def test_without_any_project_nothing_is_said(suggest: Suggest) -> None:
    assert suggest({"docs/index.md": "text"}) == ProjectCommands()
