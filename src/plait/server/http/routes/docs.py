"""An HTML page made from the OpenAPI document, without scripts or external files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from plait.server.http.routes.routing import Routes

routes = Routes()

# Any: OpenAPI objects have no type.
OpenApiObject = Mapping[str, Any]

_METHODS = ("get", "post", "patch", "put", "delete")


@routes.add("GET", "/api/docs", errors={}, include_in_schema=False)
async def show_docs(request: Request) -> HTMLResponse:
    return HTMLResponse(render_docs(request.app.openapi()))


def render_docs(document: OpenApiObject) -> str:
    info = document["info"]
    title = f"{info['title']} {info['version']}"
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>',
            f"<h1>{escape(title)}</h1><p>{escape(info['description'])}</p>",
            '<p>For programs: <a href="/api/openapi.json">/api/openapi.json</a>.</p>',
            *_render_routes(document),
            "<h2>Shapes</h2>",
            *_render_schemas(document["components"]["schemas"]),
            "</body></html>",
        ]
    )


def _render_routes(document: OpenApiObject) -> Iterator[str]:
    section = ""
    for path, methods in document["paths"].items():
        for method in (known_method for known_method in _METHODS if known_method in methods):
            operation = methods[method]
            if (tag := operation["tags"][0]) != section:
                section = tag
                yield f"<h2>{escape(tag)}</h2>"
            yield f'<h3 id="{escape(operation["operationId"])}"><code>{method.upper()} {escape(path)}</code></h3>'
            yield f"<p>{escape(operation['description'])}</p>"
            yield from _render_table(_parameter_rows(operation))
            yield from _render_table(_response_rows(operation))


def _parameter_rows(operation: OpenApiObject) -> list[tuple[str, str, str]]:
    rows = [
        (item["name"], item["in"], item.get("description") or item.get("schema", {}).get("description", ""))
        for item in operation.get("parameters", ())
    ]
    body = operation.get("requestBody")
    shapes = [_type_name(item["schema"]) for item in body["content"].values()] if body else []
    return rows + [("body", "JSON", shape) for shape in shapes]


def _response_rows(operation: OpenApiObject) -> list[tuple[str, str, str]]:
    return [
        (
            code,
            response["description"],
            ", ".join(_type_name(body.get("schema", {})) or kind for kind, body in response.get("content", {}).items()),
        )
        for code, response in sorted(operation["responses"].items())
        if int(code) < 400
    ]


def _render_schemas(schemas: OpenApiObject) -> Iterator[str]:
    for name, shape in sorted(schemas.items()):
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(shape.get("description", ""))}</p>'
        if "enum" in shape:
            yield f"<p><code>{escape(' | '.join(map(str, shape['enum'])))}</code></p>"
        yield from _render_table(
            [
                (field, _type_name(schema), schema.get("description", ""))
                for field, schema in shape.get("properties", {}).items()
            ]
        )


def _type_name(schema: OpenApiObject) -> str:
    """Describe a type in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type_name(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_type_name(schema.get('items', {}))}]"
    return str(schema.get("const") or schema.get("type") or "")


def _render_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
        yield f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
