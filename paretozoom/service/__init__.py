"""The decision service: experiments over HTTP, every answer after its commit (extra "service")."""

from __future__ import annotations

from paretozoom.records import Refused

try:
    from paretozoom.service.app import create_app
    from paretozoom.service.limits import Limits
except ModuleNotFoundError as error:
    raise Refused(f"service: {error.name!r} is missing; pip install 'paretozoom[service]' brings it") from error

__all__ = ["Limits", "create_app"]
