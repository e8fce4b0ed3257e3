"""What there is to work with: the agents that are installed, and the command that runs a repository's tests."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from plait.client.verify_suggestions__python_tests import suggest_python_tests
from plait.client.verify_suggestions__recipes import has_just_recipe, has_make_target
from plait.client.verify_suggestions__suggestion import CommandSuggestion
from plait.system import safe_read
from plait.system.safe_read import get_nested, get_table

# Those that plait takes without being told to, the first that is there.
PREFERRED_AGENTS = ("claude", "codex", "gemini", "opencode", "aider")
OTHER_AGENTS = ("qwen", "copilot", "mini", "pi", "cn", "cline", "cube", "amp", "goose", "cursor-agent")

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
_RAKE_TEST = re.compile(
    r"^[ \t]*(?:task[ \t(]+(?::test\b|test:|[\"']test[\"'])|.*Rake::TestTask\.new\b)", re.MULTILINE
)
_DENO_TESTS = ("*_test.ts", "*.test.ts", "*_test.js", "*.test.js")


def find_installed_agents(path: str) -> tuple[str, ...]:
    """The known agents that are on this PATH."""
    return tuple(name for name in (*PREFERRED_AGENTS, *OTHER_AGENTS) if shutil.which(name, path=path))


def suggest_test_command(top: Path) -> CommandSuggestion | None:
    """From the files that lie there, never by running anything; the first that tells of tests is believed."""
    return next(filter(None, (look(top) for look in _SUGGESTERS)), None)


def _suggest_make(top: Path) -> CommandSuggestion | None:
    name = safe_read.find_first(
        top, ("GNUmakefile", "makefile", "Makefile")
    )  # make reads the first of these only
    if name and has_make_target(safe_read.read_text_or_empty(top / name), "test"):
        return CommandSuggestion("make test", "the makefile has a target test")
    return None


def _suggest_just(top: Path) -> CommandSuggestion | None:
    name = safe_read.find_first(top, ("justfile", "Justfile", ".justfile"))
    if name and has_just_recipe(safe_read.read_text_or_empty(top / name), "test"):
        return CommandSuggestion("just test", "the justfile has a recipe test")
    return None


def _suggest_node(top: Path) -> CommandSuggestion | None:
    package = safe_read.read_json(top / "package.json")
    script = get_nested(package, "scripts", "test")
    if (
        not isinstance(script, str)
        or not script.strip()
        or _PLACEHOLDER in script
        or _WATCH_FLAG.search(script)
    ):
        return None
    said = get_nested(package, "packageManager")
    wanted = said.partition("@")[0] if isinstance(said, str) else ""
    if wanted in _NODE_TEST_COMMANDS:
        return CommandSuggestion(
            _NODE_TEST_COMMANDS[wanted], f"package.json has a script test, and asks for {wanted}"
        )
    lock = safe_read.find_first(top, _NODE_LOCK_FILES)
    why = f"package.json has a script test{f', and there is a {lock}' if lock else ''}"
    return CommandSuggestion(_NODE_TEST_COMMANDS[_NODE_LOCK_FILES[lock] if lock else "npm"], why)


def _suggest_cargo(top: Path) -> CommandSuggestion | None:
    tree = safe_read.read_toml(top / "Cargo.toml")
    if "package" in tree and "workspace" in tree:  # without the flag, the package at the top alone
        return CommandSuggestion("cargo test --workspace", "Cargo.toml is of a workspace")
    return (
        CommandSuggestion("cargo test", "there is a Cargo.toml")
        if {"package", "workspace"} & tree.keys()
        else None
    )


def _suggest_ruby(top: Path) -> CommandSuggestion | None:
    gemfile = safe_read.read_text_or_empty(top / "Gemfile")
    if _RSPEC.search(gemfile):
        return CommandSuggestion("bundle exec rspec", "the Gemfile has rspec")
    if gemfile and _RAKE_TEST.search(safe_read.read_text_or_empty(top / "Rakefile")):
        return CommandSuggestion("bundle exec rake test", "the Rakefile has a task test")
    return None


def _suggest_java(top: Path) -> CommandSuggestion | None:
    if safe_read.file_exists(top / "pom.xml"):
        return _suggest_wrapper(top, "mvnw", "mvn", "pom.xml")
    build = safe_read.find_first(top, ("build.gradle", "build.gradle.kts"))
    return _suggest_wrapper(top, "gradlew", "gradle", build) if build else None


def _suggest_wrapper(top: Path, wrapper: str, tool: str, build: str) -> CommandSuggestion:
    """The repository's own wrapper, if it can be run."""
    if safe_read.file_exists(top / wrapper) and os.access(top / wrapper, os.X_OK):
        return CommandSuggestion(f"./{wrapper} test", f"there is a {build}, and a {wrapper}")
    return CommandSuggestion(f"{tool} test", f"there is a {build}")


def _suggest_composer(top: Path) -> CommandSuggestion | None:
    if not get_nested(safe_read.read_json(top / "composer.json"), "scripts", "test"):
        return None
    return CommandSuggestion("composer test", "composer.json has a script test")


def _suggest_deno(top: Path) -> CommandSuggestion | None:
    name = safe_read.find_first(top, ("deno.json", "deno.jsonc"))
    if name is None:
        return None
    if "test" in get_table(safe_read.read_json(top / name), "tasks"):
        return CommandSuggestion("deno task test", f"{name} has a task test")
    folders = (top, top / "tests", top / "test", top / "src")
    if any(any(folder.glob(pattern)) for folder in folders for pattern in _DENO_TESTS):
        return CommandSuggestion("deno test", f"there is a {name}")
    return None


def _suggest_by_file(name: str, command: str) -> Callable[[Path], CommandSuggestion | None]:
    return lambda top: (
        CommandSuggestion(command, f"there is a {name}") if safe_read.file_exists(top / name) else None
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
