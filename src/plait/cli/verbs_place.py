"""The verbs about the place itself: its settings, whether they are trusted, its agents, its health. What a verb needs is
imported when it runs.
"""
# ruff: noqa: FBT002 - a verb's options are its parameters

from __future__ import annotations

from typing import Annotated

import typer

from plait.cli import options as opt, say

verbs = typer.Typer()


@verbs.command()
def init(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a plait.toml that is there.")] = False,
    json: opt.Json = False,
) -> None:
    """Find sources, agents and the test command, and write a plait.toml."""
    from plait.cli.init import init_command  # noqa: PLC0415

    raise typer.Exit(init_command(context.obj, yes=yes, force=force, as_json=json))


@verbs.command()
def config(
    context: typer.Context,
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="One setting only.")] = None,
    json: opt.Json = False,
) -> None:
    """Show every setting, its value, and who gave it."""
    from plait.cli.config import config_command  # noqa: PLC0415

    raise typer.Exit(config_command(context.obj, key, json, say.console()))


@verbs.command()
def trust(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust them without being asked.")] = False,
    everything: Annotated[
        bool, typer.Option("--list", help="Show what is trusted, of all repositories.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust nothing of this repository.")] = False,
    json: opt.Json = False,
) -> None:
    """Show the commands of the repository's own settings, and trust them, as they are now."""
    from plait.cli.trust_verb import trust_command  # noqa: PLC0415

    raise typer.Exit(trust_command(context.obj, yes=yes, everything=everything, revoke=revoke, as_json=json))


@verbs.command()
def agents(context: typer.Context, json: opt.Json = False) -> None:
    """Show which agents are there, and how to get the others."""
    from plait.cli.agents import agents_command  # noqa: PLC0415

    raise typer.Exit(agents_command(context.obj, as_json=json))


@verbs.command()
def doctor(context: typer.Context, json: opt.Json = False) -> None:
    """Look whether everything is as it should be, and say where things are."""
    from plait.cli.doctor import doctor_command  # noqa: PLC0415

    raise typer.Exit(doctor_command(context.obj, as_json=json))


@verbs.command()
def token(context: typer.Context, json: opt.Json = False) -> None:
    """Print the token that the server asks for; the first time, make it."""
    from plait.cli.token import token_command  # noqa: PLC0415

    raise typer.Exit(token_command(context.obj, as_json=json))
