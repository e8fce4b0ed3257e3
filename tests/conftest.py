from __future__ import annotations

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from plait.testing.script import Script
from tests.support.index_check import find_index_errors
from tests.support.temp_project import remove_agents_from_path
from tests.support.worker_shares import order_tests

# Nearly everything that is collected stays alive: looking for garbage in it took half the time of a collection.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        folders = [item.nodeid.split("/")[1] for item in items]
        items[:] = [items[place] for place in order_tests(folders, workers)]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Started in the background or with nohup, this process ignores these signals, and children inherit that. They don't inherit
# a handler: with one that does nothing, this process still ignores the signals, and its children have the defaults.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)

# The duration of an example depends on the machine. `make stress LONG=1` tries many more of them.
settings.register_profile("plait", deadline=None, max_examples=int(os.environ.get("PLAIT_EXAMPLES", "50")))
settings.load_profile("plait")

# Otherwise every process that a test starts, and every pytest worker, would compile all modules again. They find what
# `make check` and pip have compiled, which is beside the sources.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Processes that tests start can import `tests`, wherever they are started, and import `sitecustomize`.
_PATHS = (str(Path(__file__).with_name("support") / "startup"), str(Path(__file__).parents[1]))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*_PATHS, os.environ.get("PYTHONPATH"))))
# The agent of a batch that names none depends on what is installed: tests see only the agents that they provide.
os.environ["PATH"] = remove_agents_from_path(os.environ.get("PATH", os.defpath))

# What tests claim and trust is not the user's.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="plait-state-")

# Every scripted history compares the indexes of its state with a recount after each step.
Script.checks.append(find_index_errors)
