"""The time that decisions wait: steady within a run, by the wall clock between two, never backwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paretozoom.service.clock import DAY, Clock
from paretozoom.service.writing import live
from paretozoom.service.writing.loading import verify
from paretozoom.store import open_store
from tests.service.remote import Remote, begin, refused, serving, until

HOUR = 3_600.0


class Machine:
    """A wall clock that somebody sets, and a steady one."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_000_000_000.0, 50.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Services of this test use its clocks."""
    made = Machine()
    monkeypatch.setattr(live, "Clock", lambda: Clock(lambda: made.wall, lambda: made.steady))
    return made


@contextmanager
def running(folder: Path) -> Iterator[Remote]:
    """One run of a service with one experiment."""
    with serving(folder) as client:
        if "shop" not in client.app.state.experiments.by_name:
            begin(client, "shop", wait=HOUR, default={"left": 0.0})
        shop = Remote(client, "shop")
        until(lambda: shop.get().json()["ready"])
        yield shop


def expiries(shop: Remote) -> int:
    """How many decisions have expired; whatever is late expires with this request."""
    shop.post("/pause")
    shop.post("/resume")
    return int(shop.get().json()["counts"]["expiries"])


@pytest.mark.parametrize("step", [-1e9, -HOUR, 2 * HOUR, 1e9])
def test_setting_the_wall_clock_changes_nothing_in_a_run(
    tmp_path: Path, lightly: None, machine: Machine, step: float
) -> None:
    with running(tmp_path) as shop:
        shop.number()
        machine.wall += step
        machine.passes(HOUR - 1)
        assert expiries(shop) == 0
        machine.passes(2)
        assert expiries(shop) == 1


def test_between_two_runs_the_wall_clock_counts(tmp_path: Path, lightly: None, machine: Machine) -> None:
    with running(tmp_path) as shop:
        shop.number()
    machine.wall, machine.steady = machine.wall + HOUR - 1, 3.0  # the machine began anew
    with running(tmp_path) as shop:
        assert expiries(shop) == 0
        machine.passes(2)
        assert expiries(shop) == 1


def test_it_never_goes_back(tmp_path: Path, lightly: None, machine: Machine) -> None:
    with running(tmp_path) as shop:
        shop.number()
        machine.passes(HOUR / 2)
        shop.number()
    machine.wall -= 30 * DAY
    with running(tmp_path) as shop:
        machine.passes(HOUR / 2 - 1)
        assert expiries(shop) == 0
        machine.passes(2)
        assert expiries(shop) == 1
        times = [entry["time"] for entry in shop.events()]
        assert times == sorted(times)
        machine.passes(HOUR / 2)
        assert expiries(shop) == 2


@pytest.mark.parametrize("counts", [True, False])
def test_a_jump_expires_nothing_until_it_is_judged(
    tmp_path: Path, lightly: None, machine: Machine, counts: bool
) -> None:
    with running(tmp_path) as shop:
        old = shop.number()
        machine.passes(HOUR / 2)
        shop.reward(shop.number(), left=1.0)
    for _ in range(2):
        machine.wall += 3 * DAY
        with running(tmp_path) as shop:
            new = shop.number()
            machine.passes(2 * HOUR)
            assert expiries(shop) == 0
            described = shop.get().json()
            assert "the clock jumped by 3.0 days" in described["notes"][-1]
            assert shop.reward(new, left=1.0).status_code == 200
    with running(tmp_path) as shop:  # a run later it is not forgotten
        assert len(shop.get().json()["jumps"]) == 2
        judged = shop.post("/clock", {"counts": counts})
        assert (judged.status_code, judged.json()["jumps"]) == (200, [])
        refused(shop.reward(old, right=1.0), 410, "has expired")  # over four hours of the service alone
        last = shop.number()
        count = shop.count
        assert shop.post("/clock", {"counts": counts}).status_code == 200
        assert shop.count == count
    with running(tmp_path) as shop:
        assert shop.reward(last).status_code == 200
    store = open_store(tmp_path)
    assert verify(store, "shop").fine
    store.close()


@pytest.mark.parametrize(("counts", "status"), [(True, 410), (False, 200)])
def test_time_that_does_not_count_is_given_back(
    tmp_path: Path, lightly: None, machine: Machine, counts: bool, status: int
) -> None:
    with running(tmp_path) as shop:
        number = shop.number()
        machine.passes(HOUR / 2)
        shop.number()  # the time from the last entry on is what can be given back
    machine.wall += 400 * DAY
    with running(tmp_path) as shop:
        assert shop.post("/clock", {"counts": counts}).status_code == 200
        machine.passes(HOUR / 2 - 2)
        assert shop.reward(number, left=1.0).status_code == status
        if not counts:
            machine.passes(3)
            assert expiries(shop) == 1


def test_a_quiet_service_is_not_taken_for_an_absent_one(tmp_path: Path, lightly: None, machine: Machine) -> None:
    with running(tmp_path) as shop:
        assert shop.client.patch(shop.path, json={"wait": 100 * DAY}).status_code == 200
        shop.number()
        for _ in range(8):
            machine.passes(6 * HOUR)
            until(lambda: shop.events()[-1]["time"] == pytest.approx(machine.wall))
        assert shop.events()[-1]["event"] == {"type": "ticked"}
    machine.wall += DAY - 1
    with running(tmp_path) as shop:
        assert shop.get().json()["jumps"] == []
        shop.reward(0)
        count = shop.count
        machine.passes(DAY)  # nothing is open: nothing needs to be written
        assert expiries(shop) == 0
        assert shop.count == count + 2


def test_a_bad_judgement_is_refused(tmp_path: Path, lightly: None, machine: Machine) -> None:
    with running(tmp_path) as shop:
        bad: list[tuple[Any, str]] = [({}, "counts"), ({"counts": 1}, "counts: 1"), ({"counts": True, "by": 1}, "by")]
        for body, words in bad:
            refused(shop.post("/clock", body), 400, words)
        assert shop.count == 1
