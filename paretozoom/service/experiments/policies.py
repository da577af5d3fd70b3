"""Which policies an experiment may have: those of this library, and those that the operator let in."""

from __future__ import annotations

from paretozoom.policies.base import Policy
from paretozoom.records import Refused
from paretozoom.registry import find_member, find_members

PACKAGE = "paretozoom.policies"
_admitted: dict[str, type[Policy]] = {}  # of this process


def admit(place: str) -> type[Policy]:
    """Let requests name a policy of the operator's own by its `name`; it is found at "shop.py:Mine" or "module:Mine".

    Only whoever starts the service calls this: nothing that a request names is ever imported.

    >>> admit("paretozoom.policies.zooming.pcz:PCZ")
    Traceback (most recent call last):
    paretozoom.records.Refused: policy: 'pcz' of 'paretozoom.policies.zooming.pcz:PCZ' is the name of another policy
    """
    if ":" not in place:
        raise Refused(f"policy: {place!r} given, expected a file and a class in it, as in shop.py:Mine")
    member = find_member(PACKAGE, Policy, place)
    name = getattr(member, "name", None)
    if not isinstance(name, str) or not name:
        raise Refused(f'policy: {place!r} has no name; give the class one, as in name = "mine"')
    if name in find_members(PACKAGE, Policy) or _admitted.get(name, member) is not member:
        raise Refused(f"policy: {name!r} of {place!r} is the name of another policy")
    _admitted[name] = member
    return member


def known_policies() -> dict[str, type[Policy]]:
    """The policies that experiments may have, by name."""
    return {**find_members(PACKAGE, Policy), **_admitted}
