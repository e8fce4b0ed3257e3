"""From a decision to a job: the task's texts, its agent's command, its environment, its files.

The papers of an attempt: what was said of the ones before it, and the files that lie in its folder when it starts.

The environment of an attempt: its front's, with what the attempt is told, and without what would lead its tools astray.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from plait.agents.drivers.shell import CheckCommand
from plait.agents.interface import Agent, AgentSpec, AttemptContext, Command, OutputParser
from plait.agents.prompts import (
    PriorFeedback,
    PromptRules,
    build_continuation,
    build_prompt,
    build_reply_instructions,
    render_task_file,
)
from plait.agents.redaction import RedactingParser
from plait.agents.table import load_agent
from plait.config.keys import KEYS
from plait.config.layers import ATTEMPT_VARIABLES
from plait.core.decisions import AttemptStarted
from plait.core.task import Attempt, Step, Task
from plait.engine.context import EngineContext
from plait.runtime.executor import AttemptKind, AttemptSpec
from plait.runtime.transcript import FileTranscript
from plait.store.batch_inputs import BatchInputs, BatchInputsError
from plait.system.atomic_files import write_private_file
from plait.system.interfaces import SharedState
from plait.system.state_paths import StateFolder


class JobBuilder:
    """Builds what an executor starts from a decision and the inputs of its batch."""

    def __init__(self, context: EngineContext, shared: SharedState) -> None:
        self._folder = context.folder
        self._inputs = context.inputs
        self._shared = shared
        self._agents: dict[AgentSpec, Agent] = {}

    def build_job(
        self, order: AttemptStarted, kind: AttemptKind, workspace: str, rules: PromptRules, *, task_base: str = ""
    ) -> AttemptSpec:
        """Also writes the files that the attempt reads. Raises PlaitError."""
        attempt = order.attempt
        inputs = self._inputs.get_inputs(attempt.batch)
        task = Task("") if kind is AttemptKind.GATE else _find_task(inputs, attempt)
        command = self._build_command(order, inputs, task, workspace, rules)
        env = build_environment(
            self._inputs.get_environment(attempt.batch),
            attempt=attempt,
            task=task,
            workspace=workspace,
            ports=self._shared.lease_ports(attempt.batch, attempt.task),
            name=make_unique_name(self._folder.root, attempt.batch, attempt.task),
            extra=command.env,
            feedback_file=self._write_feedback(order),
        )
        return AttemptSpec(
            attempt,
            command.argv,
            workspace,
            env,
            command.stdin,
            kind,
            checkout=inputs.top,
            base=order.base,
            task_base=task_base,
            setup=inputs.gear.outfit,
        )

    def create_parser(self, order: AttemptStarted) -> OutputParser:
        batch = order.attempt.batch
        if order.attempt.step is Step.VERIFY:
            return self.create_check_parser(batch)
        inputs = self._inputs.get_inputs(batch)
        spec, task = inputs.find_agent(order.agent), _find_task(inputs, order.attempt)
        used = replace(spec, model=task.model) if task.model else spec  # prices depend on the model
        return RedactingParser(self._load_agent(used).create_parser(order.before), self._inputs.get_redactor(batch))

    def create_check_parser(self, batch: str) -> OutputParser:
        return RedactingParser(CheckCommand().create_parser(), self._inputs.get_redactor(batch))

    def _build_command(
        self, order: AttemptStarted, kit: BatchInputs, task: Task, workspace: str, house: PromptRules
    ) -> Command:
        here = self._folder.attempt(order.attempt)
        if order.command is None:
            command = self._build_agent_command(order, kit, task, workspace, house)
        else:
            command = CheckCommand().build_command(order.command, str(here.path))
        for file, content in command.files:
            write_if_changed(here.path / file, content)
        return command

    def _build_agent_command(
        self, order: AttemptStarted, kit: BatchInputs, task: Task, workspace: str, house: PromptRules
    ) -> Command:
        attempt = order.attempt
        here = self._folder.attempt(attempt)
        name, text = render_task_file(task)
        told = AttemptContext(
            attempt,
            task,
            workspace,
            task_file=str(self._folder.task(attempt.batch, attempt.task) / name),
            prompt_file=str(here.prompt),
            folder=str(here.path),
            session=order.session,
            feedback=order.feedback,
            base=order.base,
            candidates=order.candidates,
        )
        spec = kit.find_agent(order.agent)
        command = self._load_agent(spec).build_command(told)
        goes_on = order.session is not None and _resumes_session(command, order.session)
        if goes_on or _mentions_path(command, told.task_file):
            write_private_file(Path(told.task_file), text)
        if _mentions_path(command, told.prompt_file):
            before = read_prior_feedback(self._folder, order)
            whole = partial(build_prompt, task, house, before, workspace=workspace, template=kit.template)
            told_all = build_continuation(task, before, told.task_file) if goes_on else whole()
            write_private_file(here.prompt, f"{told_all}\n{build_reply_instructions()}\n" if spec.replies else told_all)
        return _wrap_reply_command(command, spec, told) if spec.replies else command

    def _write_feedback(self, order: AttemptStarted) -> Path | None:
        """For scripts, which read no prompt."""
        if not order.feedback:
            return None
        path = self._folder.attempt(order.attempt).path / "feedback.md"
        write_private_file(path, order.feedback + "\n")
        return path

    def _load_agent(self, spec: AgentSpec) -> Agent:
        if spec not in self._agents:
            self._agents[spec] = load_agent(spec)
        return self._agents[spec]


def _find_task(inputs: BatchInputs, attempt: Attempt) -> Task:
    task = inputs.tasks_by_id.get(attempt.task)
    if task is None:
        raise BatchInputsError(f"the inputs of batch {attempt.batch} don't contain {attempt.task}")
    return task


def _wrap_reply_command(command: Command, spec: AgentSpec, told: AttemptContext) -> Command:
    """The agent only answers: what it says is written in its place."""
    from plait.runtime import apply_reply  # few agents are called so

    file = apply_reply.encode_reply_spec(apply_reply.ReplySpec(spec, told.workspace))
    return replace(
        command,
        argv=apply_reply.wrap_with_reply(command.argv, Path(told.folder, apply_reply.REPLY_SPEC_FILE)),
        files=(*command.files, (apply_reply.REPLY_SPEC_FILE, file)),
    )


def _mentions_path(command: Command, path: str) -> bool:
    return command.stdin == path or any(path in word for word in command.argv)


def _resumes_session(command: Command, session: str) -> bool:
    """Whether the tool goes on with it: one that can't is told everything."""
    words = (*command.argv, *(value for _, value in command.env), *(text for _, text in command.files))
    return any(session in word for word in words)


