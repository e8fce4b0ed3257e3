"""Submit a batch, follow it, and report how following ended."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from signal import SIGPIPE
from typing import assert_never

from plait.agents.interface import AgentSpec
from plait.cli.commands.run_options import RunOptions, describe_run
from plait.cli.error_handling import describe_os_error
from plait.cli.live.follower import BatchFollower, FollowResult
from plait.cli.live.renderers import JsonRenderer, LineRenderer, Renderer
from plait.cli.live.signals import SignalCounter
from plait.cli.live.summary import get_batch_exit_code, make_summary
from plait.cli.output import (
    FAILED,
    INTERRUPTED,
    NEEDS_PERSON,
    OK,
    Page,
    find_terminal,
    print_json,
    print_line,
    print_notice,
    print_problems,
)
from plait.cli.prompts import is_interactive
from plait.client.contest_results import list_contests, make_contest_event as contest_event
from plait.client.event_stream import EventStream
from plait.client.model_jobs import list_model_jobs, make_jobs_event
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission import submit_plan
from plait.client.session import Session
from plait.client.stream_event import format_json_line
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.views import BatchView, make_batch_view
from plait.store.project_files import open_state_paths


@dataclass(frozen=True, slots=True)
class FollowedBatch:
    """`agents` are those whose output is parsed; `bell` is the setting."""

    batch: str
    headline: str
    agents: tuple[AgentSpec, ...] = ()
    bell: bool = True


def submit_and_follow(
    options: RunOptions, desk: Session, found: PlanPreview, plan: Plan, agents: tuple[AgentSpec, ...]
) -> int:
    # From here on Ctrl+C stops the batch, even before it is submitted.
    with SignalCounter() as signals:
        batch = submit_plan(desk, found, plan, agents, print_problems)
        if options.detach:
            return report_detached(options, batch)
        headline = f"batch {batch} · {describe_run(found, plan)}"
        bell = found.survey.config.notify.bell
        return follow_batch(options, desk, FollowedBatch(batch, headline, agents, bell), signals)


def report_detached(options: RunOptions, batch: str) -> int:
    if options.as_json:
        print_json({"batchId": batch})
        return OK
    page = Page()
    page.add_line(f"Batch {batch} runs in the background.")
    page.add_line((f"  plait status {batch}   how far it is", "dim"))
    page.add_line((f"  {_format_resume_command(options)}   watch it", "dim"))
    page.show()
    return OK


def follow_batch(options: RunOptions, desk: Session, followed: FollowedBatch, signals: SignalCounter) -> int:
    """Follow the batch to its end and return the exit code."""
    if not options.web:
        return _follow_to_end(options, desk, followed, signals)
    from plait.cli.sidecar import run_sidecar  # only for --web

    with run_sidecar(desk.place.top, as_json=options.as_json):
        return _follow_to_end(options, desk, followed, signals)


def _follow_to_end(options: RunOptions, desk: Session, followed: FollowedBatch, signals: SignalCounter) -> int:
    feed, batch = desk.event_stream, followed.batch
    try:
        if not options.as_json:
            print_line(followed.headline)
        with _make_renderer(options, desk, followed, feed) as renderer:
            interactive = is_interactive() and not options.as_json
            bell = followed.bell and not options.as_json
            result = BatchFollower(desk, batch, renderer, signals, interactive=interactive, bell=bell).follow()
            view = make_batch_view(desk.state, desk.state.batches[batch])
            now = time.time()
            jobs = list_model_jobs(open_state_paths(desk.place), view)
            contests = list_contests(open_state_paths(desk.place), desk.state.batches[batch])
            page = make_summary(
                view,
                now=now,
                agent_seconds=feed.sum_agent_seconds(batch, now),
                name=batch,
                jobs=jobs,
                contests=contests,
            )
            if options.directory != Path():
                page.add_line((f"  from another directory: plait -C {shlex.quote(str(options.directory))}", "dim"))
            renderer.finish(None if result is FollowResult.DETACHED else page)
            if options.as_json and result is not FollowResult.DETACHED:
                events = [make_jobs_event(jobs, batch, now)] if jobs else []
                events += [contest_event(contest, batch, now) for contest in contests]
                sys.stdout.writelines(f"{format_json_line(each)}\n" for each in events)
    except OSError as error:
        return _report_lost_output(options, batch, error)
    if result is FollowResult.NEEDS_PERSON and options.as_json:
        page.show(stderr=True)
    return _report_result(options, result, view, signals)


def _make_renderer(options: RunOptions, desk: Session, followed: FollowedBatch, feed: EventStream) -> Renderer:
    batch = followed.batch
    out = None if options.as_json else find_terminal()
    if not options.as_json and (out is None or out.is_dumb_terminal):
        return LineRenderer(batch, [task.task.id for task in desk.state.batches[batch].tasks])
    from plait.client.logs.activity import ActivityTracker, LogStream, make_parser_factory  # lines show only records
    from plait.store.batch_inputs import BatchInputs

    folder = open_state_paths(desk.place)
    listen = make_parser_factory(BatchInputs(str(desk.place.top), (), followed.agents))
    if out is None:
        return JsonRenderer(feed, batch, LogStream(folder, listen))
    from plait.cli.live.display import Display  # only for terminals

    return Display(out, feed, batch, activities=ActivityTracker(folder, listen))


def _report_result(options: RunOptions, result: FollowResult, view: BatchView, signals: SignalCounter) -> int:
    """Print what the summary doesn't say, and return the exit code."""
    match result:
        case FollowResult.ENDED:
            return get_batch_exit_code(view)
        case FollowResult.STOPPED:
            print_notice(f"Stopped. Resume it: {_format_resume_command(options)}")
            return INTERRUPTED
        case FollowResult.NEEDS_PERSON:
            return NEEDS_PERSON
        case FollowResult.DETACHED:
            print_notice(f"Batch {view.id} continues in the background. Watch it: {_format_resume_command(options)}")
            return OK if signals.exit_signal is None else 128 + signals.exit_signal
        case _:
            assert_never(result)


def _format_resume_command(options: RunOptions) -> str:
    where = [] if options.directory == Path() else ["-C", str(options.directory)]
    return shlex.join(["plait", *where, "run", *options.source_names, "--resume"])


def _report_lost_output(options: RunOptions, batch: str, error: OSError) -> int:
    """The output can't be written or its reader is gone. The batch continues, but the exit code is not 0."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        print_notice(f"plait: {describe_os_error(error)}")
    print_notice(f"Batch {batch} continues in the background. Watch it: {_format_resume_command(options)}")
    return 128 + SIGPIPE if isinstance(error, BrokenPipeError) else FAILED
