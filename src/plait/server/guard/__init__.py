"""The guard of the server: who may come in, and what never comes in. Each part stands alone; here they stand in line."""

from __future__ import annotations

from starlette.types import ASGIApp

from plait.server.guard.bodies import WholeBodies
from plait.server.guard.callers import Callers, ReadOnly
from plait.server.guard.headers import SafeHeaders
from plait.server.guard.heads import SoundHeads
from plait.server.guard.hosts import KnownHosts
from plait.server.guard.login import Login, Logout
from plait.server.guard.origins import OwnOrigin, OwnPages
from plait.server.guard.rules import Rules, rules_for
from plait.server.guard.strikes import Strikes
from plait.server.keys import Keys

__all__ = ["Rules", "guarded", "rules_for"]


def guarded(app: ASGIApp, keys: Keys, rules: Rules) -> ASGIApp:
    """From the inside out: what stands further down is asked first."""
    strikes = Strikes(rules)
    app = WholeBodies(app, rules)
    app = ReadOnly(app)
    app = Logout(app, rules)
    app = OwnPages(app)
    app = Callers(app, keys, strikes, rules)
    app = Login(app, keys, strikes, rules)
    app = OwnOrigin(app, rules)
    app = KnownHosts(app, rules)
    app = SoundHeads(app, rules)
    return SafeHeaders(app)