CHECK_TAIL_BYTES = 4 << 10  # bytes of a failed check's output that the next attempt is told


def read_prior_feedback(folder: StateFolder, order: AttemptStarted) -> PriorFeedback:
    check = _read_failed_check(folder, order.attempt) if order.feedback else ""
    return PriorFeedback(order.feedback, check, _read_conflict(folder, order))


def write_if_changed(path: Path, text: str) -> None:
    """What lies there already is left as it is: it may be being read, by what an engine started that died."""
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "surrogateescape"):
            return
    write_private_file(path, text)


def _read_failed_check(folder: StateFolder, attempt: Attempt) -> str:
    """What the newest check of this task said, as far as there was one."""
    made = [
        path
        for path in folder.task(attempt.batch, attempt.task).glob(f"{Step.VERIFY.value}-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    newest = max(made, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    if newest is None:
        return ""
    return FileTranscript(newest / "transcript").tail(CHECK_TAIL_BYTES).decode("utf-8", "replace")


def _read_conflict(folder: StateFolder, order: AttemptStarted) -> str:
    if order.repairs is None:
        return ""
    with suppress(OSError):
        return folder.conflict(order.attempt.batch, order.attempt.task).read_text("utf-8", "replace")
    return ""


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


def _build_plait_variables(attempt: Attempt, workspace: str | PurePath, ports: range, name: str) -> dict[str, str]:
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
