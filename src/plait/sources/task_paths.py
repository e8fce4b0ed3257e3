"""Files that a task owns, mentions or must not touch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind
from plait.sources.source_model import Document

_ENDINGS = """bash c cc cfg clj conf cpp cs css csv dart ejs erl ex exs fs go gql gradle graphql h hbs hpp hs html ini ipynb
    java jl js json json5 jsonc jsonl jsx kt kts less lock lua md mdx mjs mk ml mts nix php pl plist proto ps1 py pyi r
    rb rs rst sass scala scss sh sol sql svelte svg swift tex tf toml ts tsx txt vue xml yaml yml zig zsh cjs cts env
    lean tmpl tpl dockerfile"""
_KNOWN_ENDINGS = frozenset(_ENDINGS.split())

_KNOWN_FILE_NAMES = ("Makefile", "Dockerfile", "Justfile", "justfile", "Rakefile", "Gemfile", "Procfile", "LICENSE")

# Names of things that only look like files.
_LOOK_ALIKES = """alpine.js angular.js backbone.js chart.js d3.js discord.js ember.js express.js moment.js nest.js next.js node.js
    nuxt.js p5.js plotly.js react.js require.js socket.io solid.js three.js vue.js asp.net"""
_PRODUCTS = frozenset(_LOOK_ALIKES.split())
_WORD = r"[\w@+~.()\[\]*?{}-]"

_TOKEN = re.compile(
    r"`([^`\n]{1,300})`"
    r"|(?<![\w@+/.:$%&#=\\~-])(?:\./)?"
    rf"((?:[\w@+.-]+/)*(?:[\w@+.-]*\.[A-Za-z]\w{{0,9}}|{'|'.join(_KNOWN_FILE_NAMES)}))"
    r"(?::\d+(?:[-:]\d+)*)?(?![\w/\\$%&=@-])"
)

_IN_TICKS = re.compile(rf"(?:\./)?((?:{_WORD}+/)*{_WORD}*/?)(?::\d+(?:[-:]\d+)*)?\Z")


def find_mentions(text: str) -> tuple[str, ...]:
    """Return the paths that a text names, in the order of their first mention."""
    mentions: dict[str, None] = {}
    for token in _TOKEN.finditer(text):
        ticked, bare = token[1], token[2]
        path = _parse_ticked(ticked.strip()) if ticked is not None else _parse_bare(bare)
        if path:
            mentions[path] = None
    return tuple(mentions)


def _parse_ticked(value: str) -> str | None:
    """Return a path in back-ticks: with a slash, an extension or a known name; no command, call or URL. Else None."""
    match = _IN_TICKS.match(value)
    if match is None or value.startswith(("/", "~", "-", "@", "http")) or "://" in value or value.endswith("()"):
        return None
    path = match[1]
    if "/" in path.rstrip("/"):
        name = path.rstrip("/").rpartition("/")[2]
        return (
            path if _is_file_name(name) or path.endswith("/") or "*" in path or _is_extensionless_path(path) else None
        )
    return path if _is_file_name(path) or (path.endswith("/") and len(path) > 1) else None


def _is_extensionless_path(path: str) -> bool:
    """Whether this is a path like `src/core/engine`: with two slashes or more, or with a usual first folder."""
    return path.count("/") > 1 or path.partition("/")[0] in {"src", "lib", "app", "tests", "test", "docs"}


def _parse_bare(path: str) -> str | None:
    """Return a path without back-ticks: with a known ending, and no product's name. Else None."""
    if "/" not in path and path.lower() in _PRODUCTS:
        return None
    return path if _is_file_name(path.rpartition("/")[2]) else None


def _is_file_name(name: str) -> bool:
    stem, dot, ending = name.rpartition(".")
    if name in _KNOWN_FILE_NAMES:
        return True
    if not dot:
        return False
    # `.md` alone is a kind of files, `.env` is one.
    return ending.lower() in _KNOWN_ENDINGS and not stem.isdigit() and (bool(stem) or ending == "env")


# What a tree is drawn with: box lines and corners, their stand-ins in plain text, and a list's marker.
_TREE_LINES = re.compile(r"(?:[\s\u2500-\u257f]|\|(?=[\s-])|[+`\\](?=--)|-(?=[\s-]))*")
_LINES = re.compile(r"[\u2500-\u257f]|[|+`\\]--")
_NAME = re.compile(r"[\w*]")
_COMMENTS = ("#", "//", "<-", "\u2190")
_MAX_DEPTH = 64


def parse_file_tree(text: str) -> Iterator[str]:
    """Yield the full paths of the leaves; folders that have nothing beneath them end in a slash as they are written."""
    rows = list(_parse_rows(text))
    above: list[tuple[int, str]] = []
    for index, (column, name, drawn) in enumerate(rows):
        while above and above[-1][0] >= column:
            above.pop()
        following = rows[index + 1][0] if index + 1 < len(rows) else 0
        if following > column:
            if len(above) < _MAX_DEPTH:
                above.append((column, name))
        elif drawn or "/" in name or "." in name:
            folders = "".join(f"{folder.rstrip('/')}/" for _, folder in above if folder.rstrip("/") != ".")
            yield folders + name.removeprefix("./")


