"""The service from afar, for programs with an event loop (extra "client")."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paretozoom.records import Decision, Values
from paretozoom.remote import wire
from paretozoom.remote.calls import Call, encoded, headers_of, httpx_of, read_answer
from paretozoom.remote.errors import NoAnswer, ServiceError

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

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        tries: int = 5,
        deadline: float = 30.0,
    ) -> None:
        self._http = httpx_of().AsyncClient(base_url=url, headers=headers_of(token), timeout=timeout)
        self._bounds: dict[str, Any] = {"timeout": timeout, "tries": tries, "deadline": deadline}

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
        """Begin an experiment; `policy`, `parameters`, `seed`, `wait` and `default` may be given.

        If an answer was lost and the experiment is there when this is tried again, it is the one that was begun.
        """
        wanted = wire.new(name, problem, more)
        call = self._new_call("POST", "/v1/experiments", wanted)
        try:
            await self._answer(call)
        except ServiceError as error:
            if error.status != 409 or not call.was_lost:
                raise
            if not wire.is_what_was_wanted(await self.call("GET", f"/v1/experiments/{name}"), wanted):
                raise
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
                raise NoAnswer(f"kernels are still being compiled after {timeout:g} s")
            await asyncio.sleep(0.2)

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request, again if need be, and give the answer; `deadline` may be given for this one."""
        bounds = {key: more.pop(key) for key in self._bounds if key in more}
        return await self._answer(self._new_call(method, path, body, **bounds), **more)

    def _new_call(self, method: str, path: str, body: Any = None, **bounds: Any) -> Call:
        return Call(method, path, body, **{**self._bounds, **bounds})

    async def _answer(self, call: Call, **more: Any) -> Any:
        while True:
            headers = None
            try:
                async with asyncio.timeout(call.seconds_left):
                    response = await self._http.request(**call.request, **more)
            except (httpx_of().HTTPError, httpx_of().InvalidURL, TimeoutError) as error:
                call.failed(error)
            else:
                if not call.wants_again(response.status_code):
                    return read_answer(response)
                headers = response.headers
            await asyncio.sleep(call.next_pause(headers))


class AsyncExperiment:
    """An experiment of a service, with the verbs of a policy to await."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.name = name
        self._client = client
        self._path = f"/v1/experiments/{name}"
        self._objectives: list[str] = []

    async def ask(
        self,
        context: Values = (),
        *,
        feasible: Any = None,
        deferred: bool = False,
        subject: str | None = None,
        fallback: Any = None,
        deadline: float | None = None,
    ) -> wire.RemoteDecision | wire.LocalDecision:
        """A decision for a context; a deferred one waits until it is activated; by its subject it can be erased.

        With a `fallback`, an arm, this never fails because the service does. If there is no answer within `deadline`
        seconds, a `LocalDecision` for that arm is given: it is not in the log, and `tell` sends nothing for it. A
        decision that the service may have made all the same counts as never shown.
        """
        bounds = {} if deadline is None else {"deadline": deadline}
        body = wire.asked(context, feasible, deferred or fallback is not None, subject)
        try:
            made = wire.decision(await self._client.call("POST", f"{self._path}/decisions", body, **bounds))
        except ServiceError as error:
            if fallback is None or error.status not in wire.NOT_AVAILABLE:
                raise
            return wire.local(context, fallback, str(error))
        if fallback is not None and not deferred:
            with suppress(ServiceError):  # it is shown in any case, and its reward says so too
                await self._client.call("POST", f"{self._path}/decisions/{made.id}/activate", tries=1, **bounds)
        return made

    async def ask_many(
        self, contexts: Sequence[Values], *, feasible: Any = None, subjects: Sequence[str | None] | None = None
    ) -> list[wire.RemoteDecision]:
        """Decisions for many contexts in one request, each for its subject if these are given."""
        body = wire.asked_many(contexts, feasible, subjects)
        found = await self._client.call("POST", f"{self._path}/decisions/batch", body)
        return [wire.decision(answer) for answer in found["decisions"]]

    async def tell(self, decision: Decision | str, reward: Values) -> None:
        """The reward of a decision, whole or in parts; of one that was made here nothing is sent."""
        if isinstance(decision, wire.LocalDecision):
            return
        await self._client.call("POST", f"{self._path}/rewards", wire.told(decision, reward, await self._names(reward)))

    async def tell_many(self, decisions: Sequence[Decision | str], rewards: Sequence[Values]) -> None:
        """Rewards of many decisions in one request; of those that were made here nothing is sent."""
        decisions, rewards = wire.without_local(decisions, rewards)
        if not decisions:
            return
        names = await self._names(*rewards)
        await self._client.call("POST", f"{self._path}/rewards/batch", wire.told_many(decisions, rewards, names))

    async def activate(self, decision: Decision | str) -> None:
        """A deferred decision was shown."""
        if not isinstance(decision, wire.LocalDecision):
            await self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/activate")

    async def drop(self, decision: Decision | str) -> None:
        """A decision was never shown, and teaches nothing."""
        if not isinstance(decision, wire.LocalDecision):
            await self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/cancel")

    async def drop_many(self, decisions: Sequence[Decision | str]) -> None:
        """Decisions were never shown, and teach nothing; in one request."""
        ids = [wire.id_of(decision) for decision in decisions if not isinstance(decision, wire.LocalDecision)]
        if ids:
            await self._client.call("POST", f"{self._path}/cancellations", {"decisions": ids})

    async def change(self, **more: Any) -> None:
        """Another `wait` or `default`, also for what is open now; None for a `wait` without end."""
        await self._client.call("PATCH", self._path, wire.plain(more))

    async def front(self, context: Values = ()) -> list[dict[str, Any]]:
        """The arms believed Pareto optimal at a context."""
        wanted = {"context": encoded(wire.context_of(context)).decode()}
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
