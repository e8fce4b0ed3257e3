"""Plait's own part of a pull request's body: what people wrote around it, or as a title, stays theirs."""

from __future__ import annotations

import hashlib
import re

from plait.forges.api import OpenPullRequest, PullRequestContent
from plait.store.interfaces import PullRequestSpec

MAX_BODY_CHARS = 65_536  # characters that every forge takes
_SECTION_BEGIN = re.compile(r"<!-- plait ([0-9a-f]{12}) -->")
_SECTION_END = "<!-- /plait -->"
_TRUNCATION_NOTE = "\n\n(more than fits here)"


def build_content(wanted: PullRequestSpec) -> PullRequestContent:
    return PullRequestContent(wanted.title, _build_section(wanted, MAX_BODY_CHARS), wanted.draft)


def update_content(found: OpenPullRequest, wanted: PullRequestSpec) -> PullRequestContent:
    """The part is replaced, or added where there is none. The title is renewed where it is still the one that plait gave,
    or where somebody has just asked for another.
    """
    begin, end = _SECTION_BEGIN.search(found.body), found.body.rfind(_SECTION_END)
    if begin is None or end < begin.end():
        before, after, ours = f"{found.body.rstrip()}\n\n" if found.body.strip() else "", "", False
    else:
        before, after = found.body[: begin.start()], found.body[end + len(_SECTION_END) :]
        ours = begin[1] == _digest_title(found.title)
    section = _build_section(wanted, MAX_BODY_CHARS - len(before) - len(after))
    title = wanted.title if ours or wanted.renamed else found.title
    return PullRequestContent(title, f"{before}{section}{after}")


def _build_section(wanted: PullRequestSpec, room: int) -> str:
    begin = f"<!-- plait {_digest_title(wanted.title)} -->\n"
    body = wanted.body.replace(_SECTION_END, "").strip()
    room = max(0, room - len(begin) - len(_SECTION_END) - 1)
    if len(body) > room:
        short = body[: max(0, room - len(_TRUNCATION_NOTE))]
        body = (short.rpartition("\n")[0] or short) + _TRUNCATION_NOTE
    return f"{begin}{body}\n{_SECTION_END}"


def _digest_title(title: str) -> str:
    return hashlib.sha256(" ".join(title.split()).encode("utf-8", "replace")).hexdigest()[:12]
