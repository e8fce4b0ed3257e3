"""Tries candidates in the contested task's workspace: each is applied to its base in turn, and the winner stays.

With `--score`, a command of the user's prints a number for each candidate. The highest number wins.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from pathlib import Path

from plait.core.decisions import Candidate
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.worktrees.metadata import read_setup_paths
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.sandbox.child_sandboxes import ChildSandboxes, confine_child

_FIXED_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "plait"), ("EMAIL", "plait@localhost"), ("DATE", "@1000000000 +0000"))
}


_SETTINGS = (
    "rerere.enabled=false",
    "merge.conflictStyle=merge",
    "submodule.recurse=false",  # a score command may have put a repository with programs in its settings there
    "diff.ignoreSubmodules=dirty",
)
_MAX_FILES_SHOWN = 3
_MAX_KEPT_PATHS = 2000  # paths: more than a command line should hold


@dataclass(frozen=True, slots=True)
class CandidateFit:
    """How a candidate's change fits onto the base: `objection` says why it does not; empty if it fits."""

    objection: str = ""
    lines: int = 0


class CandidateWorkspace:
    def __init__(self, workspace: Path, base: str) -> None:
        self._git = Git(workspace, settings=_SETTINGS)
        self._base = base
        self._kept: tuple[str, ...] | None = None

    def reset(self) -> None:
        """Reset the workspace to the base; untracked files from before the first candidate stay."""
        self._git.run("reset", "--quiet", "--hard", self._base)
        if self._kept is None:
            self._kept = self._find_kept()
        kept = [argument for path in self._kept for argument in ("-e", f"/{_escape_pattern(path)}")]
        # Files that scoring one candidate left, ignored ones too, must not influence the next.
        self._git.run(
            "clean", "-ffdxq" if len(self._kept) <= _MAX_KEPT_PATHS else "-ffdq", *kept[: 2 * _MAX_KEPT_PATHS]
        )

    def _find_kept(self) -> tuple[str, ...]:
        """List the files that setup placed, and everything else that git ignores."""
        gitdir = Path(self._git.text("rev-parse", "--absolute-git-dir"))
        args = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return tuple(dict.fromkeys((*read_setup_paths(gitdir), *self._git.run(*args).fields)))

    def apply(self, candidate: Candidate) -> CandidateFit:
        """Apply the candidate's own change to the base and stage it, so that exactly this change is captured."""
        try:
            return self._cherry_pick(candidate)
        except GitError as error:  # its commits may be missing
            return CandidateFit(f"its change can't be read: {error.message}")

    def _cherry_pick(self, candidate: Candidate) -> CandidateFit:
        self.reset()
        commit = self._git.with_options(variables=_FIXED_IDENTITY).text(
            "commit-tree", f"{candidate.tip}^{{tree}}", "-p", candidate.base, "-m", "candidate"
        )
        result = self._git.run("cherry-pick", "--no-commit", commit, codes=(0, 1))
        if result.code:
            files = self._git.run("diff", "--name-only", "--diff-filter=U", "-z").fields
            self.reset()
            if not files:
                return CandidateFit(f"it can't be applied to the merged changes: {' '.join(result.err.split())}")
            rest = f" and {len(files) - _MAX_FILES_SHOWN} more" if len(files) > _MAX_FILES_SHOWN else ""
            return CandidateFit(f"it conflicts with the merged changes in {', '.join(files[:_MAX_FILES_SHOWN])}{rest}")
        lines = self._count_lines()
        return (
            CandidateFit("it changes nothing that is not merged already") if lines is None else CandidateFit("", lines)
        )

    def diff(self, max_bytes: int) -> str:
        """Return the applied change as a patch, cut at the limit."""
        args = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", self._base)
        return self._git.run(*args).out[:max_bytes].decode("utf-8", "replace")

    def _count_lines(self) -> int | None:
        """Count the lines that were added or removed; None if there is no difference at all."""
        args = ("diff", "--cached", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        rows = [row.split("\t", 2) for row in self._git.run(*args, self._base).fields]
        if not rows:
            return None
        return sum(int(part) for row in rows for part in row[:2] if part.isdecimal())


def _escape_pattern(path: str) -> str:
    """Escape a path for a gitignore pattern."""
    return "".join(f"\\{char}" if char in "*?[]\\ !#" else char for char in path)


_TAIL_BYTES = 16 << 10  # bytes of its output that are searched for the number
_MAX_MESSAGE_CHARS = 200  # characters
_NUMBER = re.compile(r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")


def score_candidate(
    command: str, workspace: Path, folder: Path, candidate: Candidate, sandboxes: ChildSandboxes | None = None
) -> tuple[float | None, str]:
    """Return the last line of the command's output that is a number; None and the reason if the candidate is
    disqualified.

    The output goes to files, so any amount is fine.
    """
    out, err = folder / "score.out", folder / "score.err"
    env = {**os.environ, "PLAIT_ENTRANT": candidate.task, "PLAIT_ENTRANT_AGENT": candidate.agent}
    with (
        out.open("wb") as printed,
        err.open("wb") as complained,
        confine_child(sandboxes, workspace, folder / "score") as child,
    ):
        done = subprocess.run(  # the user's own command, which is for a shell
            [*child.words, "sh", "-c", command],  # as everywhere
            cwd=workspace,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complained,
            check=False,
        )
    lines = _read_last_lines(out)
    if done.returncode:
        complaints = _read_last_lines(err) or lines
        detail = f": {complaints[-1][:_MAX_MESSAGE_CHARS]}" if complaints else ""
        return None, f"its score failed with exit status {done.returncode}{detail}"
    number = next((line for line in reversed(lines) if _NUMBER.fullmatch(line)), None)
    value = float(number) if number is not None else math.nan
    return (value, "") if math.isfinite(value) else (None, "its score is not a number")


def _read_last_lines(path: Path) -> list[str]:
    text = FileTranscript(path).tail(_TAIL_BYTES).decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
