from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from itertools import combinations, product

import pytest
from hypothesis import example, given, settings, strategies as st

from plait.core.file_locks import find_file_locks, is_glob, normalize_touch, parse_glob

NAMES = ("a", "b", "ab", "c")
UNIVERSE = ["/".join(names) for depth in range(1, 6) for names in product(NAMES, repeat=depth)]

# Folders of two names and globs of three: whatever they have in common shows within five.
plain = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)
wild = st.lists(
    st.sampled_from(("a", "b", "ab", "*", "?", "a*", "*b", "*b*", "a?", "[ab]", "[!a]", "[a-b]b", "**")),
    min_size=1,
    max_size=3,
)
paths = st.builds(lambda names, slash: "/".join(names) + slash, plain, st.sampled_from(("", "/")))
touches = st.one_of(paths, wild.map("/".join), st.just("./"))


def matched(names: list[str], path: list[str]) -> bool:
    """Does this path match? Written for clarity: `**` takes no name, or one and goes on."""
    if not names:
        return not path
    if names == ["**"]:
        return bool(path)
    if names[0] == "**":
        return matched(names[1:], path) or (bool(path) and matched(names, path[1:]))
    return bool(path) and fnmatchcase(path[0], names[0]) and matched(names[1:], path[1:])


@cache
def all_matched(glob: str) -> set[str]:
    return {path for path in UNIVERSE if matched(glob.split("/"), path.split("/"))}


def expanded(touch: str, plan: list[str]) -> set[str]:
    """All files of the universe that a touch stands for in this plan."""
    if is_glob(touch):
        return all_matched(touch)
    if touch == "./":
        return set(UNIVERSE)
    path = touch.removesuffix("/")
    if touch.endswith("/") or f"{path}/" in plan or any(prefix(other).startswith(f"{path}/") for other in plan):
        return {file for file in UNIVERSE if file.startswith(f"{path}/")}
    return {path}


def prefix(glob: str) -> str:
    return glob.translate({ord(sign): "*" for sign in "?["}).split("*", maxsplit=1)[0]


@settings(deadline=None)  # the first look at a glob goes through the universe
@given(st.lists(touches, min_size=2, max_size=6, unique=True))
@example(["c/", "c/a", "c/b"])
@example(["a/", "a/*", "a/**/b", "a/b/"])
@example(["a/b/", "a/b/*", "a/?"])
@example(["a/*", "a/b", "a/b/c"])
@example(["./", "a", "b/*"])
def test_touched_paths_share_a_lock_exactly_when_they_overlap(plan: list[str]) -> None:
    taken = find_file_locks(plan)
    for one, other in combinations(plan, 2):
        share = not set(taken[one]).isdisjoint(taken[other])
        overlap = not expanded(one, plan).isdisjoint(expanded(other, plan))
        if is_glob(one) and is_glob(other):
            ends = sorted((prefix(one), prefix(other)), key=len)
            assert share == ends[1].startswith(ends[0]), (one, other)
            assert share or not overlap, (one, other)
        elif one.removesuffix("/") != other.removesuffix("/"):
            assert share == overlap, (one, other)
        else:
            assert share, (one, other)


@given(wild)
def test_a_glob_matches_what_its_names_match(names: list[str]) -> None:
    glob = parse_glob("/".join(names))

    assert {path for path in UNIVERSE if glob.matches(path)} == all_matched("/".join(names))


@pytest.mark.parametrize(
    ("glob", "path", "result"),
    [
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("**/**/x.py", "x.py", True),
        ("src/**", "src", False),
        ("src/**", "src/a\n/b", True),
        ("a?c", "a/c", False),
        ("a[+-9]c", "a/c", False),
        ("a[!b]c", "a/c", False),
        ("[*]", "*", True),
        ("[*]", "x", False),
        ("[z-a]", "-", True),
        ("[a--b]", "a", True),
        ("a[b", "a[b", True),
        ("[!]", "!", True),
        ("a.b*", "aXb", False),
    ],
)
def test_wildcards_stay_within_a_name(glob: str, path: str, result: bool) -> None:  # noqa: FBT001
    assert parse_glob(glob).matches(path) is result


def test_a_hostile_glob_does_not_take_long() -> None:
    assert not parse_glob("*a" * 60 + "b").matches("a" * 2_000)


@pytest.mark.parametrize(
    ("raw", "spelling"),
    [
        ("./src//a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("Src/A.py", "Src/A.py"),
        ("src/", "src/"),
        ("src/x/../a.py", "src/a.py"),
        ("src/x/..", "src/"),
        ("src/*/", "src/*/**"),
        ("src/*/x/", "src/*/x/**"),
        (".", "./"),
        ("./", "./"),
        ("src/..", "./"),
        (".github/x", ".github/x"),
        ("", None),
        ("/etc/passwd", None),
        ("../x", None),
        ("src/../../x", None),
    ],
)
def test_every_path_has_one_normal_spelling(raw: str, spelling: str | None) -> None:
    assert normalize_touch(raw) == spelling


def test_a_folder_takes_the_locks_of_its_files_and_not_the_reverse() -> None:
    taken = find_file_locks(["src", "src/a.py", "src/x/", "src/*.py", "**/*.md"])

    assert {touch: set(found) for touch, found in taken.items()} == {
        "src": {"file:src", "file:src/a.py", "file:src/x", "file:src/*.py"},
        "src/a.py": {"file:src/a.py"},
        "src/x/": {"file:src/x"},
        "src/*.py": {"file:src/*.py", "file:src/a.py", "file:src/*/"},
        "**/*.md": {"file:**/*.md", "file:src", "file:src/x", "file:*/", "file:src/*/"},
    }
