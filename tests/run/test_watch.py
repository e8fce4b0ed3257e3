"""Following a batch: what a person is told of what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from plait.adapters.trouble import FileTrouble
from plait.cli.run_calls import Calls
from plait.cli.run_watch import Parting, Watch
from plait.cli.say import Page
from plait.front.desk import Desk, Told, open_desk
from plait.front.feed import Feed
from plait.testing.yard import Yard
from plait.wiring import TROUBLE, find_place


class Onlooker:
    """Presses a key that nothing can come of, lets the first task end once that is told, and the second when the screen
    was drawn anew since.
    """

    def __init__(self, desk: Desk, yard: Yard) -> None:
        self._desk, self._yard = desk, yard
        self._keys = ["a"]
        self.before: list[str] = []
        self.after: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def take(self, told: Sequence[Told]) -> None:
        pass

    def refresh(self, notice: str) -> None:
        (batch,) = self._desk.state.batches.values()
        if batch.unsettled == len(batch.tasks):
            self.before += [notice] if notice else []
            self._let("first", on=bool(self.before))
        else:
            self.after.append(notice)
            self._let("second", on=True)

    def _let(self, name: str, *, on: bool) -> None:
        if on:
            (self._yard.top.parent / name).touch()

    def pressed(self) -> list[str]:
        keys, self._keys = self._keys, []
        return keys

    def leave(self, page: Page | None) -> None:
        pass


def test_a_refusal_is_shown_no_longer_than_what_it_was_about_lasts(yard: Yard) -> None:
    yard.task("01-walls", "until [ -e ../first ]; do sleep 0.02; done")
    yard.task("02-roof", "until [ -e ../second ]; do sleep 0.02; done", needs="[01-walls]")
    assert yard.plait("run", "--yes", "--detach").code == 0
    with open_desk(find_place(yard.top), Feed()) as desk:
        show = Onlooker(desk, yard)
        batch = yard.batch().id
        assert Watch(desk, batch, show, Calls(), someone=True).follow() is Parting.ENDED
    assert set(show.before) == {f"batch {batch} needs no approval"}
    assert set(show.after) == {""}


class Worried(Onlooker):
    """Presses the key as soon as it is told of something, and lets the task end when it has been told again."""

    def refresh(self, notice: str) -> None:
        self.before += [notice] if notice else []
        self._let("first", on=len(self.before) > 2)

    def pressed(self) -> list[str]:
        return super().pressed() if self.before else []


def test_what_hinders_the_engine_is_shown_as_long_as_it_does_whatever_is_pressed(yard: Yard) -> None:
    yard.task("01-walls", "until [ -e ../first ]; do sleep 0.02; done")
    assert yard.plait("run", "--yes", "--detach").code == 0
    place = find_place(yard.top)
    FileTrouble(place.state / TROUBLE).tell("it rains")
    with open_desk(place, Feed()) as desk:
        show = Worried(desk, yard)
        assert Watch(desk, yard.batch().id, show, Calls(), someone=True).follow() is Parting.ENDED
    assert set(show.before) == {"the engine can't go on: it rains"}
