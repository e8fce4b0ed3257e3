"""`plait serve` (the HTTP server), `plait token` (its tokens and login links) and `plait mcp` (MCP on standard input)."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from plait.cli import options as opt
from plait.cli.output import OK, print_json, replace_control_chars
from plait.core.errors import UserError
from plait.server import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_URL
from plait.store.server_tokens import open_token_files, read_or_create_token, replace_token
from plait.store.state_claim import open_repo

if TYPE_CHECKING:
    from plait.server.serve import ServerInfo


def serve_command(
    where: Path,
    *,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 accepts connections from other machines."
        ),
    ] = DEFAULT_HOST,
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 picks a free one."),
    ] = DEFAULT_PORT,
    browser: Annotated[bool, typer.Option("--open", help="Open the browser, logged in.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Allowed host name, as behind a proxy: plait.example.org. May be repeated.",
        ),
    ] = None,
    certfile: Annotated[
        Path | None, typer.Option("--certfile", metavar="FILE", help="Serve TLS with this certificate.")
    ] = None,
    keyfile: Annotated[
        Path | None,
        typer.Option("--keyfile", metavar="FILE", help="The certificate's key, if in a separate file."),
    ] = None,
    rotate: Annotated[
        bool,
        typer.Option("--rotate-token", help="Replace the token first; old tokens, links and logins stop working."),
    ] = False,
    as_json: opt.Json = False,
) -> int:
    from plait.server.serve import ServeOptions, TlsFiles, serve  # slow to import

    if keyfile is not None and certfile is None:
        raise UserError("--keyfile needs a certificate", hint="Name it with --certfile FILE.")
    tls = None if certfile is None else TlsFiles(certfile, keyfile)
    options = ServeOptions(where, host.strip("[]"), port, tls, tuple(allow_host or ()), rotate)

    def announce(server: ServerInfo) -> None:
        _announce(server, rotated=rotate, as_json=as_json)
        if browser:
            Thread(target=_open_browser, args=(server.link,), daemon=True).start()

    return serve(options, announce, _print_warning)


def _announce(server: ServerInfo, *, rotated: bool, as_json: bool) -> None:
    with suppress(OSError):  # the server runs without its announcement
        if as_json:
            sys.stdout.write(json.dumps({"url": server.url, "link": server.link, "pid": os.getpid()}) + "\n")
        else:
            sys.stdout.write("".join(f"{line}\n" for line in _format_announcement(server, rotated=rotated)))
        sys.stdout.flush()
    if not server.loopback_only:
        _warn_public(server)


def _format_announcement(server: ServerInfo, *, rotated: bool) -> list[str]:
    lines = [f"plait serves {_describe_projects(server)} at {server.url}"]
    if rotated:
        lines += ["  The token is new: older tokens, links and logins no longer work."]
    if not is_output_logged():
        return [
            *lines,
            "  Log in with this link, once and within ten minutes:",
            f"  {server.link}",
            "  Ctrl+C stops the server; batches continue without it.",
        ]
    where = "" if server.url == DEFAULT_URL else f" --url {server.url}"
    return [*lines, f"  For a login link: plait token --link{where}"]


def is_output_logged() -> bool:
    """Whether systemd's journal keeps the output, where others may read a login link."""
    return bool(os.environ.get("JOURNAL_STREAM")) and not sys.stdout.isatty()


def _describe_projects(server: ServerInfo) -> str:
    others = (
        f"{server.other_projects} {'more ' if server.project else ''}project{'s' if server.other_projects > 1 else ''}"
    )
    if server.project is None:
        return others if server.other_projects else "no project yet"
    return replace_control_chars(server.project.path) + (f" and {others}" if server.other_projects else "")


def _warn_public(server: ServerInfo) -> None:
    port = server.url.rpartition(":")[2]
    _print_warning(
        "the server can be reached from the network, and only the token protects it",
        "It accepts IP addresses; allow a host name with --allow-host NAME. "
        f"For a login link: plait token --link --url {'https' if server.tls else 'http'}://ADDRESS:{port}",
    )
    if not server.tls:
        _print_warning(
            "there is no TLS: anyone on the network path can read the token and everything else",
            "Use --certfile and --keyfile, or leave --host out and use a tunnel: "
            f"ssh -L {port}:127.0.0.1:{port} MACHINE",
        )


def _open_browser(link: str) -> None:
    """Open the browser; one that would run in the terminal only if $BROWSER names it."""
    import webbrowser  # only for --open

    try:
        browser = webbrowser.get()
        uses_terminal = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
        opened = not uses_terminal and browser.open(link)
    except Exception:  # noqa: BLE001 - the server runs without a browser
        opened = False
    if not opened:
        _print_warning("no browser could be opened here: open the link yourself")


def _print_warning(text: str, hint: str = "") -> None:
    with suppress(OSError):
        sys.stderr.write(f"plait: {replace_control_chars(text)}\n" + (f"  {hint}\n" if hint else ""))
        sys.stderr.flush()


def token_command(
    where: Path,  # noqa: ARG001 - a user has one token for all repositories
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Print the read-only token, for dashboards.")] = False,
    rotate: Annotated[
        bool,
        typer.Option(
            "--rotate",
            help="Replace both tokens; all links and logins stop working. With --read-only: only that token.",
        ),
    ] = False,
    link: Annotated[bool, typer.Option("--link", help="Print a one-time login link, valid for ten minutes.")] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help=f"With --link: the server's URL. Default: {DEFAULT_URL}"),
    ] = None,
    as_json: opt.Json = False,
) -> int:
    if url is not None and not link:
        raise UserError("--url only works with --link", hint="plait token --link --url URL")
    if link:
        from plait.server.auth import parse_server_url  # only for --link

        url = parse_server_url(url or DEFAULT_URL)  # before anything is rotated
    token, file = _get_token(read_only=read_only, rotate=rotate)
    if url is not None:
        login_link = _make_link(url, read_only=read_only)
        _print_answer({"link": login_link, "readOnly": read_only}, login_link, as_json=as_json)
    else:
        _print_answer({"token": token, "file": str(file)}, token, as_json=as_json)
    return OK


def _get_token(*, read_only: bool, rotate: bool) -> tuple[str, Path]:
    """Return the token and its file."""
    files = open_token_files()
    path = files.read_only if read_only else files.full
    if not rotate:
        return read_or_create_token(path), path
    return replace_token(path) if read_only else files.rotate(), path


def _make_link(url: str, *, read_only: bool) -> str:
    from plait.server.auth import Access, create_authenticator, make_login_link

    return make_login_link(create_authenticator(), url, Access.READ if read_only else Access.FULL)


def _print_answer(answer: dict[str, object], line: str, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        sys.stdout.write(f"{line}\n")


def mcp_command(
    where: Path,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only read-only tools.")] = False,
) -> int:
    if find_spec("mcp") is None:
        raise UserError(
            "plait mcp needs the Model Context Protocol's SDK, and it is not installed",
            hint="pip install 'plait[mcp]'",
        )
    from plait.server.mcp.server import detect_scope, serve_stdio  # an optional dependency, slow to import

    # Exit at once: there is nothing to save, and the thread that reads the input can't be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    location = open_repo(where)
    serve_stdio(location, detect_scope(location, read_only=read_only))
    return OK
