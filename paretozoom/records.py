"""The frozen records that pass between the parts, and the protocols of the parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any]
else:  # who sends decisions to a service needs no numpy
    Values = Mapping[str, Any] | Sequence[Any]


class Refused(ValueError):
    """A call that was refused at the border: it names the field, the value and what was expected.

    Nothing has changed when it is raised.
    """


def checked_seed(seed: Any) -> int:
    """A non-negative integer.

    >>> checked_seed(3)
    3
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise Refused(f"seed: {seed!r} is not a non-negative integer")
    return int(seed)


class Decision(msgspec.Struct, frozen=True):
    """What a policy decided, with everything `tell` needs.

    `density` is relative to a uniform draw on the whole arm space (uniform play has density 1); for finite
    arms it is the probability. `credit` is the policy's own: for the zooming policies, the ball.

    >>> Decision(0, {"x": 0.5}, {"y": 0.25}, 1.0, 0).arm
    {'y': 0.25}
    """

    number: int
    context: dict[str, Any]
    arm: Any
    density: float
    credit: int


class Round(msgspec.Struct, frozen=True):
    """One turn of the straight line: a decision and its reward, in the user's units.

    >>> Round(Decision(0, {}, "a", 0.5, 0), {"speed": 1.0}).reward["speed"]
    1.0
    """

    decision: Decision
    reward: dict[str, float]


class Asked(msgspec.Struct, frozen=True, tag="asked"):
    """Log event: a decision was made.

    >>> Asked(Decision(0, {}, "a", 0.5, 0)).decision.number
    0
    """

    decision: Decision


class Told(msgspec.Struct, frozen=True, tag="told"):
    """Log event: some or all objectives of a decision were told.

    >>> Told(0, {"speed": 1.0}).number
    0
    """

    number: int
    reward: dict[str, float]


class Dropped(msgspec.Struct, frozen=True, tag="dropped"):
    """Log event: a decision was closed and taught nothing.

    >>> Dropped(0).number
    0
    """

    number: int


Event = Asked | Told | Dropped


class Snapshot(msgspec.Struct, frozen=True):
    """A policy's whole state: a JSON-ready header and named arrays.

    >>> import numpy as np
    >>> snapshot = Snapshot({"policy": "random"}, {"open_number": np.zeros(0, np.int64)})
    >>> Snapshot.from_bytes(snapshot.to_bytes()).header["policy"]
    'random'
    """

    header: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    def to_bytes(self) -> bytes:
        """The safetensors form: the same state gives the same bytes."""
        from safetensors.numpy import save

        header = msgspec.json.encode(self.header, order="sorted").decode()
        arrays = {k: v if v.flags.c_contiguous else v.copy(order="C") for k, v in self.arrays.items()}
        return save(arrays, metadata={"header": header})

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """Read what `to_bytes` wrote; anything else is refused."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            arrays = load(data)
            length = int.from_bytes(data[:8], "little")
            text = msgspec.json.decode(data[8 : 8 + length])["__metadata__"]["header"]
            header = msgspec.json.decode(text, type=dict[str, Any])
        except (SafetensorError, msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
            size = f"{len(data)} bytes" if isinstance(data, bytes) else repr(data)
            raise Refused(f"snapshot: {size} are not a snapshot of a policy ({error})") from error
        return cls(header, arrays)


class Policy(Protocol):
    """Two verbs and one signature: whatever chooses arms, and all that `simulate` needs of it."""

    def ask(self, context: Values, /) -> Decision: ...

    def tell(self, decision: Decision, reward: Values, /) -> None: ...


class Environment(Protocol):
    """Whatever shows contexts and answers decisions; the answer depends on the seed and the decision alone.

    These three methods are all that `simulate` needs of it.
    """

    def reset(self, seed: int) -> None: ...

    def observe(self) -> Values: ...

    def respond(self, decision: Decision) -> Values: ...


class Metric(Protocol):
    """Whatever reads rounds and ends in JSON-ready numbers."""

    def update(self, rounds: Iterable[Round]) -> None: ...

    def result(self) -> dict[str, Any]: ...
