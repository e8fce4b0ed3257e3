"""How a project is set up and tested, judged by its files: the commands that `plait init` suggests.

No program is run, and no file's text gets into a command: commands consist of fixed words and of names that are safe in
a shell.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote

from plait.client import config_files
from plait.client.config_files import Tree, get_nested, get_table
from plait.client.make_targets import has_just_recipe, has_make_target
from plait.client.programs import list_programs
from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names


@dataclass(frozen=True, slots=True)
class CommandSuggestion:
    """A command, and the evidence for it."""

    command: str
    why: str


@dataclass(frozen=True, slots=True)
class SetupSuggestion:
    """The command that prepares a new worktree; `reads` and `makes` are for `setup_reads` and `setup_makes`."""

    command: str
    why: str
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How one kind of project is set up and tested."""

    setup: SetupSuggestion | None = None
    verify: CommandSuggestion | None = None

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that have to be installed; files of the project, such as ./gradlew, are not among them."""
        commands = [suggestion.command for suggestion in (self.setup, self.verify) if suggestion]
        programs = dict.fromkeys(program for command in commands for program in list_programs(command))
        return tuple(program for program in programs if "/" not in program)


@dataclass(frozen=True, slots=True)
class ProjectCommands:
    """What to run in this project. `missing` says which better command was left out because of its program, or where
    projects are if none is at the top.
    """

    setup: SetupSuggestion | None = None
    verify: CommandSuggestion | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder, and the PATH on which programs are looked for. Without worktrees, no setup is needed."""

    top: Path
    path: str
    in_worktrees: bool = True

    def has_file(self, name: str) -> bool:
        return config_files.file_exists(self.top / name)

    def find_files(self, *names: str) -> tuple[str, ...]:
        """Return those of these files that exist."""
        return tuple(filter(self.has_file, names))

    def read_text(self, name: str) -> str:
        """Return the text of a file; empty if there is none."""
        return config_files.read_text_or_empty(self.top / name)

    def is_installed(self, program: str) -> bool:
        return shutil.which(program, path=self.path) is not None

    def has_own(self, program: str) -> bool:
        """Whether the program is from an environment in the folder, which in a worktree runs the checkout's code."""
        found = shutil.which(program, path=self.path)
        environment = Path(found).parent.parent if found else None
        return (
            environment is not None
            and config_files.file_exists(environment / "pyvenv.cfg")
            and environment.resolve().is_relative_to(self.top.resolve())
        )


_VENV = ".venv"


def suggest_commands(top: Path, path: str, *, in_worktrees: bool = True) -> ProjectCommands:
    """Suggest commands whose programs are on this PATH."""
    project = Project(top.absolute(), path, in_worktrees)
    runners, missing = _pick_installed(project, (_find_make, _find_just))
    toolchains, others = _pick_installed(project, _FINDERS)
    chosen = next((each for each in (*runners, *toolchains) if each.verify), None)
    if chosen is None or chosen in runners:
        setup = _join_setups(each.setup for each in toolchains if chosen is None or _suits_runner(project, each))
    else:
        setup = chosen.setup
    notes = [*missing, *others]
    if chosen is None and setup is None and not notes:
        notes = list(_describe_subprojects(project))
    return ProjectCommands(
        setup if in_worktrees else None, chosen.verify if chosen else None, notes[0] if notes else ""
    )


_MANIFESTS = (
    *("package.json", "pyproject.toml", "setup.py", "requirements.txt", "Cargo.toml", "go.mod", "mix.exs", "Gemfile"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "deno.json", "deno.jsonc"),
)
_MAX_FOLDERS = 3  # named


