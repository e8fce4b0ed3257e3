"""From a decision to an AttemptSpec: the prompt, the agent's command, the environment, and the files to read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path, PurePath
from types import MappingProxyType

from plait.agents import prompts
from plait.agents.drivers.shell import CheckParser, build_script_command
from plait.agents.interface import Agent, AgentSpec, AttemptContext, Command, OutputParser
from plait.agents.redaction import RedactingParser
from plait.agents.table import find_program, load_agent
from plait.config.keys import is_own_secret
from plait.config.loading import ATTEMPT_VARIABLES
from plait.core.contest import REFEREE
from plait.core.decisions import AttemptStarted
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step, Task
from plait.engine.confinement import build_sandbox_spec, confine_environment, list_kept_variables
from plait.engine.context import EngineContext
from plait.runtime.executor import AttemptFile, AttemptKind, AttemptLimits, AttemptSpec
from plait.runtime.sandbox.task_variables import encode_variables
from plait.store.batch_files import BatchInputs, BatchInputsError
from plait.store.server_tokens import list_server_tokens
from plait.system.shared_state import SharedState

CHECK_TAIL_BYTES = 4 << 10  # bytes of a failed check's output that the next attempt gets


@dataclass(frozen=True, slots=True)
class _SpecDraft:
    """The parts of an AttemptSpec. `folder` is the attempt's own, where it runs; `files` will be written there."""

    decision: AttemptStarted
    inputs: BatchInputs
    task: Task
    workspace: str
    folder: str
    rules: prompts.PromptRules
    before: prompts.PriorFeedback
    files: list[AttemptFile] = field(default_factory=list)

    def add_file(self, path: str, text: str) -> None:
        self.files.append(AttemptFile(path, text.encode("utf-8", "surrogateescape")))


