"""The file that a line names: `FILE: path`, a heading, a path in ticks or bold, a path alone; or a fence's opening."""

from __future__ import annotations

import re
from collections.abc import Collection

_MAX_LINE_CHARS = 1200  # characters of a line that is looked at
_LABEL = re.compile(
    r"(?:[#>*\-\s]|\d{1,3}[.)])*(?:\*\*|__)?(?:file(?: ?name| ?path)?|path)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.+)",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+")
_AROUND = "*_`\"' \t"
_PLAIN = re.compile(r"[^\s`\"'<>|*?:,;(){}]+\Z")
_TICKED = re.compile(r"`([^`\n]{1,300})`")
_PATH_ATTRIBUTE = re.compile(r"(?:title|file|filename|path|name)\s*=\s*[\"']?([^\"'\s}]+)", re.IGNORECASE)
_ENDING = re.compile(r"[^/.\s]\.[A-Za-z][A-Za-z0-9_+-]{0,9}\Z|(?:^|/)\.[A-Za-z][\w.-]*\Z")
_COMMENT = re.compile(
    r"\s*(?:#|//|--|;+|%|/\*|<!--|\"\"\"|')?!?\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:\*/|-->|\"\"\")?\s*\Z"
)
_LANGUAGES = frozenset({"asp.net", "vb.net"})
_KNOWN_FILE_NAMES = frozenset(
    {"Makefile", "Dockerfile", "Justfile", "justfile", "LICENSE", "Rakefile", "Gemfile", "Procfile"}
)


def parse_file_label(line: str) -> str | None:
    """What stands after FILE: or Path: and the like."""
    found = _LABEL.match(line[:_MAX_LINE_CHARS].strip())
    return _strip_markup(found[1]) if found else None


def find_file_header(line: str, known: Collection[str] = ()) -> str | None:
    """The path that a line before a fence names. After a label it is one however odd; in a sentence only a known one."""
    line = line[:_MAX_LINE_CHARS].strip()
    if (labelled := parse_file_label(line)) is not None:
        return labelled
    bare = _strip_markup(_LEAD.sub("", line, count=1))
    if bare in known or (_PLAIN.match(bare) and looks_like_path(bare)):
        return bare
    ticked = [str(each).strip() for each in _TICKED.findall(line)]
    if len(ticked) == 1 and line.strip(_AROUND + ":#.").strip() == ticked[0] and looks_like_path(ticked[0]):
        return ticked[0]
    named = dict.fromkeys(each for each in ticked if each in known)
    return next(iter(named)) if len(named) == 1 else None


def find_path_in_info(info: str, known: Collection[str] = ()) -> str | None:
    """The path in a fence's opening: "python src/a.py", "python:src/a.py", "src/a.py", "python title=src/a.py"."""
    said = _PATH_ATTRIBUTE.search(info[:_MAX_LINE_CHARS])
    if said is not None:
        return str(said[1])
    for word in info[:_MAX_LINE_CHARS].split():
        named = word.partition(":")[2] if re.match(r"[A-Za-z+#-]+:[^:]", word) else word
        named = named.strip("{}`\"'")
        if named.lower() in _LANGUAGES:
            continue
        if named in known or ("/" in named and looks_like_path(named)) or _ENDING.search(named):
            return named
    return None


def find_path_in_comment(line: str, known: Collection[str]) -> str | None:
    """The known path that a file's first line is a comment of."""
    found = _COMMENT.match(line[:_MAX_LINE_CHARS])
    path = "" if found is None else str(found[1]).removeprefix("./")
    return path if path in known else None


def looks_like_path(word: str) -> bool:
    if word.endswith(("/", ".", "...")) or "://" in word or not any(each.isalnum() for each in word):
        return False
    return "/" in word or "\\" in word or word in _KNOWN_FILE_NAMES or _ENDING.search(word) is not None


def _strip_markup(said: str) -> str:
    """Without ticks, bold, a colon, or a remark in brackets."""
    said = said.strip().rstrip(":").strip(_AROUND).rstrip(":").strip(_AROUND)
    ticked = _TICKED.match(f"`{said}")
    if ticked is not None and ticked[1] != said:
        said = ticked[1].strip()
    return re.sub(r"\s+\([^()]*\)\Z", "", said)