def _describe_subprojects(project: Project) -> Iterator[str]:
    """Say where the projects are in a repository that has none at the top, with commands for one of them as an example."""
    paths = sorted(
        path.parent.relative_to(project.top).as_posix()
        for depth in ("*", "*/*")
        for name in _MANIFESTS
        for path in project.top.glob(f"{depth}/{name}")
    )
    folders = [
        folder
        for folder in dict.fromkeys(paths)
        if not any(part.startswith(".") or part in {"node_modules", "vendor"} for part in folder.split("/"))
    ]
    if not folders:
        return
    example = ""
    for folder in reversed(folders):
        found = suggest_commands(project.top / folder, project.path, in_worktrees=project.in_worktrees)
        named = {"setup": found.setup, "verify": found.verify}
        commands = [f"{key} = `cd {quote(folder)} && {each.command}`" for key, each in named.items() if each]
        example = f", such as {' and '.join(commands)}" if commands else example
    yield f"the projects are in {join_names(folders, _MAX_FOLDERS)}, and none at the top: set commands yourself{example}"


def _pick_installed(project: Project, finders: Iterable[Finder]) -> tuple[list[Toolchain], list[str]]:
    """Return the first toolchain of each finder that is installed; and what is missing for better ones."""
    picked, missing = [], []
    for find in finders:
        for toolchain in find(project):
            absent = [program for program in toolchain.programs if not project.is_installed(program)]
            if not absent:
                picked.append(toolchain)
                break
            if toolchain.verify and not any(each.verify for each in picked):
                missing.append(f"`{toolchain.verify.command}` needs {absent[0]}, which is not installed")
    return picked, missing


def _suits_runner(project: Project, toolchain: Toolchain) -> bool:
    """Whether `make test` uses the environment that is set up; one in .venv only if the makefile names it."""
    if toolchain.setup is None or _VENV not in toolchain.setup.command:
        return True
    return any(_VENV in project.read_text(name) for name in (*_MAKEFILES, *_JUSTFILES))


def _join_setups(setups: Iterable[SetupSuggestion | None]) -> SetupSuggestion | None:
    found = [setup for setup in setups if setup]
    if len(found) < 2:
        return found[0] if found else None
    return SetupSuggestion(
        " && ".join(setup.command for setup in found),
        "; ".join(setup.why for setup in found),
        tuple(name for setup in found for name in setup.reads),
    )


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # make reads the first of these only
_JUSTFILES = ("justfile", "Justfile", ".justfile")


def _find_make(project: Project) -> Iterator[Toolchain]:
    name = next(iter(project.find_files(*_MAKEFILES)), None)
    if name and has_make_target(project.read_text(name), "test"):
        yield Toolchain(verify=CommandSuggestion("make test", "the makefile has a target test"))


def _find_just(project: Project) -> Iterator[Toolchain]:
    name = next(iter(project.find_files(*_JUSTFILES)), None)
    if name and has_just_recipe(project.read_text(name), "test"):
        yield Toolchain(verify=CommandSuggestion("just test", "the justfile has a recipe test"))


_NODE_LOCK_FILES = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_NODE_TEST_COMMANDS = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}
_NODE_LOCKED_SETUPS = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
_YARN_2_FILE, _YARN_2_SETUP = ".yarnrc.yml", "yarn install --immutable"
_NODE_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_INSTALL_SCRIPTS = frozenset(
    {"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"}
)

_PLACEHOLDER = "no test specified"
_WATCH_FLAG = re.compile(r"--watch(?:All)?(?![\w-])(?!=false)")


def _find_node(project: Project) -> Iterator[Toolchain]:
    package = config_files.read_json(project.top / "package.json")
    if not package:
        return
    wanted = get_nested(package, "packageManager")
    manager = wanted.partition("@")[0] if isinstance(wanted, str) else ""
    asked = manager in _NODE_TEST_COMMANDS
    locks = [name for name in project.find_files(*_NODE_LOCK_FILES) if not asked or _NODE_LOCK_FILES[name] == manager]
    lock = locks[0] if locks else ""
    if not asked:
        manager = _NODE_LOCK_FILES.get(lock, "npm")
    evidence = f"asks for {manager}" if asked else f"there is a {lock}" if lock else ""
    yield Toolchain(
        _suggest_node_setup(project, package, manager, lock),
        CommandSuggestion(
            _NODE_TEST_COMMANDS[manager], ", and ".join(filter(None, ("package.json has a script test", evidence)))
        )
        if _has_test_script(package)
        else None,
    )


