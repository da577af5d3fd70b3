"""A request that is sent until it is answered, for as long as it may take: what both clients share."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from paretozoom.records import Refused
from paretozoom.remote.errors import NoAnswer, RequestRefused, ServiceError

if TYPE_CHECKING:
    import httpx

AGAIN = (429, 502, 503, 504, 507)  # worth another try
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


class Call:
    """A request that may be sent several times, and when to send it again.

    >>> call = Call("GET", "/v1/experiments", tries=2, timeout=10.0, deadline=30.0)
    >>> call.wants_again(503), call.wants_again(503)
    (True, False)
    """

    def __init__(
        self, method: str, path: str, body: Any = None, *, tries: int, timeout: float, deadline: float
    ) -> None:
        content = None if body is None else encoded(body)
        headers = {} if content is None else {"content-type": "application/json"}
        self.request = {"method": method, "url": path, "content": content, "headers": headers}
        self.was_lost = False  # whether a try had no answer, and may have been done all the same
        self._left = tries
        self._pause = FIRST_PAUSE
        self._timeout = timeout
        self._deadline = deadline
        self._end = time.monotonic() + deadline

    @property
    def seconds_left(self) -> float:
        """How long one try may take; raises if there is no time for it."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise NoAnswer(f"no answer within {self._deadline:g} s")
        return min(self._timeout, left)

    def wants_again(self, status: int | None) -> bool:
        """Whether to try again after an answer, or after none."""
        self._left -= 1
        self.was_lost |= status is None or status in (502, 504)
        return self._left > 0 and (status is None or status in AGAIN)

    def failed(self, error: Exception) -> None:
        """There was no answer: raises if that was the last try."""
        if not self.wants_again(None):
            raise NoAnswer(f"the service cannot be reached: {error or type(error).__name__}") from error

    def next_pause(self, headers: Mapping[str, str] | None = None) -> float:
        """How long to wait before the next try: longer each time, never in step with others.

        As long as the service asks for, if it does. Raises if the time would be over by then.
        """
        now, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        pause = max(now * random.uniform(0.5, 1.0), seconds_in(None if headers is None else headers.get("retry-after")))
        if time.monotonic() + pause >= self._end:
            raise NoAnswer(f"no answer within {self._deadline:g} s")
        return pause


def encoded(body: Any) -> bytes:
    """What is sent.

    >>> encoded({"request_id": "visit-17"})
    b'{"request_id":"visit-17"}'
    """
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RequestRefused(f"request: JSON cannot say it ({error})") from error


def seconds_in(retry_after: str | None) -> float:
    """How long a service asks to be left alone: seconds, or a date.

    >>> seconds_in("3"), seconds_in(None), seconds_in("soon"), seconds_in("Wed, 21 Oct 2015 07:28:00 GMT")
    (3.0, 0.0, 0.0, 0.0)
    """
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0


def httpx_of() -> Any:
    """The library that speaks HTTP, which is an extra."""
    try:
        import httpx
    except ModuleNotFoundError as error:
        raise Refused("client: 'httpx' is missing; pip install 'paretozoom[client]' brings it") from error
    return httpx


def headers_of(token: str | None) -> dict[str, str]:
    """Who asks.

    >>> headers_of("pz_ab_cd")
    {'authorization': 'Bearer pz_ab_cd'}
    """
    return {} if token is None else {"authorization": f"Bearer {token}"}


def read_answer(response: httpx.Response) -> Any:
    """What an answer says; raises why there is none."""
    try:
        said = msgspec.json.decode(response.content) if response.content else None
    except msgspec.MsgspecError:
        said = None
        if response.is_success:
            raise ServiceError(response.status_code, f"{response.text[:200]!r} is not JSON") from None
    if response.is_success:
        return said
    detail = said.get("detail") if isinstance(said, dict) else None
    detail = detail if isinstance(detail, str) else response.text[:200]
    raise RequestRefused(detail) if response.status_code == 400 else ServiceError(response.status_code, detail)
