"""The service from afar, for programs with an event loop (extra "client")."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paretozoom.records import Decision, Values
from paretozoom.remote import wire
from paretozoom.remote.client import Call, ServiceError, headers_of, httpx_of, read_answer

if TYPE_CHECKING:
    from paretozoom.problem import Problem


class AsyncClient:
    """As `Client`, with verbs to await.

    ::

        async with AsyncClient("http://127.0.0.1:8080") as service:
            prices = service.experiment("prices")
            decision = await prices.ask({"income": 60_000})
            await prices.tell(decision, {"sold": 1.0, "margin": 4.2})

    >>> AsyncClient("http://127.0.0.1:8080").experiment("prices").name
    'prices'
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 10.0, tries: int = 5) -> None:
        self._http = httpx_of().AsyncClient(base_url=url, headers=headers_of(token), timeout=timeout)
        self._tries = tries

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    def experiment(self, name: str) -> AsyncExperiment:
        """An experiment that is there already."""
        return AsyncExperiment(self, name)

    async def create(self, name: str, problem: Problem, **more: Any) -> AsyncExperiment:
        """Begin an experiment; `policy`, `parameters`, `seed`, `wait` and `default` may be given."""
        await self.call("POST", "/v1/experiments", wire.new(name, problem, more))
        return AsyncExperiment(self, name)

    async def experiments(self) -> list[dict[str, Any]]:
        """What there is."""
        found: list[dict[str, Any]] = (await self.call("GET", "/v1/experiments"))["experiments"]
        return found

    async def wait_until_ready(self, timeout: float = 120.0) -> None:
        """Until every experiment can decide."""
        until = time.monotonic() + timeout
        while not all(one["ready"] for one in await self.experiments()):
            if time.monotonic() > until:
                raise ServiceError(503, f"kernels are still being compiled after {timeout:g} s")
            await asyncio.sleep(0.2)

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request, again if need be, and give the answer."""
        call = Call(self._tries, method, path, body)
        while True:
            try:
                response = await self._http.request(**call.request, **more)
            except httpx_of().TransportError as error:
                call.failed(error)
            else:
                if not call.wants_again(response.status_code):
                    return read_answer(response)
            await asyncio.sleep(call.next_pause())


class AsyncExperiment:
    """An experiment of a service, with the verbs of a policy to await."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.name = name
        self._client = client
        self._path = f"/v1/experiments/{name}"
        self._objectives: list[str] = []

    async def ask(self, context: Values = (), *, feasible: Any = None, deferred: bool = False) -> wire.RemoteDecision:
        """A decision for a context; a deferred one waits until it is activated."""
        body = wire.asked(context, feasible, deferred)
        return wire.decision(await self._client.call("POST", f"{self._path}/decisions", body))

    async def ask_many(self, contexts: Sequence[Values], *, feasible: Any = None) -> list[wire.RemoteDecision]:
        """Decisions for many contexts in one request."""
        body = {"decisions": [wire.asked(context, feasible, False) for context in contexts]}
        found = await self._client.call("POST", f"{self._path}/decisions/batch", body)
        return [wire.decision(answer) for answer in found["decisions"]]

    async def tell(self, decision: Decision | str, reward: Values) -> None:
        """The reward of a decision, whole or in parts."""
        await self._client.call("POST", f"{self._path}/rewards", wire.told(decision, reward, await self._names(reward)))

    async def tell_many(self, decisions: Sequence[Decision | str], rewards: Sequence[Values]) -> None:
        """Rewards of many decisions in one request."""
        names = await self._names(*rewards)
        await self._client.call("POST", f"{self._path}/rewards/batch", wire.told_many(decisions, rewards, names))

    async def activate(self, decision: Decision | str) -> None:
        """A deferred decision was shown."""
        await self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/activate")

    async def drop(self, decision: Decision | str) -> None:
        """A decision was never shown, and teaches nothing."""
        await self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/cancel")

    async def front(self, context: Values = ()) -> list[dict[str, Any]]:
        """The arms believed Pareto optimal at a context."""
        wanted = {"context": msgspec.json.encode(wire.plain(context)).decode()}
        found: list[dict[str, Any]] = (await self._client.call("GET", f"{self._path}/front", params=wanted))["pieces"]
        return found

    async def describe(self) -> dict[str, Any]:
        """What it is and how far."""
        found: dict[str, Any] = await self._client.call("GET", self._path)
        return found

    async def _names(self, *rewards: Values) -> list[str]:
        if not self._objectives and not all(isinstance(reward, dict) for reward in rewards):
            self._objectives = [one["name"] for one in (await self.describe())["problem"]["objectives"]]
        return self._objectives