def _has_test_script(package: Tree) -> bool:
    script = get_nested(package, "scripts", "test")
    return (
        isinstance(script, str)
        and bool(script.strip())
        and _PLACEHOLDER not in script
        and not _WATCH_FLAG.search(script)
    )


def _suggest_node_setup(project: Project, package: Tree, manager: str, lock: str) -> SetupSuggestion | None:
    has_dependencies = any(get_table(package, name) for name in _NODE_DEPENDENCIES)
    if not lock:
        reads = ("package.json",)
        return SetupSuggestion(f"{manager} install", "package.json lists packages", reads) if has_dependencies else None
    is_yarn_2 = manager == "yarn" and project.has_file(_YARN_2_FILE)
    command = _YARN_2_SETUP if is_yarn_2 else _NODE_LOCKED_SETUPS[manager]
    # Elsewhere, installing makes more than the folder at the top.
    is_whole = not (
        is_yarn_2
        or "workspaces" in package
        or project.has_file("pnpm-workspace.yaml")
        or _INSTALL_SCRIPTS & get_table(package, "scripts").keys()
    )
    makes = ("node_modules",) if has_dependencies and is_whole else ()
    return SetupSuggestion(command, f"there is a {lock}", ("package.json", lock), makes)


@dataclass(frozen=True, slots=True)
class _PythonManager:
    """A tool that makes an environment from its lock file."""

    lock: str
    sync: str
    run: str


_PYTHON_MANAGERS = (
    _PythonManager("uv.lock", "uv sync", "uv run"),
    _PythonManager("poetry.lock", "poetry install", "poetry run"),
    _PythonManager("pdm.lock", "pdm install", "pdm run"),
    _PythonManager("Pipfile.lock", "pipenv sync --dev", "pipenv run"),
)
_REQUIREMENT_FILES = (
    "requirements.txt",
    *(
        name.format(kind)
        for kind in ("dev", "test", "tests")
        for name in ("requirements-{}.txt", "requirements_{}.txt", "{}-requirements.txt", "requirements/{}.txt")
    ),
)
_PYTEST_LINE = re.compile(r"^[ \t]*pytest(?![A-Za-z0-9])", re.IGNORECASE | re.MULTILINE)

_PYTEST = re.compile(r"\s*pytest(?![A-Za-z0-9])", re.IGNORECASE)  # a plugin of it brings it along
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SESSION = re.compile(r"^def (tests?)\(", re.MULTILINE)
_TOX = re.compile(r"^\[(?:tox|testenv)\b", re.MULTILINE)
_TEST_FILE_PATTERNS = ("{}test_*.py", "{}*_test.py")
_TEST_FOLDERS = ("", *(f"{folder}/{deeper}" for folder in ("tests", "test") for deeper in ("", "*/", "*/*/")))
# Tables of other tools that list what is needed to work on the project.
_DEPENDENCY_TABLES = (
    ("tool", "uv", "dev-dependencies"),
    ("tool", "poetry", "dev-dependencies"),
    ("tool", "poetry", "dependencies"),
)


def _find_python(project: Project) -> Iterator[Toolchain]:
    """Yield the locked environment, else a runner that makes its own, else a virtual environment, or plain pytest."""
    pyproject = config_files.read_toml(project.top / "pyproject.toml")
    why = _find_pytest_evidence(project.top, pyproject)
    for manager in _PYTHON_MANAGERS:
        if project.has_file(manager.lock):
            flag = _uv_flag(pyproject) if manager.lock == "uv.lock" else ""
            sync = " ".join(filter(None, (manager.sync, flag)))
            setup = SetupSuggestion(
                sync, f"there is a {manager.lock}", project.find_files("pyproject.toml", manager.lock)
            )
            if manager.lock == "uv.lock" and not any(
                _lists_pytest(names) for _, names in _list_requirements(pyproject)
            ):
                flag = "--with pytest"
            verify = " ".join(filter(None, (manager.run, flag, "pytest")))
            yield Toolchain(setup, CommandSuggestion(verify, f"{why}, and there is a {manager.lock}") if why else None)
    runner = _suggest_runner(project.top, pyproject)
    if runner:
        yield Toolchain(verify=runner)
    yield from _find_pip(project, pyproject, why)


