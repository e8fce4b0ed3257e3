"""What `plait init` finds: sources, agents, and the command that runs the tests.

Nothing is run, and no file's text gets into a command.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from plait.agents.table import AGENTS
from plait.client import config_files
from plait.client.config_files import Tree, get_nested, get_table
from plait.client.json_encoding import api_model
from plait.client.source_reader import discover_sources, read_named_sources
from plait.config.loading import PYPROJECT
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Severity
from plait.git.location import RepoLocation


@dataclass(frozen=True, slots=True)
class CommandSuggestion:
    """A command, and the evidence for it. Commands consist of fixed words and of names that are safe in a shell."""

    command: str
    why: str


@api_model
class FoundSource:
    """A source that was found: the numbers of its open tasks and of all tasks, or why it can't be read."""

    path: str
    format: str | None = None
    open: int = 0
    total: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RepoScan:
    """`agents` are the known ones that are installed."""

    sources: tuple[FoundSource, ...]
    agents: tuple[str, ...]
    verify: CommandSuggestion | None

    @property
    def agent(self) -> str | None:
        """The agent to propose."""
        return next((name for name in self.agents if AGENTS[name].proposed), None)


def scan_repo(location: RepoLocation, path: str) -> RepoScan:
    """`path` is the PATH that agents are looked for on. Nothing is run."""
    sources = tuple(
        examine_source(location, location.relative_name(source)) for source in discover_sources(location.top)
    )
    return RepoScan(sources, find_installed_agents(path), suggest_test_command(location.top))


def examine_source(location: RepoLocation, name: str) -> FoundSource:
    """A source by its name as seen from the top. A glob may be several."""
    if not _is_storable_name(name):
        return FoundSource(name, problem="no file of settings can hold a name like this")
    try:
        sources, _ = read_named_sources(location, [name], where=location.top)
    except PlaitError as error:
        return FoundSource(name, problem=error.message.removeprefix(f"{name}: "))
    formats = " and ".join(dict.fromkeys(source.format for source in sources))
    tasks = [entry for source in sources for entry in source.reading.entries if not entry.parts]
    if tasks:
        return FoundSource(name, formats, sum(not entry.status.is_closed for entry in tasks), len(tasks))
    problems = [problem for source in sources for problem in source.reading.problems]
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity), default=None)
    text = f"{worst.at}: {worst.message}" if worst else "there is no task in it"
    return FoundSource(name, formats, problem=text)


def _is_storable_name(name: str) -> bool:
    """Whether a name comes back as it is from a text file: bytes that are not UTF-8 and spaces at the ends don't."""
    return name == name.strip() and not any("\ud800" <= char <= "\udfff" for char in name)


def find_installed_agents(path: str) -> tuple[str, ...]:
    """The known agents that are on this PATH."""
    return tuple(info.name for info in AGENTS.values() if info.program and shutil.which(info.program, path=path))


def has_settings_in_pyproject(top: Path) -> bool:
    return get_nested(config_files.read_toml(top / PYPROJECT), "tool", "plait") is not None


_CONTINUED = re.compile(r"\\\r?\n")
_PREFIX = re.compile(r"\.RECIPEPREFIX\s*(?:::?:?|\?)?=\s*(\S?)")
_RULE = re.compile(r"(?P<targets>[^:=#]+):{1,2}(?![:=])(?P<rest>.*)")
_VARIABLE = re.compile(r"\s*(?:(?:export|unexport|override|private)\s+)*[^\s:#=?+!]+\s*(?:::?:?|[?+!])?=")
_DEFINE = re.compile(r" *(?:(?:export|override|private) +)*define\b")
_ENDEF = re.compile(r" *endef\b")
_VALUE = r"""'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\([^()]*\)|[\w./-]+"""
_PARAMETER = re.compile(rf"\s+(?P<many>[*+]?)\$?[A-Za-z_][\w-]*(?P<value>\s*=\s*(?:{_VALUE}))?")
_HEAD_END = re.compile(r"\s*:(?!=)(?P<rest>[^#]*)")


def has_make_target(text: str, target: str) -> bool:
    """Whether a rule for it has a recipe or names what it needs; that it is `.PHONY` makes no rule."""
    prefix, in_target, defining = "\t", False, False
    for line in _CONTINUED.sub(" ", text).split("\n"):
        if defining or _DEFINE.match(line):
            defining = not _ENDEF.match(line)
        elif line.startswith(prefix):
            if in_target and line.strip():
                return True
        elif new_prefix := _PREFIX.match(line):
            prefix = new_prefix[1] or "\t"
        elif rule := _RULE.match(line):
            if _VARIABLE.match(rule["rest"]):  # a variable for this target alone
                continue
            in_target = _lists_target(rule["targets"], target)
            if in_target and rule["rest"].partition("#")[0].strip():
                return True
    return False


