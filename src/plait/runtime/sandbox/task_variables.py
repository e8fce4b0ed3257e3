"""Passes the variables that a task sets to the shell in its sandbox, which sets them.

Outside, they would act on the supervisor and on what makes the sandbox, as `LD_PRELOAD`, or choose what is mounted in
it, as `PATH` and `HOME`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Other names are none for a shell; those left out can't be set in bash.
_NAME = re.compile(r"(?!(?:UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO|PLAIT_INSIDE.*)\Z)[A-Za-z_][A-Za-z0-9_]*\Z")
_LIST = "PLAIT_INSIDE"  # names the variables; the value of each is in one of its own
_EACH = f"{_LIST}_"  # of the shell's loop
_SET_VARIABLES = (
    f'for {_EACH} in ${{{_LIST}-}}; do eval "export ${_EACH}=\\"\\${_LIST}_${_EACH}\\""; '
    f'unset "{_LIST}_${_EACH}"; done; unset {_LIST} {_EACH}'
)


def build_runner(*lines: str) -> tuple[str, ...]:
    """Build a shell command that sets the variables in the sandbox, runs these lines, and becomes the command whose
    words follow.
    """
    return ("/bin/sh", "-c", "; ".join((*lines, _SET_VARIABLES, 'exec "$0" "$@"')))


def encode_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables under names that mean nothing outside."""
    held = {name: value for name, value in variables.items() if _NAME.match(name)}
    return {_LIST: " ".join(held), **{f"{_LIST}_{name}": value for name, value in held.items()}} if held else {}
