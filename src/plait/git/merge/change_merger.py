"""Merges a change onto a commit in memory and regenerates files such as lock files. The result is a commit on no branch
yet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from plait.config.keys import is_own_secret
from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import RebuildConflict
from plait.core.text import defuse_references
from plait.git import objects
from plait.git.command import LOCATION_VARIABLES, Git, GitError, join_fields
from plait.git.interfaces import ChangeGoneError, MergeMessage, MergeRules
from plait.git.merge import commits
from plait.git.merge.commits import Commit, CommitMaker
from plait.git.merge.private_gitdir import REGENERATE_ATTRIBUTE, PrivateGitDirs
from plait.git.merge.three_way import Ancestry, MergeResult, merge_three_way
from plait.system.processes import kill_process_group

# A commit to check out, the command to run there, and the files it makes: what they hold afterwards.
Regenerate = Callable[[str, str, tuple[str, ...]], Mapping[str, bytes]]
_STALE_TRAILER = "Plait-Regenerate"
REGENERATE_TIMEOUT_SECONDS = 900.0  # seconds: a lock file may need a network
_MAX_OUTPUT_CHARS = 400  # of a command's output


@dataclass(frozen=True, slots=True)
class MergeTrailers:
    """The trailers by which plait recognises its merge of a change."""

    batch: str
    change: Change

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        return (
            ("Plait-Batch", self.batch),
            ("Plait-Task", self.change.task),
            ("Plait-Change", f"{self.change.base}..{self.change.tip}"),
        )

    def matches(self, commit: Commit, onto: str) -> bool:
        """Whether this is the merge of the change onto exactly that commit."""
        return commit.parents[:1] == (onto,) and {*map(_format_trailer, self.trailers)} <= commit.trailers

    def format_message(self, message: MergeMessage, more: Sequence[tuple[str, str]] = ()) -> str:
        """Format the message with the trailers as its last paragraph; those that identify the merge override equal ones
        in `message`.
        """
        names = dict(self.trailers)
        others = [trailer for trailer in message.trailers if trailer[0] not in names]
        lines = [_format_trailer(trailer) for trailer in (*self.trailers, *others, *more)]
        return "\n\n".join((message.message.replace("\0", "").strip() or "Merge", "\n".join(lines))) + "\n"


def _format_trailer(trailer: tuple[str, str]) -> str:
    name, value = trailer
    return f"{name}: {defuse_references(' '.join(value.replace(chr(0), '').split()))}"


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """A merged tree in which the `files` of each command are still the branch's version."""

    tree: str
    files: Mapping[str, tuple[str, ...]]
    conflicts: tuple[str, ...]


def plan_regeneration(
    git: Git, tried: MergeResult, merge_rules: MergeRules, onto: str, stale: tuple[str, ...] = ()
) -> RegenerationPlan:
    """Take the branch's version of each file to regenerate; `conflicts` are those that remain.

    `stale` are files that the change has in the branch's version although it changes them too.
    """
    rules = _match_rules(git, tuple(dict.fromkeys((*tried.changed_on_both, *stale))), merge_rules)
    conflicts = tuple(path for path in tried.files if path not in rules)
    tree = objects.update_entries(
        git, tried.tree, {path: objects.find_entry(git, f"{onto}^{{tree}}", path) for path in rules}
    )
    commands = dict.fromkeys(rules.values())
    files = {command: tuple(sorted(path for path in rules if rules[path] == command)) for command in commands}
    return RegenerationPlan(tree, files, conflicts)


def list_regenerated(plan: RegenerationPlan) -> tuple[tuple[str, str], ...]:
    """Return the trailers that name the stale files of a resolved conflict, so that merging it regenerates them."""
    return tuple((_STALE_TRAILER, path) for files in plan.files.values() for path in files)