class AttemptSpecBuilder:
    def __init__(self, context: EngineContext, shared: SharedState, transcript_bytes: int) -> None:
        self._state_root = context.folder.root
        self._inputs = context.inputs
        self._shared = shared
        self._transcript_bytes = transcript_bytes
        self._agents: dict[AgentSpec, Agent] = {}

    def build_limits(self, decision: AttemptStarted) -> AttemptLimits:
        return AttemptLimits(decision.timeout, self._transcript_bytes)

    def build_spec(  # noqa: PLR0913 - all differ from attempt to attempt
        self,
        decision: AttemptStarted,
        kind: AttemptKind,
        rules: prompts.PromptRules,
        before: prompts.PriorFeedback,
        *,
        workspace: str,
        folder: str,
        sandbox: SandboxMode = SandboxMode.OFF,
    ) -> AttemptSpec:
        """Build the spec of an attempt; `sandbox` is the batch's. Raises PlaitError."""
        attempt = decision.attempt
        inputs = self._inputs.get_inputs(attempt.batch)
        task = Task("") if kind is AttemptKind.GATE else _find_task(inputs, attempt)
        draft = _SpecDraft(decision, inputs, task, workspace, folder, rules, before)
        command = self._build_command(draft)
        base_env = self._inputs.get_environment(attempt.batch)
        confined = build_sandbox_spec(inputs, decision, task, sandbox, base_env)
        task_variables = filter_task_variables(task)
        set_outside = task_variables if confined is None else {}
        env = build_environment(
            base_env
            if confined is None
            else confine_environment(base_env, list_kept_variables(inputs, decision), confined),
            attempt=attempt,
            task_variables=set_outside,
            workspace=workspace,
            ports=self._shared.lease_ports(attempt.batch, attempt.task),
            name=make_unique_name(self._state_root, attempt.batch, attempt.task),
            extra=command.env,
            feedback_file=_add_feedback_file(draft),
            server_tokens=list_server_tokens(),
        )
        if confined is not None:
            env |= encode_variables(task_variables)
        own = {*(name for name, _ in command.env), *set_outside, *list_kept_variables(inputs, decision)}
        return AttemptSpec(
            attempt,
            command.argv,
            workspace,
            env,
            command.stdin,
            kind,
            checkout=inputs.top,
            base=decision.base,
            setup=inputs.options.setup,
            files=tuple(draft.files),
            checkouts=command.checkouts,
            limits=self.build_limits(decision),
            sandbox=confined,
            confines_others=command.confines_others,
            agent=decision.agent,
            inherited=frozenset(name for name in env if name not in own and env[name] == base_env.get(name)),
            commits=tuple(
                dict.fromkeys(commit for each in decision.candidates for commit in (each.base, each.tip) if commit)
            ),
            programs=list_agent_programs(inputs.find_agent(decision.agent), has_judges=len(decision.candidates) > 1)
            if decision.command is None
            else (),
        )

    def create_parser(self, decision: AttemptStarted) -> OutputParser:
        batch = decision.attempt.batch
        if decision.attempt.step is Step.VERIFY:
            return self.create_check_parser(batch)
        inputs = self._inputs.get_inputs(batch)
        spec, task = inputs.find_agent(decision.agent), _find_task(inputs, decision.attempt)
        used = replace(spec, model=task.model) if task.model else spec  # prices depend on the model
        return RedactingParser(self._load_agent(used).create_parser(decision.before), self._inputs.get_redactor(batch))

    def create_check_parser(self, batch: str) -> OutputParser:
        return RedactingParser(CheckParser(), self._inputs.get_redactor(batch))

    def _build_command(self, draft: _SpecDraft) -> Command:
        if draft.decision.command is None:
            command = self._build_agent_command(draft)
        else:
            command = build_script_command(draft.decision.command, draft.folder)
        for name, text in command.files:
            draft.add_file(f"{draft.folder}/{name}", text)
        return command

    def _build_agent_command(self, draft: _SpecDraft) -> Command:
        decision, task, task_folder = draft.decision, draft.task, str(PurePath(draft.folder).parent)
        name, text = prompts.render_task_file(task)
        context = AttemptContext(
            decision.attempt,
            task,
            draft.workspace,
            task_file=f"{task_folder}/{name}",
            prompt_file=f"{draft.folder}/prompt.md",
            folder=draft.folder,
            session=decision.session,
            feedback=decision.feedback,
            base=decision.base,
            candidates=decision.candidates,
            votes=decision.votes,
            slots=decision.slots,
            timeout=decision.timeout,
            idle_timeout=decision.idle_timeout,
        )
        spec = draft.inputs.find_agent(decision.agent)
        command = self._load_agent(spec).build_command(context)
        resumes = decision.session is not None and _resumes_session(command, decision.session)
        if resumes or _mentions_path(command, context.task_file):
            draft.add_file(context.task_file, text)
        if draft.before.conflict:
            draft.add_file(f"{task_folder}/conflict.md", draft.before.conflict)
        if _mentions_path(command, context.prompt_file):
            prompt = (
                prompts.build_continuation(task, draft.before, context.task_file)
                if resumes
                else prompts.build_prompt(
                    task, draft.rules, draft.before, workspace=draft.workspace, template=draft.inputs.template
                )
            )
            draft.add_file(
                context.prompt_file, f"{prompt}\n{prompts.build_reply_instructions()}\n" if spec.replies else prompt
            )
        return _wrap_reply_command(command, spec, context) if spec.replies else command

    def _load_agent(self, spec: AgentSpec) -> Agent:
        if spec not in self._agents:
            self._agents[spec] = load_agent(spec)
        return self._agents[spec]


def list_agent_programs(spec: AgentSpec, *, has_judges: bool = True) -> tuple[str, ...]:
    """List what has to be installed for an agent; for a referee, the programs of its judges."""
    if spec.name != REFEREE:
        return tuple(filter(None, (find_program(spec),)))
    from plait.agents.drivers.referee import read_judge_specs  # few batches have a contest

    judges = read_judge_specs(spec) if has_judges else ()
    return tuple(dict.fromkeys(filter(None, map(find_program, judges))))


def _find_task(inputs: BatchInputs, attempt: Attempt) -> Task:
    task = inputs.tasks_by_id.get(attempt.task)
    if task is None:
        raise BatchInputsError(f"the inputs of batch {attempt.batch} don't contain {attempt.task}")
    return task


def _add_feedback_file(draft: _SpecDraft) -> str | None:
    """Add the feedback as a file, for scripts, which read no prompt; return its path, or None if there is no feedback."""
    if not draft.decision.feedback:
        return None
    path = f"{draft.folder}/feedback.md"
    draft.add_file(path, draft.decision.feedback + "\n")
    return path


def _wrap_reply_command(command: Command, spec: AgentSpec, context: AttemptContext) -> Command:
    """Wrap the command of an agent that only answers, so that plait writes the files."""
    from plait.runtime import apply_reply  # few agents need it

    file = apply_reply.encode_reply_spec(apply_reply.ReplySpec(spec, context.workspace))
    return replace(
        command,
        argv=apply_reply.wrap_with_reply(command.argv, Path(context.folder, apply_reply.REPLY_SPEC_FILE)),
        files=(*command.files, (apply_reply.REPLY_SPEC_FILE, file)),
    )


