"""The line of merges, as it is made: changes onto the batch branch, the branch anew, and the branch to its remote.

What is done about one batch is done in order. The branch is touched by nobody else, so a merge that was interrupted is
found done or not done, and never half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from plait.core.decisions import AttemptStarted, MergeStarted, PublishStarted, RebuildStarted
from plait.core.errors import PlaitError, in_words
from plait.core.reports import (
    AttemptLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
    Report,
)
from plait.core.settings import WriteBack
from plait.core.state import State
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, batch_view
from plait.engine import log
from plait.engine.hands import Hands
from plait.engine.launch import Launcher
from plait.engine.words import Edit, merge_words
from plait.ports import ChangeGoneError, Integrator, Publisher
from plait.site.folder import StateFolder, put


class Line:
    """`state` is read only; nothing of it is kept by a thread."""

    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        integrator: Callable[[], Integrator],
        publisher: Callable[[], Publisher],
        hands: Hands,
        state: State,
        launcher: Launcher,
        folder: StateFolder,
        news: Callable[[Report], None],
    ) -> None:
        self._make_integrator = integrator
        self._make_publisher = publisher
        self._hands = hands
        self._state = state
        self._kits = launcher.kit
        self._environment = launcher.environment
        self._folder = folder
        self._news = news

    @cached_property
    def integrator(self) -> Integrator:
        return self._make_integrator()

    @cached_property
    def publisher(self) -> Publisher:
        return self._make_publisher()

    def merge(self, order: MergeStarted) -> None:
        edit = self._edit(order.batch, order.task)
        self._give(
            order.batch,
            lambda: self._merged(order, edit),
            lambda error: _not_merged(order, error),
        )

    def rebuild(self, order: RebuildStarted) -> None:
        base = self._state.batches[order.batch].base
        edits = {change.task: self._edit(order.batch, change.task) for change in order.line}
        self._give(
            order.batch,
            lambda: self._rebuilt(order, base, edits),
            lambda error: [RebuildFailed(order.batch, order.n, _advice(error))],
        )

    def publish(self, order: PublishStarted) -> None:
        view = batch_view(self._state, self._state.batches[order.batch])
        self._give(
            order.batch,
            lambda: self._published(order, view),
            lambda error: [
                PublishFailed(
                    order.batch, order.n, in_words(error), error.hint if isinstance(error, PlaitError) else ""
                )
            ],
        )

    def tell_conflict(self, order: AttemptStarted) -> None:
        """Both sides, in a file, for the attempt that is to repair it. Called by whoever prepares its workspace."""
        name, change = order.attempt, order.repairs
        if change is not None:
            clash = MergeStarted(name.batch, name.task, name.n, change.base, change.tip, order.base)
            blending = self._kits(name.batch).gear.blending
            try:
                put(self._folder.conflict(name.batch, name.task), self.integrator.conflict(clash, blending))
            except (PlaitError, OSError) as error:  # it is advice, and the attempt can do without
                log.say(f"warning: {name} is not told what it conflicts with: {in_words(error)}")

    def _give(
        self, batch: str, errand: Callable[[], Report], failed: Callable[[Exception], Sequence[Report]]
    ) -> None:
        def sorry(error: Exception) -> None:
            log.say(f"warning: batch {batch}: {in_words(error)}")
            if not isinstance(error, PlaitError):
                log.say_trace(error)
            for report in failed(error):
                self._news(report)

        self._hands.give(("line", batch), errand, self._news, sorry)

    def _merged(self, order: MergeStarted, edit: Edit | None) -> MergeDone | MergeConflicted:
        kit = self._kits(order.batch)
        words = merge_words(kit, order.batch, order.task, order.n, edit)
        return self.integrator.merge(order, words, kit.gear.blending)

    def _rebuilt(self, order: RebuildStarted, base: str, edits: Mapping[str, Edit | None]) -> RebuildDone:
        kit = self._kits(order.batch)
        words = {task: merge_words(kit, order.batch, task, 0, edit) for task, edit in edits.items()}
        return self.integrator.rebuild(order, base, words, kit.gear.blending)

    def _published(self, order: PublishStarted, view: BatchView) -> PublishDone | PublishFailed:
        return self.publisher.publish(order, view, self._kits(order.batch), self._environment(order.batch))

    def _edit(self, batch: str, task: str) -> Edit | None:
        known = self._state.batches[batch]
        wanted = known.settings.write_back in {WriteBack.BRANCH, WriteBack.BOTH}
        if not wanted:
            return None
        from plait.engine.marks import marking  # noqa: PLC0415 - few batches write statuses to their branch

        return marking(known, task)


def _not_merged(order: MergeStarted, error: Exception) -> Sequence[Report]:
    failed = MergeFailed(order.batch, order.task, order.n, _advice(error))
    if not isinstance(error, ChangeGoneError):
        return [failed]
    name = Attempt(order.batch, order.task, Step.MERGE, order.n)
    return [replace(failed, why=error.message), AttemptLost(name, error.message)]


def _advice(error: Exception) -> str:
    """With the way out, which is for whoever reads why it did not go on."""
    hint = error.hint if isinstance(error, PlaitError) else ""
    return f"{in_words(error)}. {hint}" if hint else in_words(error)
