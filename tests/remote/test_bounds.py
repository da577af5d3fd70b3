"""What a caller can rely on when the service is slow or away: time, one family of exceptions, a true log."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from paretozoom import Decision, LocalDecision, Refused
from paretozoom.remote import NoAnswer, RequestRefused, ServiceError, calls
from paretozoom.remote.client import Client
from tests.remote.test_clients import PROBLEM, both, mocked, of
from tests.service.remote import Process

ID = "k3f9x2a7bq-7"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real service."""
    process = Process(tmp_path_factory.mktemp("served") / "data")
    yield process.url
    assert process.stop() == 0


def through(kind: Any, url: str, spoil: Callable[[httpx.Request, Callable[[], httpx.Response]], httpx.Response]) -> Any:
    """A client of a real service by way of a function that may spoil requests and answers."""

    def answer(request: httpx.Request) -> httpx.Response:
        def done() -> httpx.Response:
            types = {name: value for name, value in request.headers.items() if name == "content-type"}
            found = httpx.request(request.method, url + request.url.path, content=request.content, headers=types)
            return httpx.Response(found.status_code, content=found.content, headers={"retry-after": "0"})

        return spoil(request, done)

    return mocked(kind, answer)


# Beginning an experiment.


@both
def test_an_experiment_whose_answer_was_lost_is_begun_once(url: str, kind: Any) -> None:
    async def play() -> None:
        for lost, more in enumerate([{}, {"seed": 3}, {"wait": None}, {"wait": 60, "default": {"left": 0.5}}]):
            left, name = [1], f"lost-{kind.__name__.lower()}-{lost}"

            def spoil(request: httpx.Request, done: Any, left: list[int] = left) -> httpx.Response:
                answer: httpx.Response = done()
                if request.method == "POST" and left:
                    left.pop()
                    raise httpx.ReadError("lost")
                return answer

            service = through(kind, url, spoil)
            experiment = await of(service.create(name, PROBLEM, policy="random", **more))
            described = await of(experiment.describe())
            assert described["events"] == 1
            assert described["wait"] == more.get("wait", 30 * 86_400)
            with pytest.raises(ServiceError, match="exists already"):  # whoever comes later has another
                await of(service.create(name, PROBLEM, policy="random", **more))
            await of(service.close())

    asyncio.run(play())


@both
def test_an_experiment_of_somebody_else_is_not_taken_for_ours(url: str, kind: Any) -> None:
    async def play() -> None:
        name = f"theirs-{kind.__name__.lower()}"

        def spoil(request: httpx.Request, done: Any) -> httpx.Response:
            if request.method == "POST" and not seen:
                seen.append(json.loads(request.content))
                theirs = {**seen[0], "seed": 12345}
                assert httpx.post(f"{url}/v1/experiments", json=theirs).status_code == 201
                raise httpx.ConnectError("away")
            answer: httpx.Response = done()
            return answer

        seen: list[Any] = []
        service = through(kind, url, spoil)
        with pytest.raises(ServiceError, match="exists already") as error:
            await of(service.create(name, PROBLEM, policy="random"))
        assert error.value.status == 409
        await of(service.close())

    asyncio.run(play())


# Time.


