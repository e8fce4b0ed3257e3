"""Run commands of plait in this process: the exit code and both outputs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plait.cli.app import run_cli


class OutputCapture(Protocol):
    """The part of pytest's capsys that is used here."""

    def readouterr(self) -> tuple[str, str]: ...


@dataclass(frozen=True, slots=True)
class CliResult:
    code: int
    out: str
    err: str

    @property
    def output(self) -> str:
        return self.out + self.err

    def __str__(self) -> str:
        """All output with the exit code last, for comparison with stored files."""
        parts = [self.out.rstrip("\n")] if self.out else []
        parts += [f"stderr: {line}" for line in self.err.rstrip("\n").split("\n")] if self.err else []
        return "\n".join([*parts, f"exit {self.code}", ""])


Say = Callable[..., CliResult]  # runs `plait` with these words


def ask(capture: OutputCapture, where: Path, *words: str) -> CliResult:
    """`plait -C WHERE WORDS…`"""
    capture.readouterr()
    try:
        code = run_cli(["-C", str(where), *words])
    finally:
        gc.enable()  # plait turns it off because its processes are short-lived
    out, err = capture.readouterr()
    return CliResult(code, out, err)
