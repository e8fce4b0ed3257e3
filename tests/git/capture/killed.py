"""Captures that are killed: FOLDER INSTANT… Each is done again, and what became of it is printed as JSON.

An instant is the nth thing that a capture does to the world: a program it starts, a file it moves or removes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from tests.support.task_worktree import TaskWorktree

DEEDS = {"subprocess.Popen", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "tempfile.mkdtemp"}
PLAN = "- [ ] one\n- [ ] two\n"


def restore(path: str, base: bytes, new: bytes) -> bytes:
    return base if path == "plan.md" else new


def scenario(folder: Path) -> tuple[TaskWorktree, list[str]]:
    """A worktree in which much is half done, and the agent's own commits."""
    plot = TaskWorktree.create(folder, {"a.txt": "a\n", "b.txt": "b\n", "plan.md": PLAN})
    left = plot.commit("left.txt", "left on the branch\n")
    plot.git("checkout", "-q", "--detach", plot.base)
    theirs = plot.commit("a.txt", "theirs\n")
    plot.git("checkout", "-q", "--detach", plot.base)
    ours = plot.commit("a.txt", "ours\n")
    plot.git("merge", theirs, fails=True)
    plot.write("a.txt", "both\n")
    plot.write("plan.md", PLAN.replace("[ ]", "[x]"))
    plot.write("new.txt", "new\n")
    (plot.path / "b.txt").unlink()
    return plot, [left, theirs, ours]


def kill_at(instant: int) -> None:
    seen = 0

    def hook(event: str, _: object) -> None:
        nonlocal seen
        if event in DEEDS:
            seen += 1
            if seen == instant:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def result(folder: Path, instant: int) -> dict[str, object]:
    plot, commits = scenario(folder)
    child = os.fork()
    if not child:
        kill_at(instant)
        plot.capture(restore=restore)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    captured = plot.capture(restore=restore)
    reached = plot.git("rev-list", "--glob=refs/*", at=plot.main).split()
    return {
        "killed": status == -signal.SIGKILL,
        "captured": {**asdict(captured), "tip": "", "reverted_sources": ()},
        "files": plot.files(captured.tip),
        "parents": len(plot.git("rev-parse", f"{captured.tip}^@").split()),
        "again": plot.capture(restore=restore).tip == captured.tip,
        "kept": all(commit in reached for commit in commits),
        "saved": len(plot.read_saved_refs()),
        "clean": plot.is_clean(),
        "left": sorted(
            str(path) for path in plot.common.rglob("*") if path.name.endswith(".lock") or "scratch" in path.name
        ),
        "trunk": plot.git("rev-parse", "trunk", at=plot.main) == plot.base,
    }


def main() -> None:
    folder = Path(sys.argv[1])
    told = {word: result(folder / word, int(word)) for word in sys.argv[2:]}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
