"""The core is pure: it imports a few modules that compute and nothing that touches the world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import plait.core

ALLOWED = {
    "__future__",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "difflib",
    "enum",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "itertools",
    "operator",
    "re",
    "statistics",
    "typing",
}
WORLDLY = {"open", "print", "input", "exec", "eval", "breakpoint", "__import__"}
# It makes methods from text, and tells what they take, as the standard library's dataclasses do.
EXCEPTED = {"fast_dataclass.py": ["inspect", "exec"]}
FOLDER = Path(plait.core.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))


def impurities(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=module):
                modules = [module or ""]
            case ast.Call(func=ast.Name(id=name)) if name in WORLDLY:
                found.append(name)
                continue
            case _:
                continue
        found += [
            name
            for name in modules
            if name.partition(".")[0] not in ALLOWED and name.split(".")[:2] != ["plait", "core"]
        ]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_module_of_the_core_is_pure(path: Path) -> None:
    assert impurities(path.read_text()) == EXCEPTED.get(path.name, [])


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from os import path",
        "import msgspec",
        "from plait.store import codec",
        "open('x')",
        "import random as r",
    ],
)
def test_an_impure_import_is_found(source: str) -> None:
    assert impurities(source) != []
