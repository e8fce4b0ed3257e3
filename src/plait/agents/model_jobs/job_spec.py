"""What the `model` agent's process is told: its settings and one job, as JSON. No key is in it, only a variable's name.

Which files a job writes. Whatever else an answer names is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from json import dumps, loads
from typing import Any
from urllib.parse import urlsplit

from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

OLLAMA_URL = "http://localhost:11434/v1"


JOB_SPEC_FILE = "job.json"


JOB_RESULT_FILE = "result.json"  # what came of it, in the attempt's folder


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """As `[model]` has them, each under the same name and with the same default."""

    base_url: str = OLLAMA_URL
    key: str | None = None
    context_tokens: int = 16_000
    context_lines: int = 1000
    output_lines: int = 900
    stall_timeout: float = 300.0
    verify_replies: bool = True
    verify_model: str | None = None
    checks: tuple[str, ...] = ()
    fixes: int = 2
    temperature: float | None = None
    start_ollama: bool = True
    prompts: str | None = None


@dataclass(frozen=True, slots=True)
class ModelJobSpec:
    """One attempt. Without a `job`, it is a task like any other: `touches` are what it may write; none: anything.

    `source` is the file that the task was read from, from the repository's top.
    """

    task: str
    title: str
    instructions: str
    model: str
    workspace: str
    folder: str
    feedback: str = ""
    job: ModelJob | None = None
    touches: tuple[str, ...] = ()
    source: str = ""
    settings: ModelSettings = ModelSettings()


_SETTING_NAMES = tuple(field.name for field in fields(ModelSettings))


def encode_options(values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Settings as an agent carries them: those that differ from the defaults."""
    default = ModelSettings()
    told = {name: value for name, value in values.items() if name in _SETTING_NAMES}
    return tuple((name, dumps(value)) for name, value in told.items() if value != getattr(default, name))


def decode_settings(carried: Iterable[tuple[str, str]]) -> ModelSettings:
    """Raises ConfigError for what is none; a name of another version is passed over."""
    try:
        return _build_settings({name: loads(text) for name, text in carried})
    except (ValueError, TypeError, RecursionError) as error:
        raise ConfigError(f"the settings of the model can't be read: {error}") from error


def find_server(carried: Iterable[tuple[str, str]]) -> str:
    """Its name and port: whose limits jobs run into. Raises ConfigError."""
    return urlsplit(decode_settings(carried).base_url).netloc


def encode_spec(spec: ModelJobSpec) -> str:
    return dumps(asdict(spec))


def decode_spec(text: str | bytes) -> ModelJobSpec:
    """Raises ValueError."""
    try:
        told = loads(text)
        lists = {"touches": tuple(told["touches"]), "settings": _build_settings(told["settings"])}
        return ModelJobSpec(**{**told, **lists, "job": None if told["job"] is None else _build_job(told["job"])})
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(error) from error


def _build_settings(told: Mapping[str, Any]) -> ModelSettings:
    """Any: JSON that this module wrote."""
    known = {name: value for name, value in told.items() if name in _SETTING_NAMES}
    return ModelSettings(**{**known, "checks": tuple(known.get("checks", ()))})


def _build_job(told: Mapping[str, Any]) -> ModelJob:
    lists = {name: tuple(told[name]) for name in ("outputs", "targets", "context")}
    return ModelJob(**{**told, **lists, "mode": ModelJobMode(told["mode"])})


def writes_whole_files(job: ModelJob) -> bool:
    """Its answers are files as a whole; else they are changes of files."""
    return job.mode in {ModelJobMode.REPLACE, ModelJobMode.SPLIT}


def output_paths(job: ModelJob) -> tuple[str, ...]:
    """The files that it makes, in the order in which they are written; the answer must have all of them."""
    if not writes_whole_files(job):
        return ()
    return job.outputs if job.output in job.outputs else (job.output, *job.outputs)


def target_paths(job: ModelJob) -> tuple[str, ...]:
    """The files that are there before and are shown as a whole; those that an edit may change."""
    if writes_whole_files(job):
        return job.targets
    return tuple(dict.fromkeys((*job.targets, *job.outputs))) or (job.output,)


def writable_paths(job: ModelJob) -> tuple[str, ...]:
    """All that the job may write, but for its tests."""
    return tuple(dict.fromkeys((*output_paths(job), *target_paths(job), job.output)))
