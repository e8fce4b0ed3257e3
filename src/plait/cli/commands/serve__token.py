"""`plait token`: the tokens that the server asks for, and the links that log a browser in."""

from __future__ import annotations

import sys
from pathlib import Path

from plait.cli.output import OK, print_json
from plait.client.server_tokens__keys import (
    get_full_token,
    get_read_only_token,
    rotate_full_token,
    rotate_read_only_token,
)
from plait.core.errors import UserError

DEFAULT_SERVER_URL = "http://127.0.0.1:3001"


def token_command(  # noqa: PLR0913 - the options of the verb
    where: Path,  # noqa: ARG001 - one token for all repositories of a user
    *,
    as_json: bool,
    read_only: bool = False,
    rotate: bool = False,
    link: bool = False,
    url: str | None = None,
) -> int:
    if url is not None and not link:
        raise UserError("--url says where a link leads to", hint="Say it with --link.")
    if link:
        from plait.server.auth import parse_server_url  # noqa: PLC0415 - only for who wants a link

        url = parse_server_url(url or DEFAULT_SERVER_URL)  # before anything is rotated
    found, file = _get_token(read_only=read_only, rotate=rotate)
    if url is not None:
        made = _make_link(url, read_only=read_only)
        _print_answer({"link": made, "readOnly": read_only}, made, as_json=as_json)
    else:
        _print_answer({"token": found, "file": str(file)}, found, as_json=as_json)
    return OK


def _get_token(*, read_only: bool, rotate: bool) -> tuple[str, Path]:
    match read_only, rotate:
        case False, False:
            return get_full_token()
        case False, True:
            return rotate_full_token()
        case True, False:
            return get_read_only_token()
        case _:
            return rotate_read_only_token()


def _make_link(url: str, *, read_only: bool) -> str:
    from plait.server.auth import Access, create_authenticator, make_login_link  # noqa: PLC0415

    return make_login_link(create_authenticator(), url, Access.READ if read_only else Access.FULL)


def _print_answer(answer: dict[str, object], line: str, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        sys.stdout.write(f"{line}\n")
