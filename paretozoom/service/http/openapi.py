"""What the OpenAPI document says beyond what the framework writes."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar.openapi.spec import OpenAPI, Schema

from paretozoom.service.http import bodies


def complete(document: OpenAPI) -> None:
    """Say that a value may be of several types of a union (1 is an integer and a number), and which fields are all."""
    schemas = document.components.schemas if document.components else None
    for name, schema in (schemas or {}).items():
        _open(schema)
        body = getattr(bodies, name, None)
        if isinstance(body, type) and issubclass(body, msgspec.Struct) and body.__struct_config__.forbid_unknown_fields:
            schema.additional_properties = False


def _open(schema: Any) -> None:
    """Make "one of" into "any of", everywhere inside."""
    if not isinstance(schema, Schema):
        return
    if schema.one_of:
        schema.any_of, schema.one_of = schema.one_of, None
    for inner in [*(schema.any_of or ()), *(schema.properties or {}).values(), schema.items]:
        _open(inner)
    _open(schema.additional_properties)
