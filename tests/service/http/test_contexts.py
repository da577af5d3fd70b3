"""Contexts as they are, over the wire: asked, rewarded, looked up, and folded again from the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from paretozoom import Categorical, Client, Finite, Integer, Objective, Problem, Real, Vector
from tests.service.crashing import serving as as_a_process
from tests.service.remote import ALL, Remote, begin, refused, said, serving, until

PROBLEM = Problem(
    context=[
        Vector("prompt", 3, length=1),
        Real("age", 0, 99, missing=True),
        Categorical("country", ["cz", "tr"], other=True),
        Integer("threads", 1, 9, outside="clip"),
    ],
    arm=Finite(["a", "b"]),
    objectives=[Objective("r")],
)
AS_JSON = json.loads(msgspec.json.encode(PROBLEM))
CONTEXTS: list[dict[str, Any]] = [
    {"prompt": [0.5, -0.25, 1 / 3], "age": 30, "country": "cz", "threads": 4},
    {"prompt": [0, 0, 0], "age": None, "country": "at", "threads": 64},
]


def state(experiment: Remote) -> bytes:
    """The whole state, as its snapshot has it."""
    answer = experiment.get("/snapshot")
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.parametrize("policy", ["pareto-zoom", "pcz", "random"])
def test_contexts_come_back_as_they_were_given(folder: Path, policy: str, lightly: None) -> None:
    with serving(folder) as client:
        experiment = begin(client, "odd", problem=AS_JSON, policy=policy, parameters={})
        assert experiment.get().json()["problem"] == AS_JSON
        for number, context in enumerate(CONTEXTS * 3):
            answer = experiment.post("/decisions", {"context": context})
            assert answer.status_code == 201, answer.text
            assert answer.json()["context"] == context
            assert experiment.get(f"/decisions/{number}").json()["decision"]["context"] == context
            if number % 2 == 0:
                experiment.reward(number, r=0.5)
        before = state(experiment)
        answer = client.put(f"{ALL}/copy/snapshot", content=before)
        assert answer.status_code == 201, answer.text
        copy = Remote(client, "copy")
        until(lambda: copy.get().json()["ready"])
        carried = [entry["event"]["decision"]["context"] for entry in copy.events()[1:]]
        assert carried == [CONTEXTS[1]] * 3
        ahead = said(copy.post("/decisions", {"context": CONTEXTS[0]}).json())
    with serving(folder) as client:  # folded from the log
        experiment = Remote(client, "odd")
        assert state(experiment) == before
        assert said(experiment.post("/decisions", {"context": CONTEXTS[0]}).json()) == ahead
        assert experiment.reward(1, r=0.25).status_code == 200


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"prompt": [1, 1, 1]}, ["context['prompt']", "1.73205", "at most 1"]),
        ({"prompt": [1, 1]}, ["context['prompt']", "(2,)", "3 numbers"]),
        ({"prompt": [1, None, 0]}, ["context['prompt'][1]", "None"]),
        ({"threads": None}, ["context['threads']", "None", "integer"]),
        ({"country": ["cz"]}, ["context['country']", "['cz']", "not a string, a number"]),
    ],
)
def test_what_does_not_fit_changes_nothing(client: Any, context: Any, words: list[str]) -> None:
    experiment = begin(client, problem=AS_JSON, parameters={})
    before = experiment.count
    refused(experiment.post("/decisions", {"context": {**CONTEXTS[0], **context}}), 400, *words)
    assert experiment.count == before


def test_the_client_takes_arrays(tmp_path: Path) -> None:
    with as_a_process(tmp_path) as service, Client(service.url) as client:
        experiment = client.create("odd", PROBLEM, policy="random")
        vector = np.array([0.5, -0.25, 0.125], np.float32)
        decision = experiment.ask({"prompt": vector, "age": np.nan, "country": np.nan, "threads": np.int64(10)})
        assert decision.context == {"prompt": [0.5, -0.25, 0.125], "age": None, "country": None, "threads": 10}
        experiment.tell(decision, {"r": 1.0})
