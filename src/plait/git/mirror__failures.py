"""What went wrong with a mirror, in words for people: whether it is the way, the key, or the mirror itself."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.command import Git, GitError
from plait.git.remote_url import RemoteUrl

FETCHED_MARKER = "plait-fetched"  # a file in the mirror, as old as its last fetch
_AUTH_FAILURE = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied"
    r"|Host key verification failed|error: 40[13]|Access denied"
)
_DAMAGE_SIGNS = re.compile(
    r"not a git repository|inside a git repository|bad object|corrupt|object file .* is empty|unable to (?:read|find|parse)|missing (?:blob|tree|commit)"
    r"|bad config|invalid sha1|does not point to a valid object|not a tree|broken|bad revision|bad (?:tree|commit)"
    r"|Could not read [0-9a-f]{40}|inflate|cannot be loaded|bad pack|not a commit"
)
_AUTH_HINT = "git must get in without asking: by a credential helper, the program in GIT_ASKPASS, or ssh-agent. Try it: "


def make_unreachable_error(error: GitError, remote: RemoteUrl, git_dir: Path) -> WorldError:
    """It could be neither cloned nor fetched."""
    reason = error.message.partition(": ")[2] or error.message
    trial = f"git ls-remote {shlex.quote(remote.url)}"
    hint = _AUTH_HINT + trial if _AUTH_FAILURE.search(error.stderr) else f"See what git says: {trial}"
    if not git_dir.exists():
        return WorldError(f"{remote.url} can't be cloned: {reason}", hint=hint)
    return WorldError(
        f"{remote.url} can't be fetched: {reason}; a batch would start from what it was{_format_last_fetch(git_dir)}, so nothing "
        "was started",
        hint=hint,
    )


def make_damage_error(error: GitError, remote: RemoteUrl, git: Git) -> WorldError | None:
    """None if it is not the mirror itself that is the matter. Looking takes a while, and is done on a suspicion only."""
    if not _DAMAGE_SIGNS.search(error.stderr) or not git.cwd.exists() or _is_intact(git):
        return None
    reason = error.message.partition(": ")[2] or error.message
    home = shlex.quote(str(git.cwd.parent))
    return WorldError(
        f"the mirror of {remote.url} in {git.cwd} is damaged: {reason}",
        hint=f"Remove it, and it is cloned again: rm -r {home}. What its batches made and nobody has pushed goes with it.",
    )


def _is_intact(git: Git) -> bool:
    return (
        git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress", codes=range(256)).code == 0
    )


def _format_last_fetch(git_dir: Path) -> str:
    try:
        at = (git_dir / FETCHED_MARKER).stat().st_mtime
    except OSError:
        return ""
    return time.strftime(" at %H:%M on %Y-%m-%d", time.localtime(at))
