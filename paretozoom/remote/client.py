"""The service from afar: the same ask and tell as a policy (extra "client")."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paretozoom.records import Decision, Refused, Values
from paretozoom.remote import wire

if TYPE_CHECKING:
    import httpx

    from paretozoom.problem import Problem

AGAIN = (429, 502, 503, 504, 507)  # worth another try
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


class ServiceError(RuntimeError):
    """The service did not do what it was asked to: its status (0 if it could not be reached) and its reason.

    >>> ServiceError(404, "decision 7: there is no such decision").status
    404
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


class Client:
    """A service, by its address and a token; requests are tried again, and never done twice.

    ::

        with Client("http://127.0.0.1:8080") as service:
            prices = service.create("prices", problem)
            decision = prices.ask({"income": 60_000})
            prices.tell(decision, {"sold": 1.0, "margin": 4.2})

    >>> Client("http://127.0.0.1:8080").experiment("prices").name
    'prices'
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 10.0, tries: int = 5) -> None:
        self._http = httpx_of().Client(base_url=url, headers=headers_of(token), timeout=timeout)
        self._tries = tries

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def experiment(self, name: str) -> RemoteExperiment:
        """An experiment that is there already."""
        return RemoteExperiment(self, name)

    def create(self, name: str, problem: Problem, **more: Any) -> RemoteExperiment:
        """Begin an experiment; `policy`, `parameters`, `seed`, `wait` and `default` may be given."""
        self.call("POST", "/v1/experiments", wire.new(name, problem, more))
        return RemoteExperiment(self, name)

    def experiments(self) -> list[dict[str, Any]]:
        """What there is."""
        found: list[dict[str, Any]] = self.call("GET", "/v1/experiments")["experiments"]
        return found

    def wait_until_ready(self, timeout: float = 120.0) -> None:
        """Until every experiment can decide."""
        until = time.monotonic() + timeout
        while not all(one["ready"] for one in self.experiments()):
            if time.monotonic() > until:
                raise ServiceError(503, f"kernels are still being compiled after {timeout:g} s")
            time.sleep(0.2)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request, again if need be, and give the answer."""
        call = Call(self._tries, method, path, body)
        while True:
            try:
                response = self._http.request(**call.request, **more)
            except httpx_of().TransportError as error:
                call.failed(error)
            else:
                if not call.wants_again(response.status_code):
                    return read_answer(response)
            time.sleep(call.next_pause())


class RemoteExperiment:
    """An experiment of a service, with the verbs of a policy."""

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._client = client
        self._path = f"/v1/experiments/{name}"
        self._objectives: list[str] = []

    def ask(self, context: Values = (), *, feasible: Any = None, deferred: bool = False) -> wire.RemoteDecision:
        """A decision for a context; a deferred one waits until it is activated."""
        body = wire.asked(context, feasible, deferred)
        return wire.decision(self._client.call("POST", f"{self._path}/decisions", body))

    def ask_many(self, contexts: Sequence[Values], *, feasible: Any = None) -> list[wire.RemoteDecision]:
        """Decisions for many contexts in one request."""
        body = {"decisions": [wire.asked(context, feasible, False) for context in contexts]}
        found = self._client.call("POST", f"{self._path}/decisions/batch", body)
        return [wire.decision(answer) for answer in found["decisions"]]

    def tell(self, decision: Decision | str, reward: Values) -> None:
        """The reward of a decision, whole or in parts."""
        self._client.call("POST", f"{self._path}/rewards", wire.told(decision, reward, self._names(reward)))

    def tell_many(self, decisions: Sequence[Decision | str], rewards: Sequence[Values]) -> None:
        """Rewards of many decisions in one request."""
        names = self._names(*rewards)
        self._client.call("POST", f"{self._path}/rewards/batch", wire.told_many(decisions, rewards, names))

    def activate(self, decision: Decision | str) -> None:
        """A deferred decision was shown."""
        self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/activate")

    def drop(self, decision: Decision | str) -> None:
        """A decision was never shown, and teaches nothing."""
        self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/cancel")

    def front(self, context: Values = ()) -> list[dict[str, Any]]:
        """The arms believed Pareto optimal at a context."""
        wanted = {"context": msgspec.json.encode(wire.plain(context)).decode()}
        found: list[dict[str, Any]] = self._client.call("GET", f"{self._path}/front", params=wanted)["pieces"]
        return found

    def describe(self) -> dict[str, Any]:
        """What it is and how far."""
        found: dict[str, Any] = self._client.call("GET", self._path)
        return found

    def _names(self, *rewards: Values) -> list[str]:
        if not self._objectives and not all(isinstance(reward, dict) for reward in rewards):
            self._objectives = [one["name"] for one in self.describe()["problem"]["objectives"]]
        return self._objectives


# What both clients share.


class Call:
    """A request that may be sent several times, and when to send it again.

    >>> call = Call(2, "GET", "/v1/experiments")
    >>> call.wants_again(503), call.wants_again(503)
    (True, False)
    """

    def __init__(self, tries: int, method: str, path: str, body: Any = None) -> None:
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if content is None else {"content-type": "application/json"}
        self.request = {"method": method, "url": path, "content": content, "headers": headers}
        self._left = tries
        self._pause = FIRST_PAUSE

    def wants_again(self, status: int | None) -> bool:
        """Whether to try again after an answer, or after none."""
        self._left -= 1
        return self._left > 0 and (status is None or status in AGAIN)

    def failed(self, error: Exception) -> None:
        """There was no answer: raises if that was the last try."""
        if not self.wants_again(None):
            raise ServiceError(0, f"the service cannot be reached: {error}") from error

    def next_pause(self) -> float:
        """How long to wait before the next try: longer each time, and never in step with others."""
        now, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        return now * random.uniform(0.5, 1.0)


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
    """What an answer says, or why there is none: `Refused` if the request was wrong, else `ServiceError`."""
    if response.is_success:
        return msgspec.json.decode(response.content) if response.content else None
    try:
        detail = msgspec.json.decode(response.content)["detail"]
    except (msgspec.MsgspecError, KeyError, TypeError):
        detail = response.text[:200]
    if response.status_code == 400:
        raise Refused(detail)
    raise ServiceError(response.status_code, detail)
