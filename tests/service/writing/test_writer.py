"""Any mix of requests, alone or together, is answered as a plain model says, and leaves a log that folds to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paretozoom import Objective, Problem, Real
from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.pending_decisions import NotOpen
from paretozoom.service.writing.groups import Groups
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.loading import load_experiment, replay_experiment
from paretozoom.service.writing.writer import Writer
from paretozoom.store import Addition, Away, Entry, Full, Store, open_store
from paretozoom.store.events import Created, Decided, Paused

PROBLEM = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
WAIT = 10.0


class Model:
    """What the service should answer, by the plainest code: one request after another, nothing learned."""

    def __init__(self) -> None:
        self.now = 0.0
        self.status = "running"
        self.answered = 0  # decisions whose numbers anybody can know
        self.decisions: list[dict[str, Any]] = []
        self.requests: dict[str, int] = {}

    def decide(self, request: str | None, deferred: bool) -> int | str:
        if request in self.requests:
            number = self.requests[request]
            return number if self.decisions[number]["asked deferred"] == deferred else "declined"
        if self.status != "running":
            return "declined"
        number = len(self.decisions)
        new = {"deadline": self.now + WAIT, "deferred": deferred, "asked deferred": deferred}
        self.decisions.append({**new, "reward": {}, "state": "open"})
        if request is not None:
            self.requests[request] = number
        return number

    def find(self, number: int) -> dict[str, Any] | None:
        if number >= self.answered:
            return None
        decision = self.decisions[number]
        if decision["state"] == "open" and decision["deadline"] <= self.now:
            decision["state"] = "expired"
        return decision

    def reward(self, number: int, reward: dict[str, float]) -> bool | str:
        decision = self.find(number)
        if self.status == "retired" or decision is None or decision["state"] in ("expired", "cancelled"):
            return "declined"
        told = decision["reward"]
        if any(told.get(name, value) != value for name, value in reward.items()):
            return "declined"
        news = set(reward) - set(told)
        told.update(reward)
        decision["deferred"] = False
        if len(told) == 2:
            decision["state"] = "rewarded"
        return bool(news)

    def cancel(self, number: int) -> str | None:
        decision = self.find(number)
        if decision is None or decision["state"] in ("expired", "rewarded") or decision["reward"]:
            return "declined"
        decision["state"] = "cancelled"
        return None

    def activate(self, number: int) -> str | None:
        decision = self.find(number)
        if decision is None or decision["state"] != "open":
            return "declined"
        if decision["deferred"]:
            decision["deferred"], decision["deadline"] = False, self.now + WAIT
        return None

    def pause(self) -> bool:
        before, self.status = self.status, "paused"
        return before != "paused"

    def resume(self) -> bool:
        before, self.status = self.status, "running"
        return before != "running"


NUMBERS = st.integers(0, 8)
ACTS = st.one_of(
    st.tuples(st.just("decide"), st.sampled_from([None, "p", "q", "r"]), st.booleans()),
    st.tuples(
        st.just("reward"), NUMBERS, st.dictionaries(st.sampled_from("ab"), st.sampled_from([0.0, 1.0]), min_size=1)
    ),
    st.tuples(st.just("cancel"), NUMBERS),
    st.tuples(st.just("activate"), NUMBERS),
    st.tuples(st.sampled_from(["pause", "resume"])),
)
GROUPS = st.lists(st.tuples(st.lists(ACTS, min_size=1, max_size=6), st.floats(0, 7)), min_size=1, max_size=8)


class Service:
    """A writer and its experiments, the first of which is "t"."""

    def __init__(self, store: Store, **given: Any) -> None:
        self.experiments = LiveExperiments(store, **given)
        self.writer = Writer(self.experiments)

    async def start(self, **created: Any) -> None:
        await self.experiments.start()
        self.writer.start()
        await self.experiments.create("t", Created(PROBLEM, "random", {}, 1, 1, by="test", **created))
        while not self.experiments.get("t").compiled:
            await asyncio.sleep(0.001)

    async def submit(self, act: Any, request_ids: Any = ()) -> Any:
        return await self.writer.submit("t", act, request_ids)

    def digest(self) -> str:
        return self.experiments.find("t").digest()

    async def stop(self) -> None:
        await self.writer.stop()
        await self.experiments.stop()


async def answer_of(service: Service, act: tuple[Any, ...]) -> Any:
    """What a request is answered with, in the words of the model."""
    kind, *given = act
    try:
        if kind == "decide":
            request, deferred = given
            ids = [] if request is None else [request]
            decided = await service.submit(
                lambda pending: pending.decide([0.5], request=request, deferred=deferred), ids
            )
            return decided.decision.number
        if kind in ("pause", "resume"):
            return await service.submit(lambda pending: getattr(pending, kind)("ops"))
        return await service.submit(lambda pending: getattr(pending, kind)(*given))
    except Declined:
        return "declined"
    except NotOpen as closed:
        return await by_the_log(service, kind, closed.number, *given[1:])


async def by_the_log(service: Service, kind: str, number: int, reward: Any = None) -> Any:
    """As the routes answer for decisions that are closed."""
    from paretozoom.service.experiments.outcomes import check_repeated, history_of

    experiment = service.experiments.find("t")
    events = [entry.event for entry in await service.experiments.entries_about("t", number)]
    if kind == "reward":
        try:
            check_repeated(number, events, reward, experiment)
        except Declined:
            return "declined"
        return False
    return None if kind == "cancel" and history_of(events, experiment).outcome == "cancelled" else "declined"


async def play(store: Store, groups: list[tuple[list[Any], float]]) -> None:
    model, clock = Model(), [0.0]
    service = Service(store, now=lambda: clock[0])
    await service.start(wait=WAIT)
    for acts, later in groups:
        answers = await asyncio.gather(*(answer_of(service, act) for act in acts))
        expected = [getattr(model, act[0])(*act[1:]) for act in acts]
        assert answers == expected
        clock[0] += later
        model.now, model.answered = clock[0], len(model.decisions)
    live = service.digest()
    assert live == replay_experiment(store, "t").digest() == load_experiment(store, "t")[0].digest()
    await service.stop()
    assert load_experiment(store, "t")[0].digest() == replay_experiment(store, "t").digest()


@given(GROUPS)
@example([([("decide", "p", False)], 0.0), ([("pause",), ("decide", "p", False)], 0.0)])
@settings(max_examples=25)
def test_requests_together_are_requests_one_after_another(groups: list[tuple[list[Any], float]]) -> None:
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder))
        asyncio.run(play(store, groups))
        store.close()


class Failing:
    """A store whose next appends fail, before or after they are written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.failures: list[tuple[Exception, bool]] = []

    def append(self, additions: list[Addition]) -> None:
        if self.failures:
            error, written = self.failures.pop(0)
            if written:
                self._store.append(additions)
            raise error
        self._store.append(additions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize("written", [False, True])
def test_a_failed_commit_leaves_no_trace(tmp_path: Path, written: bool) -> None:
    """Neither in memory nor in what follows; if it was written after all, the log says so, and the id finds it."""

    async def scenario() -> None:
        store = Failing(open_store(tmp_path))
        service = Service(store)
        await service.start()
        first = await service.submit(lambda pending: pending.decide([0.1]))
        before = service.digest()
        store.failures = [(Away("gone"), written)]
        with pytest.raises(Declined, match="cannot be reached"):
            await service.submit(lambda pending: pending.decide([0.2], request="q"), ["q"])
        again = await service.submit(lambda pending: pending.decide([0.2], request="q"), ["q"])
        assert again.decision.number == 1
        assert before == replay_experiment(store, "t", 2).digest()
        assert first.decision.number == 0
        assert service.digest() == replay_experiment(store, "t").digest()
        made = [entry.event for entry in store.read("t") if isinstance(entry.event, Decided)]
        assert [event.request for event in made] == [None, "q"]
        await service.stop()

    asyncio.run(scenario())


def test_a_writer_that_lost_its_lock_reads_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path)
        service = Service(store)
        await service.start()
        store.append([Addition("t", 1, [Paused("somebody else")], 1.0)])
        with pytest.raises(Declined, match="another process has written"):
            await service.submit(lambda pending: pending.decide([0.1]))
        with pytest.raises(Declined, match="is paused"):
            await service.submit(lambda pending: pending.decide([0.1]))
        await service.stop()
        store.close()

    asyncio.run(scenario())


