"""Which programs a command names, as far as that is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.client.programs import find_missing_program, list_programs


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("pytest -q", ["pytest"]),
        ("uv run pytest && ruff check .", ["uv", "ruff"]),
        ("cd app && npm ci && npm test", ["npm", "npm"]),
        ("CI=1 make -j4 test; go vet ./...", ["make", "go"]),
        ("make test 2>&1 | tee log.txt", ["make", "tee"]),
        ("make\nnpm test\n", ["make", "npm"]),
        ("make \\\n  test", ["make"]),
        ("'my tool' --flag", ["my tool"]),
        ("./gradlew test", ["./gradlew"]),
        ("make test # pytest && nothing", ["make"]),
        ("test -f x && exit 0", []),
        ("echo 'a && b'", []),
        # What comes after these depends on what they do.
        ("source .venv/bin/activate && pytest", []),
        (". ./env.sh; pytest", []),
        ("export PATH=$PWD/bin:$PATH && tool", []),
        ("PATH=bin tool", []),
        ("uv sync || pip install -e .", []),
        ("make && uv sync || pip install -e .", ["make"]),
        ("if command -v uv; then uv sync; fi", []),
        ("(cd a && tool)", []),
        ("check() { tool; }; check", []),
        ("$TOOL test", []),
        ("`which make` test", []),
        ("~/bin/tool", []),
        ("make\ncat <<END\nnot a command\nEND\n", ["make"]),
        ("make 'unclosed", []),
        ("", []),
        ("\0", ["\0"]),
    ],
)
def test_only_programs_that_a_shell_certainly_looks_for_are_named(command: str, programs: list[str]) -> None:
    assert list_programs(command) == programs


def test_a_missing_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_missing_program("tool --all && other") == "other"
    assert find_missing_program("tool --all") is None
    assert find_missing_program(f"{tool} --all") is None
    assert find_missing_program(f"{tool}s --all") == f"{tool}s"


def test_a_path_in_the_workspace_is_not_looked_for() -> None:
    """Setup may make it."""
    assert find_missing_program(".venv/bin/pytest && node_modules/.bin/jest") is None
