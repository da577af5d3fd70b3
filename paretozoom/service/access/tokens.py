"""Who may do what: tokens whose hashes are in a log of their own."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import Any

import msgspec

from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.store import Addition, Conflict, Store
from paretozoom.store.events import Event, TokenCreated, TokenRevoked

ADMIN_LOG = "_admin"
SCOPES = ("decide", "reward", "read", "admin")
LOOPBACK = "loopback"  # who acts where there are no tokens


class Caller(msgspec.Struct, frozen=True):
    """Who makes a request.

    >>> caller = Caller("ab12", ("decide",), "prices")
    >>> caller.may("decide", "prices"), caller.may("decide", "doses"), caller.may("admin", "prices")
    (True, False, False)
    """

    id: str
    scopes: tuple[str, ...]
    experiment: str | None
    rate: float | None = None  # decisions and rewards per second

    def may(self, scope: str, experiment: str | None) -> bool:
        """Whether something is allowed; `admin` may do everything."""
        here = self.experiment is None or self.experiment == experiment
        return here and (scope in self.scopes or "admin" in self.scopes)


ANYONE = Caller(LOOPBACK, SCOPES, None)


def new_token(
    scopes: Any, experiment: str | None, expires: float | None, label: str = "", rate: float | None = None
) -> tuple[str, TokenCreated]:
    """A token, and what the log says of it.

    >>> text, event = new_token(["read"], None, None)
    >>> text.startswith(f"pz_{event.id}_"), text[-10:] in event.digest
    (True, False)
    """
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise Refused(f"scope: {wrong[0] if wrong else None!r} is not one of {SCOPES!r}")
    if rate is not None and not 0 < rate < 1e9:
        raise Refused(f"rate: {rate!r} is not a number of decisions per second, as 50 or 0.5")
    name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    return f"pz_{name}_{secret}", TokenCreated(name, digest_of(secret), tuple(scopes), experiment, expires, label, rate)


def digest_of(secret: str) -> str:
    """What is kept of a secret, which is random and long: a plain hash is enough.

    >>> digest_of("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def append_event(store: Store, event: Event) -> None:
    """Add to the log of tokens, whoever else does at the same time."""
    for _ in range(20):
        try:
            store.append([Addition(ADMIN_LOG, store.logs().get(ADMIN_LOG, 0), [event], time.time())])
            return
        except Conflict:
            continue
    raise Conflict("the log of tokens is written to by too many at once")


class Tokens:
    """The tokens of a store, as their log says; `refresh` reads what is new.

    >>> tokens = Tokens()
    >>> text, event = new_token(["read"], None, None)
    >>> tokens.fold(event)
    >>> tokens.caller(f"Bearer {text}", now=0.0).scopes
    ('read',)
    """

    def __init__(self) -> None:
        self._seq = 0
        self.by_id: dict[str, TokenCreated] = {}  # those that were not revoked

    @property
    def in_use(self) -> bool:
        """Whether there ever was a token: from then on every request needs one, also if all were revoked."""
        return self._seq > 0

    def fold(self, event: Event) -> None:
        """Take in an event."""
        if isinstance(event, TokenCreated):
            self.by_id[event.id] = event
        elif isinstance(event, TokenRevoked):
            self.by_id.pop(event.id, None)

    def refresh(self, store: Store) -> None:
        """Read what was added to the log."""
        for entry in store.read(ADMIN_LOG, self._seq):
            self.fold(entry.event)
            self._seq = entry.seq

    def caller(self, header: str | None, now: float) -> Caller:
        """Who sends an Authorization header, or 401."""
        kind, _, text = (header or "").partition(" ")
        parts = text.strip().split("_", 2)
        if kind.lower() != "bearer" or len(parts) != 3 or parts[0] != "pz":
            raise Declined(401, "a token is needed: Authorization: Bearer pz_...")
        token = self.by_id.get(parts[1])
        digest = digest_of(parts[2])
        same = hmac.compare_digest(digest, token.digest if token is not None else digest[::-1])
        if token is None or not same:
            raise Declined(401, "this token is not known, or was revoked")
        if token.expires is not None and token.expires <= now:
            raise Declined(401, "this token has expired")
        return Caller(token.id, token.scopes, token.experiment, token.rate)