def _parse_rows(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the column and name in each line, and whether tree lines are drawn to it."""
    for line in text.split("\n"):
        match = _TREE_LINES.match(line)
        rest = line[match.end() :].split(maxsplit=1) if match else ()
        name = rest[0].strip("`,;") if rest else ""
        if match and _NAME.search(name) and not name.startswith(_COMMENTS) and "://" not in name:
            yield len(match[0].expandtabs(4)), name, _LINES.search(match[0]) is not None


_FORBIDDING = re.compile(
    r"\b(?:must|may|should|do|shall)\s+not\s+(?:be\s+)?(?:modif|touch|edit|chang)\w*"
    r"|\bdon['\u2019]t\s+(?:modify|touch|edit|change)\b|\bforbidden\b",
    re.IGNORECASE,
)
_OWNING = re.compile(r"\b(?:own|may|can|creat|modif|edit|writ|chang|touch|add)", re.IGNORECASE)
_LETTERS = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[.;](?=\s)|\n\n")


@dataclass(slots=True)
class TaskPaths:
    """The paths of a task. `owned`: declared under `## Owned Paths`. `mentioned`: named in the text, outside of
    examples.

    What must not be modified is neither.
    """

    owned: list[str] = field(default_factory=list)
    mentioned: dict[str, None] = field(default_factory=dict)

    def list_undeclared(self, declared: Iterable[str]) -> tuple[str, ...]:
        known = set(declared)
        return tuple(path for path in self.mentioned if path not in known)


def find_task_paths(document: Document) -> TaskPaths:
    paths = TaskPaths()
    scan = _OwnershipScanner()
    for block in document.markdown.blocks:
        if block.quoted:
            continue
        text = scan.read_allowed(block)
        if text is None:
            continue
        if block.kind is BlockKind.FENCE:
            paths.owned += parse_file_tree(block.text) if scan.owns else ()
            continue
        paths.mentioned |= dict.fromkeys(find_mentions(text))
        if block.kind is BlockKind.ITEM and scan.owns:
            paths.owned += find_declared_paths(text)
    return paths


def find_declared_paths(text: str) -> Iterator[str]:
    """Yield the paths in a list of them: a first `src/core/` or `src/*.py` needs no back-ticks."""
    named = dict.fromkeys(find_mentions(text))
    first = next(iter(text.split(maxsplit=1)), "").rstrip(",;:")
    if first and "`" not in first:
        named = dict.fromkeys((*find_mentions(f"`{first}`"), *named))
    yield from named


class _OwnershipScanner:
    """Tracks whether a block is under a heading or label that forbids or owns files."""

    def __init__(self) -> None:
        self.owns = False
        self._own_section = 0  # the level of its heading, 0 outside
        self._forbidden_section = 0
        self._forbidden_list = False
        self._forbidden_item: Block | None = None

    def read_allowed(self, block: Block) -> str | None:
        """Return the text of a block without what must not be modified; None if nothing is left."""
        if block.kind is BlockKind.HEADING and block.parent is None:
            return self._read_heading(block)
        if self._forbidden_section or any(above is self._forbidden_item for above in block.ancestors):
            return None
        if block.kind is BlockKind.RULE:
            self._forbidden_list = False
        elif block.kind is BlockKind.PARAGRAPH and block.parent is None:
            return self._read_paragraph(block.text)
        elif self._forbidden_list:
            return None
        elif block.kind is BlockKind.ITEM and _FORBIDDING.search(block.text):
            self._forbidden_item = block
            return _remove_forbidden(block.text)
        if block.kind is BlockKind.TABLE:
            return "\n".join(" ".join(row) for row in block.rows)
        return None if block.kind in {BlockKind.RULE, BlockKind.HTML} else block.text

    def _read_heading(self, block: Block) -> str | None:
        self._forbidden_list, self._forbidden_item = False, None
        if block.level <= self._forbidden_section:
            self._forbidden_section = 0
        if block.level <= self._own_section:
            self._own_section = 0
        value = " ".join(_LETTERS.findall(block.text.lower()))
        if not self._forbidden_section and _FORBIDDING.search(block.text):
            self._forbidden_section = block.level
        elif value.startswith(("owned paths", "owned files")):
            self._own_section = block.level
            self.owns = True
            return block.text
        self.owns = bool(self._own_section) and bool(_OWNING.search(value))
        return None if self._forbidden_section else block.text

    def _read_paragraph(self, text: str) -> str:
        """Return what a paragraph allows. One that is not a sentence may be the label of the list below it."""
        value = text.rstrip("* \t")
        forbids = _FORBIDDING.search(text) is not None
        self._forbidden_list = forbids and not value.endswith((".", "!", ","))
        if self._own_section:
            self.owns = not forbids and (_OWNING.search(text) is not None if value.endswith(":") else self.owns)
        return _remove_forbidden(text) if forbids else text


def _remove_forbidden(text: str) -> str:
    """Remove the parts of sentences that forbid something."""
    kept, position = [], 0
    for match in _FORBIDDING.finditer(text):
        if match.start() < position:
            continue
        kept.append(text[position : match.start()])
        end = _SENTENCE.search(text, match.end())
        position = end.end() if end else len(text)
    return " ".join([*kept, text[position:]])
