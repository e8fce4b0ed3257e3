"""A batch under way: submitted, shown, and what is said when this front leaves it."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from signal import SIGPIPE
from typing import assert_never

from plait.agents.model import AgentSpec
from plait.cli.run_ask import on_terminal, terms
from plait.cli.run_calls import Calls
from plait.cli.run_options import RunOptions
from plait.cli.run_show import AsJson, AsLines, Show, tell
from plait.cli.run_watch import Parting, Watch
from plait.cli.say import (
    ASKS,
    FAILED,
    INTERRUPTED,
    OK,
    Page,
    of_system,
    tell_problems,
    terminal,
    write_json,
)
from plait.cli.summary import exit_code, summary
from plait.core.frozen import dataclass
from plait.core.plan import Plan
from plait.core.views import BatchView, batch_view
from plait.front.contests import contests_of, event as contest_event
from plait.front.desk import Desk
from plait.front.event import line
from plait.front.feed import Feed
from plait.front.jobs import event, jobs_of
from plait.front.planning.outlook import Outlook
from plait.front.planning.submitting import submit
from plait.wiring import state_folder


@dataclass(frozen=True, slots=True)
class Followed:
    """A batch. `agents` are those whose words have to be known to be understood; `bell` is as the settings say."""

    batch: str
    headline: str
    agents: tuple[AgentSpec, ...] = ()
    bell: bool = True


def run_and_follow(
    options: RunOptions, desk: Desk, found: Outlook, plan: Plan, agents: tuple[AgentSpec, ...]
) -> int:
    # From here on Ctrl+C is a request about a batch, even before there is one.
    with Calls() as calls:
        batch = submit(desk, found, plan, agents, tell_problems)
        if options.detach:
            return detached(options, batch)
        headline = f"batch {batch} · {terms(found, plan)}"
        bell = found.seen.config.notify.bell
        return follow(options, desk, Followed(batch, headline, agents, bell), calls)


def detached(options: RunOptions, batch: str) -> int:
    if options.as_json:
        write_json({"batchId": batch})
        return OK
    page = Page()
    page.line(f"Batch {batch} runs in the background.")
    page.line((f"  plait status {batch}   how far it is", "dim"))
    page.line((f"  {_resume(options)}   watch it", "dim"))
    page.show()
    return OK


def follow(options: RunOptions, desk: Desk, followed: Followed, calls: Calls) -> int:
    """Show what happens until this front is not needed any more; the exit code."""
    if not options.web:
        return _follow(options, desk, followed, calls)
    from plait.cli.run_web import page_beside  # noqa: PLC0415 - only for those who want the page

    with page_beside(desk.place.top, as_json=options.as_json):
        return _follow(options, desk, followed, calls)


def _follow(options: RunOptions, desk: Desk, followed: Followed, calls: Calls) -> int:
    feed, batch = desk.feed, followed.batch
    try:
        if not options.as_json:
            _say(followed.headline)
        with _show(options, desk, followed, feed) as show:
            someone = on_terminal() and not options.as_json
            bell = followed.bell and not options.as_json
            parting = Watch(desk, batch, show, calls, someone=someone, bell=bell).follow()
            view = batch_view(desk.state, desk.state.batches[batch])
            now = time.time()
            jobs = jobs_of(state_folder(desk.place), view)
            contests = contests_of(state_folder(desk.place), desk.state.batches[batch])
            page = summary(
                view, now=now, worked=feed.worked(batch, now), name=batch, jobs=jobs, contests=contests
            )
            if options.where != Path():
                page.line((f"  from elsewhere, plait is: plait -C {shlex.quote(str(options.where))}", "dim"))
            show.leave(None if parting is Parting.DETACHED else page)
            if options.as_json and parting is not Parting.DETACHED:
                told = [event(jobs, batch, now)] if jobs else []
                told += [contest_event(contest, batch, now) for contest in contests]
                sys.stdout.writelines(f"{line(each)}\n" for each in told)
    except OSError as error:
        return _unheard(options, batch, error)
    if parting is Parting.WAITS and options.as_json:
        page.show(stderr=True)
    return _leave(options, parting, view, calls)


def _show(options: RunOptions, desk: Desk, followed: Followed, feed: Feed) -> Show:
    batch = followed.batch
    out = None if options.as_json else terminal()
    if not options.as_json and (out is None or out.is_dumb_terminal):
        return AsLines(batch, [task.task.id for task in desk.state.batches[batch].tasks])
    from plait.front.activity import Activities, Logs, listening  # noqa: PLC0415 - lines tell only of records
    from plait.kit import Kit  # noqa: PLC0415

    folder = state_folder(desk.place)
    listen = listening(Kit(str(desk.place.top), (), followed.agents))
    if options.as_json:
        return AsJson(feed, batch, Logs(folder, listen))
    from plait.cli.run_screen import OnScreen  # noqa: PLC0415 - only for terminals

    return OnScreen(feed, batch, Activities(folder, listen))


def _leave(options: RunOptions, parting: Parting, view: BatchView, calls: Calls) -> int:
    """What the summary does not say, and the exit code."""
    match parting:
        case Parting.ENDED:
            return exit_code(view)
        case Parting.STOPPED:
            tell(f"Stopped. Go on with it: {_resume(options)}")
            return INTERRUPTED
        case Parting.WAITS:
            return ASKS
        case Parting.DETACHED:
            tell(f"Batch {view.id} goes on in the background. Watch it again: {_resume(options)}")
            return OK if calls.leave is None else 128 + calls.leave
        case _:
            assert_never(parting)


def _resume(options: RunOptions) -> str:
    where = [] if options.where == Path() else ["-C", str(options.where)]
    return shlex.join(["plait", *where, "run", *options.named, "--resume"])


def _unheard(options: RunOptions, batch: str, error: OSError) -> int:
    """The output can't be written, or whoever read it is gone: the batch is not, and this is no success."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        tell(f"plait: {of_system(error)}")
    tell(f"Batch {batch} goes on in the background. Watch it: {_resume(options)}")
    return 128 + SIGPIPE if isinstance(error, BrokenPipeError) else FAILED


def _say(text: str) -> None:
    page = Page()
    page.line(text)
    page.show()
    sys.stdout.flush()
