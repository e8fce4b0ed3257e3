"""The environment of an attempt: its front's, with what the attempt is told, and without what would lead its tools astray."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from plait.config.keys import KEYS
from plait.config.layers__outside import ATTEMPT_VARIABLES
from plait.core.task import Attempt, Task

# The mark is the site's to set; asking plait to be talkative is meant for whoever is inside, too.
_INHERITED = frozenset({"PLAIT_MARK", "PLAIT_DEBUG"})
_PLAIT_VARIABLES = ATTEMPT_VARIABLES - _INHERITED
# Where news of a person's work goes, and with which secret, is nothing that an agent needs.
_SECRET_VARIABLES = frozenset(key.env_variable for key in KEYS if key.is_secret)
_WITHHELD = _PLAIT_VARIABLES | _SECRET_VARIABLES
# Where git would look instead of around itself (`git rev-parse --local-env-vars`), as a hook leaves them. Settings that
# came by the environment (GIT_CONFIG_COUNT and its like) stay: they are a person's, such as credentials or safe folders.
# And by what Claude Code would believe that it runs inside of itself, where an agent has started the front.
_MISLEADING = frozenset(
    """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH
    GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE OLDPWD
    CLAUDECODE CLAUDE_CODE_ENTRYPOINT
    """.split()  # noqa: SIM905 - words read better in lines
)
# Nobody sits there. Agents give their tools terminals of their own, on which these would wait for a key for ever.
_UNATTENDED: Mapping[str, str] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}
_MAX_NAME_LENGTH = 48
_NON_WORD = re.compile(r"[^a-z0-9]+")


def build_environment(  # noqa: PLR0913 - each is a thing of its own, and named where it is given
    base: Mapping[str, str],
    *,
    attempt: Attempt,
    task: Task,
    workspace: str | PurePath,
    ports: range,
    name: str,
    extra: Iterable[tuple[str, str]] = (),
    feedback_file: str | PurePath | None = None,
) -> dict[str, str]:
    """`base` is the front's. Over it come, each over the one before: what unattended work needs, `extra` (the agent's),
    what the task sets, and what plait tells, which nobody can change.
    """
    told = _build_plait_variables(attempt, workspace, ports, name)
    if feedback_file is not None:
        told["PLAIT_FEEDBACK_FILE"] = str(feedback_file)
    return {
        # A Python tool that writes to a file would speak every few kilobytes only, and silence is taken for a hang.
        "PYTHONUNBUFFERED": "1",
        "COMPOSE_PROJECT_NAME": name,
        **{key: value for key, value in base.items() if key not in _WITHHELD and key not in _MISLEADING},
        **_UNATTENDED,
        "PWD": str(workspace),
        **_drop_invalid(extra),
        **{key: value for key, value in _drop_invalid(task.env).items() if key not in ATTEMPT_VARIABLES},
        **_drop_invalid(told.items()),
    }


def make_unique_name(state: str | PurePath, batch: str, task: str) -> str:
    """For databases, containers and the like: a-z, 0-9 and _, a letter first, and no other task of any engine has it."""
    whole = "\0".join((str(state), batch, task)).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(whole).hexdigest()[:10]
    words = ("plait", _slugify(batch)[:8], _slugify(task)[:20], digest)
    return "_".join(filter(None, words))[:_MAX_NAME_LENGTH]


def _build_plait_variables(
    attempt: Attempt, workspace: str | PurePath, ports: range, name: str
) -> dict[str, str]:
    told = {
        "PLAIT_BATCH": attempt.batch,
        "PLAIT_TASK_ID": attempt.task,
        "PLAIT_STEP": attempt.step.value,
        "PLAIT_ATTEMPT": str(attempt.n),
        "PLAIT_WORKSPACE": str(workspace),
        "PLAIT_NAME": name,
    }
    if ports:
        told["PLAIT_PORT"] = str(ports[0])
        told["PLAIT_PORTS"] = f"{ports[0]}-{ports[-1]}"
    return told


def _drop_invalid(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """No process can be given a name with = or a NUL in it, or text that has no bytes: one of those would cost the attempt."""
    return {
        _make_encodable(key): _make_encodable(value)
        for key, value in variables
        if key and "=" not in key and "\0" not in key
    }


def _make_encodable(value: str) -> str:
    whole = value.replace("\0", "")
    try:
        whole.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return whole.encode("utf-8", "replace").decode()
    return whole


def _slugify(text: str) -> str:
    return _NON_WORD.sub("_", text.lower()).strip("_")
