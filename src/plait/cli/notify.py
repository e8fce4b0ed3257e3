"""`plait notify`: who is told what happens, and whether it reaches them."""

from __future__ import annotations

from pathlib import Path

from plait.cli.say import FAILED, OK, Page, tell_problems, write_json
from plait.config.files import user_file
from plait.config.model import Config
from plait.core.errors import UserError
from plait.wiring import find_place
from plait.wiring.messages import Tried, addressees, somebody, try_out
from plait.wiring.sources import settings


def notify_command(where: Path, *, test: bool, as_json: bool) -> int:
    """With `test` everybody gets a message, and 1 means that somebody did not."""
    config = settings(where)
    if config.warnings and not as_json:
        tell_problems(config.warnings)
    if test and not somebody(config):
        raise UserError(
            "nobody is told anything: neither notify.urls nor notify.webhook is set",
            hint=f"They belong under [notify] in {user_file()}.",
        )
    tried = try_out(find_place(where), config) if test else [Tried(each.name) for each in addressees(config)]
    if as_json:
        write_json(_json(config, tried, test=test))
    else:
        _show(config, tried, test=test)
    return FAILED if any(each.error for each in tried) else OK


def _json(config: Config, tried: list[Tried], *, test: bool) -> dict[str, object]:
    return {
        "on": [kind.value for kind in config.notify.on],
        "bell": config.notify.bell,
        "addressees": [
            {
                "address": each.address,
                "told": not each.error if test else None,
                "error": each.error or None,
                "hint": each.hint or None,
            }
            for each in tried
        ],
    }


def _show(config: Config, tried: list[Tried], *, test: bool) -> None:
    page = Page()
    for each in tried:
        word, style = ("not told", "bold red") if each.error else ("told", "green")
        page.line((f"{word:<10}" if test else "", style), each.address)
        for line in filter(None, (each.error, each.hint)):
            page.line((f"          {line}", "dim"))
    if not tried:
        page.line(f"Nobody is told anything: set notify.urls or notify.webhook in {user_file()}.")
    elif not test:
        page.line((f"told of {', '.join(kind.value for kind in config.notify.on) or 'nothing'}", "dim"))
        page.line(("`plait notify --test` sends a message to see whether it arrives", "dim"))
    page.show()
