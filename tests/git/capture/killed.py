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
    worktree = TaskWorktree.create(folder, {"a.txt": "a\n", "b.txt": "b\n", "plan.md": PLAN})
    left = worktree.commit("left.txt", "left on the branch\n")
    worktree.git("checkout", "-q", "--detach", worktree.base)
    other_commit = worktree.commit("a.txt", "theirs\n")
    worktree.git("checkout", "-q", "--detach", worktree.base)
    ours = worktree.commit("a.txt", "ours\n")
    worktree.git("merge", other_commit, fails=True)
    worktree.write("a.txt", "both\n")
    worktree.write("plan.md", PLAN.replace("[ ]", "[x]"))
    worktree.write("new.txt", "new\n")
    (worktree.path / "b.txt").unlink()
    return worktree, [left, other_commit, ours]


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
    worktree, commits = scenario(folder)
    child = os.fork()
    if not child:
        kill_at(instant)
        worktree.capture(restore=restore)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    captured = worktree.capture(restore=restore)
    reached = worktree.git("rev-list", "--glob=refs/*", at=worktree.main).split()
    return {
        "killed": status == -signal.SIGKILL,
        "captured": {**asdict(captured), "tip": "", "pack": "", "reverted_sources": ()},
        "files": worktree.files(captured.tip),
        "parents": len(worktree.git("rev-parse", f"{captured.tip}^@").split()),
        "again": worktree.capture(restore=restore).tip == captured.tip,
        "kept": all(commit in reached for commit in commits),
        "saved": len(worktree.read_saved_refs()),
        "clean": worktree.is_clean(),
        "left": sorted(
            str(path) for path in worktree.common.rglob("*") if path.name.endswith(".lock") or "scratch" in path.name
        ),
        "trunk": worktree.git("rev-parse", "trunk", at=worktree.main) == worktree.base,
    }


def main() -> None:
    folder = Path(sys.argv[1])
    output = {word: result(folder / word, int(word)) for word in sys.argv[2:]}
    sys.stdout.write(json.dumps(output))


if __name__ == "__main__":
    main()
