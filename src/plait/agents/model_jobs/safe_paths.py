"""Paths that others name: one spelling for each, inside of the workspace, or a reason why not."""

from __future__ import annotations

import re
import unicodedata

from plait.core.fast_dataclass import dataclass

STAGING_DIR = ".plait-staging"
_MAX_PATH_CHARS = 1024  # characters: no system takes many more
_DRIVE = re.compile(r"[A-Za-z]:")
# Apple's file systems pass these over when they compare names.
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")
_ABSOLUTE = "the path is absolute; only paths inside of the workspace can be written"
_SHORT_GIT_NAME = re.compile(r"git~[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class PathRefusal:
    """A path that nobody may write to."""

    reason: str


def normalize_path(said: str) -> str | PathRefusal:
    """The path in its one spelling: names and single slashes, nothing else."""
    if not said.strip():
        return PathRefusal("no path is named")
    if len(said) > _MAX_PATH_CHARS:
        return PathRefusal("the path is too long")
    if any(unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} for each in said):
        return PathRefusal("the path has control characters in it")
    if said.startswith(("/", "\\")):
        return PathRefusal(_ABSOLUTE)
    if "\\" in said and not _DRIVE.match(said):
        return PathRefusal("the path has backslashes in it; folders are separated by /")
    names = [name for name in said.split("/") if name != "."]
    if ".." in names:
        return PathRefusal("the path leads out of a folder by ..; only plain paths can be written")
    if not names or not names[-1]:
        return PathRefusal("the path names a folder, not a file")
    names = [name for name in names if name]
    if _DRIVE.match(names[0]):
        return PathRefusal(_ABSOLUTE)
    if names[0].startswith("~"):
        return PathRefusal("the path leads to a home folder; only paths inside of the workspace can be written")
    return _check_names(names) or "/".join(names)


def _check_names(names: list[str]) -> PathRefusal | None:
    for name in names:
        if len(name.encode("utf-8", "surrogatepass")) > 255:
            return PathRefusal("a name in the path is too long")
        if name != name.strip():
            return PathRefusal("a name in the path begins or ends with a space")
        seen = _fold_name(name)
        if seen == ".git" or _SHORT_GIT_NAME.match(seen):
            return PathRefusal("the path leads into git's own folder")
        if seen == STAGING_DIR:
            return PathRefusal("the path leads into plait's own folder")
    return None


def _fold_name(name: str) -> str:
    """As the least careful file system compares names."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold()
    return plain.partition(":")[0].rstrip(". ")


def make_path_key(path: str) -> str:
    """Equal for two paths that some file system takes for one."""
    return "/".join(_fold_name(name) or name for name in path.split("/"))
