"""The HTTP interface: each function is one kind of request, and a new one is found by being here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from litestar.handlers import HTTPRouteHandler


def find_routes() -> list[HTTPRouteHandler]:
    """The functions of this folder's modules that are requests, those of one experiment after those of all.

    >>> [sorted(route.paths) for route in find_routes()][:2]
    [['/v1/experiments'], ['/v1/experiments']]
    """
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [member for module in modules for member in vars(module).values() if isinstance(member, HTTPRouteHandler)]
    routes = {id(route): route for route in found}.values()  # a module may import one of another
    return sorted(routes, key=lambda route: (not min(route.paths).startswith("/v"), min(route.paths)))


ROUTES = find_routes()
