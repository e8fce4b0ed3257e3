"""Find a token for a forge: in the environment, from the forge's own program, in git's credentials. It is never stored."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from plait.core.errors import WorldError
from plait.forges.forge import Forge, ForgeError, ForgeToken, RepoAddress
from plait.git.command import Git

PLAIT_VARIABLE = "PLAIT_FORGE_TOKEN"

_VALID_TOKEN = re.compile(r"[\x21-\x7e]+")
_PROGRAM_TIMEOUT_SECONDS = 20.0  # a keyring may be slow
_QUIET_VARIABLES = {"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
# No dialog may open; a GIT_ASKPASS that needs none is the user's choice.
_NO_PROMPT_VARIABLES = {"GCM_INTERACTIVE": "never", "SSH_ASKPASS": ""}


def find_token(forge: Forge, address: RepoAddress, git: Git, environment: Mapping[str, str]) -> ForgeToken | None:
    for token in _find_candidates(forge, address, git, environment):
        if not _VALID_TOKEN.fullmatch(token.value):
            raise ForgeError(f"{token.source} doesn't hold a token: it has blanks or other invalid characters")
        return token
    return None


def _find_candidates(
    forge: Forge, address: RepoAddress, git: Git, environment: Mapping[str, str]
) -> Iterator[ForgeToken]:
    for name in (PLAIT_VARIABLE, *forge.list_token_variables(address, environment)):
        if value := environment.get(name, "").strip():
            yield ForgeToken(value, name)
    command = (*forge.token_command, address.authority)
    if forge.token_command and (value := _read_program_output(command, git, environment)):
        yield ForgeToken(value, command[0])
    if token := _read_git_credential(address, git):
        yield token


def describe_login(forge: Forge, address: RepoAddress, environment: Mapping[str, str]) -> str:
    """Say how a person gives plait a token."""
    variable = next(iter(forge.list_token_variables(address, environment)), PLAIT_VARIABLE)
    if not forge.login_command:
        return f"Set {variable}."
    return f"Log in with `{forge.login_command} --hostname {address.authority}`, or set {variable}."


def _read_program_output(command: Sequence[str], git: Git, environment: Mapping[str, str]) -> str:
    """Return the output of a program; empty if there is no such program, or if it fails."""
    program = shutil.which(command[0], path=environment.get("PATH", ""))
    if program is None:
        return ""
    try:
        process = subprocess.run(
            [program, *command[1:]],
            cwd=git.cwd,
            env={**environment, **_QUIET_VARIABLES},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_PROGRAM_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.decode("utf-8", "replace").strip() if process.returncode == 0 else ""


def _read_git_credential(address: RepoAddress, git: Git) -> ForgeToken | None:
    query = f"protocol={address.scheme}\nhost={address.authority}\npath={address.path}.git\n\n"
    silent = git.with_options(variables=_NO_PROMPT_VARIABLES, settings=("credential.interactive=false",))
    try:
        output = silent.run("credential", "fill", stdin=query.encode(), codes=range(256))
    except WorldError:
        return None
    values = dict(line.partition("=")[::2] for line in output.text.splitlines())
    password = values.get("password", "")
    return ForgeToken(password, "git's credentials", values.get("username", "")) if password else None
