"""Traces of a real engine, as a real receiver gets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.observe.spans import Span, SpanBuilder
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE
from tests.support.temp_project import TempProject, temp_project

if TYPE_CHECKING:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan

    from tests.observe.tracing.conftest import TraceReceiver


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path) as made:
        yield made


def surroundings(receiver: TraceReceiver) -> Mapping[str, str]:
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "NO_PROXY": "127.0.0.1",
    }


def ended(project: TempProject) -> list[Span]:
    """What the journal says should have been told."""
    with closing(open_journal_reader(project.place.state / JOURNAL_FILE)) as reader:
        fold = SpanBuilder(reader.id)
        return [span for record in reader.read() for span in fold.add(record)]


def names(spans: list[Span]) -> set[tuple[str, int, int]]:
    return {(span.name, span.trace, span.id) for span in spans}


def sent(receiver: TraceReceiver) -> set[tuple[str, int, int]]:
    def number(data: bytes) -> int:
        return int.from_bytes(data)

    return {(span.name, number(span.trace_id), number(span.span_id)) for span in receiver.spans}


def attributes(span: SentSpan) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value") for each in span.attributes}


def test_a_batch_is_traced_to_its_end(project: TempProject, receiver: TraceReceiver) -> None:
    project.task("a", "echo a > a.txt")
    project.task("b", "exit 3", retries=0)
    answer = project.plait("run", "tasks", "--yes", "--verify", "true", env=surroundings(receiver))
    assert answer.code == 1, answer.output
    project.wait_for_exit()
    assert sent(receiver) == names(ended(project))
    by_name = {span.name: span for span in receiver.spans}
    assert by_name.keys() == {"write", "verify", "task a", "task b", "batch"}
    batch, task = by_name["batch"], by_name["task a"]
    assert batch.parent_span_id == b""
    assert task.parent_span_id == batch.span_id
    assert by_name["verify"].parent_span_id == task.span_id
    assert batch.start_time_unix_nano <= task.start_time_unix_nano <= task.end_time_unix_nano
    failed = next(span for span in receiver.spans if attributes(span).get("process.exit.code") == 3)
    assert attributes(failed)["plait.agent"] == "shell"
    assert (failed.status.code, by_name["task a"].status.code) == (2, 0)
    assert failed.status.message.startswith("task")


def test_a_receiver_that_is_down_gets_the_rest_later(project: TempProject, receiver: TraceReceiver) -> None:
    receiver.status = 503
    project.task("a", "true")
    answer = project.plait("run", "tasks", "--yes", env=surroundings(receiver))
    assert answer.code == 0, answer.output
    project.wait_for_exit()
    assert project.read_engine_log().count("can't send traces") == 1
    missed = names(ended(project))
    assert missed
    assert not receiver.got
    receiver.status = 200
    assert project.plait("run", "tasks", "--yes", "--again", env=surroundings(receiver)).code == 0
    project.wait_for_exit()
    assert sent(receiver) == names(ended(project)) > missed


def test_a_sent_span_is_not_sent_again(project: TempProject, receiver: TraceReceiver) -> None:
    project.task("a", "true")
    for _ in range(2):
        assert project.plait("run", "tasks", "--yes", "--again", env=surroundings(receiver)).code == 0
        project.wait_for_exit()
    assert len(receiver.spans) == len(sent(receiver)) == len(ended(project))


def test_records_from_before_tracing_are_not_sent(project: TempProject, receiver: TraceReceiver) -> None:
    project.task("a", "true")
    assert project.plait("run", "tasks", "--yes").code == 0
    project.wait_for_exit()
    before = names(ended(project))
    assert project.plait("run", "tasks", "--yes", env=surroundings(receiver)).code == 0
    project.wait_for_exit()
    assert sent(receiver) == names(ended(project)) - before


def test_a_receiver_that_never_answers_delays_nothing(project: TempProject, receiver: TraceReceiver) -> None:
    receiver.deaf = True
    project.task("a", "true")
    assert project.plait("run", "tasks", "--yes", env=surroundings(receiver)).code == 0
    project.wait_for_exit()
    assert receiver.asked


def test_without_the_extra_the_log_says_once_what_to_install(project: TempProject, receiver: TraceReceiver) -> None:
    absent = project.folder / "absent" / "opentelemetry"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError('not installed')\n")
    project.task("a", "true")
    project.task("b", "true")
    env = {**surroundings(receiver), **project.python_path(absent.parent)}
    assert project.plait("run", "tasks", "--yes", env=env).code == 0
    project.wait_for_exit()
    assert project.read_engine_log().count("pip install 'plait[otel]'") == 1


def test_only_a_person_can_set_the_receiver(project: TempProject, receiver: TraceReceiver) -> None:
    project.task("a", "true")
    env = {"PLAIT_ENGINE_TRACES": receiver.url, "NO_PROXY": "127.0.0.1"}
    assert project.plait("run", "tasks", "--yes", env=env).code == 0
    project.wait_for_exit()
    assert sent(receiver) == names(ended(project))
    (project.top / "plait.toml").write_text('[engine]\ntraces = "https://evil.example"\n')
    answer = project.plait("run", "tasks", "--yes")
    assert answer.code == 2
    assert "engine.traces is a personal setting" in answer.output


@pytest.mark.parametrize("off", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_opentelemetrys_variables_can_turn_it_off(
    project: TempProject, receiver: TraceReceiver, off: Mapping[str, str]
) -> None:
    project.task("a", "true")
    assert project.plait("run", "tasks", "--yes", env={**surroundings(receiver), **off}).code == 0
    project.wait_for_exit()
    assert receiver.asked == 0


def test_headers_come_from_the_environment_and_are_not_logged(project: TempProject, receiver: TraceReceiver) -> None:
    project.task("a", "true")
    env = {**surroundings(receiver), "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20s3cr3t-value"}
    assert project.plait("run", "tasks", "--yes", env=env).code == 0
    project.wait_for_exit()
    assert {each["authorization"] for each in receiver.headers} == {"Bearer s3cr3t-value"}
    assert "s3cr3t-value" not in project.read_engine_log()
