from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.sources.task_paths import find_mentions


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Update `src/api.ts` and api.ts in x.ts", ["src/api.ts", "api.ts", "x.ts"]),
        ("in src/x.py:12. And src/y.py:3-9, too", ["src/x.py", "src/y.py"]),
        ("(src/a.py, ./src/b.py) [link](docs/x.md)", ["src/a.py", "src/b.py", "docs/x.md"]),
        ("**Files:** a.py, new file b.test.ts.", ["a.py", "b.test.ts"]),
        (
            "`app/[id]/page.tsx` and `src/**/*.ts` and `docs/out/`",
            ["app/[id]/page.tsx", "src/**/*.ts", "docs/out/"],
        ),
        ("the Makefile, the LICENSE, `Dockerfile`", ["Makefile", "LICENSE", "Dockerfile"]),
        (
            "`.claude/commands/x.md` and .github/workflows/ci.yml",
            [".claude/commands/x.md", ".github/workflows/ci.yml"],
        ),
        ("src/a.py src/a.py", ["src/a.py"]),
        ("pfad/überall.md", ["pfad/überall.md"]),
    ],
)
def test_files_are_found(text: str, files: list[str]) -> None:
    assert list(find_mentions(text)) == files


@pytest.mark.parametrize(
    "text",
    [
        "see Node.js v1.2.3, e.g. Promise.all or asp.net 3.11",
        "`find docs -name x.bak -delete` and `npm run test`",
        "https://example.org/a/b.md and http://x.io/c.py",
        "/opt/www/data.php is not in the repository, nor is ~/x.py",
        "`foo()` `--flag` `@scope/name` `and/or` either/or",
        "Add a license and a makefile",
        "mail me@host.org and $HOME/x.py",
        "192.0.2.1 and 10.0.0.0/8",
    ],
)
def test_text_that_only_looks_like_a_file_is_not_one(text: str) -> None:
    assert find_mentions(text) == ()


@given(st.text("ab./`:-+@_\\ \n", max_size=60))
def test_every_mention_is_in_the_text(text: str) -> None:
    assert all(path in text for path in find_mentions(text))


@pytest.mark.parametrize("piece", ["a.", "a/", "a+", "`", "a-", "./", "a.b/", "a:1", "é."])
def test_a_long_line_takes_linear_time(piece: str) -> None:
    """Would not come to an end if looking cost the square of the length."""
    find_mentions(piece * 300_000)