def test_a_deadline_that_came_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the decision was rewarded long before, so that there is nothing to write down."""

    async def scenario() -> int:
        clock, looked = [0.0], []
        store = open_store(tmp_path)
        service = Service(store, now=lambda: clock[0])
        await service.start(wait=WAIT)
        decided = await service.submit(lambda pending: pending.decide([0.1]))
        await service.submit(lambda pending: pending.reward(decided.decision.number, [1.0, 0.0]))
        serve = Groups.serve
        monkeypatch.setattr(Groups, "serve", lambda groups, group: looked.append(group) or serve(groups, group))
        clock[0] = WAIT + 1
        await service.submit(lambda pending: pending.pause("ops"))
        await asyncio.sleep(0.05)
        await service.stop()
        store.close()
        return len(looked)

    assert asyncio.run(scenario()) <= 3  # the pause, its deadline, the end


def test_a_log_that_skips_an_entry_is_refused() -> None:
    experiment = Experiment("t", Entry(1, 0.0, Created(PROBLEM, "random", {}, 1, 1, by="test")))
    with pytest.raises(Refused, match="entry 3 comes after 1"):
        experiment.fold(Entry(3, 0.0, Paused("ops")))


@pytest.mark.parametrize("waiting", [0, 3])
def test_what_was_learned_stays_when_there_is_no_space(tmp_path: Path, waiting: int) -> None:
    """Nothing was written, so nothing need be read again; what expired meanwhile is written down later."""

    async def scenario() -> None:
        clock = [0.0]
        store = Failing(open_store(tmp_path))
        service = Service(store, now=lambda: clock[0])
        await service.start(wait=WAIT)
        for _ in range(waiting):
            await service.submit(lambda pending: pending.decide([0.1]))
        experiment = service.experiments.find("t")
        clock[0] = WAIT + 1 if waiting else 1.0
        store.failures = [(Full("no space"), False)]
        with pytest.raises(Declined, match="no space left") as error:
            await service.submit(lambda pending: pending.decide([0.2]))
        assert error.value.status == 507
        assert service.experiments.find("t") is experiment
        assert experiment.counts.expiries == 0
        clock[0] += 2
        assert (await service.submit(lambda pending: pending.decide([0.2]))).decision.number == waiting
        assert experiment.counts.expiries == waiting
        assert service.experiments.find("t") is experiment
        assert service.digest() == replay_experiment(store, "t").digest()
        await service.stop()

    asyncio.run(scenario())


def test_what_cannot_be_written_down_is_not_tried_at_once_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = [0.0]
        store = Failing(open_store(tmp_path))
        service = Service(store, now=lambda: clock[0])
        await service.start(wait=WAIT)
        await service.submit(lambda pending: pending.decide([0.1]))
        store.failures = [(Full("no space"), False)] * 1_000
        clock[0] = WAIT + 1
        while len(store.failures) == 1_000:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(store.failures) == 999
        store.failures.clear()
        clock[0] += 2
        while not service.experiments.find("t").counts.expiries:
            await asyncio.sleep(0.01)
        await service.stop()

    asyncio.run(scenario())
