"""The engine, put together from this machine's parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from plait.adapters import kits
from plait.adapters.awake import Awake
from plait.adapters.commons import open_commons
from plait.adapters.local import LocalExecutor
from plait.adapters.sensors import MachineSensors
from plait.adapters.sqlite import open_writer
from plait.adapters.trouble import FileTrouble
from plait.config.layers import merge
from plait.config.load import load as load_config
from plait.config.model import Config
from plait.core.errors import ConfigError
from plait.core.task import Attempt
from plait.engine.discreet import discreetly
from plait.engine.foresight import Foresight
from plait.engine.grounds import Grounds
from plait.engine.hands import Hands
from plait.engine.launch import Kits, Launcher
from plait.engine.line import Line
from plait.engine.loop import Engine, Parts
from plait.engine.machine import Machine
from plait.engine.perform import Performer
from plait.engine.reactor import SelectReactor
from plait.engine.settler import Settler
from plait.engine.starting import Starter
from plait.engine.watch import Watch
from plait.ports import Journal
from plait.wiring import JOURNAL, TROUBLE, Place, commons_folder, inbox, state_folder
from plait.wiring.onlookers import onlookers
from plait.wiring.repository import integrator, publisher, setups_folder, workspaces, worktrees_folder
from plait.wiring.writing import source_writer

STALE = 60.0  # seconds after which an environment that nobody waits for is nobody's


def lease(place: Place) -> Journal:
    """The journal to write to. Raises JournalBusyError where another engine holds it."""
    return open_writer(place.state / JOURNAL)


def engine_config(place: Place, journal: Journal, say: Callable[[str], None]) -> Config:
    """The settings that an engine goes by: a mistake in a file is the fronts' to tell, and no reason not to work."""
    try:
        return load_config(place.top, saved=journal.settings())
    except ConfigError as error:
        say(f"warning: the settings can't be read, the defaults hold: {error.message}")
        return merge(())


def engine_parts(
    place: Place, config: Config, journal: Journal, engine: Engine, reactor: SelectReactor
) -> Parts:
    """All that an engine works with, on this machine."""
    folder = state_folder(place)
    commons = open_commons(commons_folder(), engine=str(place.state))
    launcher = Launcher(
        folder,
        Kits(
            partial(kits.load_kit, folder),
            partial(kits.load_environment, folder),
            partial(kits.forget_environment, folder),
            partial(kits.forget_stale, folder, older=STALE),
        ),
        commons,
        setups_folder(place, config),
    )
    hear = discreetly(engine.hear, launcher.discretion)
    watch = Watch(folder, hear, cap=config.engine.transcript_cap)
    executor = LocalExecutor(folder, watch, reactor, cap=config.engine.transcript_cap)
    hands = Hands(reactor)
    line = Line(
        partial(integrator, place, config),
        partial(publisher, place),
        hands,
        engine.state,
        launcher,
        folder,
        hear,
    )
    grounds = Grounds(
        partial(workspaces, place, config),
        hands,
        launcher.kit,
        line.tell_conflict,
        partial(_base_of, engine),
        config.workspace.disk_cap,
    )
    foresight = Foresight(
        engine.state,
        lambda: grounds.workspaces,
        lambda: line.integrator,
        hands,
        launcher.kit,
        hear,
    )
    starter = Starter(engine.state, executor, launcher, watch, grounds, hear)
    performer = Performer(engine.state, executor, launcher, starter, commons, grounds, line)
    settler = Settler(source_writer(place), reactor, hear)
    sensors = MachineSensors((place.state, place.top, worktrees_folder(place, config)))
    machine = Machine(sensors, str(place.top), crowded=lambda: grounds.crowded)
    awake = Awake(enabled=config.engine.keep_awake)
    return Parts(
        journal,
        inbox(place),
        executor,
        performer,
        watch,
        settler,
        machine,
        commons,
        awake,
        FileTrouble(place.state / TROUBLE),
        hands,
        grounds,
        foresight,
        tuple(onlookers(place, config, journal.id)),
    )


def _base_of(engine: Engine, attempt: Attempt) -> str:
    """The commit that the task's change is made on, as far as is known."""
    batch = engine.state.batches.get(attempt.batch)
    task = batch.task(attempt.task) if batch is not None else None
    return (task.base or "") if task is not None else ""
