"""Commands about the project: settings, trust, agents, doctor, server. A command's own module is imported when it runs."""
# ruff: noqa: FBT002, PLR0913, PLR0917 - a command's options are its parameters

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.cli import output
from plait.cli.arguments import options as opt
from plait.server import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_URL

commands = typer.Typer()


@commands.command()
def init(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't prompt.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing plait.toml.")] = False,
    json: opt.Json = False,
) -> None:
    """Detect sources, agents and the test command, and write a plait.toml."""
    from plait.cli.commands.init import init_command

    raise typer.Exit(init_command(context.obj, yes=yes, force=force, as_json=json))


@commands.command()
def config(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Show only this setting.")] = None,
    json: opt.Json = False,
) -> None:
    """Show every setting, its value and where it comes from."""
    from plait.cli.commands.config import config_command

    raise typer.Exit(config_command(context.obj, key, json, output.make_console()))


@commands.command()
def trust(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust them without a prompt.")] = False,
    everything: Annotated[bool, typer.Option("--list", help="List trusted commands of all repositories.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke trust in this repository's commands.")] = False,
    json: opt.Json = False,
) -> None:
    """Show the commands in the repository's own settings and trust them as they are now."""
    from plait.cli.commands.trust import trust_command

    raise typer.Exit(trust_command(context.obj, yes=yes, everything=everything, revoke=revoke, as_json=json))


@commands.command()
def agents(context: typer.Context, json: opt.Json = False) -> None:
    """List installed agents, and how to install the others."""
    from plait.cli.commands.agents import agents_command

    raise typer.Exit(agents_command(context.obj, as_json=json))


@commands.command()
def doctor(context: typer.Context, json: opt.Json = False) -> None:
    """Check this machine and repository for problems."""
    from plait.cli.commands.doctor import doctor_command

    raise typer.Exit(doctor_command(context.obj, as_json=json))


@commands.command()
def notify(
    context: typer.Context,
    test: Annotated[bool, typer.Option("--test", help="Send a test message and report the result.")] = False,
    json: opt.Json = False,
) -> None:
    """Show where notifications go, and test them."""
    from plait.cli.commands.notify import notify_command

    raise typer.Exit(notify_command(context.obj, test=test, as_json=json))


@commands.command()
def serve(
    context: typer.Context,
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
    json: opt.Json = False,
) -> None:
    """Serve the HTTP API and the web page until Ctrl+C; batches keep running without it."""
    from plait.cli.commands.serve import ServeArguments, serve_command

    names = tuple(allow_host or ())
    arguments = ServeArguments(host, port, certfile, keyfile, names, browser, rotate, json)
    raise typer.Exit(serve_command(context.obj, arguments))


@commands.command()
def token(
    context: typer.Context,
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
    json: opt.Json = False,
) -> None:
    """Print the server's access token, creating it on first use."""
    from plait.cli.commands.serve import token_command

    code = token_command(context.obj, as_json=json, read_only=read_only, rotate=rotate, link=link, url=url)
    raise typer.Exit(code)


@commands.command()
def mcp(
    context: typer.Context,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only read-only tools.")] = False,
) -> None:
    """Serve this project to an agent over MCP on standard input and output."""
    from plait.cli.commands.serve import mcp_command

    raise typer.Exit(mcp_command(context.obj, read_only=read_only))
