"""Git is killed at random while batches run: no agent runs twice, and no result is lost."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from plait.core.requests import Retry
from plait.core.settings import Backoff, Settings
from plait.core.state import BatchState
from plait.core.task import Need, Task
from plait.git import command
from plait.git.refs import batch_branch
from plait.git.worktrees import pool
from plait.store import batch_files
from tests.support.engine_harness import EngineHarness, RunningEngine
from tests.support.git_repository import GitRepository

MAX_ROUNDS = 25  # of retries: then something fails for another reason
SETTINGS = Settings(
    agents=("shell",),
    verify="test -s $PLAIT_TASK_ID.txt",
    retries=0,
    backoff=Backoff(0.02, factor=1, jitter=0),
    max_parallel=4,
)
# Every 12th or 13th call of plait's is killed: before it runs, while it runs, or when it is done. Agents' own are not.
WRAPPER = """#!/bin/sh
[ -n "$PLAIT_TASK_ID" ] && exec {git} "$@"
printf . >> {folder}/calls
n=$(( ($(wc -c < {folder}/calls) + {seed}) * 7919 % 1009 ))
[ $((n % 25)) -lt 2 ] || exec {git} "$@"
printf . >> {folder}/kills
case $((n % 3)) in
0) kill -9 $$;;
1) exec 3<&0; {git} "$@" <&3 & pid=$!; sleep 0.00$((n % 8)); kill -9 $pid 2> /dev/null; kill -9 $$;;
2) {git} "$@"; kill -9 $$;;
esac
"""
SCRIPT = """echo $PLAIT_TASK_ID >> {log}
echo $PLAIT_TASK_ID > $PLAIT_TASK_ID.txt
{more}
"""
MORE = ("true", "git add -A; git commit -qm by-the-agent", "git add -A; mkdir -p a; echo b > a/$PLAIT_TASK_ID.txt")


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineHarness]:
    for name, folder in {"XDG_STATE_HOME": "user", "XDG_CACHE_HOME": "cache"}.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for module in (command, pool):  # a lock that a killed git left is found to be stale sooner
        monkeypatch.setattr(module, "LOCK_WAIT_SECONDS", 0.5)
    made = EngineHarness(tmp_path)
    yield made
    made.close()


@pytest.fixture
def repository(harness: EngineHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """Its own git is not killed: it has the PATH of before."""
    made = harness.add_repository()
    git = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(git=git, folder=tmp_path, seed=404))
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    return made


def test_no_agent_runs_twice_and_no_result_is_lost(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path, *, long: bool
) -> None:
    chance, log, engine = Random(404), tmp_path / "log", harness.engine()
    expected: Counter[str] = Counter()
    for n in range(12 if long else 1):
        names = [f"t{n}-{place}" for place in range(10 if long else 4)]
        tasks, batch = _make_tasks(names, log, chance), f"b{n}"
        base = repository.git("rev-parse", "HEAD")
        harness.submit(*tasks, batch=batch, settings=SETTINGS, base=base, branch=batch_branch(batch))
        engine = _run_batch(harness, engine, batch, chance if long else None)
        expected.update(names)
        assert Counter(log.read_text().split()) == expected
        files = repository.git("ls-tree", "-r", "--name-only", batch_branch(batch)).split()
        assert {f"{name}.txt" for name in names} <= {*files}
        for name in names:
            assert repository.git("show", f"{batch_branch(batch)}:{name}.txt") == name
    repository.git("fsck", "--connectivity-only")
    calls, kills = ((tmp_path / name).stat().st_size for name in ("calls", "kills"))
    print(f"{kills} of {calls} git calls killed")  # noqa: T201
    assert kills > calls * 0.06


def _make_tasks(names: list[str], log: Path, chance: Random) -> list[Task]:
    """Most of them independent; the last one needs the first."""
    return [
        Task(name, run=SCRIPT.format(log=log, more=chance.choice(MORE)), needs=needs)
        for name in names
        for needs in [(Need(names[0]),) if name == names[-1] else ()]
    ]


def _run_batch(harness: EngineHarness, engine: RunningEngine, batch: str, chance: Random | None) -> RunningEngine:
    """Run it, and retry what failed until all of it is done; `chance` decides when engines are killed."""
    for turn in range(MAX_ROUNDS):
        while not _has_ended(engine, batch, turn):
            if chance is None:
                assert engine.wait_until(lambda: _has_ended(engine, batch, turn))  # noqa: B023 - called at once
            elif not engine.wait_until(lambda: _has_ended(engine, batch, turn), chance.uniform(0.1, 4.0)):  # noqa: B023
                engine.kill()
                engine = harness.engine()
        state = engine.batch(batch)
        unfinished = [task.task.id for task in state.tasks if task.status != "done"]
        if not unfinished:
            return engine
        batch_files.write_batch_environment(harness.folder, batch, dict(os.environ))
        for name in unfinished:
            harness.request(Retry(f"{batch}-{turn}-{name}", batch, name))
    raise AssertionError([(task.task.id, task.status, task.reason) for task in engine.batch(batch).tasks])


def _has_ended(engine: RunningEngine, batch: str, turn: int) -> bool:
    state: BatchState | None = engine.engine.state.batches.get(batch)
    answered = not engine.engine.state.unanswered and not engine.parts.inbox.pending()
    return state is not None and state.ended is not None and answered and turn >= 0
