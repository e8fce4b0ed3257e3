"""The guard of the server: who may come in, and what never comes in. Each part stands alone; here they stand in line."""

from __future__ import annotations

from starlette.types import ASGIApp

from plait.server.guard.bodies import BodyLimitMiddleware
from plait.server.guard.callers import AuthenticationMiddleware, ReadOnlyMiddleware
from plait.server.guard.headers import SecurityHeadersMiddleware
from plait.server.guard.heads import HeaderLimitMiddleware
from plait.server.guard.hosts import HostCheckMiddleware
from plait.server.guard.login import LoginMiddleware, LogoutMiddleware
from plait.server.guard.origins import OriginCheckMiddleware, CsrfMiddleware
from plait.server.guard.rules import RequestPolicy, create_policy
from plait.server.guard.strikes import AuthRateLimiter
from plait.server.keys import Authenticator

__all__ = ["RequestPolicy", "wrap_with_middleware", "create_policy"]


def wrap_with_middleware(app: ASGIApp, authenticator: Authenticator, policy: RequestPolicy) -> ASGIApp:
    """From the inside out: what stands further down is asked first."""
    rate_limiter = AuthRateLimiter(policy)
    app = BodyLimitMiddleware(app, policy)
    app = ReadOnlyMiddleware(app)
    app = LogoutMiddleware(app, policy)
    app = CsrfMiddleware(app)
    app = AuthenticationMiddleware(app, authenticator, rate_limiter, policy)
    app = LoginMiddleware(app, authenticator, rate_limiter, policy)
    app = OriginCheckMiddleware(app, policy)
    app = HostCheckMiddleware(app, policy)
    app = HeaderLimitMiddleware(app, policy)
    return SecurityHeadersMiddleware(app)