def _lists_target(targets: str, target: str) -> bool:
    """A colon inside a function call doesn't end the targets; `&` before it groups them."""
    is_balanced = targets.count("(") == targets.count(")")
    return is_balanced and target in targets.rstrip().removesuffix("&").split()


def has_just_recipe(text: str, recipe: str) -> bool:
    """Whether it can be run without arguments and has a body or dependencies; an alias is as good."""
    name = re.escape(recipe)
    alias, head_pattern = re.compile(rf"alias\s+{name}\s*:="), re.compile(rf"@?{name}(?![\w-])")
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if alias.match(line):
            return True
        head = head_pattern.match(line)
        rest = _read_dependencies(line, head.end()) if head else None
        if rest is not None:
            below = next(filter(str.strip, lines[number + 1 :]), "")
            return bool(rest.strip()) or below[:1] in {" ", "\t"}
    return False


def _read_dependencies(line: str, start: int) -> str | None:
    """The dependencies of a recipe; None if it is not one, or needs an argument."""
    while parameter := _PARAMETER.match(line, start):
        if parameter["many"] != "*" and not parameter["value"]:
            return None
        start = parameter.end()
    end = _HEAD_END.match(line, start)
    return end["rest"] if end else None


_PYTHON_LOCK_FILES = {
    "uv.lock": "uv run",
    "poetry.lock": "poetry run",
    "pdm.lock": "pdm run",
    "Pipfile.lock": "pipenv run",
}

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


def suggest_python_tests(top: Path) -> CommandSuggestion | None:
    """Run pytest in the locked environment; without a lock the project's own runner, else plain pytest."""
    project = config_files.read_toml(top / "pyproject.toml")
    why = _find_pytest_evidence(top, project)
    lock = config_files.find_first(top, _PYTHON_LOCK_FILES)
    if why and lock:
        run = " ".join(filter(None, (_PYTHON_LOCK_FILES[lock], _uv_flag(project) if lock == "uv.lock" else "")))
        return CommandSuggestion(f"{run} pytest", f"{why}, and there is a {lock}")
    return _suggest_runner(top, project) or (CommandSuggestion("pytest", why) if why else None)


def _find_pytest_evidence(top: Path, project: Tree) -> str | None:
    """Why the tests are for pytest."""
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
    """Every list of requirements, with the `uv run` flag that installs it."""
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
    """A group's requirements, with those of the groups that it includes."""
    visited.add(name)
    entries = groups.get(name)
    for entry in entries if isinstance(entries, list) else []:
        other = get_nested(entry, "include-group")
        if isinstance(other, str) and other not in visited:
            yield from _expand_group(groups, other, visited)
        else:
            yield entry


def _lists_pytest(entries: object) -> bool:
    """A list of requirements, or a table that is keyed by them."""
    names = entries if isinstance(entries, list | Mapping) else ()
    return any(isinstance(name, str) and _PYTEST.match(name) for name in names)


def _uv_flag(project: Tree) -> str:
    flags = [flag for flag, entries in _list_requirements(project) if _lists_pytest(entries)]
    flag = flags[0] if flags else ""
    return flag if _PLAIN_NAME.fullmatch(flag.partition(" ")[2]) else ""


def _suggest_runner(top: Path, project: Tree) -> CommandSuggestion | None:
    """What makes the environment for the tests by itself."""
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


_NODE_TEST_COMMANDS = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}

_NODE_LOCK_FILES = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}

_PLACEHOLDER = "no test specified"
_WATCH_FLAG = re.compile(r"--watch(?:All)?(?![\w-])(?!=false)")
_RSPEC = re.compile(r"""^[ \t]*gem[ \t(]+["']rspec(?:-rails)?["']""", re.MULTILINE)
_RAKE_TEST = re.compile(r"^[ \t]*(?:task[ \t(]+(?::test\b|test:|[\"']test[\"'])|.*Rake::TestTask\.new\b)", re.MULTILINE)
_DENO_TESTS = ("*_test.ts", "*.test.ts", "*_test.js", "*.test.js")


def suggest_test_command(top: Path) -> CommandSuggestion | None:
    """Guess by files alone; the first match counts."""
    return next(filter(None, (suggest(top) for suggest in _SUGGESTERS)), None)


