"""`plait token`: the tokens that the server asks for, and the links that log a browser in."""

from __future__ import annotations

import sys
from pathlib import Path

from plait.cli.say import OK, write_json
from plait.core.errors import UserError
from plait.wiring.keys import read_only_token, rotate_read_only_token, rotate_token, token

SERVER = "http://127.0.0.1:3001"


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
        from plait.server.keys import server_address  # noqa: PLC0415 - only for who wants a link

        url = server_address(url or SERVER)  # before anything is rotated
    found, file = _token(read_only=read_only, rotate=rotate)
    if url is not None:
        made = _link(url, read_only=read_only)
        _say({"link": made, "readOnly": read_only}, made, as_json=as_json)
    else:
        _say({"token": found, "file": str(file)}, found, as_json=as_json)
    return OK


def _token(*, read_only: bool, rotate: bool) -> tuple[str, Path]:
    match read_only, rotate:
        case False, False:
            return token()
        case False, True:
            return rotate_token()
        case True, False:
            return read_only_token()
        case _:
            return rotate_read_only_token()


def _link(url: str, *, read_only: bool) -> str:
    from plait.server.keys import Access, login_link, user_keys  # noqa: PLC0415

    return login_link(user_keys(), url, Access.READ if read_only else Access.FULL)


def _say(told: dict[str, object], line: str, *, as_json: bool) -> None:
    if as_json:
        write_json(told)
    else:
        sys.stdout.write(f"{line}\n")
