"""Where the files of batches and attempts lie, under the state folder.

batches/<batch>/kit.json, environment.json, fingerprints.json
batches/<batch>/nodes                    the nodes of a cluster that have files of the batch; missing if there is none
batches/<batch>/tasks/<task>/            the task's own folder: the snapshot of its file
batches/<batch>/tasks/<task>/write-1/    one attempt: prompt.md, claim, transcript, exit

Some names on disk and on the wire are older than those in the code, and stay as they are:

kit.json; its outfit, blending, shipping   BatchInputs; their setup, merge_rules, publish_target (store/batch_files.py)
claim                                      the pidfile of an attempt
outfit.json, plait-outfit                  the setup of a workspace: its spec, and what is recorded of it (git/worktrees/metadata.py)
refs/plait/lines                           batch branches before a rebuild (git/refs.py)
trouble                                    the health file of the engine (engine/daemon.py)
told.json                                  the delivery log of notifications (observe/notifier.py)
integrator/                                the folder of the branch merger (engine/app.py)
plait-warden                               the supervisor of an attempt, as a process (runtime/supervisor.py)
commons/                                   what a user's engines share (system/shared_state.py)
spent-codes/                               login codes that were used (server/auth.py)
PLAIT_MARK                                 the environment variable with the tag of an attempt's processes (system/process_identity.py)
Plait-Mark                                 the response header with an event cursor (server/http/routes/routing.py)
The kinds of records are in store/codec.py.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG_LENGTH = 60


def safe_filename(name: str) -> str:
    """Return a file name for any id: it escapes no folder, and different ids get different names on any file system."""
    if _SAFE_NAME.match(name) and name == name.lower() and not name.endswith("."):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _UNSAFE_CHARACTERS.sub("-", name).strip("-.").lower()[:_SLUG_LENGTH]
    return f"{slug}~{digest}" if slug else f"~{digest}"


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    path: Path

    @property
    def transcript(self) -> Path:
        return self.path / "transcript"

    @property
    def pidfile(self) -> Path:
        return self.path / "claim"

    @property
    def exit_status(self) -> Path:
        return self.path / "exit"

    @property
    def setup_spec(self) -> Path:
        """The file with the setup of the workspace, if it still has to run."""
        return self.path / "outfit.json"

    @property
    def sandbox(self) -> Path:
        """The folder of a confined attempt's sandbox: its home, its /tmp, and what it sees of this folder."""
        return self.path / "sandbox"

    @property
    def child_sandboxes(self) -> Path:
        """The file that says how to confine what the attempt starts, if it is a trusted program of plait."""
        return self.path / "child-sandboxes.json"

    @property
    def sandbox_files(self) -> Path:
        return self.sandbox / "files"


@lru_cache(maxsize=4096)
def _task_folder(root: Path, batch: str, task: str) -> Path:
    return root / "batches" / safe_filename(batch) / "tasks" / safe_filename(task)


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The paths in a state folder; `root` is `RepoLocation.state`."""

    root: Path

    @property
    def batches(self) -> Path:
        return self.root / "batches"

    def batch(self, batch: str) -> Path:
        return self.batches / safe_filename(batch)

    def nodes_file(self, batch: str) -> Path:
        return self.batch(batch) / "nodes"

    @property
    def environments_lock(self) -> Path:
        """The lock that is held while the environment of a batch is written or deleted."""
        return self.root / "locks" / "environments"

    def forgotten_marker(self, batch: str) -> Path:
        """Return the file that exists if the inputs of the batch were removed with --forget, so it cannot be resumed."""
        return self.root / "forgotten" / safe_filename(batch)

    def task(self, batch: str, task: str) -> Path:
        return _task_folder(self.root, batch, task)

    def attempt(self, attempt: Attempt) -> AttemptFolder:
        return AttemptFolder(self.task(attempt.batch, attempt.task) / f"{attempt.step.value}-{attempt.n}")
