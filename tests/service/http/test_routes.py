"""Requests are found by being in the folder."""

from __future__ import annotations

import re
from pathlib import Path

from paretozoom.service import http

DECORATED = re.compile(r"^@(?:get|post|put|patch|delete)\((?:.|\n)*?^async def (\w+)", re.MULTILINE)


def test_every_function_that_is_a_request_is_served_once() -> None:
    written = [name for file in Path(http.__file__).parent.glob("*.py") for name in DECORATED.findall(file.read_text())]
    assert sorted(str(route.handler_name) for route in http.ROUTES) == sorted(written)
    assert len(written) > 10