def _find_pip(project: Project, pyproject: Tree, why: str | None) -> Iterator[Toolchain]:
    """Yield an environment with what the files ask for, and pytest; or plain pytest, where nothing has to be installed."""
    setup = _suggest_pip_setup(project, pyproject, why) if project.in_worktrees else None
    if why is None:
        if setup:
            yield Toolchain(setup)
        return
    python = f"{_VENV}/bin/python"
    has_environment = setup is not None if project.in_worktrees else project.has_file(python)
    yield Toolchain(setup, CommandSuggestion(f"{python} -m pytest" if has_environment else "pytest", why))


def _suggest_pip_setup(project: Project, pyproject: Tree, why: str | None) -> SetupSuggestion | None:
    files = project.find_files(*_REQUIREMENT_FILES)
    texts = [project.read_text(name) for name in files]
    package = _suggest_package_argument(project, pyproject)
    is_listed = "[" in package or any(map(_PYTEST_LINE.search, texts))
    group = "" if is_listed else _find_pytest_group(pyproject)
    is_listed = is_listed or bool(group) or _lists_pytest(get_nested(pyproject, "project", "dependencies"))
    if not (files or package or group) and (
        why is None or (project.is_installed("pytest") and not project.has_own("pytest"))
    ):
        return None
    locked = [f"-r {name}" for name in files]
    others = [*filter(None, (package, group and f"--group {group}")), *(["pytest"] if why and not is_listed else [])]
    # With hashes for some, pip wants them for all.
    installs = [locked, others] if any("--hash=" in text for text in texts) else [[*locked, *others]]
    steps = [f"{'python3' if project.is_installed('python3') else 'python'} -m venv {_VENV}"]
    if group:  # the pip of an older Python knows no groups
        steps.append(f"{_VENV}/bin/pip install --upgrade pip")
    steps += [f"{_VENV}/bin/pip install {' '.join(arguments)}" for arguments in installs if arguments]
    reads = (*files, *project.find_files("pyproject.toml", "setup.py", "setup.cfg"))
    return SetupSuggestion(" && ".join(steps), f"there is a {reads[0]}" if reads else why or "", reads)


def _suggest_package_argument(project: Project, pyproject: Tree) -> str:
    """Return pip's argument to install the project, or its dependencies, with the extra for pytest."""
    is_package = "build-system" in pyproject or project.has_file("setup.py")
    if not is_package and not get_nested(pyproject, "project", "dependencies"):
        return ""
    for name, entries in get_table(pyproject, "project", "optional-dependencies").items():
        if _lists_pytest(entries) and _PLAIN_NAME.fullmatch(name):
            return f"-e '.[{name}]'"
    return "-e ."


def _find_pytest_group(pyproject: Tree) -> str:
    groups = get_table(pyproject, "dependency-groups")
    names = sorted(groups, key=lambda name: name != "dev")
    found = (name for name in names if _lists_pytest(list(_expand_group(groups, name, set()))))
    return next((name for name in found if _PLAIN_NAME.fullmatch(name)), "")


def _find_pytest_evidence(top: Path, project: Tree) -> str | None:
    """Say why the tests are for pytest; None if nothing shows it."""
    if "pytest" in get_table(project, "tool"):
        return "pyproject.toml sets pytest up"
    if any(_lists_pytest(entries) for _, entries in _list_requirements(project)):
        return "pyproject.toml lists pytest"
    ini = config_files.find_first(top, ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))
    if ini:
        return f"there is a {ini}"
    if re.search(r"^\[pytest\]", config_files.read_text_or_empty(top / "tox.ini"), re.MULTILINE):
        return "tox.ini sets pytest up"
    if re.search(r"^\[tool:pytest\]", config_files.read_text_or_empty(top / "setup.cfg"), re.MULTILINE):
        return "setup.cfg sets pytest up"
    test_file = next(_find_test_files(top), None)
    return f"there is {test_file}" if test_file else None


