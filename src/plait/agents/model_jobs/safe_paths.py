"""Paths from answers: normalised and inside the workspace, or a reason for refusing them."""

from __future__ import annotations

import re
import unicodedata

from plait.core.fast_dataclass import dataclass

STAGING_DIR = ".plait-staging"
_MAX_PATH_CHARS = 1024
_DRIVE = re.compile(r"[A-Za-z]:")
# Ignored by Apple's file systems when they compare names.
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")
_ABSOLUTE = "the path is absolute; only paths inside the workspace can be written"
_SHORT_GIT_NAME = re.compile(r"git~[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class PathRefusal:
    """The reason why a path must not be written."""

    reason: str


def normalize_path(text: str) -> str | PathRefusal:
    """Reduce a path to names and single slashes, or refuse it."""
    if not text.strip():
        return PathRefusal("the path is empty")
    if len(text) > _MAX_PATH_CHARS:
        return PathRefusal("the path is too long")
    if any(unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} for each in text):
        return PathRefusal("the path contains control characters")
    if text.startswith(("/", "\\")):
        return PathRefusal(_ABSOLUTE)
    if "\\" in text and not _DRIVE.match(text):
        return PathRefusal("the path contains backslashes; folders are separated by /")
    names = [name for name in text.split("/") if name != "."]
    if ".." in names:
        return PathRefusal("the path contains ..; only plain paths can be written")
    if not names or not names[-1]:
        return PathRefusal("the path names a folder, not a file")
    names = [name for name in names if name]
    if _DRIVE.match(names[0]):
        return PathRefusal(_ABSOLUTE)
    if names[0].startswith("~"):
        return PathRefusal("the path is in a home folder; only paths inside the workspace can be written")
    return _check_names(names) or "/".join(names)


def _check_names(names: list[str]) -> PathRefusal | None:
    for name in names:
        if len(name.encode("utf-8", "surrogatepass")) > 255:
            return PathRefusal("a name in the path is too long")
        if name != name.strip():
            return PathRefusal("a name in the path starts or ends with a space")
        seen = _fold_name(name)
        if seen == ".git" or _SHORT_GIT_NAME.match(seen):
            return PathRefusal("the path is inside git's own folder")
        if seen == STAGING_DIR:
            return PathRefusal("the path is inside plait's own folder")
    return None


def _fold_name(name: str) -> str:
    """Fold a name as the most lenient file system compares names."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold()
    return plain.partition(":")[0].rstrip(". ")


def make_path_key(path: str) -> str:
    """Return a key that is equal for paths that are the same file on some file system."""
    return "/".join(_fold_name(name) or name for name in path.split("/"))
