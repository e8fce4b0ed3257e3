"""One three-way merge in memory: two commits in, a tree and what stands against it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.adapters.integrator import commits
from plait.adapters.integrator.private import Private
from plait.core.frozen import dataclass
from plait.kit import Blending
from plait.site.git import Git, GitError

_USAGE = 129


@dataclass(frozen=True, slots=True)
class Note:
    """What git has to say about some files. Kinds that begin with CONFLICT stand against the merge."""

    paths: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A file in conflict as it is on one side: 1 is the base, 2 ours, 3 theirs."""

    path: str
    n: int
    mode: str
    object: str


@dataclass(frozen=True, slots=True)
class Blend:
    """`ours` and `theirs` are the commits that were merged, `files` those in conflict: in `tree` they hold both sides."""

    ours: str
    theirs: str
    tree: str
    clean: bool
    files: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    stages: tuple[Stage, ...] = ()

    @property
    def both(self) -> tuple[str, ...]:
        """Files that both sides changed: the ones in conflict, and those whose lines git put together."""
        merged = (path for note in self.notes if note.kind == "Auto-merging" for path in note.paths)
        return tuple(dict.fromkeys((*self.files, *merged)))


@dataclass(frozen=True, slots=True)
class Sides:
    """The change from `base` to `tip`, to be put onto `onto`. `natural`: their history says the same."""

    base: str
    onto: str
    tip: str
    natural: bool


def blend(private: Private, sides: Sides, blending: Blending, settings: Sequence[str] = ()) -> Blend:
    """As `git merge` does it in a checkout of `onto`, with the rules of `blending` on top.

    The attributes of `onto` are looked for only if git had to look into a file: without a note, none of them mattered.
    """
    bare = private.git(blending)
    ours, theirs = _commits(bare, sides)
    done = merge(bare.with_(settings=settings), ours, theirs)
    if not done.notes and done.clean:
        return done
    files = private.attributes(bare, sides.onto)
    if not files:
        return done
    return merge(private.git(blending, files).with_(settings=settings), ours, theirs)


def _commits(git: Git, sides: Sides) -> tuple[str, str]:
    """What to merge. History that says something else than `base` is left out: its trees, and nothing of it."""
    if sides.natural:
        return sides.onto, sides.tip
    ours, theirs = (commits.stand_in(git, f"{side}^{{tree}}", sides.base) for side in (sides.onto, sides.tip))
    return ours, theirs


def merge(git: Git, ours: str, theirs: str) -> Blend:
    said = git.run("merge-tree", "--write-tree", "-z", "--messages", ours, theirs, codes=(0, 1))
    return _read(ours, theirs, said.code == 0, iter(_words(said.out)))


def probe(git: Git, pairs: Sequence[tuple[str, str]]) -> list[Blend]:
    """Many merges by one process; none of them is wanted for its tree."""
    feed = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode()
    words = ("merge-tree", "--write-tree", "--allow-unrelated-histories", "--messages", "--stdin")
    try:
        said = _words(git.run(*words, feed=feed).out)
    except GitError as error:
        if error.code != _USAGE:
            raise
        return [merge(git, ours, theirs) for ours, theirs in pairs]  # git 2.38 has no --stdin
    told = iter(said)
    return [_read(ours, theirs, next(told) == "1", told) for ours, theirs in pairs]


def _words(out: bytes) -> list[str]:
    return out.decode("utf-8", "surrogateescape").split("\0")


def _read(ours: str, theirs: str, clean: bool, told: Iterator[str]) -> Blend:  # noqa: FBT001 - git's own first word
    tree = next(told)
    stages = tuple(_stage(word) for word in iter(lambda: next(told, ""), ""))
    listed = dict.fromkeys(stage.path for stage in stages)
    notes = tuple(_notes(told))
    # Some conflicts are in no file's content: what a renamed folder means, for one.
    against = (note.paths for note in notes if note.kind.startswith("CONFLICT"))
    others = dict.fromkeys(path for paths in against if not listed.keys() & set(paths) for path in paths)
    return Blend(ours, theirs, tree, clean, () if clean else (*listed, *others), notes, stages)


def _stage(word: str) -> Stage:
    facts, _, path = word.partition("\t")
    mode, name, n = facts.split(" ")
    return Stage(path, int(n), mode, name)


def _notes(told: Iterator[str]) -> Iterator[Note]:
    """Each begins with how many paths it is about; anything else ends them: nothing, or advice on submodules."""
    while (count := next(told, "")).isdigit():
        paths = tuple(next(told) for _ in range(int(count)))
        yield Note(paths, next(told), next(told).strip())
