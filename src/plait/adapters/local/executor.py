"""LocalExecutor: attempts as processes of this machine, each in a session of its own, under a warden."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import assert_never

from plait.adapters.local import verdict
from plait.adapters.local.census import Census, Live
from plait.adapters.local.ending import Endings, Graces, Stage
from plait.adapters.local.scoping import Scoping
from plait.adapters.local.vigil import Vigil
from plait.core.errors import WorldError
from plait.core.task import Attempt
from plait.ports import Exited, Found, Gone, Job, Reactor, Running, Timer, Witness
from plait.site import claim, processes, scope, transcript, warden
from plait.site.folder import StateFolder
from plait.site.launch import CLAIMED, launch, make
from plait.site.marker import marker, prefix
from plait.site.tree import Root
from plait.site.warden import Warden

SWEEP = 2.0  # seconds from an attempt's end to a look for what it left behind


class LocalExecutor:
    """An Executor. `cap` is how many bytes of a transcript stay on the disk."""

    def __init__(
        self,
        folder: StateFolder,
        witness: Witness,
        reactor: Reactor,
        *,
        cap: int = transcript.CAP,
        graces: Graces | None = None,
    ) -> None:
        # The folder's path is part of a warden's command line: one spelling, whatever engine looks for it.
        self._folder = StateFolder(folder.root.resolve())
        self._witness = witness
        self._reactor = reactor
        self._cap = cap
        self._prefix = prefix(folder.root)
        self._census = Census(self._prefix)
        self._endings = Endings(reactor, self._census.trees, self._tree_over, graces or Graces())
        self._scoping = Scoping(reactor, self._census)
        self._timer: Timer | None = None

    def start(self, job: Job) -> None:
        live = self._known(job.attempt)
        found = self._find(live)
        if found is None:
            found = self._launch(live, job)
        self._tell(job.attempt, found)

    def adopt(self, attempt: Attempt) -> Found:
        return self._find(self._known(attempt))

    def end(self, attempt: Attempt, *, now: bool) -> None:
        live = self._known(attempt)
        found = self._find(live)
        if found is None:
            found = self._forbid(live)
        if not isinstance(found, Running):
            self._tell(attempt, found)
        elif live.found is None or now:
            self._endings.begin(live.root, Stage.KILL if now else Stage.ASK)

    def footprints(self) -> Mapping[Attempt, int]:
        live = self._census.live.values()
        found = self._census.trees() if live else {}
        return {
            each.attempt: processes.footprint(process.pid for process in found[each.root.marker])
            for each in live
        }

    def sweep(self) -> int:
        """How many processes outlived their attempts. They are being ended: call again until there are none."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        left = self._census.leftovers()
        for name in left:
            self._endings.begin(self._census.ended[name], Stage.TELL, leftover=True)
        return sum(map(len, left.values()))

    def close(self) -> None:
        for live in self._census.live.values():
            if live.vigil is not None:
                live.vigil.stop()
        self._census.live.clear()
        self._endings.close()
        self._scoping.close()
        if self._timer is not None:
            self._timer.cancel()

    def _known(self, attempt: Attempt) -> Live:
        live = self._census.live.get(attempt)
        if live is None:
            live = Live(attempt, self._folder.attempt(attempt), Root(marker(self._prefix, attempt)))
        return live

    def _launch(self, live: Live, job: Job) -> Running:
        make(live.folder)
        return self._watch(live, warden.of_child(launch(job, live.folder, live.root.marker)))

    def _find(self, live: Live) -> Found:
        if live.attempt in self._census.live:
            return Running(live.pid)
        signed = verdict.claimed(live)
        if signed is None:
            return None
        live.root.scope = scope.recall(live.folder.path)
        live.scoped = live.root.scope != ""
        found = warden.find(live.folder, signed, live.root.marker)
        if found is not None:
            return self._watch(live, found)
        # In this order: a warden that ended in between has left its status.
        code = verdict.status(live)
        self._past(live.root)
        if code is not None:
            return Exited(code)
        if signed.is_of_another_boot:
            return Gone("the machine was restarted while it ran")
        return self._find_rest(live)

    def _find_rest(self, live: Live) -> Found:
        """A claim, no warden, no exit status: something of the attempt may run all the same.

        Without a warden nobody would hear how it ends, and it must not work on beside another attempt.
        """
        rest = self._census.trees()[live.root.marker]
        if not rest:
            return Gone(verdict.NOTHING)
        live.pid, live.found = rest[0].pid, Gone(verdict.NOTHING)
        self._census.live[live.attempt] = live
        self._endings.begin(live.root, Stage.KILL)
        return Running(live.pid)

    def _forbid(self, live: Live) -> Found:
        """It was never launched, and never will be: a warden that is on its way finds it claimed."""
        with suppress(OSError, WorldError):  # then no warden can claim it there either
            make(live.folder)
            if not claim.forbid(live.folder.claim):
                return self._find(live)
        return Gone("it was never launched")

    def _watch(self, live: Live, found: Warden) -> Running:
        live.pid = live.root.session = found.pid
        live.root.until = None
        live.vigil = Vigil(self._reactor, found, partial(self._warden_over, live))
        self._census.live[live.attempt] = live
        self._scoping.expect()
        return Running(found.pid)

    def _warden_over(self, live: Live, code: int | None) -> None:
        live.vigil = None
        live.root.until = processes.now() + 1
        if code == CLAIMED and self._give_way(live):
            return
        live.found = verdict.of(live, code)
        transcript.trim(live.folder.transcript, self._cap)
        if isinstance(live.found, Gone):
            self._endings.begin(live.root, Stage.KILL)
        elif _has_leftovers(live.root) or live.root.marker in self._endings:
            self._endings.begin(live.root, Stage.TELL, leftover=True)
        else:
            self._over(live)

    def _give_way(self, live: Live) -> bool:
        """Another warden has claimed it: the engine before this one had come further than its journal says."""
        with suppress(OSError, WorldError):
            signed = claim.read(live.folder.claim)
            found = warden.find(live.folder, signed, live.root.marker) if signed else None
            if found is not None:
                self._tell(live.attempt, self._watch(live, found))
                return True
        return False

    def _tree_over(self, root: Root) -> None:
        if root.known:  # somebody else's, or stuck in the kernel
            self._census.given_up.add(root.marker)
        live = next((live for live in self._census.live.values() if live.root is root), None)
        if live is not None:
            self._over(live)
        else:
            self._census.ended.pop(root.marker, None)
            scope.remove(root.scope)

    def _over(self, live: Live) -> None:
        del self._census.live[live.attempt]
        scope.remove(live.root.scope)
        self._past(live.root)
        self._tell(live.attempt, live.found)

    def _past(self, root: Root) -> None:
        self._census.ended[root.marker] = root
        if self._timer is None:
            self._timer = self._reactor.after(SWEEP, self._sweep_now)

    def _sweep_now(self) -> None:
        self._timer = None
        with suppress(OSError):  # the processes can't be seen now; the next sweep will
            self.sweep()

    def _tell(self, attempt: Attempt, found: Found) -> None:
        match found:
            case Running(pid):
                self._witness.launched(attempt, pid)
            case Exited(code):
                self._witness.exited(attempt, code)
            case Gone(why):
                self._witness.lost(attempt, why)
            case None:
                pass
            case _:
                assert_never(found)


def _has_leftovers(root: Root) -> bool:
    """Cheap, and not the whole truth: who has left the group is found by the sweep."""
    if not scope.remove(root.scope):
        return True
    try:
        os.killpg(root.session, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
