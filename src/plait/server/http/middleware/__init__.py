"""The guard of the server: who may come in, and what never comes in. Each part stands alone; here they stand in line."""

from __future__ import annotations

from starlette.types import ASGIApp

from plait.server.auth import Authenticator
from plait.server.http.middleware.authentication import AuthenticationMiddleware, ReadOnlyMiddleware
from plait.server.http.middleware.authentication__strikes import AuthRateLimiter
from plait.server.http.middleware.login import LoginMiddleware, LogoutMiddleware
from plait.server.http.middleware.origin_checks import CsrfMiddleware, OriginCheckMiddleware
from plait.server.http.middleware.origin_checks__hosts import HostCheckMiddleware
from plait.server.http.middleware.policy import RequestPolicy, create_policy
from plait.server.http.middleware.request_limits import BodyLimitMiddleware
from plait.server.http.middleware.request_limits__heads import HeaderLimitMiddleware
from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware

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