def _read_regenerated(tip: Commit) -> tuple[str, ...]:
    """Return the stale files that the trailers name. An agent may have written a trailer, but only files with a rule of
    the user's are regenerated.
    """
    prefix = f"{_STALE_TRAILER}: "
    return tuple(sorted(line.removeprefix(prefix) for line in tip.trailers if line.startswith(prefix)))


def _match_rules(git: Git, paths: tuple[str, ...], merge_rules: MergeRules) -> dict[str, str]:
    if not paths or not merge_rules.regenerate:
        return {}
    fields = git.run("check-attr", "-z", "--stdin", REGENERATE_ATTRIBUTE, stdin=join_fields(paths)).fields
    numbers = {path: value for path, value in zip(fields[::3], fields[2::3], strict=True) if value.isdigit()}
    return {
        path: merge_rules.regenerate[int(value)][1]
        for path, value in numbers.items()
        if int(value) < len(merge_rules.regenerate)
    }


class ChangeMerger:
    """Merges changes in private git dirs. `git` is the repository's own, for the user's identity."""

    def __init__(self, git: Git, private: PrivateGitDirs, ancestry: Ancestry, regenerate: Regenerate) -> None:
        self._git = git
        self._private = private
        self._ancestry = ancestry
        self._regenerate = regenerate
        self._maker = CommitMaker(git)

    def read_commits(self, change: Change, onto: str, *refs: str) -> dict[str, Commit]:
        """Read the commits that a merge needs, all of which must exist, and those of the refs that exist."""
        descriptions = {
            onto: "the head of the batch branch,",
            change.base: f"the base of {change.task},",
            change.tip: f"the result of {change.task},",
        }
        existing = commits.read_commits(self._git, [*descriptions, *refs])
        for name, description in descriptions.items():
            if name not in existing:
                raise make_missing_commit_error(name, description, WorldError if name == onto else ChangeGoneError)
        return existing

    def merge_change(
        self, trailers: MergeTrailers, onto: str, tip: Commit, merge_message: MergeMessage, merge_rules: MergeRules
    ) -> str | RebuildConflict:
        """Merge a change onto a commit; return the new commit, or the conflicts.

        The task's commits become history only if they descend from this line. If not, dropped changes would be in the
        history again, and merging them later would be "already up to date".
        """
        sides = self._ancestry.find_sides(trailers.change, onto, tip)
        git = self._private.git_for(merge_rules)
        tried = merge_three_way(self._private, sides, merge_rules)
        plan = plan_regeneration(git, tried, merge_rules, onto, _read_regenerated(tip))
        if plan.conflicts:
            return RebuildConflict(trailers.change.task, plan.conflicts)
        merged = self._regenerate_files(git, plan, onto, tip)
        second_parent = tip.id if sides.history_agrees else self._maker.recommit(merged, (onto,), tip)
        tree = merged
        if merge_message.edit_files is not None:
            edits = merge_message.edit_files(lambda path: objects.read_file(git, merged, path))
            tree = objects.write_files(git, merged, edits)
        commit = self._maker.make(tree, (onto, second_parent), trailers.format_message(merge_message), tip.date)
        self._ancestry.record_merge(onto, commit)
        return commit

    def try_merge(
        self, change: Change, onto: str, merge_rules: MergeRules, settings: Sequence[str]
    ) -> tuple[Git, MergeResult, RegenerationPlan]:
        """Try to merge a change; return the git that can read the tree, the result, and the files to regenerate or in
        conflict.
        """
        sides = self._ancestry.find_sides(change, onto, self.read_commits(change, onto)[change.tip])
        git = self._private.git_for(merge_rules)
        tried = merge_three_way(self._private, sides, merge_rules, settings)
        return git, tried, plan_regeneration(git, tried, merge_rules, onto)

    def _regenerate_files(self, git: Git, plan: RegenerationPlan, onto: str, tip: Commit) -> str:
        tree = plan.tree
        for command, files in plan.files.items():
            commit = self._maker.make(tree, (onto,), "To be regenerated\n", tip.date)
            contents = self._regenerate(commit, command, files)
            tree = objects.write_files(git, tree, {path: contents[path] for path in files if path in contents})
        return tree


