"""An id is never given twice: not after a restore, a restart, an import, nor after the lock was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.records import Refused
from paretozoom.service.experiments.epochs import Epochs, new_epoch
from paretozoom.store import Conflict
from paretozoom.store.copying import copy_store
from tests.service.remote import FULL, Remote, begin, refused, said, serving, until
from tests.store.samples import opened

NAME = "kept"


def back_up(folder: Path, copy: Path) -> None:
    """Copy a store, also while it is served."""
    with opened(folder) as source, opened(copy) as target:
        copy_store(source, target)


def again(client: TestClient[Any]) -> Remote:
    """The experiment of a store that is served again."""
    experiment = Remote(client, NAME)
    until(lambda: experiment.get().json()["ready"])
    return experiment


def test_a_late_reward_reaches_no_decision_that_was_made_after_a_restore(
    folder: Path, tmp_path: Path, lightly: None
) -> None:
    with serving(folder) as client:
        experiment = begin(client, NAME, policy="pareto-ucb1")
        kept = [experiment.decide(request_id=f"r{k}").json() for k in range(5)]
        back_up(folder, tmp_path / "copy")
        lost = [experiment.decide(request_id=f"r{k}").json() for k in range(5, 10)]
    with serving(tmp_path / "copy") as client:
        restored = again(client)
        for decision in lost:  # before the numbers are given again
            refused(restored.reward(decision["id"]), 404, decision["id"])
        made = [restored.decide(request_id=f"r{k}").json() for k in range(5, 10)]
        assert [said(one) for one in made] == [said(one) for one in lost]  # draws know nothing of epochs
        assert not {one["id"] for one in made} & {one["id"] for one in lost}
        state = client.app.state.experiments.by_name[NAME].experiment.digest()
        for decision in lost:
            refused(restored.reward(decision["id"]), 404, decision["id"])
            refused(restored.post("/rewards/batch", {"rewards": [{"decision": decision["id"], "reward": FULL}]}), 404)
            refused(restored.get(f"/decisions/{decision['id']}"), 404)
            for act in ("activate", "cancel"):
                refused(restored.post(f"/decisions/{decision['id']}/{act}"), 404)
        assert client.app.state.experiments.by_name[NAME].experiment.digest() == state
        for decision in [*kept, *made]:
            assert restored.reward(decision["id"]).json() == {"accepted": 1, "repeated": 0}


def test_ids_of_earlier_runs_are_taken_and_the_log_names_every_epoch(folder: Path, lightly: None) -> None:
    made: list[str] = []
    for run in range(3):
        with serving(folder) as client:
            experiment = begin(client, NAME) if run == 0 else again(client)
            made += [experiment.decide().json()["id"] for _ in range(2)]
            for public in made:
                assert experiment.reward(public, left=run / 4).status_code == (
                    200 if made.index(public) // 2 == run else 409
                )
            epochs = [one["event"]["epoch"] for one in experiment.events() if "epoch" in one["event"]]
    assert [public.partition("-")[0] for public in made[::2]] == epochs
    assert len(set(epochs)) == 3
    assert [int(public.partition("-")[2]) for public in made] == list(range(6))


def test_a_run_that_decides_nothing_adds_no_epoch(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        count = begin(client, NAME).count
    with serving(folder) as client:
        assert again(client).count == count


def test_whoever_reads_the_log_again_draws_an_epoch(
    folder: Path, lightly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(folder) as client:
        experiment = begin(client, NAME)
        first = experiment.decide().json()["id"]
        store = client.app.state.experiments.store
        append = store.append
        failures = [Conflict("somebody else has written")]

        def fail(additions: Any) -> None:
            if failures:
                raise failures.pop()
            append(additions)

        monkeypatch.setattr(store, "append", fail)
        refused(experiment.decide(), 503)
        second = experiment.decide().json()["id"]
        assert second.endswith("-1")
        assert first[:10] != second[:10]
        assert experiment.reward(first).status_code == experiment.reward(second).status_code == 200


def test_epochs_are_checked() -> None:
    epochs = Epochs()
    for bad in ("short", "UPPERCASE!", "a" * 11):
        with pytest.raises(Refused, match="epoch: "):
            epochs.begin(bad, 0)
    first, name = new_epoch(), new_epoch()
    epochs.begin(first, 0)
    epochs.begin(name, 3)
    with pytest.raises(Refused, match="is not a new one"):
        epochs.begin(name, 4)
    with pytest.raises(Refused, match="begins with 2"):
        epochs.begin(new_epoch(), 2)
    with pytest.raises(Refused, match="beyond the last decision"):
        Epochs.load([(first, 0), (name, 3)], until=2)
    with pytest.raises(Refused, match="is the first and begins with 3, expected 0"):
        Epochs.load([(name, 3)], until=3)
    assert Epochs.load(epochs.dump(), until=3).dump() == [(first, 0), (name, 3)]
