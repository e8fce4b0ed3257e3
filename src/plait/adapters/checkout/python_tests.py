"""How a Python project runs its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from plait.adapters.checkout import peek
from plait.adapters.checkout.peek import Tree, table, within
from plait.adapters.checkout.suggestion import Suggestion

_LOCKS = {
    "uv.lock": "uv run",
    "poetry.lock": "poetry run",
    "pdm.lock": "pdm run",
    "Pipfile.lock": "pipenv run",
}
_PYTEST = re.compile(r"\s*pytest(?![A-Za-z0-9])", re.IGNORECASE)  # a plugin of it brings it along
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SESSION = re.compile(r"^def (tests?)\(", re.MULTILINE)
_TOX = re.compile(r"^\[(?:tox|testenv)\b", re.MULTILINE)
_FILES = ("{}test_*.py", "{}*_test.py")
_FOLDERS = ("", *(f"{folder}/{deeper}" for folder in ("tests", "test") for deeper in ("", "*/", "*/*/")))

# Tables of other tools that list what is needed to work on the project.
_LISTS = (
    ("tool", "uv", "dev-dependencies"),
    ("tool", "poetry", "dev-dependencies"),
    ("tool", "poetry", "dependencies"),
)


def python_tests(top: Path) -> Suggestion | None:
    """pytest, by way of what locks the environment; without a lock the project's own runner, else pytest as it is."""
    project = peek.toml(top / "pyproject.toml")
    why = _pytest(top, project)
    lock = peek.first(top, _LOCKS)
    if why and lock:
        run = " ".join(filter(None, (_LOCKS[lock], _uv_flag(project) if lock == "uv.lock" else "")))
        return Suggestion(f"{run} pytest", f"{why}, and there is a {lock}")
    return _runner(top, project) or (Suggestion("pytest", why) if why else None)


def _pytest(top: Path, project: Tree) -> str | None:
    """What tells that the tests are for pytest."""
    if "pytest" in table(project, "tool"):
        return "pyproject.toml sets pytest up"
    if any(_lists(entries) for _, entries in _requirements(project)):
        return "pyproject.toml lists pytest"
    ini = peek.first(top, ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))
    if ini:
        return f"there is a {ini}"
    if re.search(r"^\[pytest\]", peek.text(top / "tox.ini"), re.MULTILINE):
        return "tox.ini sets pytest up"
    if re.search(r"^\[tool:pytest\]", peek.text(top / "setup.cfg"), re.MULTILINE):
        return "setup.cfg sets pytest up"
    found = next(_test_files(top), None)
    return f"there is {found}" if found else None


def _test_files(top: Path) -> Iterator[str]:
    try:
        for folder in _FOLDERS:
            for name in _FILES:
                yield from (path.relative_to(top).as_posix() for path in top.glob(name.format(folder)))
    except OSError:
        return


def _requirements(project: Tree) -> Iterator[tuple[str, object]]:
    """Every list of requirements, and what `uv run` has to be told to install it."""
    yield "", within(project, "project", "dependencies")
    for names in _LISTS:
        yield "", within(project, *names)
    groups = table(project, "dependency-groups")
    usual = within(project, "tool", "uv", "default-groups")
    for name in sorted(groups, key=lambda name: not _usual(name, usual)):
        yield "" if _usual(name, usual) else f"--group {name}", list(_group(groups, name, set()))
    for name, entries in table(project, "project", "optional-dependencies").items():
        yield f"--extra {name}", entries
    for owner, inner in (("poetry", "group"), ("pdm", "dev-dependencies")):
        for entries in table(project, "tool", owner, inner).values():
            yield "", within(entries, "dependencies") if owner == "poetry" else entries


def _usual(group: str, said: object) -> bool:
    return said == "all" or group in (said if isinstance(said, list) else ["dev"])


def _group(groups: Tree, name: str, met: set[str]) -> Iterator[object]:
    """A group's requirements, with those of the groups that it includes."""
    met.add(name)
    entries = groups.get(name)
    for entry in entries if isinstance(entries, list) else []:
        other = within(entry, "include-group")
        if isinstance(other, str) and other not in met:
            yield from _group(groups, other, met)
        else:
            yield entry


def _lists(entries: object) -> bool:
    """A list of requirements, or a table that is keyed by them."""
    names = entries if isinstance(entries, list | Mapping) else ()
    return any(isinstance(name, str) and _PYTEST.match(name) for name in names)


def _uv_flag(project: Tree) -> str:
    flags = [flag for flag, entries in _requirements(project) if _lists(entries)]
    flag = flags[0] if flags else ""
    return flag if _PLAIN.fullmatch(flag.partition(" ")[2]) else ""


def _runner(top: Path, project: Tree) -> Suggestion | None:
    """What makes the environment for the tests by itself."""
    ini = peek.first(top, ("tox.ini", "tox.toml"))
    if ini and (ini == "tox.toml" or _TOX.search(peek.text(top / ini))):
        return Suggestion("tox -e py", f"there is a {ini}")
    if table(project, "tool", "tox"):
        return Suggestion("tox -e py", "pyproject.toml sets tox up")
    if peek.there(top / "noxfile.py"):
        session = _SESSION.search(peek.text(top / "noxfile.py"))
        return Suggestion(f"nox -s {session[1]}" if session else "nox", "there is a noxfile.py")
    environments = table(project, "tool", "hatch", "envs")
    if "test" in table(environments, "default", "scripts"):
        return Suggestion("hatch run test", "pyproject.toml has a script test for hatch")
    if "hatch-test" in environments:
        return Suggestion("hatch test", "pyproject.toml sets hatch test up")
    return None
