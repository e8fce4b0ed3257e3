"""A sandboxed attempt on a node of a cluster: the node's service would run anything for whoever reaches it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest

from plait.core.settings import SandboxMode
from plait.runtime.executor import AttemptKind
from plait.runtime.ray import node_daemon
from plait.runtime.sandbox.spec import SandboxSpec
from tests.support.local_executor import local_executor_setup
from tests.support.visible_folder import visible_folder
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
CONNECT = "import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).connect(sys.argv[2])"


@contextmanager
def run_service(node: Path) -> Iterator[None]:
    with Popen([sys.executable, "-m", node_daemon.__name__, str(node)]) as process:
        try:
            wait_until((node / node_daemon.SOCKET).exists)
            (node / node_daemon.LOG_FILE).touch()
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("mode", [None, SandboxMode.WORKTREE, SandboxMode.STRICT])
def test_an_attempt_on_a_node_reaches_neither_its_service_nor_other_engines(mode: SandboxMode | None) -> None:
    """The node's folder may be anywhere, also where everything else is readable."""
    with visible_folder() as place:
        node = place / "node"
        own = node / "engine-a"
        (node / "engine-b" / "state").mkdir(parents=True)
        (node / "engine-b" / "state" / "transcript").write_text("of another\n")
        own.mkdir()
        with run_service(node), local_executor_setup(own, private_root=node) as harness:
            script = (
                f"{sys.executable} -I -c '{CONNECT}' {node} {node_daemon.SOCKET} && echo reached;"
                f" cat {node}/engine-b/state/transcript; cat {node}/{node_daemon.LOG_FILE} && echo log; git log -1 --format=works"
            )
            job = harness.make_worktree_job(script, harness.commit_file("file.txt", "text\n"), "one")
            job = replace(job, sandbox=None if mode is None else SandboxSpec(mode))
            again = replace(
                job, attempt=replace(job.attempt, n=2), kind=AttemptKind.IN_PLACE
            )  # as preflight after a setup
            outputs = []
            for each in (job, again):
                harness.executor.start(each)
                harness.wait_for_end(each.attempt)
                outputs.append(harness.executor.open_transcript(each.attempt).tail(1 << 14).decode())
        for output in outputs:
            assert "works" in output
            found = [line for line in output.splitlines() if line in {"reached", "of another", "log"}]
            assert found == ([] if mode else ["reached", "of another", "log"])
