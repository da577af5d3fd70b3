"""The clients: the verbs of a policy, over a network that fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Random, Real
from paretozoom.records import Decision, Refused
from paretozoom.remote import calls
from paretozoom.remote.async_client import AsyncClient
from paretozoom.remote.client import Client
from paretozoom.remote.errors import ServiceError
from tests.service.remote import PROBLEM, Process


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real service."""
    process = Process(tmp_path_factory.mktemp("served") / "data")
    yield process.url
    assert process.stop() == 0


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are short."""
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.001)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name of the test's own."""
    return str(request.node.name).replace("_", "-").replace("[", ".").replace("]", "").lower()[-60:].lstrip("-")


def both(test: Callable[[Any], Any]) -> Any:
    """Run a test that awaits with either client: what the plain one returns is awaited too."""
    return pytest.mark.parametrize("kind", [Client, AsyncClient])(test)


async def of(value: Any) -> Any:
    """The value, whichever client it came from."""
    return await value if asyncio.iscoroutine(value) else value


async def begun(service: Any, name: str, problem: Problem = PROBLEM, **more: Any) -> Any:
    experiment = await of(service.create(name, problem, policy="random", seed=3, **more))
    await of(service.wait_until_ready())
    return experiment


@both
def test_a_remote_experiment_decides_as_a_policy_does(url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        remote = await begun(service, name)
        policy = Random(PROBLEM, seed=3)
        for k in range(5):
            mine, theirs = policy.ask([k / 5]), await of(remote.ask([k / 5]))
            assert isinstance(theirs, Decision)
            assert (theirs.number, theirs.context, theirs.arm, theirs.density) == (
                (mine.number, mine.context, mine.arm, mine.density)
            )
            policy.tell(mine, [1, 0])
            with pytest.raises(Refused, match=r"decision: .* is not one of a service"):
                await of(remote.tell(mine, [1, 0]))
            await of(remote.tell(theirs, [1, 0]))
        mine_many = policy.ask_many([[0.1], [0.2]], feasible=["a"])
        theirs_many = await of(remote.ask_many([[0.1], [0.2]], feasible=["a"]))
        assert [one.arm for one in theirs_many] == [one.arm for one in mine_many] == ["a", "a"]
        await of(remote.tell_many(theirs_many, [[1, 0], {"left": 0.5}]))
        described = await of(remote.describe())
        assert described["counts"]["decisions"] == 7
        assert described["open"] == 1
        assert name in [one["name"] for one in await of(service.experiments())]
        await of(service.close())

    asyncio.run(play())


@both
def test_numbers_may_be_those_of_numpy(url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        problem = Problem([Real("x")], [Real("y")], [Objective("left"), Objective("right")])
        remote = await begun(service, name, problem)
        box = {"y": np.array([0.25, 0.5])}
        decision = await of(remote.ask(np.array([0.5]), feasible=box))
        assert 0.25 <= decision.arm["y"] <= 0.5
        await of(remote.tell(decision, np.array([0.5, 1.0])))
        decision = await of(remote.ask({"x": np.float32(0.5)}))
        await of(remote.tell(decision, {"left": np.float64(0.25), "right": np.int64(1)}))
        many = await of(remote.ask_many(np.array([[0.1], [0.2]])))
        await of(remote.tell_many(many, np.array([[0.5, 0.5], [1.0, 0.0]])))
        counts = (await of(remote.describe()))["counts"]
        assert counts["totals"] == {"left": 2.25, "right": 2.5}
        assert await of(remote.front(np.array([0.5]))) == []
        await of(service.close())

    asyncio.run(play())


@both
def test_decisions_can_be_deferred_activated_and_dropped(url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        remote = await begun(service, name)
        shown, hidden = await of(remote.ask([0.5], deferred=True)), await of(remote.ask([0.5], deferred=True))
        await of(remote.activate(shown))
        await of(remote.drop(hidden.id))
        await of(remote.tell(shown.id, {"left": 1}))
        await of(remote.tell(shown, [None, 1]))
        counts = (await of(remote.describe()))["counts"]
        assert (counts["cancellations"], counts["rewards"]) == (1, 2)
        with pytest.raises(ServiceError, match="cancelled") as error:
            await of(remote.tell(hidden, [1, 1]))
        assert error.value.status == 410
        await of(service.close())

    asyncio.run(play())


@both
def test_decisions_can_be_erased_by_their_subject(url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        remote = await begun(service, name)
        one = await of(remote.ask([0.5], subject="ann"))
        many = await of(remote.ask_many([[0.1], [0.2], [0.3]], subjects=["bob", None, "ann"]))
        held = await of(remote.ask([0.5], subject="ann", fallback="a"))
        for wrong in ("ann", ["ann"]):
            with pytest.raises(Refused, match=r"subjects: .* given for 2 contexts, expected one for each"):
                await of(remote.ask_many([[0.1], [0.2]], subjects=wrong))
        await of(service.call("POST", f"/v1/experiments/{name}/erase", {"subjects": ["ann"]}))
        states = []
        for decision in (one, *many, held):
            try:
                await of(remote.tell(decision, [1, 0]))
                states.append("kept")
            except ServiceError as error:
                states.append(error.detail.rpartition(" ")[2])
        assert states == ["erased", "kept", "kept", "erased", "erased"]
        await of(service.close())

    asyncio.run(play())


@both
def test_what_is_wrong_is_refused_as_by_a_policy(url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service = kind(url)
        remote = await begun(service, name)
        decision = await of(remote.ask([0.5]))
        for wrong in ([7], {"x": "?"}, [np.nan]):
            with pytest.raises(Refused, match=r"context\['x'\]"):
                await of(remote.ask(wrong))
        for reward in ([1], [1, 0, 0], np.array(1.0)):
            with pytest.raises(Refused, match="reward"):
                await of(remote.tell(decision, reward))
        for reward in ({"left": np.nan}, [np.inf, 0], {"left": 7}):
            with pytest.raises(Refused, match=r"reward\['left'\]"):
                await of(remote.tell(decision, reward))
        with pytest.raises(Refused, match="1 given for 2"):
            await of(remote.tell_many([0, 1], [[1, 0]]))
        with pytest.raises(Refused, match="policy"):
            await of(service.create("other", PROBLEM, policy="none"))
        with pytest.raises(ServiceError) as error:
            await of(service.create(name, PROBLEM))
        assert error.value.status == 409
        with pytest.raises(ServiceError, match="there is none of this name"):
            await of(service.experiment("nobody").ask([0.5]))
        assert (await of(remote.describe()))["events"] == 2
        await of(service.close())

    asyncio.run(play())


def test_a_client_is_closed_by_its_block(url: str, name: str) -> None:
    with Client(url) as service:
        service.create(name, PROBLEM, policy="random")
    with pytest.raises(RuntimeError, match="closed"):
        service.experiments()

    async def play() -> None:
        async with AsyncClient(url) as service:
            assert await service.experiments()
        with pytest.raises(RuntimeError, match="closed"):
            await service.experiments()

    asyncio.run(play())


# A network that fails.


class Flaky(BaseHTTPRequestHandler):
    """A proxy that fails in a way of its own for the first tries of each request."""

    def _pass(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        failures = server.failures.pop(0) if server.failures else "none"
        if failures == "busy":
            self._answer(503, b'{"status":503,"detail":"busy"}')
            return
        if failures == "hang up":
            self.close_connection = True
            return
        kept = {"content-type": self.headers["content-type"]} if body else {}
        answer = httpx.request(self.command, server.target + self.path, content=body, headers=kept)
        server.passed.append((self.command, self.path))
        if failures == "lose":  # it was done, but nobody hears of it
            self.close_connection = True
            return
        if failures == "garble":
            self._answer(502, b"<html>bad gateway</html>")
            return
        self._answer(answer.status_code, answer.content)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = _pass  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def flaky(url: str) -> Iterator[Any]:
    """A proxy before the service; its `failures` are what befalls the next requests."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    server.target, server.failures, server.passed = url, [], []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@both
def test_a_request_is_tried_again_and_done_once(flaky: Any, url: str, name: str, kind: Any) -> None:
    async def play() -> None:
        service, direct = kind(flaky.url), kind(url)
        remote = await begun(direct, name)
        remote = service.experiment(name)
        flaky.failures[:] = ["lose", "busy", "hang up", "garble"]
        decision = await of(remote.ask([0.5]))
        assert len(flaky.passed) == 3
        flaky.failures[:] = ["lose", "lose"]
        await of(remote.tell(decision, {"left": 1, "right": 0}))
        flaky.failures[:] = ["lose", "lose"]
        many = await of(remote.ask_many([[0.1], [0.2]]))
        flaky.failures[:] = ["lose"]
        await of(remote.tell_many(many, [{"left": 1}, {"right": 1}]))
        for act in (remote.activate, remote.drop):
            other = await of(remote.ask([0.5], deferred=True))
            flaky.failures[:] = ["lose"]
            await of(act(other))
        described = await of(direct.experiment(name).describe())
        assert described["counts"]["decisions"] == 5
        assert described["counts"]["rewards"] == 3
        assert described["events"] == 1 + 5 + 3 + 2
        assert [one.number for one in many] == [1, 2]
        await of(service.close())
        await of(direct.close())

    asyncio.run(play())


@both
def test_tries_come_to_an_end(flaky: Any, kind: Any) -> None:
    async def play() -> None:
        service = kind(flaky.url, tries=3)
        flaky.failures[:] = ["busy"] * 9
        with pytest.raises(ServiceError, match="busy") as error:
            await of(service.experiments())
        assert error.value.status == 503
        assert len(flaky.failures) == 6
        flaky.failures[:] = ["hang up"] * 9
        with pytest.raises(ServiceError, match="cannot be reached") as error:
            await of(service.experiments())
        assert error.value.status == 0
        assert len(flaky.failures) == 6
        flaky.failures[:] = ["garble"] * 3
        with pytest.raises(ServiceError, match="bad gateway"):
            await of(service.experiments())
        await of(service.close())

    asyncio.run(play())


def mocked(kind: Any, answer: Callable[[httpx.Request], httpx.Response], **more: Any) -> Any:
    """A client whose requests go to a function."""
    service = kind("http://nowhere", **more)
    whole = httpx.AsyncClient if kind is AsyncClient else httpx.Client
    service._http = whole(
        base_url="http://nowhere", headers=service._http.headers, transport=httpx.MockTransport(answer)
    )
    return service


@both
def test_what_was_refused_is_not_tried_again(kind: Any) -> None:
    async def play(status: int) -> None:
        seen: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            return httpx.Response(status, json={"status": status, "detail": "no"})

        service = mocked(kind, answer, token="pz_ab_cd")
        with pytest.raises(Refused if status == 400 else ServiceError, match="no"):
            await of(service.experiment("any").ask([0.5]))
        assert len(seen) == 1
        assert seen[0].headers["authorization"] == "Bearer pz_ab_cd"
        await of(service.close())

    for status in (400, 401, 403, 404, 409, 410, 413, 500):
        asyncio.run(play(status))


@both
def test_every_try_has_the_same_id_and_every_request_its_own(kind: Any) -> None:
    async def play() -> None:
        bodies: list[bytes] = []

        def answer(request: httpx.Request) -> httpx.Response:
            bodies.append(request.content)
            if len(bodies) % 3:
                raise httpx.ReadTimeout("too slow")
            made = {"id": "k3f9x2a7bq-0", "context": {}, "arm": "a", "density": 1.0}
            return httpx.Response(201, json=made)

        service = mocked(kind, answer)
        for _ in range(2):
            await of(service.experiment("any").ask([0.5]))
        assert len(bodies) == 6
        assert len(set(bodies)) == 2
        assert len(set(bodies[:3])) == 1
        await of(service.close())

    asyncio.run(play())


@both
def test_a_service_that_does_not_answer_is_given_up(kind: Any) -> None:
    import socket

    async def play() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            service = kind(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.05, tries=2)
            with pytest.raises(ServiceError, match="cannot be reached") as error:
                await of(service.experiments())
            assert error.value.status == 0
            await of(service.close())
        service = kind(f"http://127.0.0.1:{silent_port()}", tries=2)
        with pytest.raises(ServiceError, match="cannot be reached"):
            await of(service.experiments())
        await of(service.close())

    def silent_port() -> int:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return int(listener.getsockname()[1])

    asyncio.run(play())


@both
def test_waiting_for_a_service_has_an_end(kind: Any) -> None:
    async def play() -> None:
        service = mocked(kind, lambda _: httpx.Response(200, json={"experiments": [{"ready": False}]}))
        with pytest.raises(ServiceError, match="still being compiled"):
            await of(service.wait_until_ready(timeout=0.01))
        await of(service.close())

    asyncio.run(play())


def test_pauses_grow_and_are_never_in_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.1)
    call = calls.Call("GET", "/", tries=9, timeout=1.0, deadline=100.0)
    pauses = [call.next_pause() for _ in range(9)]
    for k, pause in enumerate(pauses):
        longest = min(0.1 * 2**k, calls.LONGEST_PAUSE)
        assert longest / 2 <= pause <= longest


# What is installed.


def python(code: str) -> SimpleNamespace:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)


BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Block())
"""


def test_without_httpx_the_client_says_what_to_install() -> None:
    done = python(
        BLOCKED.format(names=["httpx"])
        + """
from paretozoom.remote.async_client import AsyncClient
from paretozoom.remote.client import Client
from paretozoom.records import Refused
for kind in (Client, AsyncClient):
    try:
        kind("http://127.0.0.1")
    except Refused as error:
        print(error)
"""
    )
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["client: 'httpx' is missing; pip install 'paretozoom[client]' brings it"] * 2


def test_the_library_needs_nothing_of_the_service() -> None:
    names = ["litestar", "sqlalchemy", "alembic", "httpx", "uvicorn", "prometheus_client", "filelock", "psycopg"]
    done = python(
        f"""
import sys
import paretozoom, paretozoom.commands.cli, paretozoom.remote.client, paretozoom.remote.async_client
print([name for name in {names!r} if name in sys.modules])
"""
    )
    assert done.code == 0, done.err
    assert done.out.strip() == "[]"


def test_without_the_extra_the_commands_say_what_to_install(tmp_path: Path) -> None:
    done = python(
        BLOCKED.format(names=["litestar", "sqlalchemy"])
        + f"""
sys.argv = ["paretozoom", "token", "list", "--store", {str(tmp_path)!r}]
from paretozoom.commands.cli import main
main()
"""
    )
    assert done.code != 0
    assert "pip install 'paretozoom[service]'" in done.err
    assert "Traceback" not in done.err


def test_finite_arms_of_every_kind_come_back_as_they_were(url: str, name: str) -> None:
    labels = ["a", 2, 2.5, False]
    problem = Problem([], Finite(labels), [Objective("r")])
    with Client(url) as service:
        remote = service.create(name, problem, policy="random", seed=1)
        service.wait_until_ready()
        arms = [one.arm for one in remote.ask_many([[]] * 60)]
    assert {(type(arm), arm) for arm in arms} == {(type(label), label) for label in labels}


def test_a_client_loads_neither_arrays_nor_a_compiler() -> None:
    code = "import sys; from paretozoom import Client; Client('http://h'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "paretozoom.problem"} & set(done.stdout.split())
