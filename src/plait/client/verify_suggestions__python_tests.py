"""How a Python project runs its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from plait.client.verify_suggestions__suggestion import CommandSuggestion
from plait.system import safe_read
from plait.system.safe_read import Tree, get_nested, get_table

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
    """pytest, by way of what locks the environment; without a lock the project's own runner, else pytest as it is."""
    project = safe_read.read_toml(top / "pyproject.toml")
    why = _find_pytest_evidence(top, project)
    lock = safe_read.find_first(top, _PYTHON_LOCK_FILES)
    if why and lock:
        run = " ".join(
            filter(None, (_PYTHON_LOCK_FILES[lock], _uv_flag(project) if lock == "uv.lock" else ""))
        )
        return CommandSuggestion(f"{run} pytest", f"{why}, and there is a {lock}")
    return _suggest_runner(top, project) or (CommandSuggestion("pytest", why) if why else None)


def _find_pytest_evidence(top: Path, project: Tree) -> str | None:
    """What tells that the tests are for pytest."""
    if "pytest" in get_table(project, "tool"):
        return "pyproject.toml sets pytest up"
    if any(_lists_pytest(entries) for _, entries in _list_requirements(project)):
        return "pyproject.toml lists pytest"
    ini = safe_read.find_first(top, ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))
    if ini:
        return f"there is a {ini}"
    if re.search(r"^\[pytest\]", safe_read.read_text_or_empty(top / "tox.ini"), re.MULTILINE):
        return "tox.ini sets pytest up"
    if re.search(r"^\[tool:pytest\]", safe_read.read_text_or_empty(top / "setup.cfg"), re.MULTILINE):
        return "setup.cfg sets pytest up"
    found = next(_find_test_files(top), None)
    return f"there is {found}" if found else None


def _find_test_files(top: Path) -> Iterator[str]:
    try:
        for folder in _TEST_FOLDERS:
            for name in _TEST_FILE_PATTERNS:
                yield from (path.relative_to(top).as_posix() for path in top.glob(name.format(folder)))
    except OSError:
        return


def _list_requirements(project: Tree) -> Iterator[tuple[str, object]]:
    """Every list of requirements, and what `uv run` has to be told to install it."""
    yield "", get_nested(project, "project", "dependencies")
    for names in _DEPENDENCY_TABLES:
        yield "", get_nested(project, *names)
    groups = get_table(project, "dependency-groups")
    usual = get_nested(project, "tool", "uv", "default-groups")
    for name in sorted(groups, key=lambda name: not _is_default_group(name, usual)):
        yield (
            "" if _is_default_group(name, usual) else f"--group {name}",
            list(_expand_group(groups, name, set())),
        )
    for name, entries in get_table(project, "project", "optional-dependencies").items():
        yield f"--extra {name}", entries
    for owner, inner in (("poetry", "group"), ("pdm", "dev-dependencies")):
        for entries in get_table(project, "tool", owner, inner).values():
            yield "", get_nested(entries, "dependencies") if owner == "poetry" else entries


def _is_default_group(group: str, value: object) -> bool:
    return value == "all" or group in (value if isinstance(value, list) else ["dev"])


def _expand_group(groups: Tree, name: str, met: set[str]) -> Iterator[object]:
    """A group's requirements, with those of the groups that it includes."""
    met.add(name)
    entries = groups.get(name)
    for entry in entries if isinstance(entries, list) else []:
        other = get_nested(entry, "include-group")
        if isinstance(other, str) and other not in met:
            yield from _expand_group(groups, other, met)
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
    ini = safe_read.find_first(top, ("tox.ini", "tox.toml"))
    if ini and (ini == "tox.toml" or _TOX.search(safe_read.read_text_or_empty(top / ini))):
        return CommandSuggestion("tox -e py", f"there is a {ini}")
    if get_table(project, "tool", "tox"):
        return CommandSuggestion("tox -e py", "pyproject.toml sets tox up")
    if safe_read.file_exists(top / "noxfile.py"):
        session = _SESSION.search(safe_read.read_text_or_empty(top / "noxfile.py"))
        return CommandSuggestion(f"nox -s {session[1]}" if session else "nox", "there is a noxfile.py")
    environments = get_table(project, "tool", "hatch", "envs")
    if "test" in get_table(environments, "default", "scripts"):
        return CommandSuggestion("hatch run test", "pyproject.toml has a script test for hatch")
    if "hatch-test" in environments:
        return CommandSuggestion("hatch test", "pyproject.toml sets hatch test up")
    return None