def _mentions_path(command: Command, path: str) -> bool:
    return command.stdin == path or any(path in argument for argument in command.argv)


def _resumes_session(command: Command, session: str) -> bool:
    """Whether the command continues the session; an agent that can't gets the whole prompt."""
    texts = (*command.argv, *(value for _, value in command.env), *(text for _, text in command.files))
    return any(session in text for text in texts)


# The executor sets PLAIT_MARK, and PLAIT_DEBUG is meant for nested calls of plait, too.
_WITHHELD_VARIABLES = ATTEMPT_VARIABLES - {"PLAIT_MARK", "PLAIT_DEBUG"}


# Variables that point git to another repository (`git rev-parse --local-env-vars`), as hooks set them. Settings given by
# the environment (GIT_CONFIG_COUNT …) stay: they are the user's credentials or safe folders. The last line: Claude Code
# would take itself for nested if an agent has started plait.
_MISLEADING_VARIABLES = frozenset(
    """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH
    GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE OLDPWD
    CLAUDECODE CLAUDE_CODE_ENTRYPOINT
    """.split()  # noqa: SIM905 - a list would be 18 lines
)


# Agents run tools on terminals of their own, where a pager or editor would wait for a key forever.
_UNATTENDED_VARIABLES: Mapping[str, str] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}

_MAX_NAME_LENGTH = 48
_NON_WORD = re.compile(r"[^a-z0-9]+")


def build_environment(  # noqa: PLR0913 - all are keywords
    base: Mapping[str, str],
    *,
    attempt: Attempt,
    workspace: str,
    ports: range,
    name: str,
    task_variables: Mapping[str, str] = MappingProxyType({}),
    extra: Iterable[tuple[str, str]] = (),
    feedback_file: str | None = None,
    server_tokens: Collection[str] = (),
) -> dict[str, str]:
    """Build the environment: the batch's, overridden in this order by what unattended work needs, by `extra` (the
    agent's), by what the task sets, and by plait's own variables.
    """
    variables = _build_plait_variables(attempt, workspace, ports, name)
    if feedback_file is not None:
        variables["PLAIT_FEEDBACK_FILE"] = feedback_file
    return {
        # Otherwise a Python tool would print only every few kilobytes, and look as if it hung.
        "PYTHONUNBUFFERED": "1",
        "COMPOSE_PROJECT_NAME": name,
        **{
            key: value
            for key, value in base.items()
            if key not in _WITHHELD_VARIABLES and key not in _MISLEADING_VARIABLES and not is_own_secret(key)
            # The server's token can start anything; a person may have put it into a variable of any name.
            if value not in server_tokens
        },
        **_UNATTENDED_VARIABLES,
        "PWD": workspace,
        **_drop_invalid(extra),
        **task_variables,
        **_drop_invalid(variables.items()),
    }


def filter_task_variables(task: Task) -> dict[str, str]:
    """Return the variables that the task sets, without plait's own."""
    return {key: value for key, value in _drop_invalid(task.env).items() if key not in ATTEMPT_VARIABLES}


def make_unique_name(state: str | PurePath, batch: str, task: str) -> str:
    """Make a name for databases, containers and the like, unique to the task: a-z, 0-9 and _, a letter first."""
    identity = "\0".join((str(state), batch, task)).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(identity).hexdigest()[:10]
    parts = ("plait", _slugify(batch)[:8], _slugify(task)[:20], digest)
    return "_".join(filter(None, parts))[:_MAX_NAME_LENGTH]


def _build_plait_variables(attempt: Attempt, workspace: str, ports: range, name: str) -> dict[str, str]:
    variables = {
        "PLAIT_BATCH": attempt.batch,
        "PLAIT_TASK_ID": attempt.task,
        "PLAIT_STEP": attempt.step.value,
        "PLAIT_ATTEMPT": str(attempt.n),
        "PLAIT_WORKSPACE": workspace,
        "PLAIT_NAME": name,
    }
    if ports:
        variables["PLAIT_PORT"] = str(ports[0])
        variables["PLAIT_PORTS"] = f"{ports[0]}-{ports[-1]}"
    return variables


def _drop_invalid(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Drop variables that no process can have (names with = or NUL, text without bytes): the attempt would fail."""
    return {
        _make_encodable(key): _make_encodable(value)
        for key, value in variables
        if key and "=" not in key and "\0" not in key
    }


def _make_encodable(value: str) -> str:
    text = value.replace("\0", "")
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _slugify(text: str) -> str:
    return _NON_WORD.sub("_", text.lower()).strip("_")
