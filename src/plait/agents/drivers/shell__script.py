"""Scripts: a person's text for a shell, as a file that nobody else can read. Everybody sees what a command line holds."""

from __future__ import annotations

from plait.agents.interface import Command

SCRIPT_NAME = "script.sh"


def build_script_command(text: str, folder: str) -> Command:
    """`folder` is where the attempt's files are put."""
    end = "" if text.endswith("\n") else "\n"
    return Command(("sh", f"{folder}/{SCRIPT_NAME}"), files=((SCRIPT_NAME, f"{text}{end}"),))
