"""Entries as rows of a table, each with a checksum that is chained to the one before.

The checksum of an entry is a hash of the one before it, of its time, and of the digest of (salt, body). The salt lies
with the body: both can be taken away. With the digest in their place the chain can still be checked, and nobody can
guess from the digest what the body said.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paretozoom.records import Refused
from paretozoom.store.base import Damaged
from paretozoom.store.events import Carried, Decided, Entry, Erased, Event, from_json, number_of_decision, to_json

SALT = 16  # bytes
_request = re.compile(r"[^\0\ud800-\udfff]{0,200}")  # what every kind of database can hold
_digest = re.compile("[0-9a-f]{64}")
_time = struct.Struct(">d")


class Row(NamedTuple):
    """A row of the table of events, without the log."""

    seq: int
    time: float
    number: int | None
    request: str | None
    salt: bytes
    body: bytes
    chain: bytes


def root_of(log: str) -> bytes:
    """The checksum before the first entry of a log.

    >>> len(root_of("prices"))
    32
    """
    return hashlib.sha256(f"paretozoom log {log}".encode()).digest()


def digest_of(salt: bytes, body: bytes) -> bytes:
    """What stays of a body that was erased.

    >>> digest_of(b"salt", b"body") == digest_of(b"tlas", b"body")
    False
    """
    return hashlib.sha256(salt + body).digest()


def chain_of(before: bytes, time: float, digest: bytes) -> bytes:
    """The checksum of an entry, from the one before it.

    >>> len(chain_of(root_of("prices"), 1.5, digest_of(b"salt", b"body")))
    32
    """
    return hashlib.sha256(before + _time.pack(time) + digest).digest()


def to_rows(events: Sequence[Event], after: int, time: float, chain: bytes) -> list[Row]:
    """The rows of some entries that come after one with a checksum.

    >>> from paretozoom.store.events import Paused
    >>> rows = to_rows([Paused("ops")], 0, 1.5, root_of("prices"))
    >>> next(read_rows("prices", rows, 0, root_of("prices")))
    Entry(seq=1, time=1.5, event=Paused(by='ops'))
    """
    rows, when, salts = [], _time.pack(time), secrets.token_bytes(SALT * len(events))
    for k, event in enumerate(events):
        request, body = request_of(event), to_json(event)
        if isinstance(event, Erased):
            salt, digest = b"", bytes.fromhex(event.digest)
        else:
            salt = salts[SALT * k : SALT * (k + 1)]
            digest = hashlib.sha256(salt + body).digest()
        chain = hashlib.sha256(chain + when + digest).digest()  # as in chain_of, but for the time
        rows.append(Row(after + k + 1, time, number_of_decision(event), request, salt, body, chain))
    return rows


def read_rows(log: str, rows: Sequence[Any], after: int, chain: bytes) -> Iterator[Entry]:
    """The entries of rows, each checked against the one before; raises `Damaged` where one is not what was written."""
    sha256, pack = hashlib.sha256, _time.pack
    for row in rows:
        seq, time, _, _, salt, body, stored = row
        if seq != after + 1:
            raise Damaged(f"log {log!r}: entry {after + 1} is missing", after + 1)
        entry = read_row(log, row)
        event = entry.event
        digest = bytes.fromhex(event.digest) if isinstance(event, Erased) else sha256(salt + body).digest()
        chain = sha256(chain + pack(time) + digest).digest()  # as in chain_of
        if chain != stored:
            raise Damaged(f"log {log!r}: entry {seq} is damaged: its checksum is another", seq)
        after = seq
        yield entry


def read_row(log: str, row: Any) -> Entry:
    """The entry of a row, which is checked as far as it says the same thing twice."""
    seq, time, number, request, salt, body, chain = row
    if not (type(salt) is type(body) is type(chain) is bytes):
        raise Damaged(f"log {log!r}: entry {seq} is damaged: it is of another type", seq)
    try:
        event = from_json(body)
    except Refused as error:
        raise Damaged(f"log {log!r}: entry {seq} is damaged; {error}", seq) from error
    if isinstance(event, Erased) and (salt or not is_digest(event.digest)):
        raise Damaged(f"log {log!r}: entry {seq} is damaged: it was erased, but not as it should be", seq)
    made = event.request if isinstance(event, (Carried, Decided)) else None
    if number != number_of_decision(event) or request != made:
        raise Damaged(f"log {log!r}: entry {seq} is damaged: it is kept as if of another decision", seq)
    return Entry(seq, time, event)


def request_of(event: Event) -> str | None:
    """The request that a decision was made for.

    >>> from paretozoom.store.events import Paused
    >>> request_of(Paused("ops")) is None
    True
    """
    if not isinstance(event, (Carried, Decided)) or event.request is None:
        return None
    if not is_request(event.request):
        raise Refused(f"request: {event.request!r} is not a text of at most 200 characters without the character 0")
    return event.request


def is_digest(text: str) -> bool:
    """Whether it is a digest as a tombstone says it.

    >>> is_digest("00" * 32), is_digest("00")
    (True, False)
    """
    return _digest.fullmatch(text) is not None


def is_request(text: str) -> bool:
    """Whether every kind of database can hold it.

    >>> is_request("visit-17"), is_request("a" * 201)
    (True, False)
    """
    return _request.fullmatch(text) is not None


def digest_of_snapshot(seq: int, pinned: bool, body: bytes) -> bytes:
    """The checksum of a snapshot.

    >>> len(digest_of_snapshot(1, False, b"state"))
    32
    """
    return hashlib.sha256(b"%d %d " % (seq, pinned) + hashlib.sha256(body).digest()).digest()