_HINTS = (
    (("No space left on device", "Disk quota exceeded", "File too large"), "Free some space on the disk."),
    (
        (
            "unable to read",
            "inflate:",
            "corrupt",
            "missing blob",
            "bad object",
            "bad tree",
            "not a valid object",
            "could not read",
        ),
        "An object of the repository is missing or damaged: find it with `git fsck`.",
    ),
    (("Permission denied", "Read-only file system", "insufficient permission"), "Check the permissions."),
    (("exists; cannot create",), "Rename the branch that is in the way."),
    (
        ("gpg failed to sign", "Couldn't sign", "failed to write commit object"),
        "Check how git signs commits.",
    ),
)


@contextmanager
def map_errors(failure: str) -> Iterator[None]:
    """Turn errors into WorldErrors that say what failed, with a hint where one is known."""
    try:
        yield
    except GitError as error:
        output = f"{error.stderr} {error.message}"
        hint = next((hint for signs, hint in _HINTS if any(sign in output for sign in signs)), error.hint)
        raise WorldError(f"{failure}: {error.message}", hint=hint) from error
    except OSError as error:
        raise WorldError(f"{failure}: {error}", hint="Check the disk and its permissions.") from error


def make_missing_commit_error(commit: str, description: str, error: type[WorldError] = WorldError) -> WorldError:
    return error(
        f"{description} {commit[:12] if commit.isalnum() else repr(commit)} is not in the repository any more",
        hint="If it was pruned or never fetched, fetch it again. Otherwise drop the task and retry it; plait unpause continues "
        "a paused batch.",
    )


def refuse_regeneration(_commit: str, command: str, _files: tuple[str, ...]) -> Mapping[str, bytes]:
    """Refuse to regenerate files: no command is run to show a conflict."""
    raise WorldError(f"files are not regenerated here: {command}")


def build_regenerator(git_dir: Path, root: Path) -> Regenerate:
    """Make a function that runs commands in temporary exports of commits, in `root`."""

    def regenerate(commit: str, command: str, files: tuple[str, ...]) -> Mapping[str, bytes]:
        with _export_commit(git_dir, root, commit) as folder:
            _run_command(folder, command)
            return {path: (folder / path).read_bytes() for path in files if _is_file_inside(folder, path)}

    return regenerate


def _is_file_inside(folder: Path, path: str) -> bool:
    """Whether the path is a regular file that is not reached through a link: nothing from outside gets into a commit."""
    file = folder / path
    return file.is_file() and not file.is_symlink() and folder.resolve() in file.parent.resolve().joinpath("x").parents


@contextmanager
def _export_commit(git_dir: Path, root: Path, commit: str) -> Iterator[Path]:
    root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="regenerate-", dir=root))
    folder = scratch / "tree"
    folder.mkdir()
    try:
        variables = {"GIT_DIR": git_dir, "GIT_WORK_TREE": folder, "GIT_INDEX_FILE": scratch / "index"}
        git = Git(folder, variables={name: str(path) for name, path in variables.items()})
        git.run("read-tree", commit)
        git.run("checkout-index", "--all", f"--prefix={folder}/")
        yield folder
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run_command(folder: Path, command: str) -> None:
    env = {
        name: value for name, value in os.environ.items() if name not in LOCATION_VARIABLES and not is_own_secret(name)
    }
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            ["sh", "-c", command],  # the user's own, trusted command
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(REGENERATE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            raise WorldError(f"{command} did not end in {REGENERATE_TIMEOUT_SECONDS / 60:.0f} minutes") from None
        finally:
            kill_process_group(process.pid)
            process.wait()
        if code:
            log.seek(max(0, log.tell() - 4 * _MAX_OUTPUT_CHARS))
            output = " ".join(log.read().decode("utf-8", "replace").split())[-_MAX_OUTPUT_CHARS:]
            raise WorldError(f"{command} failed with exit status {code}: {output}")
