"""The spec of a model job's process, as JSON: its settings and one job; and the files that a job writes.

It contains no API key, only the name of a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from json import dumps, loads
from typing import Any
from urllib.parse import urlsplit

from plait.config.agent_keys import ModelConfig
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

JOB_SPEC_FILE = "job.json"
JOB_RESULT_FILE = "result.json"  # in the attempt's folder


@dataclass(frozen=True, slots=True)
class ModelJobSpec:
    """What one attempt does. Without a `job` it is an ordinary task: it may write `touches`, or anything if that is
    empty.

    `source` is the task's file, relative to the repository's top.
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
    settings: ModelConfig = ModelConfig()


# `name` is not among them: it is the spec's `model`.
_SETTINGS = {key.field: key for key in ModelConfig.keys if key is not ModelConfig.name}


def encode_options(settings: ModelConfig) -> tuple[tuple[str, str], ...]:
    """Return the settings that differ from the defaults, as an `AgentSpec` carries them."""
    values = ((name, settings.values[name], key.default) for name, key in _SETTINGS.items())
    return tuple((name, dumps(value)) for name, value, default in values if value != default)


def decode_settings(options: Iterable[tuple[str, str]]) -> ModelConfig:
    """Decode the settings. A name of another version is ignored; invalid values raise ConfigError."""
    try:
        return _build_settings({name: loads(text) for name, text in options})
    except (ValueError, TypeError, RecursionError) as error:
        raise ConfigError(f"the settings of the model can't be read: {error}") from error


def find_server(carried: Iterable[tuple[str, str]]) -> str:
    """Return host and port of the server, whose rate limits the jobs share. Raises ConfigError."""
    return urlsplit(decode_settings(carried).base_url).netloc


def encode_spec(spec: ModelJobSpec) -> str:
    settings = {name: spec.settings.values[name] for name in _SETTINGS}
    return dumps(asdict(spec) | {"settings": settings})


def decode_spec(text: str | bytes) -> ModelJobSpec:
    """Decode a spec; raises ValueError."""
    try:
        fields = loads(text)
        lists = {"touches": tuple(fields["touches"]), "settings": _build_settings(fields["settings"])}
        return ModelJobSpec(**{**fields, **lists, "job": None if fields["job"] is None else _build_job(fields["job"])})
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(error) from error


def _build_settings(values: Mapping[str, object]) -> ModelConfig:
    return ModelConfig(**{name: key.value_type.read(values[name]) for name, key in _SETTINGS.items() if name in values})


def _build_job(fields: Mapping[str, Any]) -> ModelJob:
    lists = {name: tuple(fields[name]) for name in ("outputs", "targets", "context")}
    return ModelJob(**{**fields, **lists, "mode": ModelJobMode(fields["mode"])})


def writes_whole_files(job: ModelJob) -> bool:
    """Whether the answers are whole files, not edits."""
    return job.mode in {ModelJobMode.REPLACE, ModelJobMode.SPLIT}


def output_paths(job: ModelJob) -> tuple[str, ...]:
    """Return the files that the answer must contain, in order."""
    if not writes_whole_files(job):
        return ()
    return job.outputs if job.output in job.outputs else (job.output, *job.outputs)


def target_paths(job: ModelJob) -> tuple[str, ...]:
    """Return the existing files that are shown completely; an edit may change those."""
    if writes_whole_files(job):
        return job.targets
    return tuple(dict.fromkeys((*job.targets, *job.outputs))) or (job.output,)


def writable_paths(job: ModelJob) -> tuple[str, ...]:
    """Return all files that the job may write, except its tests."""
    return tuple(dict.fromkeys((*output_paths(job), *target_paths(job), job.output)))
