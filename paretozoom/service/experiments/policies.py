"""Which policies an experiment may have: those of this library, and those that the operator let in; one is made."""

from __future__ import annotations

from typing import Any

from paretozoom.policies.base import Policy
from paretozoom.problem import Problem
from paretozoom.records import Refused
from paretozoom.registry import check_parameters, find_member, find_members

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


def make_policy(name: str, problem: Problem, parameters: dict[str, Any], seed: int) -> Policy:
    """A policy by name, of this library or one that the operator let in; nothing that a request names is ever imported.

    >>> from paretozoom import PaperTask
    >>> make_policy("pcz", PaperTask().problem, {"horizon": 100}, 1).name
    'pcz'
    """
    similarity = parameters.get("similarity")
    if callable(similarity) or (isinstance(similarity, dict) and "function" in similarity):
        raise Refused("parameters['similarity']: a function cannot be given here; give weights, a norm or a matrix")
    if "seed" in parameters:
        raise Refused("parameters: the seed is given beside the parameters, not among them")
    members = known_policies()
    if name not in members:
        raise Refused(
            f"policy: {name!r} is not one of {sorted(members)!r}; one of your own is let in by the service's --policy"
        )
    member = members[name]
    check_parameters(member, parameters, beside=("seed",))
    try:
        return member(problem, seed=seed, **parameters)
    except Refused:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
        raise Refused(f"parameters: {parameters!r} do not make a policy {name!r} ({error})") from error
