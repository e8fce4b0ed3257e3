"""All benchmarks, or the named ones: python -m bench [--quick] [NAME …]"""

from __future__ import annotations

import sys
from importlib import import_module

from bench.table import save, show

ALL = (
    "graph",
    "core",
    "journal",
    "sources",
    "startup",
    "run",
    "makespan",
    "chatty",
    "merge",
    "workspaces",
    "sandbox",
    "cluster",
    "events",
    "page",
)


def main(words: list[str]) -> None:
    quick = "--quick" in words
    names = [word for word in words if word in ALL] or list(ALL)
    for name in names:
        rows = import_module(f"bench.{name}").rows(quick)
        show(name, rows)
        print(f"written to {save(f'{name}-quick' if quick else name, rows)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
