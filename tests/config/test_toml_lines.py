"""The locator tells the line of every key of every TOML file, whatever hides it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings, strategies as st

from plait.config.toml_file import KeyPath, ParsedToml, locate_keys

PLAIN_VALUES = [
    "1",
    "-0.5",
    "true",
    "1979-05-27T07:32:00Z",
    '"text"',
    '"# no comment, [no.table], key = 1"',
    r'"a \" quote \\"',
    r"'literal \'",
    "'''one line'''",
    '""""quoted" at both ends"""""',
    "''''quoted' at both ends'''''",
    '""',
    "''",
    '""""""',
    '["""x"""", "["]',
    "['''x'''', '[']",
    "[]",
    "{}",
    "[1, [2, 3], ['#', \"]\"]]",
    "{ a = 1, b.c = '}', \"d\" = [ {e = 2} ] }",
]
LONG_VALUES = [
    "[\n[1],\n['a']\n]",
    '"""\n[run]\nretries = 3\n# "\n"""',
    "'''\n[run]\nretries = 3 \\\n'''",
    '"""a \\\n   b "" \\""" c\n"""',
    "[\n  1, # ] not the end\n  '[',\n]",
    '[\n  { a = """\nx = 1\n""" },\n  # "\n]',
    "{ a = [\n1,\n2\n] }",
]
NAMES = ["a", "b-c", "d_1", "7", '"e.f"', "'g h'", '"\\u0041\\n\\""', '"="', "'['", '"#"', '""']
GAPS = ["", "\n", "# [x]\n", "\n  # y = '''\n\n"]


def spoken(name: str) -> str:
    return next(iter(tomllib.loads(f"{name} = 0")))


@dataclass
class Draft:
    """A TOML file on its way, with what stands where."""

    text: str = ""
    expected: dict[KeyPath, int] = field(default_factory=dict)
    serial: int = 0

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def fresh(self, name: str) -> tuple[str, str]:
        """A name that nobody has yet, as written and as meant."""
        self.serial += 1
        end = name[-1] if name[-1] in "\"'" else ""
        written = f"{name.removesuffix(end) if end else name}{self.serial}{end}"
        return written, spoken(written)


@st.composite
def values(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(PLAIN_VALUES + LONG_VALUES))


def add_pairs(draw: st.DrawFn, draft: Draft, table: KeyPath) -> None:
    for _ in range(draw(st.integers(0, 3))):
        draft.text += draw(st.sampled_from(GAPS)) + draw(st.sampled_from(["", "  ", "\t"]))
        names = [draft.fresh(name) for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))]
        for length in range(1, len(names) + 1):
            draft.expected[(*table, *(meant for _, meant in names[:length]))] = draft.line
        dot = draw(st.sampled_from([".", " . ", "\t."]))
        equals = draw(st.sampled_from(["=", " = ", "\t="]))
        comment = draw(st.sampled_from(["", " # end", "# ''' [x]"]))
        draft.text += f"{dot.join(written for written, _ in names)}{equals}{draw(values())}{comment}\n"


def add_table(draw: st.DrawFn, draft: Draft, above: KeyPath, header: list[str]) -> None:
    """`[above.x]` or `[above.x.y]`: what is on the way stands on the same line."""
    names = [draft.fresh(name) for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2))]
    path = above
    for _, meant in names:
        path = (*path, meant)
        draft.expected[path] = draft.line
    pad = draw(st.sampled_from(["", " "]))
    written = ".".join([*header, *(written for written, _ in names)])
    draft.text += f"[{pad}{written}{pad}]{draw(st.sampled_from(['', ' # ]']))}\n"
    add_pairs(draw, draft, path)


def add_array(draw: st.DrawFn, draft: Draft, count: int) -> None:
    written, meant = draft.fresh(draw(st.sampled_from(NAMES)))
    for _ in range(count):
        draft.text += draw(st.sampled_from(GAPS))
        draft.expected.setdefault((meant,), draft.line)
        draft.text += f"[[{written}]]\n"
        add_pairs(draw, draft, (meant,))
        if draw(st.booleans()):
            add_table(draw, draft, (meant,), [written])


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    draft = Draft()
    add_pairs(draw, draft, ())
    for _ in range(draw(st.integers(0, 4))):
        draft.text += draw(st.sampled_from(GAPS))
        if draw(st.booleans()):
            add_table(draw, draft, (), [])
        else:
            add_array(draw, draft, draw(st.integers(1, 3)))
    return draft


def dig(tree: object, path: KeyPath) -> object:
    """What is at the path; in an array of tables, in the table that has it."""
    for step in path:
        tables: list[dict[str, object]] = tree if isinstance(tree, list) else [tree]  # type: ignore[list-item]
        tree = next(table[step] for table in tables if step in table)
    return tree


def find_line(text: str, *path: str) -> int:
    return ParsedToml({}, locate_keys(text)).find_line(*path)


@given(drafts())
def test_every_key_of_every_file_is_found_on_its_line(draft: Draft) -> None:
    tree = tomllib.loads(draft.text)
    lines = locate_keys(draft.text)
    for path, line in draft.expected.items():
        dig(tree, path)
        assert (path, lines[path]) == (path, line)
    for path in lines:
        dig(tree, path)


@settings(max_examples=30)
@given(drafts())
def test_line_endings_make_no_difference(draft: Draft) -> None:
    text = draft.text.replace("\n", "\r\n")
    tomllib.loads(text)
    assert locate_keys(text) == locate_keys(draft.text)


@given(st.text(alphabet="ab.=[]{}\"'#\\ \n\r\t1", max_size=80))
def test_no_text_keeps_the_scanner_from_ending(text: str) -> None:
    locate_keys(text)


def test_a_key_of_an_inline_table_has_the_line_of_the_table() -> None:
    assert find_line("[run]\n\nx = { y = { z = 1 } }\n", "run", "x", "y", "z") == 3


def test_a_table_has_the_line_of_its_own_header() -> None:
    assert find_line("[a.b]\nc = 1\n[a]\nd = 2\n", "a") == 3


def test_an_unknown_key_has_no_line() -> None:
    assert find_line("[a]\n", "b", "c") == 0


@pytest.mark.parametrize(
    "text",
    [
        f"{'a.' * 50_000}b = 1",
        f"a = {'[' * 100_000}",
        f'a = "{"x" * 1_000_000}"',
        f'a = """{chr(34) * 2 + "x"}' * 100_000,
        "a" * 1_000_000,
        "\n" * 1_000_000,
        "'" * 1_000_001,
        '"' * 1_000_001,
        "# x\n" * 250_000,
    ],
    ids=["dotted", "nested", "long", "quotes", "name", "empty", "literal", "basic", "comments"],
)
def test_a_huge_file_is_scanned_in_linear_time(text: str) -> None:
    assert find_line(text, "b") == 0
