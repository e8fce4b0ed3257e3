"""`plait notify`: where notifications go, and a test message to each address."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.output import FAILED, OK, Page, print_json, print_problems
from plait.client.project_state import load_project_config
from plait.config.config import Config
from plait.config.loading import find_user_file
from plait.core.errors import UserError
from plait.observe.listeners import DeliveryResult, has_receivers, open_channels, send_test_message
from plait.store.state_claim import open_repo


def notify_command(
    where: Path,
    *,
    test: Annotated[bool, typer.Option("--test", help="Send a test message and report the result.")] = False,
    as_json: opt.Json = False,
) -> int:
    """List or test notifications. The exit code is 1 if a test message could not be delivered."""
    config = load_project_config(where)
    if config.warnings and not as_json:
        print_problems(config.warnings)
    if test and not has_receivers(config):
        raise UserError(
            "no notifications are configured: neither notify.urls nor notify.webhook is set",
            hint=f"Set one of them under [notify] in {find_user_file()}.",
        )
    results = (
        send_test_message(open_repo(where), config)
        if test
        else [DeliveryResult(channel.name) for channel in open_channels(config)]
    )
    if as_json:
        print_json(_describe_notifications(config, results, test=test))
    else:
        _print_receivers(config, results, test=test)
    return FAILED if any(result.error for result in results) else OK


def _describe_notifications(config: Config, results: list[DeliveryResult], *, test: bool) -> dict[str, object]:
    return {
        "on": [kind.value for kind in config.notify.on],
        "bell": config.notify.bell,
        "addressees": [
            {
                "address": result.address,
                "told": not result.error if test else None,
                "error": result.error or None,
                "hint": result.hint or None,
            }
            for result in results
        ],
    }


def _print_receivers(config: Config, results: list[DeliveryResult], *, test: bool) -> None:
    page = Page()
    for result in results:
        word, style = ("failed", "bold red") if result.error else ("sent", "green")
        page.add_line((f"{word:<10}" if test else "", style), result.address)
        for line in filter(None, (result.error, result.hint)):
            page.add_line((f"          {line}", "dim"))
    if not results:
        page.add_line(f"No notifications configured: set notify.urls or notify.webhook in {find_user_file()}.")
    elif not test:
        page.add_line((f"notifies on {', '.join(kind.value for kind in config.notify.on) or 'nothing'}", "dim"))
        page.add_line(("send a test message: plait notify --test", "dim"))
    page.show()
