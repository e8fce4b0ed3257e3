"""A display at work in a process of its own, for tests that look at it through a terminal. Run with the plait's python.

actor.py FOLDER     reads keys: x raises an error, q ends with a page, s ends and leaves the frame
"""

from __future__ import annotations

import fcntl
import sys
import termios
import time
from pathlib import Path

from plait.cli.live.display import Display
from plait.cli.live.screen import KeyReader
from plait.cli.output import Page, make_console
from plait.client.event_stream import EventStream
from plait.client.logs.activity import ActivityTracker
from plait.core.settings import Isolation, Settings
from plait.core.task import Task
from plait.system.state_paths import StateFolder
from plait.testing.script import BATCH, Script


def main() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    script = Script(Task("01-first", title="The first"), "02-second", settings=Settings(isolation=Isolation.IN_PLACE))
    feed = EventStream()
    for record in script.records:
        feed.replay(record)
    keys = KeyReader(sys.stdin)
    assert keys.is_available
    display = Display(make_console(), feed, BATCH, ActivityTracker(StateFolder(Path(sys.argv[1]))))
    with display:
        while True:
            display.refresh()
            for key in display.read_keys():
                if key == "a":
                    raise RuntimeError("an error inside")
                if key == "q":
                    page = Page()
                    page.add_line("the last page")
                    display.finish(page)
                    return
                if key == "d":
                    return
            time.sleep(0.02)


main()
