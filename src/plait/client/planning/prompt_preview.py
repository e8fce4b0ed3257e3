"""The prompt of a task's first attempt, as it would be sent now."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from plait.agents.drivers.command import build_command_spec
from plait.agents.interface import AgentSpec
from plait.agents.model_jobs import job_prompts
from plait.agents.model_jobs.job_prompts import ChatMessage
from plait.agents.model_jobs.job_spec import ModelJobSpec
from plait.agents.prompts import PromptRules, build_prompt, build_reply_instructions, render_task_file
from plait.agents.templates import find_placeholders
from plait.client.agent_specs import MODEL_AGENT, load_prompt_template
from plait.client.planning.plan_preview import SHELL_AGENT, PlanPreview
from plait.client.planning.submission import resolve_base_commit, resolve_isolation
from plait.config.agent_keys import PromptDelivery
from plait.config.config import COMMAND_AGENT, Config
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation, Settings
from plait.core.task import Task
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.runtime.workspace_files import StagingError, WorkspaceFolder, check_path, decode_file

WORKSPACE_PLACEHOLDER = "<workspace>"  # the worktree's name depends on the batch, which doesn't exist yet


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """The prompt. `text` is sent, or `messages` to a model; `note` says what is special about it."""

    agents: tuple[str, ...]
    text: str
    note: str = ""
    messages: tuple[ChatMessage, ...] = ()


def build_prompt_preview(preview: PlanPreview, task: Task) -> PromptPreview:
    """Build a first attempt's prompt, without loading the task's agent, which may run the repository's code."""
    loaded = preview.loaded
    settings = resolve_isolation(preview.settings, loaded.config, loaded.location)
    agents = (task.agent,) if task.agent else (SHELL_AGENT,) if task.run else settings.agents
    first = agents[0] if agents else ""
    template = load_prompt_template(loaded.location, loaded.config)
    if first == MODEL_AGENT:
        messages, turns = _build_model_prompt(loaded.location, loaded.config, settings, task)
        note = (
            f"{task.id}: this is the first of {turns} prompts; the others contain what was written" if turns > 1 else ""
        )
        return PromptPreview(agents, job_prompts.format_messages(messages), note, messages)
    if first == COMMAND_AGENT and _gets_only_task_file(loaded.config):
        return PromptPreview(
            agents, render_task_file(task)[1], f"{task.id}: the command gets the task as a file, and no prompt"
        )
    isolated = settings.isolation is Isolation.WORKTREE
    workspace = WORKSPACE_PLACEHOLDER if isolated else str(loaded.location.top)
    text = build_prompt(
        task, PromptRules(isolated, task.verify or settings.verify), workspace=workspace, template=template
    )
    if first in loaded.config.agents.replies:
        text = f"{text}\n{build_reply_instructions()}\n"
    return PromptPreview(agents, text)


def _gets_only_task_file(config: Config) -> bool:
    run = config.run
    if run.agent_command is None:
        return False
    spec: AgentSpec = build_command_spec(run.agent_command, shell=run.agent_shell, prompt_by=run.prompt_by)
    named = find_placeholders(spec.command)
    return spec.prompt_by is not PromptDelivery.STDIN and "task_file" in named and "prompt_file" not in named


def _build_model_prompt(
    location: RepoLocation, config: Config, settings: Settings, task: Task
) -> tuple[tuple[ChatMessage, ...], int]:
    from plait.runtime.agent_process import JobError
    from plait.runtime.model_job.runner import build_first_prompt

    source = task.origin.file if task.origin is not None else ""
    spec = ModelJobSpec(
        task.id, task.title, task.body, "", "", "", "", task.job, task.touches, source, settings=config.model
    )
    files: _CommitFiles | _FolderFiles
    if settings.isolation is Isolation.WORKTREE:
        files = _CommitFiles(Git(location.top), resolve_base_commit(location, config.run.base))
    else:
        files = _FolderFiles(location.top)
    try:
        return build_first_prompt(spec, files, files.tracked, _read_system_prompts(spec, files))
    except JobError as error:
        raise WorldError(f"{task.id}: {error}", hint="An attempt would fail for the same reason.") from error
    finally:
        files.close()


def _read_system_prompts(spec: ModelJobSpec, files: _CommitFiles | _FolderFiles) -> Mapping[str, str]:
    folder = job_prompts.find_prompts_folder(spec)
    if Path(folder).is_absolute():  # in the user's own settings
        with suppress(OSError):
            texts = {file.name: file.read_text("utf-8", "replace") for file in Path(folder).iterdir() if file.is_file()}
            return {name: text for file, text in texts.items() if (name := job_prompts.parse_prompt_name(file))}
        return {}
    inside = [path for path in files.tracked if str(Path(path).parent) == str(Path(folder))]
    named = {name: path for path in inside if (name := job_prompts.parse_prompt_name(Path(path).name))}
    texts_by_name = {name: files.read_or_none(path) for name, path in named.items()}
    return {name: text for name, text in texts_by_name.items() if text is not None}


class _CommitFiles:
    """The files of a commit as a worktree of it would hold them."""

    def __init__(self, git: Git, commit: str) -> None:
        self._git, self._commit = git, commit
        listed = (line.partition("\t") for line in git.run("ls-tree", "-r", "-z", "--full-tree", commit).fields)
        self._kinds = {path: kind.split()[0] for kind, _, path in listed}

    @property
    def tracked(self) -> frozenset[str]:
        return frozenset(self._kinds)

    def read(self, path: str) -> str | None:
        kind = self._kinds.get(check_path(path))
        if kind is None:
            return None
        if not kind.startswith("100"):
            raise StagingError(f"{path}: it is a link or a submodule, not a file")
        return decode_file(path, self._git.run("cat-file", "--filters", f"{self._commit}:{path}").out)

    def read_or_none(self, path: str) -> str | None:
        try:
            return self.read(path)
        except StagingError:
            return None

    def close(self) -> None:
        pass


class _FolderFiles:
    """The files of a folder that is worked in directly."""

    def __init__(self, top: Path) -> None:
        self._top, self._folder = top, WorkspaceFolder(top)

    @property
    def tracked(self) -> frozenset[str]:
        try:
            return frozenset(Git(self._top).run("ls-files", "-z").fields)
        except WorldError:
            return frozenset()

    def read(self, path: str) -> str | None:
        found = self._folder.read_bytes(check_path(path))
        return None if found is None else decode_file(path, found[0])

    def read_or_none(self, path: str) -> str | None:
        try:
            return self.read(path)
        except StagingError:
            return None

    def close(self) -> None:
        self._folder.close()