def _suggest_make(top: Path) -> CommandSuggestion | None:
    name = config_files.find_first(top, ("GNUmakefile", "makefile", "Makefile"))  # make reads the first of these only
    if name and has_make_target(config_files.read_text_or_empty(top / name), "test"):
        return CommandSuggestion("make test", "the makefile has a target test")
    return None


def _suggest_just(top: Path) -> CommandSuggestion | None:
    name = config_files.find_first(top, ("justfile", "Justfile", ".justfile"))
    if name and has_just_recipe(config_files.read_text_or_empty(top / name), "test"):
        return CommandSuggestion("just test", "the justfile has a recipe test")
    return None


def _suggest_node(top: Path) -> CommandSuggestion | None:
    package = config_files.read_json(top / "package.json")
    script = get_nested(package, "scripts", "test")
    if not isinstance(script, str) or not script.strip() or _PLACEHOLDER in script or _WATCH_FLAG.search(script):
        return None
    value = get_nested(package, "packageManager")
    manager = value.partition("@")[0] if isinstance(value, str) else ""
    if manager in _NODE_TEST_COMMANDS:
        return CommandSuggestion(
            _NODE_TEST_COMMANDS[manager], f"package.json has a script test, and asks for {manager}"
        )
    lock = config_files.find_first(top, _NODE_LOCK_FILES)
    why = f"package.json has a script test{f', and there is a {lock}' if lock else ''}"
    return CommandSuggestion(_NODE_TEST_COMMANDS[_NODE_LOCK_FILES[lock] if lock else "npm"], why)


def _suggest_cargo(top: Path) -> CommandSuggestion | None:
    tree = config_files.read_toml(top / "Cargo.toml")
    if "package" in tree and "workspace" in tree:  # without the flag, the package at the top alone
        return CommandSuggestion("cargo test --workspace", "Cargo.toml is of a workspace")
    return CommandSuggestion("cargo test", "there is a Cargo.toml") if {"package", "workspace"} & tree.keys() else None


def _suggest_ruby(top: Path) -> CommandSuggestion | None:
    gemfile = config_files.read_text_or_empty(top / "Gemfile")
    if _RSPEC.search(gemfile):
        return CommandSuggestion("bundle exec rspec", "the Gemfile has rspec")
    if gemfile and _RAKE_TEST.search(config_files.read_text_or_empty(top / "Rakefile")):
        return CommandSuggestion("bundle exec rake test", "the Rakefile has a task test")
    return None


def _suggest_java(top: Path) -> CommandSuggestion | None:
    if config_files.file_exists(top / "pom.xml"):
        return _suggest_wrapper(top, "mvnw", "mvn", "pom.xml")
    build = config_files.find_first(top, ("build.gradle", "build.gradle.kts"))
    return _suggest_wrapper(top, "gradlew", "gradle", build) if build else None


def _suggest_wrapper(top: Path, wrapper: str, tool: str, build: str) -> CommandSuggestion:
    """The repository's own wrapper, if it can be run."""
    if config_files.file_exists(top / wrapper) and os.access(top / wrapper, os.X_OK):
        return CommandSuggestion(f"./{wrapper} test", f"there is a {build}, and a {wrapper}")
    return CommandSuggestion(f"{tool} test", f"there is a {build}")


def _suggest_composer(top: Path) -> CommandSuggestion | None:
    if not get_nested(config_files.read_json(top / "composer.json"), "scripts", "test"):
        return None
    return CommandSuggestion("composer test", "composer.json has a script test")


def _suggest_deno(top: Path) -> CommandSuggestion | None:
    name = config_files.find_first(top, ("deno.json", "deno.jsonc"))
    if name is None:
        return None
    if "test" in get_table(config_files.read_json(top / name), "tasks"):
        return CommandSuggestion("deno task test", f"{name} has a task test")
    folders = (top, top / "tests", top / "test", top / "src")
    if any(any(folder.glob(pattern)) for folder in folders for pattern in _DENO_TESTS):
        return CommandSuggestion("deno test", f"there is a {name}")
    return None


def _suggest_by_file(name: str, command: str) -> Callable[[Path], CommandSuggestion | None]:
    return lambda top: (
        CommandSuggestion(command, f"there is a {name}") if config_files.file_exists(top / name) else None
    )


_SUGGESTERS: tuple[Callable[[Path], CommandSuggestion | None], ...] = (
    _suggest_make,
    _suggest_just,
    _suggest_node,
    suggest_python_tests,
    _suggest_cargo,
    _suggest_by_file("go.mod", "go test ./..."),
    _suggest_by_file("mix.exs", "mix test"),
    _suggest_ruby,
    _suggest_java,
    _suggest_composer,
    _suggest_deno,
)
