"""What a log says: the events of an experiment and of the tokens, as frozen records that are JSON on disk."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from paretozoom.problem import Problem
from paretozoom.records import Decision, Refused


class Created(msgspec.Struct, frozen=True, tag="created"):
    """An experiment began: the problem, who decides, and what happens to decisions that are never rewarded.

    `version` is that of the policy's algorithm; `wait` is in seconds, None if decisions may wait for ever; `default`
    is the reward that is told when the time is over, None if such a decision teaches nothing. With `snapshot` the
    experiment goes on from the one that was stored with this event. `epoch` is that of the first decisions.

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r")])
    >>> Created(problem, "random", {}, 1, 1, by="loopback").wait is None
    True
    """

    problem: Problem
    policy: str
    parameters: dict[str, Any]
    seed: int
    version: int
    by: str
    wait: float | None = None
    default: dict[str, float] | None = None
    snapshot: bool = False
    epoch: str | None = None


class EpochBegan(msgspec.Struct, frozen=True, tag="epoch-began"):
    """The right to write to the log was taken: ids of decisions from here on have a new epoch.

    >>> EpochBegan("k3f9x2a7bq").epoch
    'k3f9x2a7bq'
    """

    epoch: str


class Decided(msgspec.Struct, frozen=True, tag="decided", omit_defaults=True):
    """A decision was made; a deferred one waits until somebody says that it was shown.

    `subject` is whom it is about, by whose name it can be erased.

    >>> Decided(Decision(0, {}, "a", 0.5, 0)).deferred
    False
    """

    decision: Decision
    deferred: bool = False
    request: str | None = None
    feasible: Any = None
    subject: str | None = None


class Activated(msgspec.Struct, frozen=True, tag="activated"):
    """A deferred decision was shown.

    >>> Activated(3).number
    3
    """

    number: int


class Rewarded(msgspec.Struct, frozen=True, tag="rewarded"):
    """Some or all objectives of a decision were rewarded.

    >>> Rewarded(3, {"speed": 1.0}).reward["speed"]
    1.0
    """

    number: int
    reward: dict[str, float]


class Expired(msgspec.Struct, frozen=True, tag="expired"):
    """The time of a decision was over: the default was told for what was missing, or with None nothing.

    >>> Expired(3, None).reward is None
    True
    """

    number: int
    reward: dict[str, float] | None


class Cancelled(msgspec.Struct, frozen=True, tag="cancelled"):
    """A decision was never shown, and teaches nothing.

    >>> Cancelled(3).number
    3
    """

    number: int


class Paused(msgspec.Struct, frozen=True, tag="paused"):
    """No decisions until further notice; rewards are still taken.

    >>> Paused("ops").by
    'ops'
    """

    by: str


class Resumed(msgspec.Struct, frozen=True, tag="resumed"):
    """Decisions again.

    >>> Resumed("ops").by
    'ops'
    """

    by: str


class Retired(msgspec.Struct, frozen=True, tag="retired"):
    """The end: no decision and no reward any more; what was open teaches nothing.

    >>> Retired("ops").by
    'ops'
    """

    by: str


class WaitChanged(msgspec.Struct, frozen=True, tag="wait-changed"):
    """Decisions have another time to wait, or another default; those open now too, counted from their own beginning.

    >>> WaitChanged(60.0, None, "ops").wait
    60.0
    """

    wait: float | None
    default: dict[str, float] | None
    by: str


class Ticked(msgspec.Struct, frozen=True, tag="ticked"):
    """Nothing happened for long, but the service was there.

    >>> Ticked() == Ticked()
    True
    """


class ClockJumped(msgspec.Struct, frozen=True, tag="clock-jumped"):
    """Between two runs the wall clock moved on by over a day: nothing expires until somebody says whether that counts.

    >>> ClockJumped(before=100.0).before
    100.0
    """

    before: float


class ClockJudged(msgspec.Struct, frozen=True, tag="clock-judged"):
    """The time by which the clock jumped counts for decisions that were open, or does not.

    >>> ClockJudged(False, "ops").counts
    False
    """

    counts: bool
    by: str


class Carried(msgspec.Struct, frozen=True, tag="carried"):
    """A decision that was open when the experiment was exported: what it was told, when it was made and shown; for
    which request, among which feasible arms, and whom it is about.

    >>> Carried(Decision(0, {}, "a", 0.5, 0), {}, False, 1.0, 1.0).deferred
    False
    """

    decision: Decision
    reward: dict[str, float]
    deferred: bool
    made: float
    shown: float
    subject: str | None = None
    request: str | None = None
    feasible: Any = None


class Erased(msgspec.Struct, frozen=True, tag="erased", omit_defaults=True):
    """In place of an event that was erased, or that was found damaged: the digest of what stood there.

    >>> Erased("00ff", 3).number
    3
    """

    digest: str
    number: int | None = None


class Removed(msgspec.Struct, frozen=True, tag="removed"):
    """Something was taken out of the log: bodies of entries, or entries from a first to a last.

    `why`: "erasure" or "retention" at somebody's wish, "damage" by a repair, "cut" by one that could save no more.

    >>> Removed("ops", "erasure", (3, 4)).entries
    (3, 4)
    """

    by: str
    why: Literal["erasure", "retention", "damage", "cut"]
    entries: tuple[int, ...]


class TokenCreated(msgspec.Struct, frozen=True, tag="token-created"):
    """Who holds the secret may do what the scopes say, in one experiment or in all; only a hash of it is kept.

    `rate` is how many decisions and rewards it is good for per second, None if there is no limit.

    >>> TokenCreated("ab12", "00ff", ("decide",), "prices", None).experiment
    'prices'
    """

    id: str
    digest: str
    scopes: tuple[str, ...]
    experiment: str | None
    expires: float | None
    label: str = ""
    rate: float | None = None


class TokenRevoked(msgspec.Struct, frozen=True, tag="token-revoked"):
    """A token is worth nothing any more.

    >>> TokenRevoked("ab12").id
    'ab12'
    """

    id: str


Event = (
    Created
    | EpochBegan
    | Decided
    | Activated
    | Rewarded
    | Expired
    | Cancelled
    | Paused
    | Resumed
    | Retired
    | WaitChanged
    | Ticked
    | ClockJumped
    | ClockJudged
    | Carried
    | Erased
    | Removed
    | TokenCreated
    | TokenRevoked
)


class Entry(msgspec.Struct, frozen=True):
    """One line of a log: its place, from 1 on without gaps, when it was written (seconds since 1970), and what it says.

    >>> Entry(1, 0.0, Cancelled(3)).seq
    1
    """

    seq: int
    time: float
    event: Event


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Event)


def to_json(event: Event) -> bytes:
    """An event as it is kept; one that could not be read back is refused.

    >>> to_json(Cancelled(3))
    b'{"type":"cancelled","number":3}'
    """
    body = _encoder.encode(event)
    if b"null" in body:  # which is also what becomes of numbers that are not finite
        from_json(body)
    return body


def from_json(body: bytes) -> Event:
    """Read what `to_json` wrote; anything else is refused.

    >>> from_json(b'{"type":"cancelled","number":3}')
    Cancelled(number=3)
    """
    try:
        event: Event = _decoder.decode(body)
    except (msgspec.MsgspecError, Refused, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"log: {body[:80]!r} is not an event ({error})") from error
    return event


def number_of_decision(event: Event) -> int | None:
    """The decision that an event is about.

    >>> number_of_decision(Cancelled(3))
    3
    """
    if isinstance(event, (Decided, Carried)):
        return event.decision.number
    return getattr(event, "number", None)
