"""What there is to work with: the agents that are installed, and the command that runs a repository's tests."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from plait.adapters.checkout import peek
from plait.adapters.checkout.peek import table, within
from plait.adapters.checkout.python_tests import python_tests
from plait.adapters.checkout.recipes import just_has, make_has
from plait.adapters.checkout.suggestion import Suggestion

# Those that plait takes without being told to, the first that is there.
PREFERRED = ("claude", "codex", "gemini", "opencode", "aider")
OTHERS = ("qwen", "copilot", "mini", "pi", "cn", "cline", "cube", "amp", "goose", "cursor-agent")

_MANAGERS = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_PLACEHOLDER = "no test specified"
_ENDLESS = re.compile(r"--watch(?:All)?(?![\w-])(?!=false)")
_RSPEC = re.compile(r"""^[ \t]*gem[ \t(]+["']rspec(?:-rails)?["']""", re.MULTILINE)
_RAKE_TEST = re.compile(
    r"^[ \t]*(?:task[ \t(]+(?::test\b|test:|[\"']test[\"'])|.*Rake::TestTask\.new\b)", re.MULTILINE
)
_DENO_TESTS = ("*_test.ts", "*.test.ts", "*_test.js", "*.test.js")


def agents(path: str) -> tuple[str, ...]:
    """The known agents that are on this PATH."""
    return tuple(name for name in (*PREFERRED, *OTHERS) if shutil.which(name, path=path))


def test_command(top: Path) -> Suggestion | None:
    """From the files that lie there, never by running anything; the first that tells of tests is believed."""
    return next(filter(None, (look(top) for look in _LOOKS)), None)


def _make(top: Path) -> Suggestion | None:
    name = peek.first(top, ("GNUmakefile", "makefile", "Makefile"))  # make reads the first of these only
    if name and make_has(peek.text(top / name), "test"):
        return Suggestion("make test", "the makefile has a target test")
    return None


def _just(top: Path) -> Suggestion | None:
    name = peek.first(top, ("justfile", "Justfile", ".justfile"))
    if name and just_has(peek.text(top / name), "test"):
        return Suggestion("just test", "the justfile has a recipe test")
    return None


def _node(top: Path) -> Suggestion | None:
    package = peek.json_tree(top / "package.json")
    script = within(package, "scripts", "test")
    if not isinstance(script, str) or not script.strip() or _PLACEHOLDER in script or _ENDLESS.search(script):
        return None
    said = within(package, "packageManager")
    wanted = said.partition("@")[0] if isinstance(said, str) else ""
    if wanted in _MANAGERS:
        return Suggestion(_MANAGERS[wanted], f"package.json has a script test, and asks for {wanted}")
    lock = peek.first(top, _LOCKS)
    why = f"package.json has a script test{f', and there is a {lock}' if lock else ''}"
    return Suggestion(_MANAGERS[_LOCKS[lock] if lock else "npm"], why)


def _cargo(top: Path) -> Suggestion | None:
    tree = peek.toml(top / "Cargo.toml")
    if "package" in tree and "workspace" in tree:  # without the flag, the package at the top alone
        return Suggestion("cargo test --workspace", "Cargo.toml is of a workspace")
    return (
        Suggestion("cargo test", "there is a Cargo.toml") if {"package", "workspace"} & tree.keys() else None
    )


def _ruby(top: Path) -> Suggestion | None:
    gemfile = peek.text(top / "Gemfile")
    if _RSPEC.search(gemfile):
        return Suggestion("bundle exec rspec", "the Gemfile has rspec")
    if gemfile and _RAKE_TEST.search(peek.text(top / "Rakefile")):
        return Suggestion("bundle exec rake test", "the Rakefile has a task test")
    return None


def _java(top: Path) -> Suggestion | None:
    if peek.there(top / "pom.xml"):
        return _wrapped(top, "mvnw", "mvn", "pom.xml")
    build = peek.first(top, ("build.gradle", "build.gradle.kts"))
    return _wrapped(top, "gradlew", "gradle", build) if build else None


def _wrapped(top: Path, wrapper: str, tool: str, build: str) -> Suggestion:
    """The repository's own wrapper, if it can be run."""
    if peek.there(top / wrapper) and os.access(top / wrapper, os.X_OK):
        return Suggestion(f"./{wrapper} test", f"there is a {build}, and a {wrapper}")
    return Suggestion(f"{tool} test", f"there is a {build}")


def _composer(top: Path) -> Suggestion | None:
    if not within(peek.json_tree(top / "composer.json"), "scripts", "test"):
        return None
    return Suggestion("composer test", "composer.json has a script test")


def _deno(top: Path) -> Suggestion | None:
    name = peek.first(top, ("deno.json", "deno.jsonc"))
    if name is None:
        return None
    if "test" in table(peek.json_tree(top / name), "tasks"):
        return Suggestion("deno task test", f"{name} has a task test")
    folders = (top, top / "tests", top / "test", top / "src")
    if any(any(folder.glob(pattern)) for folder in folders for pattern in _DENO_TESTS):
        return Suggestion("deno test", f"there is a {name}")
    return None


def _by_file(name: str, command: str) -> Callable[[Path], Suggestion | None]:
    return lambda top: Suggestion(command, f"there is a {name}") if peek.there(top / name) else None


_LOOKS: tuple[Callable[[Path], Suggestion | None], ...] = (
    _make,
    _just,
    _node,
    python_tests,
    _cargo,
    _by_file("go.mod", "go test ./..."),
    _by_file("mix.exs", "mix test"),
    _ruby,
    _java,
    _composer,
    _deno,
)
