"""A page that describes the interface, made from its OpenAPI description: plain HTML, without a script and without a host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

router = APIRouter()

# OpenAPI's own shape, which has no type.
Described = Mapping[str, Any]

_METHODS = ("get", "post", "patch", "put", "delete")


@router.get("/api/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    return HTMLResponse(page(request.app.openapi()))


def page(described: Described) -> str:
    info = described["info"]
    title = f"{info['title']} {info['version']}"
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>',
            f"<h1>{escape(title)}</h1><p>{escape(info['description'])}</p>",
            '<p>For programs: <a href="/api/openapi.json">/api/openapi.json</a>.</p>',
            *_routes(described),
            "<h2>Shapes</h2>",
            *_shapes(described["components"]["schemas"]),
            "</body></html>",
        ]
    )


def _routes(described: Described) -> Iterator[str]:
    section = ""
    for path, methods in described["paths"].items():
        for method in (each for each in _METHODS if each in methods):
            told = methods[method]
            if (tag := told["tags"][0]) != section:
                section = tag
                yield f"<h2>{escape(tag)}</h2>"
            yield f'<h3 id="{escape(told["operationId"])}"><code>{method.upper()} {escape(path)}</code></h3>'
            yield f"<p>{escape(told['description'])}</p>"
            yield from _table(_parameters(told))
            yield from _table(_responses(told))


def _parameters(told: Described) -> list[tuple[str, str, str]]:
    found = [
        (each["name"], each["in"], each.get("description") or each.get("schema", {}).get("description", ""))
        for each in told.get("parameters", ())
    ]
    body = told.get("requestBody")
    shapes = [_named(each["schema"]) for each in body["content"].values()] if body else []
    return found + [("body", "JSON", shape) for shape in shapes]


def _responses(told: Described) -> list[tuple[str, str, str]]:
    return [
        (
            code,
            each["description"],
            ", ".join(
                _named(body.get("schema", {})) or kind for kind, body in each.get("content", {}).items()
            ),
        )
        for code, each in sorted(told["responses"].items())
        if int(code) < 400
    ]


def _shapes(schemas: Described) -> Iterator[str]:
    for name, shape in sorted(schemas.items()):
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(shape.get("description", ""))}</p>'
        if "enum" in shape:
            yield f"<p><code>{escape(' | '.join(map(str, shape['enum'])))}</code></p>"
        yield from _table(
            [
                (field, _named(told), told.get("description", ""))
                for field, told in shape.get("properties", {}).items()
            ]
        )


def _named(schema: Described) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_named(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_named(schema.get('items', {}))}]"
    return str(schema.get("const") or schema.get("type") or "")


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
        yield f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
