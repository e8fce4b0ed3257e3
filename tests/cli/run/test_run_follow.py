"""Following a batch: what a person is told of what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from plait.cli.commands.run_follow import BatchFollower, FollowResult
from plait.cli.live.signals import SignalCounter
from plait.cli.output import Page
from plait.client.event_stream import EventStream
from plait.client.session import RecordEvents, Session, open_session
from plait.engine.daemon import HEALTH_FILE, HealthFile
from plait.git.location import find_repo
from tests.support.temp_project import TempProject


class Onlooker:
    """Presses a key that nothing can come of, lets the first task end once that is told, and the second when the screen
    was drawn anew since.
    """

    def __init__(self, session: Session, project: TempProject) -> None:
        self._session, self._project = session, project
        self._keys = ["a"]
        self.before: list[str] = []
        self.after: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        pass

    def refresh(self, notice: str) -> None:
        (batch,) = self._session.state.batches.values()
        if batch.unfinished_count == len(batch.tasks):
            self.before += [notice] if notice else []
            self._let("first", on=bool(self.before))
        else:
            self.after.append(notice)
            self._let("second", on=True)

    def _let(self, name: str, *, on: bool) -> None:
        if on:
            (self._project.top.parent / name).touch()

    def read_keys(self) -> list[str]:
        keys, self._keys = self._keys, []
        return keys

    def finish(self, page: Page | None) -> None:
        pass


def test_a_refusal_is_shown_until_its_cause_changes(project: TempProject) -> None:
    project.task("01-walls", "until [ -e ../first ]; do sleep 0.02; done")
    project.task("02-roof", "until [ -e ../second ]; do sleep 0.02; done", needs="[01-walls]")
    assert project.plait("run", "--yes", "--detach").code == 0
    with open_session(find_repo(project.top), EventStream()) as session:
        show = Onlooker(session, project)
        batch = project.batch().id
        assert BatchFollower(session, batch, show, SignalCounter(), interactive=True).follow() is FollowResult.ENDED
    assert set(show.before) == {f"batch {batch} needs no approval"}
    assert set(show.after) == {""}


class Worried(Onlooker):
    """Presses the key as soon as it is told of something, and lets the task end when it has been told again."""

    def refresh(self, notice: str) -> None:
        self.before += [notice] if notice else []
        self._let("first", on=len(self.before) > 2)

    def read_keys(self) -> list[str]:
        return super().read_keys() if self.before else []


def test_an_engine_problem_is_shown_as_long_as_it_lasts(project: TempProject) -> None:
    project.task("01-walls", "until [ -e ../first ]; do sleep 0.02; done")
    assert project.plait("run", "--yes", "--detach").code == 0
    place = find_repo(project.top)
    HealthFile(place.state / HEALTH_FILE).write("it rains")
    with open_session(place, EventStream()) as session:
        show = Worried(session, project)
        assert (
            BatchFollower(session, project.batch().id, show, SignalCounter(), interactive=True).follow()
            is FollowResult.ENDED
        )
    assert set(show.before) == {"the engine is stuck: it rains"}
