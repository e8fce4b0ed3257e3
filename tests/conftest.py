from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import settings
from tests.support.temp_project__path import without_agents

# How long an example takes depends on the machine; what it comes to does not.
settings.register_profile("plait", deadline=None)
settings.load_profile("plait")

# Processes that tests start would compile all of plait anew, each of them, where a machine's settings forbid Python to keep
# what it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / f"plait-compiled-{os.getuid()}")
)
# Who serves a batch that names no agent depends on what is installed: for tests nothing is, but what they put there.
os.environ["PATH"] = without_agents(os.environ.get("PATH", os.defpath))
