"""The OpenAPI document as a page that needs nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from litestar import Request
from litestar.openapi.plugins import OpenAPIRenderPlugin

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
       background: #fff; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
details { border-top: 1px solid #ddd; padding: .5rem 0; }
summary { cursor: pointer; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #f5f5f5; padding: .7rem; overflow-x: auto; }
b { display: inline-block; min-width: 3.2rem; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } pre { background: #222; } details { border-color: #333; }
  a { color: #8ab4f8; }
}
"""


class PlainPage(OpenAPIRenderPlugin):
    """Every request, what it takes and what it answers, to be read in any browser."""

    def __init__(self) -> None:
        super().__init__(path="/")

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The page."""
        return page(openapi_schema).encode()


def page(document: dict[str, Any]) -> str:
    """The document as HTML.

    >>> "<b>GET</b> <code>/live</code>" in page({"info": {"title": "t"}, "paths": {"/live": {"get": {}}}})
    True
    """
    info = document["info"]
    schemas = document.get("components", {}).get("schemas", {})
    parts = [
        _request(path, method, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    shapes = [
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> {escape(schema.get("description", ""))}'
        f"</summary>{_json(schema)}</details>"
        for name, schema in sorted(schemas.items())
    ]
    title = escape(info["title"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>{title} {escape(info.get('version', ''))}</h1><p>{escape(info.get('description', ''))} "
        f'The same for programs: <a href="/docs/openapi.json">openapi.json</a></p>'
        f"<h2>Requests</h2>{''.join(parts)}<h2>What they are made of</h2>{''.join(shapes)}</body></html>"
    )


def _request(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(one['name'])}</code></td><td>in the {escape(one['in'])}</td>"
        f"<td>{escape(one.get('description', ''))}</td></tr>"
        for one in operation.get("parameters", [])
    ]
    answers = [
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td></tr>"
        for status, answer in operation.get("responses", {}).items()
    ]
    body = operation.get("requestBody", {}).get("content", {})
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}</summary><p>{escape(operation.get('description', ''))}</p>"
        + (f"<table>{''.join(rows)}</table>" if rows else "")
        + "".join(f"<p>Body, {escape(kind)}:</p>{_json(one.get('schema', {}))}" for kind, one in body.items())
        + f"<p>Answers:</p><table>{''.join(answers)}</table></details>"
    )


def _json(schema: dict[str, Any]) -> str:
    return f"<pre>{escape(json.dumps(schema, indent=1, ensure_ascii=False))}</pre>"
