"""What serving needs is compiled before it is served, so that no request waits for a compiler."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SERVE = """
import json, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from paretozoom import Finite, Objective, Problem, Real
from paretozoom.problem import random_points
from paretozoom.records import Asked, Dropped, Told
from paretozoom.service.experiments.compiling import TYPICAL, compile_policy
from paretozoom.service.experiments.policies import make_policy
from paretozoom.service.experiments.fairness import RecentFairness
from paretozoom.store.events import Created

def known():
    found = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("paretozoom.kernels.")]:
        for value in vars(module).values():
            value = getattr(value, "compiled", value)
            if isinstance(value, Dispatcher):
                found[f"{value.py_func.__module__}.{value.py_func.__name__}"] = len(value.signatures)
    return found

def serve(policy, problem):
    fairness = RecentFairness(problem)
    for k, point in enumerate(random_points(problem.encoding, 300, np.random.default_rng(1))):
        decision = policy.propose(problem.decode_context(point))
        policy.replay(Asked(decision))
        fairness.sample(decision, policy, float(k))
        if k % 7 == 0:
            policy.replay(Dropped(decision.number))
            continue
        if k % 3 == 0:
            policy.replay(Dropped(decision.number))
            policy.reopen(decision)
        reward = {o.name: o.decode((k * 0.37 + j * 0.61) % 1.0) for j, o in enumerate(problem.objectives)}
        for name, value in reward.items() if k % 5 == 0 else [("", 0.0)]:
            policy.replay(Told(decision.number, {name: value} if name else reward))
        if k % 50 == 0:
            policy.front(decision.context)
            policy.front(decision.context, believed=True)
    policy.load(policy.dump(with_open=False))

problem = TYPICAL.problem
if sys.argv[2] == "finite":
    problem = Problem([Real("x")], Finite(["a", "b"]), problem.objectives)
created = Created(problem, sys.argv[1], {}, 0, 0, by="")
compile_policy(created)
before = known()
serve(make_policy(created.policy, created.problem, {}, 5), created.problem)
print(json.dumps([name for name, count in known().items() if count != before.get(name, 0)]))
"""


@pytest.mark.parametrize("policy", ["pareto-zoom", "pcz"])
@pytest.mark.parametrize("arms", ["typical", "finite"])
def test_nothing_is_compiled_after_a_policy_was_warmed(policy: str, arms: str) -> None:
    done = subprocess.run([sys.executable, "-c", SERVE, policy, arms], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
