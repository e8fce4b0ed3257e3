"""One three-way merge in memory: two commits in, a tree and what stands against it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.merge import commits
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.store.batch_inputs import MergeRules

_USAGE_ERROR = 129


@dataclass(frozen=True, slots=True)
class MergeNote:
    """What git has to say about some files. Kinds that begin with CONFLICT stand against the merge."""

    paths: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ConflictStage:
    """A file in conflict as it is on one side: 1 is the base, 2 ours, 3 theirs."""

    path: str
    number: int
    mode: str
    object: str


@dataclass(frozen=True, slots=True)
class MergeResult:
    """`ours` and `theirs` are the commits that were merged, `files` those in conflict: in `tree` they hold both sides."""

    ours: str
    theirs: str
    tree: str
    clean: bool
    files: tuple[str, ...] = ()
    notes: tuple[MergeNote, ...] = ()
    stages: tuple[ConflictStage, ...] = ()

    @property
    def changed_on_both(self) -> tuple[str, ...]:
        """Files that both sides changed: the ones in conflict, and those whose lines git put together."""
        merged = (path for note in self.notes if note.kind == "Auto-merging" for path in note.paths)
        return tuple(dict.fromkeys((*self.files, *merged)))


@dataclass(frozen=True, slots=True)
class MergeSides:
    """The change from `base` to `tip`, to be put onto `onto`. `natural`: their history says the same."""

    base: str
    onto: str
    tip: str
    history_agrees: bool


def merge_three_way(
    private: PrivateGitDirs, sides: MergeSides, blending: MergeRules, settings: Sequence[str] = ()
) -> MergeResult:
    """As `git merge` does it in a checkout of `onto`, with the rules of `blending` on top.

    The attributes of `onto` are looked for only if git had to look into a file: without a note, none of them mattered.
    """
    bare = private.git_for(blending)
    ours, theirs = _choose_commits(bare, sides)
    done = run_merge_tree(bare.with_options(settings=settings), ours, theirs)
    if not done.notes and done.clean:
        return done
    files = private.read_attributes(bare, sides.onto)
    if not files:
        return done
    return run_merge_tree(private.git_for(blending, files).with_options(settings=settings), ours, theirs)


def _choose_commits(git: Git, sides: MergeSides) -> tuple[str, str]:
    """What to merge. History that says something else than `base` is left out: its trees, and nothing of it."""
    if sides.history_agrees:
        return sides.onto, sides.tip
    ours, theirs = (
        commits.make_synthetic_commit(git, f"{side}^{{tree}}", sides.base) for side in (sides.onto, sides.tip)
    )
    return ours, theirs


def run_merge_tree(git: Git, ours: str, theirs: str) -> MergeResult:
    said = git.run("merge-tree", "--write-tree", "-z", "--messages", ours, theirs, codes=(0, 1))
    return _parse_result(ours, theirs, said.code == 0, iter(_split_fields(said.out)))


def run_merge_trees(git: Git, pairs: Sequence[tuple[str, str]]) -> list[MergeResult]:
    """Many merges by one process; none of them is wanted for its tree."""
    feed = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode()
    words = ("merge-tree", "--write-tree", "--allow-unrelated-histories", "--messages", "--stdin")
    try:
        said = _split_fields(git.run(*words, stdin=feed).out)
    except GitError as error:
        if error.code != _USAGE_ERROR:
            raise
        return [run_merge_tree(git, ours, theirs) for ours, theirs in pairs]  # git 2.38 has no --stdin
    told = iter(said)
    return [_parse_result(ours, theirs, next(told) == "1", told) for ours, theirs in pairs]


def _split_fields(out: bytes) -> list[str]:
    return out.decode("utf-8", "surrogateescape").split("\0")


def _parse_result(ours: str, theirs: str, clean: bool, told: Iterator[str]) -> MergeResult:  # noqa: FBT001 - git's own first word
    tree = next(told)
    stages = tuple(_parse_stage(word) for word in iter(lambda: next(told, ""), ""))
    listed = dict.fromkeys(stage.path for stage in stages)
    notes = tuple(_parse_notes(told))
    # Some conflicts are in no file's content: what a renamed folder means, for one.
    against = (note.paths for note in notes if note.kind.startswith("CONFLICT"))
    others = dict.fromkeys(path for paths in against if not listed.keys() & set(paths) for path in paths)
    return MergeResult(ours, theirs, tree, clean, () if clean else (*listed, *others), notes, stages)


def _parse_stage(word: str) -> ConflictStage:
    facts, _, path = word.partition("\t")
    mode, name, n = facts.split(" ")
    return ConflictStage(path, int(n), mode, name)


def _parse_notes(told: Iterator[str]) -> Iterator[MergeNote]:
    """Each begins with how many paths it is about; anything else ends them: nothing, or advice on submodules."""
    while (count := next(told, "")).isdigit():
        paths = tuple(next(told) for _ in range(int(count)))
        yield MergeNote(paths, next(told), next(told).strip())
