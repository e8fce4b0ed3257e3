"""An engine's hand in a process of its own: it does the orders that it reads, and says each result on a line."""

from __future__ import annotations

import base64
import pickle
import sys
from pathlib import Path

from plait.core.decisions import MergeStarted
from plait.git.interfaces import MergeRules
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository


def main(top: str, base: str) -> None:
    line = MergedBranch(GitRepository(Path(top)), base)
    for decision in pickle.load(sys.stdin.buffer):
        if isinstance(decision, MergeStarted):
            done: object = line.integrator.merge(decision, line.branch, line.make_message(decision.task), MergeRules())
        else:
            messages = {change.task: line.make_message(change.task) for change in decision.line}
            done = line.integrator.rebuild(decision, line.branch, base, messages, MergeRules())
        sys.stdout.write(f"{base64.b64encode(pickle.dumps(done)).decode()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
