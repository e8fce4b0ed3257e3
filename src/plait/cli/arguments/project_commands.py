"""The verbs about the place itself: its settings, whether they are trusted, its agents, its health. What a verb needs is
imported when it runs.
"""
# ruff: noqa: FBT002 - a verb's options are its parameters

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.cli import output
from plait.cli.arguments import options as opt

verbs = typer.Typer()


@verbs.command()
def init(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a plait.toml that is there.")] = False,
    json: opt.Json = False,
) -> None:
    """Find sources, agents and the test command, and write a plait.toml."""
    from plait.cli.commands.init import init_command

    raise typer.Exit(init_command(context.obj, yes=yes, force=force, as_json=json))


@verbs.command()
def config(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting only.")] = None,
    json: opt.Json = False,
) -> None:
    """Show every setting, its value, and who gave it."""
    from plait.cli.commands.config import config_command

    raise typer.Exit(config_command(context.obj, key, json, output.make_console()))


@verbs.command()
def trust(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust them without being asked.")] = False,
    everything: Annotated[bool, typer.Option("--list", help="Show what is trusted, of all repositories.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust nothing of this repository.")] = False,
    json: opt.Json = False,
) -> None:
    """Show the commands of the repository's own settings, and trust them, as they are now."""
    from plait.cli.commands.trust import trust_command

    raise typer.Exit(trust_command(context.obj, yes=yes, everything=everything, revoke=revoke, as_json=json))


@verbs.command()
def agents(context: typer.Context, json: opt.Json = False) -> None:
    """Show which agents are there, and how to get the others."""
    from plait.cli.commands.agents import agents_command

    raise typer.Exit(agents_command(context.obj, as_json=json))


@verbs.command()
def doctor(context: typer.Context, json: opt.Json = False) -> None:
    """Look whether everything is as it should be, and say where things are."""
    from plait.cli.commands.doctor import doctor_command

    raise typer.Exit(doctor_command(context.obj, as_json=json))


@verbs.command()
def notify(
    context: typer.Context,
    test: Annotated[bool, typer.Option("--test", help="Send everybody a message, and say what came of it.")] = False,
    json: opt.Json = False,
) -> None:
    """Show who is told what happens, and try whether it reaches them."""
    from plait.cli.commands.notify import notify_command

    raise typer.Exit(notify_command(context.obj, test=test, as_json=json))


@verbs.command()
def serve(  # noqa: PLR0913, PLR0917
    context: typer.Context,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0: other machines reach it, too."),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0: any port that is free."),
    ] = 3001,
    browser: Annotated[bool, typer.Option("--open", help="Open the browser, logged in.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name that it is known by, as behind a proxy: plait.example.org. May be repeated.",
        ),
    ] = None,
    certfile: Annotated[
        Path | None, typer.Option("--certfile", metavar="FILE", help="Speak TLS, with this certificate.")
    ] = None,
    keyfile: Annotated[
        Path | None,
        typer.Option("--keyfile", metavar="FILE", help="Its key, where that is in a file of its own."),
    ] = None,
    rotate: Annotated[
        bool,
        typer.Option("--rotate-token", help="Make another token first: older ones, links and logins are dead."),
    ] = False,
    json: opt.Json = False,
) -> None:
    """Serve the projects to programs and the browser, until Ctrl+C; batches go on without it."""
    from plait.cli.commands.serve import ServeArguments, serve_command

    names = tuple(allow_host or ())
    wish = ServeArguments(host, port, certfile, keyfile, names, browser, rotate, json)
    raise typer.Exit(serve_command(context.obj, wish))


@verbs.command()
def token(  # noqa: PLR0913, PLR0917
    context: typer.Context,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="The one that lets look and change nothing, for dashboards.")
    ] = False,
    rotate: Annotated[
        bool,
        typer.Option(
            "--rotate",
            help="Make another one: both tokens, all links and all logins die at once. With --read-only: only its own.",
        ),
    ] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Print a link that logs a browser in, once, within ten minutes.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="With --link: where the server is. Default: http://127.0.0.1:3001"),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Print the token that the server asks for; the first time, make it."""
    from plait.cli.commands.serve import token_command

    said = token_command(context.obj, as_json=json, read_only=read_only, rotate=rotate, link=link, url=url)
    raise typer.Exit(said)


@verbs.command()
def mcp(
    context: typer.Context,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only the tools that change nothing.")] = False,
) -> None:
    """Serve this project to an agent, by the Model Context Protocol on standard input and output."""
    from plait.cli.commands.serve import mcp_command

    raise typer.Exit(mcp_command(context.obj, read_only=read_only))
