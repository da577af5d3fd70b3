"""Rewards: whole or in parts, again, contradicting, one or many."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.remote import FULL, Remote, refused


def test_a_reward_may_come_in_parts_and_again(experiment: Remote) -> None:
    number = experiment.number()
    assert experiment.reward(number, left=1).json() == {"accepted": 1, "repeated": 0}
    assert experiment.reward(number, left=1.0).json() == {"accepted": 0, "repeated": 1}
    assert experiment.get().json()["open"] == 1
    assert experiment.reward(number, left=None, right=0.25).json() == {"accepted": 1, "repeated": 0}
    assert experiment.get().json()["open"] == 0
    for reward in (FULL, {"left": 1}, {"right": 0.25}):
        assert experiment.reward(number, **reward).json() == {"accepted": 0, "repeated": 1}
    described = experiment.get().json()
    assert described["counts"]["rewards"] == 2
    assert described["counts"]["totals"] == FULL
    assert described["events"] == 4


def test_a_reward_may_bring_what_is_known_and_what_is_new(experiment: Remote) -> None:
    number = experiment.number()
    experiment.reward(number, left=1)
    assert experiment.reward(number, **FULL).json() == {"accepted": 1, "repeated": 0}
    assert experiment.events(after=3)[0]["event"]["reward"] == {"right": 0.25}


def test_a_reward_that_contradicts_another_is_declined(experiment: Remote) -> None:
    number = experiment.number()
    experiment.reward(number, left=1)
    refused(experiment.reward(number, left=0.5), 409, "left", "1.0", "0.5")
    refused(experiment.reward(number, left=0.5, right=1), 409, "left")
    experiment.reward(number, right=0)
    refused(experiment.reward(number, right=1), 409, "right")
    assert experiment.get(f"/decisions/{number}").json()["reward"] == {"left": 1, "right": 0}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"reward": {}}, ["reward", "{}", "['left', 'right']"]),
        ({"reward": {"left": None}}, ["reward", "tells nothing"]),
        ({"reward": {"up": 1}}, ["reward", "'up'", "['left', 'right']"]),
        ({"reward": {"left": 1.5}}, ["reward['left']", "1.5", "[0, 1]"]),
        ({"reward": {"left": "1"}}, ["reward", "'1'", "float"]),
        ({"reward": {"left": True}}, ["reward", "True", "float"]),
        ({"reward": [1, 0]}, ["reward", "[1, 0]", "object"]),
        ({"decision": "0", "reward": FULL}, ["decision: '0': expected the id of a decision"]),
        ({"decision": 0, "reward": FULL}, ["decision", "0", "str"]),
        ({"request_id": "a", "reward": FULL}, ["decision: give either"]),
        ({"decision": None, "reward": FULL}, ["decision: give either"]),
        ({"decision": None, "request_id": "", "reward": FULL}, ["request_id", "''"]),
    ],
)
def test_a_bad_reward_changes_nothing(experiment: Remote, body: Any, words: list[str]) -> None:
    experiment.number()
    refused(experiment.post("/rewards", {"decision": experiment.id(0), **body}), 400, *words)
    assert experiment.count == 2


def test_a_reward_for_no_decision_is_not_found(experiment: Remote) -> None:
    refused(experiment.reward(0), 404, f"decision {experiment.id(0)!r}: there is no such decision")
    refused(experiment.reward((1 << 53) - 1), 404)
    refused(experiment.post("/rewards", {"request_id": "a", "reward": FULL}), 404, "request_id: 'a': no decision")


def test_a_reward_may_name_the_request_that_its_decision_was_made_for(experiment: Remote) -> None:
    number = experiment.number(request_id="visit 17")
    for part, known in (({"left": 1}, {"accepted": 1, "repeated": 0}), (FULL, {"accepted": 1, "repeated": 0})):
        assert experiment.post("/rewards", {"request_id": "visit 17", "reward": part}).json() == known
    both = [{"request_id": "visit 17", "reward": FULL}, {"decision": experiment.id(number), "reward": FULL}]
    assert experiment.post("/rewards/batch", {"rewards": both}).json() == {"accepted": 0, "repeated": 2}
    bad = {"request_id": "visit 18", "reward": FULL}
    answer = experiment.post("/rewards/batch", {"rewards": [*both, bad]})
    refused(answer, 404, "rewards[2]: request_id: 'visit 18'")
    assert experiment.state(number) == "rewarded"


def test_rewards_of_a_batch_are_taken_together_or_not_at_all(experiment: Remote) -> None:
    first, second, third = (experiment.number() for _ in range(3))
    experiment.reward(first)

    def batch(*rewards: tuple[int, dict[str, float]]) -> Any:
        return experiment.post(
            "/rewards/batch", {"rewards": [{"decision": experiment.id(d), "reward": r} for d, r in rewards]}
        )

    for bad, status, why in [
        ((9, FULL), 404, f"decision {experiment.id(9)!r}: there is no such decision"),
        ((first, {"left": 0}), 409, "reward['left']: decision 0"),
        ((third, {"left": 5}), 400, "reward['left']: 5"),
    ]:
        refused(batch((second, FULL), (first, FULL), bad), status, f"rewards[2]: {why}")
        refused(batch(bad, (second, FULL)), status, f"rewards[0]: {why}")
    refused(batch((second, {"left": 1}), (second, {"left": 0})), 409, "rewards[1]: reward['left']")
    assert experiment.state(second) == "open"
    answer = batch((second, {"left": 1}), (first, FULL), (second, {"right": 0}), (third, FULL), (third, FULL))
    assert answer.json() == {"accepted": 3, "repeated": 2}
    assert experiment.get().json()["open"] == 0
