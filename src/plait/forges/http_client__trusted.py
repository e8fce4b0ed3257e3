"""Whose certificates are believed."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import httpx

from plait.store.interfaces import ForgeError


def load_certificates(url: str, environment: Mapping[str, str]) -> ssl.SSLContext:
    """Those that come with Python, those of this machine, and those that the environment names; for plain http, none."""
    if not url.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO"):
        if path := environment.get(name):
            try:
                context.load_verify_locations(path)
            except (OSError, ssl.SSLError) as error:
                raise ForgeError(f"the certificates in {path} ({name}) can't be read: {error}") from error
    return context
