"""Plait's own part of a pull request's body: what people wrote around it, or as a title, stays theirs."""

from __future__ import annotations

import hashlib
import re

from plait.adapters.forge.model import Draft, Pull
from plait.ports import Announcement

MOST = 65_536  # characters that every forge takes
_BEGIN = re.compile(r"<!-- plait ([0-9a-f]{12}) -->")
_END = "<!-- /plait -->"
_CUT = "\n\n(more than fits here)"


def fresh(wanted: Announcement) -> Draft:
    return Draft(wanted.title, _section(wanted, MOST), wanted.draft)


def renewed(found: Pull, wanted: Announcement) -> Draft:
    """The part is replaced, or added where there is none. The title is renewed where it is still the one that plait gave,
    or where somebody has just asked for another.
    """
    begin, end = _BEGIN.search(found.body), found.body.rfind(_END)
    if begin is None or end < begin.end():
        before, after, ours = f"{found.body.rstrip()}\n\n" if found.body.strip() else "", "", False
    else:
        before, after = found.body[: begin.start()], found.body[end + len(_END) :]
        ours = begin[1] == _digest(found.title)
    section = _section(wanted, MOST - len(before) - len(after))
    title = wanted.title if ours or wanted.renamed else found.title
    return Draft(title, f"{before}{section}{after}")


def _section(wanted: Announcement, room: int) -> str:
    begin = f"<!-- plait {_digest(wanted.title)} -->\n"
    body = wanted.body.replace(_END, "").strip()
    room = max(0, room - len(begin) - len(_END) - 1)
    if len(body) > room:
        short = body[: max(0, room - len(_CUT))]
        body = (short.rpartition("\n")[0] or short) + _CUT
    return f"{begin}{body}\n{_END}"


def _digest(title: str) -> str:
    return hashlib.sha256(" ".join(title.split()).encode("utf-8", "replace")).hexdigest()[:12]
