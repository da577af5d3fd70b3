"""Policies of the operator's own: let in when the service starts, never by a request, and there again afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from paretozoom.commands.cli import app as commands
from paretozoom.records import Refused, Snapshot
from paretozoom.service.experiments import policies
from paretozoom.service.experiments.policies import admit
from paretozoom.service.writing.loading import replay_experiment, verify
from tests.service.remote import ALL, PLAIN, Process, Remote, begin, refused, serving, until
from tests.store.samples import opened

NAME = "mine-1"
CODE = """
from paretozoom import PlainPolicy, Refused


class Mine(PlainPolicy):
    name = "mine"

    def __init__(self, problem, *, bonus=0.0, seed=0):
        super().__init__(problem, seed=seed, parameters={"bonus": bonus})
        self.sums = {arm: bonus for arm in problem.arm.labels}

    def choose(self, context, candidates, luck):
        best = max(candidates, key=self.sums.get)
        arm = best if luck.random() < 0.5 else candidates[luck.integers(len(candidates))]
        return arm, 0.5 / len(candidates) + 0.5 * (arm == best)

    def learn(self, context, arm, reward):
        if reward["left"] == 0.5:
            raise KeyError("a mistake of the operator")
        if reward["left"] == 0.625:
            raise Refused("learn: a mistake of the operator")
        if reward["left"] == 0.75:
            raise SystemExit("a mistake of the operator")
        self.sums[arm] += reward["left"]


class Saved(Mine):
    name = "saved"

    def state(self):
        return {"sums": self.sums}

    def restore(self, state):
        self.sums = state["sums"]


class Broken(Saved):
    name = "broken"

    def state(self):
        raise RuntimeError("no state today")

    def front(self, context=(), *, believed=False, feasible=None):
        raise RuntimeError("no front today")


class Pirate(Mine):
    name = "random"


