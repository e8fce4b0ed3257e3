from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from hypothesis import settings

from plait.testing.script import Script
from tests.support.index_check import find_index_errors
from tests.support.temp_project import remove_agents_from_path

# A shell that starts tests in the background, or nohup, has these signals ignored, and a program that a test starts would
# inherit that. A handler is not inherited: what is started has the default again, and this process survives as it was to.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)

# How long an example takes depends on the machine; what it comes to does not.
settings.register_profile("plait", deadline=None)
settings.load_profile("plait")

# Processes that tests start would compile all of plait anew, each of them, where a machine's settings forbid Python to keep
# what it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / f"plait-compiled-{os.getuid()}"))
# Programs that tests start (`python -m tests.support.…`) find what is beside this folder, wherever they are started.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
# Who serves a batch that names no agent depends on what is installed: for tests nothing is, but what they put there.
os.environ["PATH"] = remove_agents_from_path(os.environ.get("PATH", os.defpath))

# Every scripted history recounts the indexes of its state after each step.
Script.checks.append(find_index_errors)
