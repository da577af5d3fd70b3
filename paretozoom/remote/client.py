"""The service from afar: the same ask and tell as a policy (extra "client")."""

from __future__ import annotations

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

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        tries: int = 5,
        deadline: float = 30.0,
    ) -> None:
        self._http = httpx_of().Client(base_url=url, headers=headers_of(token), timeout=timeout)
        self._bounds: dict[str, Any] = {"timeout": timeout, "tries": tries, "deadline": deadline}

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
        """Begin an experiment; `policy`, `parameters`, `seed`, `wait` and `default` may be given.

        If an answer was lost and the experiment is there when this is tried again, it is the one that was begun.
        """
        wanted = wire.new(name, problem, more)
        call = self._new_call("POST", "/v1/experiments", wanted)
        try:
            self._answer(call)
        except ServiceError as error:
            if error.status != 409 or not call.was_lost:
                raise
            if not wire.is_what_was_wanted(self.call("GET", f"/v1/experiments/{name}"), wanted):
                raise
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
                raise NoAnswer(f"kernels are still being compiled after {timeout:g} s")
            time.sleep(0.2)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request, again if need be, and give the answer; `deadline` may be given for this one."""
        bounds = {key: more.pop(key) for key in self._bounds if key in more}
        return self._answer(self._new_call(method, path, body, **bounds), **more)

    def _new_call(self, method: str, path: str, body: Any = None, **bounds: Any) -> Call:
        return Call(method, path, body, **{**self._bounds, **bounds})

    def _answer(self, call: Call, **more: Any) -> Any:
        while True:
            headers = None
            try:
                response = self._http.request(**call.request, timeout=call.seconds_left, **more)
            except (httpx_of().HTTPError, httpx_of().InvalidURL) as error:
                call.failed(error)
            else:
                if not call.wants_again(response.status_code):
                    return read_answer(response)
                headers = response.headers
            time.sleep(call.next_pause(headers))


class RemoteExperiment:
    """An experiment of a service, with the verbs of a policy."""

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._client = client
        self._path = f"/v1/experiments/{name}"
        self._objectives: list[str] = []

    def ask(
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
            made = wire.decision(self._client.call("POST", f"{self._path}/decisions", body, **bounds))
        except ServiceError as error:
            if fallback is None or error.status not in wire.NOT_AVAILABLE:
                raise
            return wire.local(context, fallback, str(error))
        if fallback is not None and not deferred:
            with suppress(ServiceError):  # it is shown in any case, and its reward says so too
                self._client.call("POST", f"{self._path}/decisions/{made.id}/activate", tries=1, **bounds)
        return made

    def ask_many(
        self, contexts: Sequence[Values], *, feasible: Any = None, subjects: Sequence[str | None] | None = None
    ) -> list[wire.RemoteDecision]:
        """Decisions for many contexts in one request, each for its subject if these are given."""
        body = wire.asked_many(contexts, feasible, subjects)
        found = self._client.call("POST", f"{self._path}/decisions/batch", body)
        return [wire.decision(answer) for answer in found["decisions"]]

    def tell(self, decision: Decision | str, reward: Values) -> None:
        """The reward of a decision, whole or in parts; of one that was made here nothing is sent."""
        if isinstance(decision, wire.LocalDecision):
            return
        self._client.call("POST", f"{self._path}/rewards", wire.told(decision, reward, self._names(reward)))

    def tell_many(self, decisions: Sequence[Decision | str], rewards: Sequence[Values]) -> None:
        """Rewards of many decisions in one request; of those that were made here nothing is sent."""
        decisions, rewards = wire.without_local(decisions, rewards)
        if not decisions:
            return
        names = self._names(*rewards)
        self._client.call("POST", f"{self._path}/rewards/batch", wire.told_many(decisions, rewards, names))

    def activate(self, decision: Decision | str) -> None:
        """A deferred decision was shown."""
        if not isinstance(decision, wire.LocalDecision):
            self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/activate")

    def drop(self, decision: Decision | str) -> None:
        """A decision was never shown, and teaches nothing."""
        if not isinstance(decision, wire.LocalDecision):
            self._client.call("POST", f"{self._path}/decisions/{wire.id_of(decision)}/cancel")

    def drop_many(self, decisions: Sequence[Decision | str]) -> None:
        """Decisions were never shown, and teach nothing; in one request."""
        ids = [wire.id_of(decision) for decision in decisions if not isinstance(decision, wire.LocalDecision)]
        if ids:
            self._client.call("POST", f"{self._path}/cancellations", {"decisions": ids})

    def change(self, **more: Any) -> None:
        """Another `wait` or `default`, also for what is open now; None for a `wait` without end."""
        self._client.call("PATCH", self._path, wire.plain(more))

    def front(self, context: Values = ()) -> list[dict[str, Any]]:
        """The arms believed Pareto optimal at a context."""
        wanted = {"context": encoded(wire.context_of(context)).decode()}
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
