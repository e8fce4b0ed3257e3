"""An agent as programs see it: whether it is here, and whether it is logged in."""

from __future__ import annotations

from plait.client.installed_agents import InstalledAgent


def agent_json(each: InstalledAgent) -> dict[str, object]:
    known, program, spec = each.known, each.program, each.spec
    return {
        "name": known.name,
        "description": known.description,
        "available": each.is_available,
        "path": program.path if program else None,
        "version": program.version if program else None,
        "problem": (program.trouble or None) if program else None,
        "tested": known.tested,
        "install": known.install or None,
        "login": {
            "loggedIn": each.login.logged_in.value,
            "by": each.login.by or None,
            "how": each.login.how or None,
        },
        "default": each.default,
        "model": spec.model or None,
        "permission": spec.permission.value,
        "account": spec.account or None,
    }
