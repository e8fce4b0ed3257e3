"""Files that a text names: back-ticked paths, `src/x.py` in the open, and bare names with a known ending."""

from __future__ import annotations

import re

_ENDINGS = """bash c cc cfg clj conf cpp cs css csv dart ejs erl ex exs fs go gql gradle graphql h hbs hpp hs html ini ipynb
    java jl js json json5 jsonc jsonl jsx kt kts less lock lua md mdx mjs mk ml mts nix php pl plist proto ps1 py pyi r
    rb rs rst sass scala scss sh sol sql svelte svg swift tex tf toml ts tsx txt vue xml yaml yml zig zsh cjs cts env
    lean tmpl tpl dockerfile"""
_KNOWN_ENDINGS = frozenset(_ENDINGS.split())
_KNOWN_FILE_NAMES = (
    "Makefile",
    "Dockerfile",
    "Justfile",
    "justfile",
    "Rakefile",
    "Gemfile",
    "Procfile",
    "LICENSE",
)
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
    """The paths, in the order in which they are first named."""
    found: dict[str, None] = {}
    for token in _TOKEN.finditer(text):
        ticked, bare = token[1], token[2]
        path = _parse_ticked(ticked.strip()) if ticked is not None else _parse_bare(bare)
        if path:
            found[path] = None
    return tuple(found)


def _parse_ticked(value: str) -> str | None:
    """In back-ticks a path needs a slash, an ending or a known name; a command, a call or a URL is none."""
    match = _IN_TICKS.match(value)
    if (
        match is None
        or value.startswith(("/", "~", "-", "@", "http"))
        or "://" in value
        or value.endswith("()")
    ):
        return None
    path = match[1]
    if "/" in path.rstrip("/"):
        name = path.rstrip("/").rpartition("/")[2]
        return (
            path
            if _is_file_name(name) or path.endswith("/") or "*" in path or _is_extensionless_path(path)
            else None
        )
    return path if _is_file_name(path) or (path.endswith("/") and len(path) > 1) else None


def _is_extensionless_path(path: str) -> bool:
    """`src/core/engine` without an ending: a path if it has two slashes or more, or starts with a usual folder."""
    return path.count("/") > 1 or path.partition("/")[0] in {"src", "lib", "app", "tests", "test", "docs"}


def _parse_bare(path: str) -> str | None:
    """Outside back-ticks only a known ending counts, and no name of a thing that only looks like a file."""
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
