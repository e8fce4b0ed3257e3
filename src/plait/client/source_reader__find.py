"""Sources that are found without being named."""

from __future__ import annotations

from pathlib import Path

from plait.system import safe_read

# In the order in which people are asked about them; the first pattern that finds nothing is no loss.
DEFAULT_SOURCE_PATTERNS = (
    "tasks/",
    "docs/tasks/",
    "specs/*/tasks.md",
    ".kiro/specs/*/tasks.md",
    "openspec/changes/*/tasks.md",
    ".taskmaster/tasks/tasks.json",
    ".beads/issues.jsonl",
    "backlog/tasks/",
    ".claude/epics/*/",
    "jobs/",
    "prd.json",
    "TODO.md",
    "docs/TODO.md",
)
PLAN_POINTER = ".claude/current-plan.txt"


def discover_sources(top: Path) -> list[Path]:
    """What lies where sources usually lie. A folder counts if it has a markdown file."""
    found = [*_find_pointed_plan(top)]
    for pattern in DEFAULT_SOURCE_PATTERNS:
        for path in sorted(top.glob(pattern.rstrip("/"))):
            if path.is_dir() if pattern.endswith("/") else path.is_file():
                found += [path] if path.is_file() or any(path.glob("*.md")) else []
    return list(dict.fromkeys(found))


def _find_pointed_plan(top: Path) -> list[Path]:
    """The plan that another tool is at, if its pointer names a file here."""
    path = top / safe_read.read_text_or_empty(top / PLAN_POINTER).strip()
    return [path] if safe_read.file_exists(path) and path.resolve().is_relative_to(top.resolve()) else []
