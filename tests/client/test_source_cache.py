"""What was read before is what stands there, however it is changed; and what stands there unchanged is not read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plait.client.source_reader import SETTLED_SECONDS, SourceCache, read_named_sources
from plait.core.plan import Problem
from plait.git.location import find_repo
from plait.sources.source_model import Document, Reading, ReadOptions, SourceFiles

LONG_AGO = 1_700_000_000


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("01-walls", "02-roof", "03-door"):
        put(tmp_path / "tasks" / f"{name}.md", f"# {name}\n\nIn `src/a.py`.\n")
    put(tmp_path / "TODO.md", "### 1. Dig\n\n**Status**: [NOT STARTED]\n")
    return tmp_path


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (LONG_AGO, LONG_AGO))


def read_all(top: Path, kept: SourceCache | None) -> object:
    found, problems = read_named_sources(find_repo(top), ["tasks", "TODO.md"], where=top, cache=kept)
    return [(each.format, each.path, each.reading) for each in found], problems


def rewrite(top: Path) -> None:
    put(top / "tasks/01-walls.md", "# 01-WALLS\n\nIn `src/b.py`.\n")  # as long as before, and as old


def replaced(top: Path) -> None:
    put(top / "fresh", "# 01-WALLS\n\nIn `src/b.py`.\n")
    (top / "fresh").rename(top / "tasks/01-walls.md")


def removed(top: Path) -> None:
    (top / "tasks/02-roof.md").unlink()


def added(top: Path) -> None:
    put(top / "tasks/PHASES.md", "| Task | Status | Blocked By |\n|--|--|--|\n| 03-door | TODO | 01-walls |\n")


def broken(top: Path) -> None:
    (top / "tasks/03-door.md").write_bytes(b"\xff\xfe---\nneeds: [\n---\n")


def swapped(top: Path) -> None:
    walls, roof = top / "tasks/01-walls.md", top / "tasks/02-roof.md"
    text = walls.read_text()
    put(walls, roof.read_text())
    put(roof, text)


@pytest.mark.parametrize("change", [rewrite, replaced, removed, added, broken, swapped])
@pytest.mark.parametrize("later", [0.0, 1e6])
def test_every_change_is_seen(top: Path, change: Callable[[Path], None], later: float) -> None:
    kept = SourceCache(lambda: top.stat().st_ctime + later)
    assert read_all(top, kept) == read_all(top, kept) == read_all(top, None)
    before = read_all(top, None)
    change(top)
    assert read_all(top, kept) == read_all(top, None) != before


def test_a_file_is_read_again_only_while_it_could_have_changed_within_the_tick_of_a_clock(top: Path) -> None:
    path = top / "TODO.md"
    about = path.stat()
    changed = max(about.st_ctime, about.st_mtime)
    reads, clock = 0, iter((-5.0, 0.1, SETTLED_SECONDS - 0.1, SETTLED_SECONDS))
    kept = SourceCache(lambda: changed + next(clock))

    def read() -> tuple[Document, Sequence[Problem]]:
        nonlocal reads
        reads += 1
        return Document("TODO.md", f"read {reads}"), ()

    found = [kept.read_text(path, path.name, about, read)[0].text for _ in range(6)]
    assert found == ["read 1", "read 2", "read 3", "read 4", "read 4", "read 4"]


def test_the_same_texts_are_not_parsed_again() -> None:
    def material(text: str) -> SourceFiles:
        return SourceFiles("tasks", (Document("tasks/a.md", text),), options=ReadOptions())

    kept = SourceCache()
    first = kept.read_source("folder", material("A"), Reading)
    assert kept.read_source("folder", material("A"), Reading) is first
    assert kept.read_source("plan", material("A"), Reading) is not first
    assert kept.read_source("folder", material("B"), Reading) is not first


def test_a_link_that_is_changed_leads_to_another_file(top: Path) -> None:
    """Both files are one, by a hard link: only their names tell them apart."""
    (top / "one").mkdir()
    (top / "two").mkdir()
    (top / "one/TODO.md").hardlink_to(top / "TODO.md")
    (top / "two/TODO.md").hardlink_to(top / "TODO.md")
    kept = SourceCache(lambda: top.stat().st_ctime + 1e6)

    def paths() -> list[str]:
        return [each.path for each in read_named_sources(find_repo(top), ["way/../TODO.md"], where=top, cache=kept)[0]]

    for folder in ("one", "two"):
        (top / folder / "within").mkdir()
        (top / "way").unlink(missing_ok=True)
        (top / "way").symlink_to(top / folder / "within")
        assert paths() == [f"{folder}/TODO.md"]


def test_the_cache_keeps_no_more_than_its_limit() -> None:
    parsed: list[str] = []

    def reading(name: str, length: int) -> None:
        material = SourceFiles(name, (Document(name, "x" * length),))

        def read() -> Reading:
            parsed.append(name)
            return Reading()

        kept.read_source("folder", material, read)

    kept = SourceCache(capacity=100)
    for name, length in (("a", 40), ("b", 40), ("a", 40), ("c", 40), ("b", 40), ("a", 40), ("long", 101)):
        reading(name, length)
    assert parsed == ["a", "b", "c", "a", "long"]
    reading("long", 101)
    reading("a", 40)
    assert parsed == ["a", "b", "c", "a", "long", "long"]
