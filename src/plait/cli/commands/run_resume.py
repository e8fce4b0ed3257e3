"""`plait run --resume`: resume the newest unfinished batch of these sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from shlex import quote
from typing import TYPE_CHECKING

from plait.agents.interface import AgentSpec
from plait.cli.commands.run_follow import FollowedBatch, follow_batch, load_agents, report_detached, wait_until_taken
from plait.cli.format import pluralize
from plait.cli.live.signals import SignalCounter, force_quit
from plait.cli.output import (
    FAILED,
    NEEDS_PERSON,
    OK,
    is_interactive,
    print_json,
    print_line,
    print_notice,
    print_problems,
)
from plait.client.batch_refresh import require_programs, save_flags
from plait.client.planning.agent_assignment import check_budgets
from plait.client.planning.plan_preview import measure_agent_capacity
from plait.client.planning.submission import find_newest_batch, find_open_batch, make_limit_request
from plait.client.project_sources import LoadedSources
from plait.client.session import UNANSWERED_MESSAGE, Session, new_request_id
from plait.client.task_actions import list_retryable
from plait.config.config import Config, Layer
from plait.config.keys import list_table_keys
from plait.core.errors import UserError
from plait.core.requests import ChangeSettings, Request, Resume
from plait.core.settings import Settings
from plait.core.state import BatchState, State
from plait.core.views import find_batch_status
from plait.sources.source_model import SourceStatus
from plait.store.project_files import load_batch_inputs

if TYPE_CHECKING:
    from plait.cli.commands.run_batch import RunOptions

_BUDGET_FIELDS = frozenset({"budget", "task_budget"})


def has_orphaned_tasks(loaded: LoadedSources, session: Session) -> bool:
    """Whether tasks of these sources were started, but no unfinished batch has them."""
    started = any(entry.status is SourceStatus.STUCK for entry in loaded.source_set.entries)
    return started and find_open_batch(session.preview_state(), loaded.source_set) is None


def resume_batch(options: RunOptions, loaded: LoadedSources, session: Session) -> int:
    batch = find_open_batch(session.preview_state(), loaded.source_set)
    if batch is None:
        return _report_nothing_to_resume(options, find_newest_batch(session.state.batches.values(), loaded.source_set))
    if options.dry_run:
        return _print_dry_run(options, batch)
    try:
        with SignalCounter() as signals:
            return _resume_and_follow(options, loaded, session, batch.id, signals)
    except KeyboardInterrupt:
        return force_quit(session, session.state.batches.get(batch.id))


def _resume_and_follow(
    options: RunOptions, loaded: LoadedSources, session: Session, name: str, signals: SignalCounter
) -> int:
    batch = wait_until_taken(session, name)
    session.subscribe()
    requests = list(_make_requests(loaded.config, session.state, batch))
    if options.detach and not requests:
        # An engine that was just killed may hold its lock a little longer. One that answers is alive.
        requests = [ChangeSettings(new_request_id(), batch.id, batch.settings, ())]
    _check_budgets(batch, requests, load_agents(session, batch.id))
    code = _check_commands(options, session, loaded.config, batch, requests)
    if code is not None:
        return code
    answers = session.send_all(requests)
    refused = [answer.why for answer in answers if answer.why]
    if refused:
        print_notice(f"Batch {batch.id} can't be resumed: {'; '.join(refused)}.")
        return NEEDS_PERSON
    save_flags(session.location, batch.id, loaded.flags)
    if any(answer.granted is None for answer in answers):
        print_notice(f"Batch {batch.id}: {UNANSWERED_MESSAGE}")
        return FAILED
    if options.detach:
        return report_detached(options, batch.id)
    headline = f"batch {batch.id} · {batch.unfinished_count} of {len(batch.tasks)} tasks left"
    followed = FollowedBatch(batch.id, headline, load_agents(session, batch.id), loaded.config.notify.bell)
    return follow_batch(options, session, followed, signals)


def _report_nothing_to_resume(options: RunOptions, last: BatchState | None) -> int:
    """Report that nothing can be resumed; failed tasks of a batch that ended can only be retried."""
    failed = list_retryable(last) if last is not None else ()
    if options.as_json:
        print_json({"batchId": None, "retryBatchId": last.id if last is not None and failed else None})
    elif last is None or not failed:
        print_line("No batch of these sources is unfinished: there is nothing to resume.")
    else:
        count = pluralize(len(failed), "task")
        print_line(f"No batch of these sources is unfinished, but {count} of batch {last.id} can be retried:")
        print_line(f"  plait retry {quote(last.id)}")
    return OK


def _print_dry_run(options: RunOptions, batch: BatchState) -> int:
    if options.as_json:
        print_json({"batchId": batch.id})
    else:
        print_line(f"Would resume batch {batch.id}: {find_batch_status(batch)[1]}.")
    return OK


def _make_requests(config: Config, state: State, batch: BatchState) -> Iterator[Request]:
    """Make requests that apply the given flags; other settings stay as submitted."""
    setting_names = {field.name for field in fields(Settings)}
    given = [key.field for key in list_table_keys("run") if config.origins[key.name].layer is Layer.FLAG]
    changed = tuple(name for name in given if name in setting_names)
    if changed:
        settings = config.batch_settings(tasks=len(batch.tasks), cores=measure_agent_capacity())
        if "max_parallel" in changed:
            limit_request = make_limit_request(config, state, settings.max_parallel, batch=batch.id)
            if limit_request is not None:
                yield limit_request
        yield ChangeSettings(new_request_id(), batch.id, settings, changed)
    if batch.paused is not None:
        yield Resume(new_request_id(), batch.id)


def _check_commands(
    options: RunOptions, session: Session, config: Config, batch: BatchState, requests: Iterable[Request]
) -> int | None:
    """Check new commands as before a run. Return None if the batch may be resumed, else the exit code."""
    changes = [request for request in requests if isinstance(request, ChangeSettings)]
    if not any({"verify", "gate"}.intersection(change.fields) for change in changes):
        return None
    settings = batch.settings
    for change in changes:
        settings = settings.with_fields(change.settings, change.fields)
    print_problems(require_programs(config, settings, ()))
    from plait.cli.commands.run_preflight import check_base  # loads the engine's parts
    from plait.client.preflight import plan_batch_preflight

    inputs = load_batch_inputs(session.location, batch.id)
    preflight = plan_batch_preflight(session.location, config, settings, batch, inputs)
    interactive = is_interactive() and not options.as_json and not options.yes
    return check_base(preflight, interactive=interactive, as_json=options.as_json) if preflight else None


def _check_budgets(batch: BatchState, requests: Iterable[Request], agents: Sequence[AgentSpec]) -> None:
    """Raise UserError for a new budget that these agents can't keep."""
    for request in requests:
        if isinstance(request, ChangeSettings) and not _BUDGET_FIELDS.isdisjoint(request.fields):
            settings = batch.settings.with_fields(request.settings, request.fields)
            for problem in check_budgets(settings, [task.task for task in batch.tasks], agents):
                raise UserError(problem.message, hint=problem.hint)
