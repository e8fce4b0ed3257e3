"""A project: a repository that the server knows, by its path or by its URL, or the folder that it was started in."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from plait.client.api_errors import FieldError
from plait.client.mirrors import MirroredRepo
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, compute_project_id, find_repo

MAX_PATH_LENGTH = 4096  # characters of a path or a URL
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REMOTE_URL = re.compile(r"[\w+.-]+://|[^/:~.][^/:]*:")


@dataclass(frozen=True, slots=True)
class Project:
    """`path` is the top of its checkout. `url` is where its mirror fetches from, without secrets; "": it is no mirror."""

    id: str
    name: str
    path: str
    url: str = ""
    default: bool = False


def create_default_project(place: RepoLocation) -> Project:
    """The one that a server without further words works on."""
    return Project(compute_project_id(place), _project_name(place.top), str(place.top), default=True)


def create_mirror_project(found: MirroredRepo) -> Project:
    """What git names by its path is a URL here, as all others are."""
    url = Path(found.url).as_uri() if found.url.startswith("/") else found.url
    return Project(compute_project_id(found.place), found.name, str(found.place.top), url)


def create_path_project(path: str) -> Project:
    """A checkout on this machine, of this user. Raises FieldError; nothing is made and nothing is changed."""
    place = find_own_checkout(_resolve_folder(_check_text(path, "path")))
    return Project(compute_project_id(place), _project_name(place.top), str(place.top))


def find_own_checkout(path: Path) -> RepoLocation:
    """Raises FieldError unless it lies in a checkout of a repository that is this user's own."""
    try:
        _check_owner(path)
        place = find_repo(path)
    except FieldError:
        raise
    except UserError as error:
        raise FieldError(error.message, field="path", hint=error.hint) from error
    except OSError as error:
        raise FieldError(
            f"{path} can't be looked at: {error.strerror}",
            field="path",
            hint="Name a checkout of a repository.",
        ) from error
    if not place.repository:
        raise FieldError(
            f"{path} is in no git repository",
            field="path",
            hint="A project is a repository: run git init there, or name another folder.",
        )
    for each in (place.top, place.state.parent):
        _check_owner(each)
    return place


def check_url(text: str) -> str:
    """An address that git may be asked for, as far as its looks go. Raises FieldError."""
    url = _check_text(text, "url")
    if not _REMOTE_URL.match(url):
        raise FieldError(
            "this is no URL of a repository",
            field="url",
            hint="Name it like https://host/owner/name, ssh://git@host/owner/name, git@host:owner/name or file:///folder; "
            "or give the folder of a checkout as `path`.",
        )
    return url


def _check_text(raw: str, field: str) -> str:
    text = raw.strip()
    if not text or len(text) > MAX_PATH_LENGTH or _CONTROL.search(text):
        raise FieldError(f"the {field} is empty, too long, or has control characters in it", field=field)
    return text


def _resolve_folder(text: str) -> Path:
    path = Path(text)
    if text == "~" or text.startswith("~/"):
        with suppress(RuntimeError):  # a user without a home
            path = path.expanduser()
    if not path.is_absolute():
        raise FieldError(
            f"{text!r} does not say from where on",
            field="path",
            hint="Name the folder by its whole path: /home/me/repository or ~/repository.",
        )
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise FieldError(f"{text!r} leads nowhere", field="path") from error


def _check_owner(path: Path) -> None:
    if path.stat().st_uid != os.geteuid():
        raise FieldError(
            f"{path} belongs to somebody else",
            field="path",
            hint="What its settings and hooks say would run as you: work in a clone of your own.",
        )


def _project_name(top: Path) -> str:
    return top.name or "repository"
