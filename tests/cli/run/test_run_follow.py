"""Following a batch: the notices that are shown, and for how long."""

from __future__ import annotations

from plait.cli.commands.run_follow import BatchFollower, FollowResult
from plait.cli.live.renderers import Renderer
from plait.cli.live.signals import SignalCounter
from plait.client.event_stream import EventStream
from plait.client.session import Session, open_session
from plait.engine.daemon import HEALTH_FILE, HealthFile
from plait.git.location import find_repo
from tests.support.temp_project import TempProject


class ScriptedRenderer(Renderer):
    """Presses a key that is refused, ends the first task once the refusal is shown, and the second after the next refresh."""

    def __init__(self, session: Session, project: TempProject) -> None:
        super().__init__()
        self._session, self._project = session, project
        self._keys = ["a"]
        self.before: list[str] = []
        self.after: list[str] = []

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


def test_a_refusal_is_shown_until_its_cause_changes(project: TempProject) -> None:
    project.task("01-walls", "until [ -e ../first ]; do sleep 0.02; done")
    project.task("02-roof", "until [ -e ../second ]; do sleep 0.02; done", needs="[01-walls]")
    assert project.plait("run", "--yes", "--detach").code == 0
    with open_session(find_repo(project.top), EventStream()) as session:
        show = ScriptedRenderer(session, project)
        batch = project.batch().id
        assert BatchFollower(session, batch, show, SignalCounter(), interactive=True).follow() is FollowResult.ENDED
    assert set(show.before) == {f"batch {batch} needs no approval"}
    assert set(show.after) == {""}


class RepeatingRenderer(ScriptedRenderer):
    """Presses the key once a notice is shown, and ends the task when it was shown again."""

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
        show = RepeatingRenderer(session, project)
        assert (
            BatchFollower(session, project.batch().id, show, SignalCounter(), interactive=True).follow()
            is FollowResult.ENDED
        )
    assert set(show.before) == {"the engine is stuck: it rains"}