def _find_test_files(top: Path) -> Iterator[str]:
    try:
        for folder in _TEST_FOLDERS:
            for name in _TEST_FILE_PATTERNS:
                yield from (path.relative_to(top).as_posix() for path in top.glob(name.format(folder)))
    except OSError:
        return


def _list_requirements(project: Tree) -> Iterator[tuple[str, object]]:
    """Yield every list of requirements, with the `uv run` flag that installs it."""
    yield "", get_nested(project, "project", "dependencies")
    for names in _DEPENDENCY_TABLES:
        yield "", get_nested(project, *names)
    groups = get_table(project, "dependency-groups")
    default_groups = get_nested(project, "tool", "uv", "default-groups")
    for name in sorted(groups, key=lambda name: not _is_default_group(name, default_groups)):
        yield (
            "" if _is_default_group(name, default_groups) else f"--group {name}",
            list(_expand_group(groups, name, set())),
        )
    for name, entries in get_table(project, "project", "optional-dependencies").items():
        yield f"--extra {name}", entries
    for owner, inner in (("poetry", "group"), ("pdm", "dev-dependencies")):
        for entries in get_table(project, "tool", owner, inner).values():
            yield "", get_nested(entries, "dependencies") if owner == "poetry" else entries


def _is_default_group(group: str, value: object) -> bool:
    return value == "all" or group in (value if isinstance(value, list) else ["dev"])


def _expand_group(groups: Tree, name: str, visited: set[str]) -> Iterator[object]:
    """Yield a group's requirements, with those of the groups that it includes."""
    visited.add(name)
    entries = groups.get(name)
    for entry in entries if isinstance(entries, list) else []:
        other = get_nested(entry, "include-group")
        if isinstance(other, str) and other not in visited:
            yield from _expand_group(groups, other, visited)
        else:
            yield entry


def _lists_pytest(entries: object) -> bool:
    """Whether a list of requirements, or a table with them as keys, has pytest."""
    names = entries if isinstance(entries, list | Mapping) else ()
    return any(isinstance(name, str) and _PYTEST.match(name) for name in names)


def _uv_flag(project: Tree) -> str:
    flags = [flag for flag, entries in _list_requirements(project) if _lists_pytest(entries)]
    flag = flags[0] if flags else ""
    return flag if _PLAIN_NAME.fullmatch(flag.partition(" ")[2]) else ""


def _suggest_runner(top: Path, project: Tree) -> CommandSuggestion | None:
    """Suggest a command that makes the environment for the tests by itself."""
    ini = config_files.find_first(top, ("tox.ini", "tox.toml"))
    if ini and (ini == "tox.toml" or _TOX.search(config_files.read_text_or_empty(top / ini))):
        return CommandSuggestion("tox -e py", f"there is a {ini}")
    if get_table(project, "tool", "tox"):
        return CommandSuggestion("tox -e py", "pyproject.toml sets tox up")
    if config_files.file_exists(top / "noxfile.py"):
        session = _SESSION.search(config_files.read_text_or_empty(top / "noxfile.py"))
        return CommandSuggestion(f"nox -s {session[1]}" if session else "nox", "there is a noxfile.py")
    environments = get_table(project, "tool", "hatch", "envs")
    if "test" in get_table(environments, "default", "scripts"):
        return CommandSuggestion("hatch run test", "pyproject.toml has a script test for hatch")
    if "hatch-test" in environments:
        return CommandSuggestion("hatch test", "pyproject.toml sets hatch test up")
    return None


