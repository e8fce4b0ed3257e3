"""Makes the commit by which a person resolves a conflict: in memory, on no branch, and held by a ref."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from plait.core.decisions import Change
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.requests import FileChoice, ResolvedFile
from plait.core.text import join_names
from plait.git import objects, refs
from plait.git.command import Git
from plait.git.interfaces import MergeMessage, MergeRules
from plait.git.kept_objects import keep_objects, retry_pruned
from plait.git.merge.change_merger import (
    ChangeMerger,
    MergeTrailers,
    RegenerationPlan,
    list_regenerated,
    map_errors,
    refuse_regeneration,
)
from plait.git.merge.commits import CommitMaker
from plait.git.merge.conflict_view import is_about_folders
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.git.merge.three_way import Ancestry, MergeResult
from plait.git.objects import TreeEntry

MAX_EDITED_BYTES = 1 << 20  # of one file
_MARKER = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)
_SHOWN_NAMES = 5


class Side(StrEnum):
    """The side whose version of a file is taken: the batch branch's, or the task's."""

    BATCH = "batch"
    TASK = "task"


_STAGES = {Side.BATCH: 2, Side.TASK: 3}


@dataclass(frozen=True, slots=True)
class ResolvedConflict:
    """A change that conflicts with `onto`, with a side or the content for each file in conflict; `rest` is the side for
    all others.
    """

    batch: str
    change: Change
    onto: str
    choices: Mapping[str, Side | bytes]
    message: MergeMessage
    rest: Side | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The commit of a resolution, as a change of the branch it was made on, and the choice for each file in conflict."""

    commit: str
    diffstat: tuple[int, int, int]
    files: tuple[ResolvedFile, ...]


def resolve_conflict(
    git_dir: Path, resolved: ResolvedConflict, rules: MergeRules, environment: Mapping[str, str]
) -> Resolution:
    """Merge the change with these choices. The same ones give the same commit. Raises UserError for choices that don't
    fit the conflict.
    """
    change, onto = resolved.change, resolved.onto
    trailers = MergeTrailers(resolved.batch, change)
    with (
        map_errors(f"the conflict of {change.task} could not be resolved"),
        TemporaryDirectory(prefix="plait-resolve-") as scratch,
    ):
        variables = {"GIT_DIR": str(git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        git = Git(git_dir, environment=environment, variables=variables)
        merging = ChangeMerger(
            git, PrivateGitDirs(git_dir, Path(scratch), environment), Ancestry(git), refuse_regeneration
        )

        def make() -> Resolution:
            plain, tried, plan = merging.try_merge(change, onto, rules, ())
            choices = _complete_choices(plan, resolved)
            tree = objects.update_entries(plain, plan.tree, _choose_entries(plain, tried, choices))
            if tree == git.text("rev-parse", f"{onto}^{{tree}}") and not plan.files:
                raise UserError(
                    f"nothing of {change.task}'s change would be left",
                    hint=f"If that is right, drop the task: plait drop {trailers.batch} {change.task}",
                )
            tip = merging.read_commits(change, onto)[change.tip]
            text = trailers.format_message(resolved.message, list_regenerated(plan))
            commit = CommitMaker(git).make(tree, (onto,), text, tip.date)
            ref = refs.resolution_ref(trailers.batch, change.task, commit)
            with keep_objects(git, git_dir, [commit], [onto, change.base]):
                git.run("update-ref", ref, commit)
            return Resolution(commit, _count_lines(git, onto, commit), _list_files(choices))

        return retry_pruned(lambda _: make())


def _complete_choices(plan: RegenerationPlan, resolved: ResolvedConflict) -> dict[str, Side | bytes]:
    """Return a choice for each file in conflict, in the order of the files."""
    if not plan.conflicts:
        raise UserError("it doesn't conflict with the branch any more", hint="Recheck it: that merges it as it is.")
    rest = resolved.rest
    choices = {**(dict.fromkeys(plan.conflicts, rest) if rest else {}), **resolved.choices}
    unknown = [path for path in choices if path not in plan.conflicts]
    if unknown:
        raise UserError(
            f"{unknown[0]} is not in conflict", hint=f"The files are {join_names(plan.conflicts, _SHOWN_NAMES)}."
        )
    missing = [path for path in plan.conflicts if path not in choices]
    if missing:
        raise UserError(
            f"not resolved yet: {join_names(missing, _SHOWN_NAMES)}", hint="Take a side of each file, or edit it."
        )
    return {path: choices[path] for path in plan.conflicts}


def _choose_entries(git: Git, tried: MergeResult, choices: Mapping[str, Side | bytes]) -> dict[str, TreeEntry | None]:
    return {path: _choose_entry(git, tried, path, choice) for path, choice in choices.items()}


def _list_files(choices: Mapping[str, Side | bytes]) -> tuple[ResolvedFile, ...]:
    """List the choice for each file, for the journal: names that aren't UTF-8 are escaped."""
    return tuple(
        ResolvedFile(
            path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"),
            FileChoice(choice.value) if isinstance(choice, Side) else FileChoice.EDITED,
        )
        for path, choice in choices.items()
    )


def _choose_entry(git: Git, tried: MergeResult, path: str, choice: Side | bytes) -> TreeEntry | None:
    stages = {stage.number: stage for stage in tried.stages if stage.path == path}
    if not stages or is_about_folders(tried, path):
        raise UserError(
            f"{path} can't be resolved by itself: it is a matter of folders",
            hint="Have an agent repair the conflict, or drop one of the tasks.",
        )
    if isinstance(choice, Side):
        stage = stages.get(_STAGES[choice])
        return TreeEntry(stage.mode, objects.kind_of_mode(stage.mode), stage.object) if stage is not None else None
    modes = [stages[number].mode for number in (3, 2) if number in stages]
    if not all(mode.startswith("100") for mode in modes):
        raise UserError(f"{path} is no plain file, so it can't be edited", hint="Take one of its sides.")
    merged = objects.find_entry(git, tried.tree, path)
    mode = merged.mode if merged is not None and merged.mode.startswith("100") else modes[0]
    return TreeEntry(mode, "blob", objects.write_blob(git, choice))


def find_conflict_marker(content: bytes) -> int:
    """Return the number of the first line that is a conflict marker; 0 if there is none."""
    found = _MARKER.search(content)
    return content.count(b"\n", 0, found.start()) + 1 if found else 0


def _count_lines(git: Git, base: str, tip: str) -> tuple[int, int, int]:
    args = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
    rows = [row.split("\t", 2) for row in git.run(*args, base, tip).fields]
    added, removed = (sum(int(row[n]) for row in rows if row[n].isdecimal()) for n in (0, 1))
    return len(rows), added, removed