class Time:
    """A clock that only sleeping moves."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 100.0, list[float]()
        patch.setattr(calls.time, "monotonic", lambda: self.now)
        patch.setattr(time, "sleep", self._sleep)

        async def sleep(seconds: float) -> None:
            self._sleep(seconds)

        patch.setattr(asyncio, "sleep", sleep)

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@both
def test_all_tries_together_have_a_deadline(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        timeouts: list[float] = []

        def answer(request: httpx.Request) -> httpx.Response:
            timeouts.append(request.extensions["timeout"]["read"])
            clock.now += 3.0
            return httpx.Response(503, json={"detail": "busy"})

        service = mocked(kind, answer, tries=100, deadline=10.0, timeout=4.0)
        clock = Time(monkeypatch)
        with pytest.raises(NoAnswer, match="no answer within 10 s"):
            await of(service.experiments())
        assert clock.now <= 100 + 10 + 3
        assert 2 <= len(timeouts) <= 4
        if kind is Client:  # each try has what is left, not more
            assert timeouts[0] == 4.0 > timeouts[-1]
        count = len(timeouts)
        with pytest.raises(NoAnswer, match="no answer within 2 s"):
            await of(service.call("GET", "/v1/experiments", deadline=2.0))
        assert len(timeouts) == count + 1
        monkeypatch.undo()
        await of(service.close())

    asyncio.run(play())


@both
def test_a_service_is_left_alone_for_as_long_as_it_asks(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        answers = [httpx.Response(429, json={}, headers={"retry-after": "7"}), httpx.Response(503, json={})]

        def answer(_: httpx.Request) -> httpx.Response:
            return answers.pop(0) if answers else httpx.Response(200, json={"experiments": []})

        service = mocked(kind, answer)
        clock = Time(monkeypatch)
        assert await of(service.experiments()) == []
        assert clock.slept[0] == 7.0
        assert clock.slept[1] < 1.0
        answers[:] = [httpx.Response(429, json={}, headers={"retry-after": "60"})]
        with pytest.raises(NoAnswer):  # not before the deadline: it is not waited for
            await of(service.experiments())
        assert clock.slept[2:] == []
        monkeypatch.undo()
        await of(service.close())

    asyncio.run(play())


# An arm to fall back on.


@both
def test_a_fallback_decides_here_and_sends_nothing(kind: Any) -> None:
    async def play() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            service = kind(f"http://127.0.0.1:{silent.getsockname()[1]}")
            prices = service.experiment("prices")
            decision = await of(prices.ask({"x": 0.5}, fallback="a", deadline=0.05))
            assert isinstance(decision, LocalDecision)
            assert isinstance(decision, Decision)
            assert (decision.number, decision.context, decision.arm, decision.density) == (-1, {"x": 0.5}, "a", 1.0)
            assert "no answer within 0.05 s" in decision.reason or "cannot be reached" in decision.reason
            with pytest.raises(NoAnswer):
                await of(prices.ask({"x": 0.5}, deadline=0.05))
            await of(service.close())
        sent: list[str] = []
        service = mocked(kind, lambda request: sent.append(request.url.path) or httpx.Response(200, json={}))
        prices = service.experiment("prices")
        for call in (prices.tell(decision, {"left": 1.0}), prices.activate(decision), prices.drop(decision)):
            await of(call)
        await of(prices.tell_many([decision], [{"left": 1.0}]))
        await of(prices.drop_many([decision]))
        assert sent == []
        await of(prices.tell_many([decision, ID], [{"left": 1.0}, {"left": 0.5}]))
        assert sent == ["/v1/experiments/prices/rewards/batch"]
        await of(service.close())

    asyncio.run(play())


@both
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 507])
def test_a_fallback_is_for_whatever_is_the_fault_of_the_service(
    kind: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        Time(monkeypatch)
        service = mocked(kind, lambda _: httpx.Response(status, json={"detail": "not now"}))
        decision = await of(service.experiment("prices").ask([0.5], fallback="a"))
        assert isinstance(decision, LocalDecision)
        assert "not now" in decision.reason or "no answer" in decision.reason
        monkeypatch.undo()
        await of(service.close())

    asyncio.run(play())


@both
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410])
def test_a_fallback_hides_no_mistake_of_the_caller(kind: Any, status: int) -> None:
    async def play() -> None:
        service = mocked(kind, lambda _: httpx.Response(status, json={"detail": "no"}))
        with pytest.raises(ServiceError, match="no"):
            await of(service.experiment("prices").ask([0.5], fallback="a"))
        await of(service.close())

    asyncio.run(play())


@both
def test_a_decision_whose_answer_was_lost_counts_as_never_shown(url: str, kind: Any) -> None:
    """What was played here must not be told for the arm that the service chose, not even by a default."""

    async def play() -> None:
        name = f"shown-{kind.__name__.lower()}"

        def spoil(request: httpx.Request, done: Any) -> httpx.Response:
            answer: httpx.Response = done()
            if lose and request.url.path.endswith("/decisions"):
                raise httpx.ReadError("lost")
            return answer

        lose: list[bool] = []
        service = through(kind, url, spoil)
        prices = await of(service.create(name, PROBLEM, policy="random", wait=0.5, default={"left": 0.0}))
        await of(service.wait_until_ready())
        shown = await of(prices.ask([0.5], fallback="a"))
        assert not isinstance(shown, LocalDecision)
        assert shown.arm in ("a", "b", "c")
        lose.append(True)
        local = await of(prices.ask([0.5], fallback="a", deadline=2.0))
        assert isinstance(local, LocalDecision)
        await of(prices.tell(local, {"left": 1.0, "right": 1.0}))
        end = time.monotonic() + 60
        while (await of(prices.describe()))["counts"]["expiries"] < 2:
            assert time.monotonic() < end
        events = [
            json.loads(line)["event"]
            for line in httpx.get(f"{url}/v1/experiments/{name}/events").text.split("\n")
            if line
        ]
        expired = {event["number"]: event["reward"] for event in events if event["type"] == "expired"}
        assert expired == {0: {"left": 0.0}, 1: None}  # the default is told for what was shown, and for nothing else
        assert not [event for event in events if event["type"] == "rewarded"]
        await of(service.close())

    asyncio.run(play())


# What is raised, and what is taken.


@both
def test_whatever_is_raised_is_of_one_family(kind: Any) -> None:
    async def play() -> None:
        def fails(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
            def answer(_: httpx.Request) -> httpx.Response:
                raise error

            return answer

        cases: list[tuple[Any, type[ServiceError]]] = [
            (fails(httpx.ConnectError("no")), NoAnswer),
            (fails(httpx.ReadTimeout("no")), NoAnswer),
            (fails(httpx.RemoteProtocolError("no")), NoAnswer),
            (fails(httpx.TooManyRedirects("no")), NoAnswer),
            (fails(httpx.DecodingError("no")), NoAnswer),
            (lambda _: httpx.Response(200, text="<html>a proxy</html>"), ServiceError),
            (lambda _: httpx.Response(404, text="<html>a proxy</html>"), ServiceError),
            (lambda _: httpx.Response(404, json=["no"]), ServiceError),
            (lambda _: httpx.Response(400, json={"detail": "x: 3 is outside [0, 1]"}), RequestRefused),
        ]
        for answer, expected in cases:
            service = mocked(kind, answer, tries=1)
            with pytest.raises(expected) as error:
                await of(service.experiment("any").ask([0.5]))
            assert isinstance(error.value, ServiceError)
            await of(service.close())
        service = mocked(kind, lambda _: httpx.Response(200, json={}))
        any_one = service.experiment("any")
        for call in (
            lambda: any_one.tell(ID, {"left": float("nan")}),
            lambda: any_one.ask([float("inf")]),
            lambda: any_one.ask_many([{"v": [0.5, -np.inf]}]),
            lambda: any_one.ask([0.5], subject="\ud800"),
            lambda: any_one.ask([object()]),
            lambda: any_one.front([np.inf]),
            lambda: any_one.tell(True, {"left": 1.0}),
            lambda: any_one.tell(3, {"left": 1.0}),
            lambda: any_one.drop(3.0),
            lambda: any_one.tell_many([ID, ID], [{"left": 1.0}]),
        ):
            with pytest.raises(RequestRefused) as error:
                await of(call())
            assert isinstance(error.value, Refused)
            assert error.value.status == 400
        await of(service.close())

    asyncio.run(play())


@both
def test_what_is_given_may_be_of_numpy(url: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        prices = await of(service.create(f"numpy-{kind.__name__.lower()}", PROBLEM, policy="random", seed=np.int64(5)))
        await of(service.wait_until_ready())
        ids = np.array([one.id for one in await of(prices.ask_many([[0.1]] * 5))])
        await of(prices.tell(ids[0], {"left": np.float32(0.5)}))
        await of(prices.tell_many(ids[1:3], [{"left": 1}, {"left": 0}]))
        await of(prices.drop(ids[3]))
        await of(prices.drop_many(ids[3:]))
        await of(prices.change(wait=np.int64(60), default={"left": np.float64(0.5)}))
        described = await of(prices.describe())
        assert (described["counts"]["rewards"], described["counts"]["cancellations"]) == (3, 2)
        assert (described["wait"], described["default"], described["seed"]) == (60.0, {"left": 0.5}, "5")
        await of(prices.change(wait=None, default=None))
        assert (await of(prices.describe()))["wait"] is None
        await of(service.close())

    asyncio.run(play())
