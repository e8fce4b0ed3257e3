"""`python -m plait.server.http.openapi`: print the OpenAPI document. The page's types are generated from it."""

from __future__ import annotations

import json
import sys

from plait.server.http.app import create_bare_app


def render_openapi() -> str:
    """Sorted, so that every difference is a change."""
    return json.dumps(create_bare_app().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render_openapi())
