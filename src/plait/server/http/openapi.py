"""`python -m plait.server.http.openapi`: the OpenAPI description as JSON, without a server. The page's types are made from it."""

from __future__ import annotations

import json
import sys

from plait.server.http.app import create_bare_app


def render_openapi() -> str:
    """The same text for the same routes: sorted, so that a difference is a change."""
    return json.dumps(create_bare_app().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render_openapi())
