"""Run the demonstration. On a terminal a frame is kept up to date; elsewhere there is a line per change."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live

from plait.adapters.sqlite import open_writer
from plait.core.drive import decide, take
from plait.core.events import Record
from plait.core.evolve import evolve
from plait.core.probe import outstanding
from plait.core.reports import EngineTaken, Report
from plait.core.requests import Request, Submit
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.core.task import Step
from plait.core.views import batch_view
from plait.ports import Journal
from plait.testing.demo.plan import PARTS, SETTINGS, demo_plan
from plait.testing.demo.screen import changes, frame, summary
from plait.testing.demo.world import DemoWorld

BATCH = "7f3a"
BEGIN = 1_800_000_000.0
PER_SECOND = 300.0  # simulated seconds in one of yours
FRAMES = 12  # per second
CRASH_AT = 45  # records: in the middle of things


class Engine:
    """The loop of the real engine in small: append, then perform. It can be killed between any two records."""

    def __init__(self, journal: Journal, world: DemoWorld) -> None:
        self.state, self._journal, self._world = State(), journal, world
        for record in journal.read():
            evolve(self.state, record)

    def take_over(self, now: float) -> float | None:
        wake = self.step([EngineTaken(pid=1)], now)
        for decision in outstanding(self.state):
            self._world.perform(decision, now)
        return wake

    def step(self, incoming: list[Request | Report], now: float) -> float | None:
        records = take(self.state, incoming, now)
        decided, wake = decide(self.state, now)
        self._journal.append([*records, *decided])
        for record in decided:
            self._perform(record, now)
        return wake

    def _perform(self, record: Record, now: float) -> None:
        self._world.perform(record.event, now)  # type: ignore[arg-type]  # decide gives decisions only


class Show:
    """The clock of the demonstration: simulated time runs fast, and waits for the screen on a terminal."""

    def __init__(self, console: Console, journal: Journal) -> None:
        self.console, self.journal, self.world = console, journal, DemoWorld()
        self.now = BEGIN
        self.engine = Engine(journal, self.world)
        self.crashed = False
        self.live: Live | None = None
        self.seen: dict[str, TaskStatus] = {}

    def run(self) -> None:
        plan = demo_plan()
        submit = Submit(
            "r1", BATCH, plan.brief(), SETTINGS, base="main", branch=f"plait/batch-{BATCH}", seed=7
        )
        self.engine.take_over(self.now)
        wake = self.engine.step([submit], self.now)
        self._show()
        while self.engine.state.batches[BATCH].ended is None:
            moments = [moment for moment in (wake, self.world.next_at()) if moment is not None]
            self._pass_time(min(moments))
            wake = self.engine.step([*self.world.reports(self.now)], self.now)
            self._show()
            if not self.crashed and self.engine.state.seq > CRASH_AT:
                wake = self._crash()

    def _crash(self) -> float | None:
        """Forget everything that was in memory; what is in the journal and in the world is all there is."""
        self.crashed = True
        self._say(
            f"The engine is killed after record {self.engine.state.seq}; another one replays the journal and goes on."
        )
        self.engine = Engine(self.journal, self.world)
        return self.engine.take_over(self.now)

    def _pass_time(self, until: float) -> None:
        while self.live is not None and self.now + PER_SECOND / FRAMES < until:
            self.now += PER_SECOND / FRAMES
            self._show()
            time.sleep(1 / FRAMES)
        self.now = max(self.now, until)

    def _show(self) -> None:
        state = self.engine.state
        if self.live is not None:
            self.live.update(frame(state, BATCH, self.now), refresh=True)
            return
        for line in changes(self.seen, batch_view(state, state.batches[BATCH]), BEGIN, self.now):
            self.console.print(line, highlight=False, soft_wrap=True)

    def _say(self, words: str) -> None:
        printer = self.live.console if self.live is not None else self.console
        printer.print(words, style="bold", highlight=False, soft_wrap=self.live is None)


def main() -> None:
    console = Console()
    console.print(
        "A simulated batch: the agents and git are pretended; the core, the journal and the crash are real.\n"
        "Five minutes pass in a second.\n",
        highlight=False,
        soft_wrap=not console.is_terminal,
    )
    with tempfile.TemporaryDirectory(prefix="plait-demo-") as folder:
        journal = open_writer(Path(folder) / "journal.db")
        try:
            show = Show(console, journal)
            if console.is_terminal:
                with Live(console=console, auto_refresh=False, transient=False) as live:
                    show.live = live
                    show.run()
                    live.refresh()
            else:
                show.run()
        finally:
            journal.close()
        state = show.engine.state
        console.print()
        console.print(summary(batch_view(state, state.batches[BATCH]), _sequential(state)))
    console.print(
        "\nTry next: make sim (the same core in a storm), make mutants, make bench.", highlight=False
    )


def _sequential(state: State) -> float:
    """What the same attempts would have taken one after another."""
    tasks = state.batches[BATCH].tasks
    writes = sum(
        PARTS[t.task.id][min(n, len(PARTS[t.task.id])) - 1].minutes
        for t in tasks
        for n in range(1, t.numbers.get(Step.WRITE, 0) + 1)
    )
    return writes * 60.0


if __name__ == "__main__":
    main()