_RSPEC = re.compile(r"""^[ \t]*gem[ \t(]+["']rspec(?:-rails)?["']""", re.MULTILINE)
_RAKE_TEST = re.compile(r"^[ \t]*(?:task[ \t(]+(?::test\b|test:|[\"']test[\"'])|.*Rake::TestTask\.new\b)", re.MULTILINE)
_DENO_TESTS = ("*_test.ts", "*.test.ts", "*_test.js", "*.test.js")


def _find_cargo(project: Project) -> Iterator[Toolchain]:
    tree = config_files.read_toml(project.top / "Cargo.toml")
    if not {"package", "workspace"} & tree.keys():
        return
    setup = SetupSuggestion("cargo fetch", "there is a Cargo.toml")
    if "package" in tree and "workspace" in tree:  # without the flag, the package at the top alone
        yield Toolchain(setup, CommandSuggestion("cargo test --workspace", "Cargo.toml is of a workspace"))
    else:
        yield Toolchain(setup, CommandSuggestion("cargo test", "there is a Cargo.toml"))


def _find_ruby(project: Project) -> Iterator[Toolchain]:
    gemfile = project.read_text("Gemfile")
    if not gemfile:
        return
    setup = SetupSuggestion("bundle install", "there is a Gemfile", project.find_files("Gemfile", "Gemfile.lock"))
    if _RSPEC.search(gemfile):
        yield Toolchain(setup, CommandSuggestion("bundle exec rspec", "the Gemfile has rspec"))
    elif _RAKE_TEST.search(project.read_text("Rakefile")):
        yield Toolchain(setup, CommandSuggestion("bundle exec rake test", "the Rakefile has a task test"))
    else:
        yield Toolchain(setup)


def _find_java(project: Project) -> Iterator[Toolchain]:
    build = next(iter(project.find_files("pom.xml", "build.gradle", "build.gradle.kts")), None)
    if build is None:
        return
    wrapper, tool = ("mvnw", "mvn") if build == "pom.xml" else ("gradlew", "gradle")
    if project.has_file(wrapper) and os.access(project.top / wrapper, os.X_OK):
        yield Toolchain(verify=CommandSuggestion(f"./{wrapper} test", f"there is a {build}, and a {wrapper}"))
    else:
        yield Toolchain(verify=CommandSuggestion(f"{tool} test", f"there is a {build}"))


def _find_composer(project: Project) -> Iterator[Toolchain]:
    package = config_files.read_json(project.top / "composer.json")
    if package:
        reads = project.find_files("composer.json", "composer.lock")
        yield Toolchain(
            SetupSuggestion("composer install", "there is a composer.json", reads),
            CommandSuggestion("composer test", "composer.json has a script test")
            if get_nested(package, "scripts", "test")
            else None,
        )


def _find_deno(project: Project) -> Iterator[Toolchain]:
    name = next(iter(project.find_files("deno.json", "deno.jsonc")), None)
    if name is None:
        return
    folders = [project.top / folder for folder in ("", "tests", "test", "src")]
    if "test" in get_table(config_files.read_json(project.top / name), "tasks"):
        yield Toolchain(verify=CommandSuggestion("deno task test", f"{name} has a task test"))
    elif any(any(folder.glob(pattern)) for folder in folders for pattern in _DENO_TESTS):
        yield Toolchain(verify=CommandSuggestion("deno test", f"there is a {name}"))


def _find_by_file(name: str, setup: str, verify: str) -> Finder:
    why = f"there is a {name}"

    def find(project: Project) -> Iterator[Toolchain]:
        if project.has_file(name):
            yield Toolchain(SetupSuggestion(setup, why), CommandSuggestion(verify, why))

    return find


Finder = Callable[[Project], Iterator[Toolchain]]
_FINDERS: tuple[Finder, ...] = (
    _find_node,
    _find_python,
    _find_cargo,
    _find_by_file("go.mod", "go mod download", "go test ./..."),
    _find_by_file("mix.exs", "mix deps.get", "mix test"),
    _find_ruby,
    _find_java,
    _find_composer,
    _find_deno,
)
