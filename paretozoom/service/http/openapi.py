"""What the OpenAPI document says beyond what the framework writes."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar.openapi.spec import OpenAPI, Schema


def complete(document: OpenAPI) -> None:
    """Say that a value may be of several types of a union (1 is an integer and a number), and which fields are all."""
    closed = {record.__name__ for record in msgspec.Struct.__subclasses__() if _is_closed(record)}
    schemas = document.components.schemas if document.components else None
    for name, schema in (schemas or {}).items():
        _open(schema)
        if name in closed and isinstance(schema, Schema):
            schema.additional_properties = False


def _is_closed(record: type[msgspec.Struct]) -> bool:
    """Whether a record of ours refuses fields that it does not know; one with a tag knows more than is said of it."""
    ours, config = record.__module__.startswith("paretozoom."), record.__struct_config__
    return ours and config.forbid_unknown_fields and config.tag is None


def _open(schema: Any) -> None:
    """Make "one of" into "any of", everywhere inside."""
    if not isinstance(schema, Schema):
        return
    if schema.one_of:
        schema.any_of, schema.one_of = schema.one_of, None
    for inner in [*(schema.any_of or ()), *(schema.properties or {}).values(), schema.items]:
        _open(inner)
    _open(schema.additional_properties)
