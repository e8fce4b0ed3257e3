"""The environment of whoever has installed a program: its bytecode is there, and what it prints is buffered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Outside the sources; and an empty value is as good as none, whatever the one who runs the benchmarks has set.
INSTALLED: Mapping[str, str] = {
    "PYTHONPYCACHEPREFIX": str(Path(__file__).parent.parent / ".venv" / "bytecode"),
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONUNBUFFERED": "",
}
