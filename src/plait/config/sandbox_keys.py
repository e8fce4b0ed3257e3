"""The settings of sandboxes: what an agent, and what it starts, can reach."""

from __future__ import annotations

from plait.config import value_types
from plait.config.key import ConfigTable, Key
from plait.core.settings import SandboxMode

_STRENGTH = (SandboxMode.OFF, SandboxMode.AUTO, SandboxMode.WORKTREE, SandboxMode.STRICT, SandboxMode.CONTAINER)


def pick_stronger(own: SandboxMode, other: SandboxMode) -> SandboxMode:
    """Return the user's own choice, unless the other one confines more on any machine.

    The user's AUTO may become STRICT; another's AUTO may become nothing.
    """
    own_strength = _STRENGTH.index(SandboxMode.STRICT if own is SandboxMode.AUTO else own)
    return other if _STRENGTH.index(other) > own_strength else own


class SandboxConfig(ConfigTable, name="sandbox", about="What a sandboxed attempt can reach, besides its workspace."):
    readable = Key(
        value_types.text_list("a path or a list of paths"),
        (),
        "files and folders that a sandboxed attempt may read, such as ~/.m2 or a linked folder of the checkout",
        json_name="sandboxReadable",
        runs_code=bool,  # it lets agents see more of the user's files
    )
    writable = Key(
        value_types.text_list("a path or a list of paths"),
        (),
        "files and folders that a sandboxed attempt may change, such as ~/.cache/uv",
        json_name="sandboxWritable",
        runs_code=bool,
    )
    variables = Key(
        value_types.text_list("a variable's name or a list of names", split=True),
        (),
        "variables with secrets that a sandboxed attempt gets, besides its agent's own key, such as NPM_TOKEN",
        json_name="sandboxVariables",
        runs_code=bool,
    )
    hosts = Key(
        value_types.text_list("a host or a list of hosts", split=True),
        (),
        "hosts that a strict sandbox reaches besides the agent's provider and package registries: example.org, "
        "*.example.org, 127.0.0.1:8080",
        json_name="sandboxHosts",
        runs_code=bool,  # what an agent reads could be sent there
    )
    memory = Key(
        value_types.size(),
        8 * 2**30,
        "memory of a strict attempt: of all its processes where control groups can be made, else of each",
        json_name="sandboxMemory",
        user_only=True,
    )
    processes = Key(
        value_types.whole_number(),
        2000,
        "processes of a strict attempt; 0: no limit",
        json_name="sandboxProcesses",
        user_only=True,
    )
    disk = Key(
        value_types.size(),
        4 * 2**30,
        "size of /tmp, and of any one file, of a strict attempt; all that it writes may take four times that",
        json_name="sandboxDisk",
        user_only=True,
    )
    image = Key(
        value_types.optional_text("an image's name"),
        None,
        "image of a container sandbox, with git, the agent and what its checks need",
        json_name="sandboxImage",
        runs_code=bool,
    )
    include_checks = Key(
        value_types.boolean(),
        default=True,
        about="run setup, verify and gate in the sandbox, too; they run what agents wrote",
        json_name="sandboxChecks",
        runs_code=lambda on: not on,
    )
