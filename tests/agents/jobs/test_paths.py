from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.jobs.paths import Refused, contained, same_file

REFUSED = [
    "",
    " ",
    ".",
    "..",
    "../x",
    "a/../x",
    "a/../../x",
    "a/..",
    "/etc/passwd",
    "//host/x",
    "\\x",
    "C:\\x",
    "c:/x",
    "C:x",
    "a\\b",
    "~/x",
    "~root/x",
    "a\nb",
    "a\0b",
    "a\x1b[2Jb",
    "a\u2028b",
    "a\ud800b",
    ".git/config",
    "a/.git/hooks/pre-commit",
    ".GIT/config",
    ".git./config",
    ".git /config",
    ".gi\u200ct/config",
    "git~1/config",
    "\uff0egit/config",
    ".git::$INDEX_ALLOCATION/config",
    ".plait-staging/record",
    "a/",
    "a /b",
    " a",
    "x" * 300,
    "x/" * 600 + "x",
]


@pytest.mark.parametrize("said", REFUSED, ids=[ascii(each)[:40] for each in REFUSED])
def test_a_path_that_leads_elsewhere_is_refused_with_a_reason(said: str) -> None:
    found = contained(said)
    assert isinstance(found, Refused)
    assert found.reason


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("a", "a"),
        ("./a/b.py", "a/b.py"),
        ("a//b.py", "a/b.py"),
        ("a/./b.py", "a/b.py"),
        (".github/x.yml", ".github/x.yml"),
        (".gitignore", ".gitignore"),
        ("with space/é.md", "with space/é.md"),
        ("..a", "..a"),
        ("a~", "a~"),
    ],
)
def test_others_have_one_spelling(said: str, path: str) -> None:
    assert contained(said) == path


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from(["..", ".", "a", ".git", "", "~", "C:", "b"])).map("/".join)
)
def test_what_is_let_through_stays_inside(said: str) -> None:
    found = contained(said)
    if isinstance(found, Refused):
        return
    names = found.split("/")
    assert all(name and name not in {".", ".."} and name.lower() != ".git" for name in names)
    assert not found.startswith(("/", "~"))
    assert found.isprintable() or all(each not in found for each in "\0\n\r\x1b")
    assert contained(found) == found


def test_names_that_some_systems_take_for_one() -> None:
    assert same_file("Src/A.py") == same_file("src/a.py")
    assert same_file("e\u0301") == same_file("\u00e9")
    assert same_file("a.py") != same_file("b.py")
