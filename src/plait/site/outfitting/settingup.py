"""Setup: the command that makes a new workspace ready, run once for all workspaces in which it would make the same."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

from plait.core.errors import WorldError
from plait.site.git import Git
from plait.site.outfitting.cache import Cache, prune_cache
from plait.site.outfitting.copying import Copier
from plait.site.outfitting.disk import Room
from plait.site.outfitting.key import inside
from plait.site.outfitting.placing import Placing
from plait.site.outfitting.spec import Spec
from plait.site.outfitting.telling import Warnings, few, say, shown
from plait.site.outfitting.tracked import Tracked

_SHELL = "/bin/sh"


class SetUp:
    """One setup in one workspace. `note` is told the paths of what it made, as soon as they are known.

    `keep`: no agent has been here, and what is made may be kept for others.
    """

    def __init__(self, spec: Spec, key: str, note: Callable[[list[str]], None], *, keep: bool) -> None:
        self._spec = spec
        self._key = key
        self._note = note
        self._workspace = spec.workspace
        self._git = Git(spec.workspace)
        self._command = spec.outfit.setup or ""
        self._makes = inside(spec.outfit.makes)
        self._may_keep = keep
        self._said_wait = False

    def do(self) -> tuple[str, ...]:
        """What it made, of all that it should. Raises WorldError."""
        self._note(self._made(Tracked(self._workspace)))
        if not (self._makes and self._spec.outfit.reads):
            self._run()  # nobody knows when its result would be the same
        else:
            self._run_or_fetch(Cache(self._spec.cache))
        return tuple(path for path in self._makes if os.path.lexists(self._workspace / path))

    def _run_or_fetch(self, cache: Cache) -> None:
        spoiled = False
        while True:
            with cache.locked(self._key, shared=True, wait=self._wait):
                if not spoiled and cache.whole(self._key):
                    if self._fetched(cache):
                        return
                    spoiled = True
            with cache.locked(self._key, wait=self._wait):
                if spoiled or not cache.whole(self._key):
                    if self._may_keep:  # an agent of an earlier task may have been at what is there
                        self._clear()
                    self._run()
                    self._keep(cache)
                    return

    def _wait(self) -> None:
        if not self._said_wait:
            say(f"waiting for another workspace, in which the same setup runs: {shown(self._command)}")
        self._said_wait = True

    def _clear(self) -> None:
        """Nothing is there of what setup makes, but what git tracks."""
        for path in self._makes:
            self._git.run("clean", "-ffdxq", "--", f":(literal){path}")

    def _fetched(self, cache: Cache) -> bool:
        """Copied from the cache, over nothing that git tracks. False: not all of it could be read."""
        self._clear()
        warnings = Warnings()
        copier = Copier(Room(self._workspace, self._spec.spare), warnings)
        tracked = Tracked(self._workspace)
        with Placing(self._workspace, tracked, (), copier, warnings) as placing:
            for path in self._makes:
                placing.copy(cache.tree(self._key), path)
        warnings.end()
        self._note(self._made(tracked))
        if not copier.left_out:
            say(f"set up as in an earlier workspace: {few(self._makes)}")
        return not copier.left_out

    def _run(self) -> None:
        say(f"setting up: {shown(self._command)}")
        changed, others = self._changed(), self._others()
        code = subprocess.run(  # noqa: S603 - the person's own command
            [_SHELL, "-c", self._command],
            cwd=self._workspace,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
        self._note([*self._made(Tracked(self._workspace)), *self._stray(others)])
        if code:
            raise WorldError(f"setup failed with {_status(code)}: {shown(self._command)}")
        if more := self._changed() - changed:
            say(
                f"warning: setup changed what git tracks, which counts as the agent's change: {few(sorted(more))}"
            )
        for path in self._makes:
            if not os.path.lexists(self._workspace / path):
                say(f"warning: setup made no {path}")

    def _keep(self, cache: Cache) -> None:
        """For the next workspace. Not to have it is no failure: there, setup runs again."""
        if not self._may_keep or not all(self._is_inside(path) for path in self._makes):
            return
        known, top = Tracked(self._workspace), len(str(self._workspace)) + 1
        warnings = Warnings()
        copier = Copier(Room(self._spec.cache, self._spec.spare), warnings, lambda path: known.at(path[top:]))
        try:
            kept = cache.store(self._key, self._workspace, self._makes, copier)
            prune_cache(self._spec.cache, self._spec.keep)
        except (OSError, WorldError) as error:
            kept = False
            say(f"warning: {error.message if isinstance(error, WorldError) else error}")
        warnings.end()
        if not kept:
            say("warning: what setup made is not kept for other workspaces")

    def _is_inside(self, path: str) -> bool:
        """It is there, and no link leads away on the way to it."""
        whole = self._workspace / path
        return os.path.lexists(whole) and whole.parent.resolve() == (self._workspace.resolve() / path).parent

    def _made(self, tracked: Tracked) -> list[str]:
        """What is no agent's change: all of a folder that setup makes, but not what git tracks in it."""
        found: list[str] = []
        for path in self._makes:
            if tracked.under(path):
                found += self._git.run("ls-files", "-z", "--others", "--", f":(literal){path}").words
            elif not tracked.at(path):
                found.append(path)
        return found

    def _stray(self, before: set[str]) -> list[str]:
        """What it made beside what it should, and git does not ignore."""
        stray = sorted(
            path
            for path in self._others() - before
            if not any(path == made or path.startswith(f"{made}/") for made in self._makes)
        )
        if stray:
            say(f"setup made files that git does not ignore; they are no part of the change: {few(stray)}")
        return [path.rstrip("/") for path in stray]

    def _others(self) -> set[str]:
        return {*self._git.run("ls-files", "-z", "--others", "--exclude-standard").words}

    def _changed(self) -> set[str]:
        words = (
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=no",
            "--no-renames",
            "--ignore-submodules=dirty",
        )
        return {word[3:] for word in self._git.run(*words).words}


def _status(code: int) -> str:
    if code > 0:
        return f"exit status {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
