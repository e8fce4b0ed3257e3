from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.model_jobs.safe_paths import PathRefusal, make_path_key, normalize_path

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
def test_an_unsafe_path_is_refused_with_a_reason(said: str) -> None:
    found = normalize_path(said)
    assert isinstance(found, PathRefusal)
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
def test_an_allowed_path_is_normalised(said: str, path: str) -> None:
    assert normalize_path(said) == path


@given(st.text(max_size=40) | st.lists(st.sampled_from(["..", ".", "a", ".git", "", "~", "C:", "b"])).map("/".join))
def test_an_accepted_path_stays_inside_the_workspace(said: str) -> None:
    found = normalize_path(said)
    if isinstance(found, PathRefusal):
        return
    names = found.split("/")
    assert all(name and name not in {".", ".."} and name.lower() != ".git" for name in names)
    assert not found.startswith(("/", "~"))
    assert found.isprintable() or all(each not in found for each in "\0\n\r\x1b")
    assert normalize_path(found) == found


def test_names_that_some_file_systems_treat_as_one_share_a_key() -> None:
    assert make_path_key("Src/A.py") == make_path_key("src/a.py")
    assert make_path_key("e\u0301") == make_path_key("\u00e9")
    assert make_path_key("a.py") != make_path_key("b.py")