class Nameless(PlainPolicy):
    pass
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with policies, three of which the operator lets in."""
    path = tmp_path / "shop.py"
    path.write_text(CODE)
    monkeypatch.setattr(policies, "_admitted", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    for name in ("Mine", "Saved", "Broken"):
        admit(f"{path}:{name}")
    yield path
    monkeypatch.delitem(sys.modules, "shop", raising=False)


def play(experiment: Remote, rounds: int = 12) -> list[Any]:
    """Some decisions; of every fourth one the reward stays out, or comes in parts."""
    made = []
    for k in range(rounds):
        decision = experiment.decide(k / rounds).json()
        made.append((decision["arm"], decision["density"]))
        if k % 4 == 0:
            assert experiment.reward(decision["id"], right=0.25).status_code == 200
        elif k % 4 != 1:
            assert experiment.reward(decision["id"], left=float(decision["arm"] == "c"), right=0.0).status_code == 200
    return made


@pytest.mark.parametrize("policy", ["mine", "saved"])
def test_it_decides_and_is_there_again(shop: Path, folder: Path, tmp_path: Path, lightly: None, policy: str) -> None:
    with serving(tmp_path / "other") as client:
        unbroken = begin(client, NAME, policy=policy, parameters={"bonus": 0.25})
        expected = [*play(unbroken), *play(unbroken)]
    with serving(folder, snapshot_every=5) as client:
        experiment = begin(client, NAME, policy=policy, parameters={"bonus": 0.25})
        made, before = play(experiment), experiment.get().json()
        assert experiment.get("/front", params={"context": '{"x": 0.5}'}).json()["pieces"] == []
        assert experiment.get("/snapshot").status_code == (200 if policy == "saved" else 400)
    with serving(folder) as client:
        experiment = Remote(client, NAME)
        assert experiment.get().json() == before
        made += play(experiment)
        state = client.app.state.experiments.find(NAME).digest()
    assert made == expected
    with opened(folder) as store:
        assert (store.snapshot(NAME) is not None) == (policy == "saved")
        assert replay_experiment(store, NAME).digest() == state
        found = verify(store, NAME)
        assert found.fine
        assert found.digest == state


@pytest.mark.parametrize("named", ["shop.py:Mine", "shop:Mine", "os:system", "Mine"])
def test_requests_import_nothing(
    shop: Path, folder: Path, lightly: None, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.parent)
    with serving(folder) as client:
        answer = client.post(ALL, json={"name": "x", "problem": PLAIN, "policy": named})
        refused(
            answer, 400, f"{named!r} is not one of", "'mine'", "one of your own is let in by the service's --policy"
        )


def test_a_service_without_the_policy_says_what_it_lacks(shop: Path, folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        play(begin(client, NAME, policy="mine"))
        play(begin(client, "other"))
    policies._admitted.clear()
    with serving(folder) as client:
        words = "policy: 'mine' is not one of [", "one of your own is let in by the service's --policy"
        refused(Remote(client, NAME).decide(), 503, "cannot be served, and others go on", *words)
        assert client.get("/ready").text == f"ready\ndamaged: {NAME}\n"
        assert Remote(client, "other").decide().status_code == 201


def test_impossible_places_are_refused(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(CODE)
    for place, words in {
        "pcz": "'pcz' given, expected a file and a class in it, as in shop.py:Mine",
        f"{tmp_path}/none.py:Mine": "there is no file",
        f"{shop}:Yours": "has no attribute 'Yours'",
        f"{shop}:PlainPolicy": "has no name",
        f"{shop}:Nameless": "has no name",
        f"{shop}:Pirate": "'random' of .* is the name of another policy",
        f"{tmp_path}/json.py:Mine": "another module is called 'json'; give the file another name",
        "os:system": "is not a subclass of Policy",
    }.items():
        with pytest.raises(Refused, match=words):
            admit(place)
    (tmp_path / "draft_shop.py").write_text("1 / 0")
    with pytest.raises(ZeroDivisionError):
        admit(f"{tmp_path}/draft_shop.py:Mine")
    assert "draft_shop" not in sys.modules
    admit(f"{shop}:Mine")  # again is fine
    assert set(policies._admitted) == {"mine", "saved", "broken"}


def test_a_policy_that_fails_harms_nobody(
    shop: Path, folder: Path, lightly: None, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(folder, snapshot_every=3) as client:
        experiment, other = begin(client, NAME, policy="mine"), begin(client, policy="broken")
        for remote in (experiment, other):
            for mistake in (0.5, 0.625, 0.75):
                assert remote.reward(remote.number(), left=mistake, right=0.5).status_code == 200
            play(remote)
        assert experiment.get("/decisions/0").json()["state"] == "rewarded"
        before = experiment.get().json()
        assert caplog.text.count("a policy failed to learn") == 6
        assert "a policy failed to show its front" in caplog.text
        until(lambda: "no snapshot" in caplog.text)
        other.number()
    assert "no snapshot at the end" in caplog.text
    with serving(folder) as client:
        experiment = Remote(client, NAME)
        assert experiment.get().json() == before
        play(experiment)


def test_a_state_that_it_does_not_take_over_is_not_imported(shop: Path, folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        snapshot = Snapshot.from_bytes(begin(client, policy="saved").get("/snapshot").content)
        del snapshot.header["state"]["sums"]
        answer = client.put(f"{ALL}/never/snapshot", content=snapshot.to_bytes())
        refused(answer, 400, "snapshot: its policy does not take over its state (KeyError('sums'))")


@pytest.mark.parametrize("more", [[], ["--policy", "{shop}:Saved"]])
def test_the_operator_says_so_on_the_command_line(shop: Path, folder: Path, more: list[str]) -> None:
    options = ["--policy", f"{shop}:Mine", *(word.format(shop=shop) for word in more)]
    process = Process(folder, *options)
    try:
        names = ["mine", "saved"]
        answers = [
            httpx.post(f"{process.url}{ALL}", json={"name": name, "problem": PLAIN, "policy": name}) for name in names
        ]
        assert [answer.status_code for answer in answers] == [201, 201 if more else 400]
    finally:
        assert process.stop() == 0
    policies._admitted.clear()
    arguments = ["replay", "--store", str(folder)]
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code == 1
    assert "policy: 'mine' is not one of [" in done.stderr
    done = CliRunner().invoke(commands, [*arguments, *options], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    assert "mine" in done.output
