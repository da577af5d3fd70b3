"""Snapshots and replays of ParetoZoom continue bit for bit, and snapshots that it cannot have made are refused."""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Asked, Dropped, Event, Finite, Objective, ParetoZoom, Problem, Real, Refused, Snapshot, Told
from paretozoom.kernels.pareto_zoom import memory as m
from tests.policies.border import refuses
from tests.policies.pareto_zoom.test_model import Turning
from tests.reference.lockstep import lockstep
from tests.reference.play import World, feedback
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

MANY = Problem(
    context=[Real(f"x{j}") for j in range(6)], arm=Finite(list("abcd")), objectives=[Objective("a"), Objective("b")]
)
ALL = {**PROBLEMS, **LATTICE_PROBLEMS, "wide": MANY}
SETTINGS = {"wide": {"form_room": 195.0, "directions": 3.0}}  # forms of directions, as of hundreds of numbers
SIZES = m.memory.learned
NAMES = ["plane", "mixed contexts", "user's units", "labels", "features", "product of arms", "mixed arms", "wide"]


def play(policy: ParetoZoom, world: World, rounds: int) -> list[Event]:
    """Play with late, partial, reordered and lost feedback; returns the log."""
    log: list[Event] = []
    waiting: list[tuple[int, int, Told | Dropped]] = []
    for t in range(rounds):
        decision = policy.ask(world.context())
        log.append(Asked(decision))
        for wait, event in feedback(decision, world, True):
            heapq.heappush(waiting, (t + wait, len(log) + len(waiting), event))
        while waiting and waiting[0][0] <= t:
            event = heapq.heappop(waiting)[2]
            decision = next(d for d in policy.open if d.number == event.number)
            if isinstance(event, Told):
                policy.tell(decision, event.reward)
            else:
                policy.drop(decision)
            log.append(event)
    return log


def _size(policy: ParetoZoom, name: str) -> int:
    return int(policy.dump().arrays["sizes"][SIZES.index(name)])


def used(name: str, rounds: int = 90) -> ParetoZoom:
    """A policy with some levels and open decisions."""
    policy = ParetoZoom(ALL[name], seed=1, settings=SETTINGS.get(name))
    play(policy, World(ALL[name], seed=2), rounds)
    return policy


@functools.cache
def used_once(name: str) -> ParetoZoom:
    """The same, for tests that leave it as it was."""
    return used(name)


@pytest.mark.parametrize("name", NAMES)
def test_replaying_the_log_gives_the_same_bytes(name: str) -> None:
    live, replayed = (ParetoZoom(ALL[name], seed=1, settings=SETTINGS.get(name)) for _ in range(2))
    world, steps = World(ALL[name], seed=2), set()
    for rounds in (5, 40, 150):
        for event in play(live, world, rounds):
            replayed.replay(event)
            steps.add(_size(replayed, "next") if rounds < 150 else 0)
        assert replayed.dump().to_bytes() == live.dump().to_bytes()
    assert live.open
    assert {8, 12, 16} <= steps


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_policy_continues_bit_for_bit(name: str) -> None:
    """Also with a seed taken anew, and with levels that are made anew after loading."""
    policy, world, rebuilt = ParetoZoom(ALL[name], seed=1), World(ALL[name], seed=3), 0
    for rounds in (3, 9, 17, 60, 150):
        play(policy, world, rounds)
        data, loaded = policy.dump().to_bytes(), ParetoZoom(ALL[name], seed=99)
        loaded.load(Snapshot.from_bytes(data))
        assert loaded.dump().to_bytes() == data
        context = world.context()
        assert loaded.front(context) == policy.front(context)
        before = _size(policy, "next")
        lockstep(policy, loaded, world, 40)
        for decision in policy.open[::-3]:
            policy.drop(decision)
            loaded.drop(decision)
        assert loaded.dump().to_bytes() == policy.dump().to_bytes() != data
        rebuilt += _size(policy, "next") > before
        policy.reseed(rounds)
        loaded.reseed(rounds)
        assert loaded.ask(context) == policy.ask(context)
    assert rebuilt >= 4


def test_batches_are_single_calls() -> None:
    problem = PROBLEMS["plane"]
    one, many = (ParetoZoom(problem, seed=1) for _ in range(2))
    world = World(problem, seed=2)
    for _ in range(6):
        contexts = [world.context() for _ in range(20)]
        decisions = many.ask_many(contexts)
        assert [one.ask(context) for context in contexts] == list(decisions)
        rewards = [world.reward(decision) for decision in decisions]
        many.tell_many(decisions, rewards)
        for decision, reward in zip(decisions, rewards, strict=True):
            one.tell(decision, reward)
    assert many.dump().to_bytes() == one.dump().to_bytes()


def test_snapshots_after_forgetting() -> None:
    """Also if an objective was told once, long ago, and if parts of forgotten decisions come late."""
    problem = PROBLEMS["plane"]
    policy, rng = ParetoZoom(problem, seed=1), np.random.default_rng(1)
    first = policy.ask(World(problem, seed=2).context())
    policy.tell(first, {"a": 0.5, "b": 0.5})
    waiting = []
    for k in range(2000):
        decision = policy.ask(World(problem, seed=k).context())
        policy.tell(decision, {"a": float(rng.random() < (0.9 if k < 1000 else 0.1))})
        waiting.append(decision)
    assert policy.facts()["forgotten"] > 0
    for late in ([], waiting):
        for decision in late:
            policy.tell(decision, {"b": float(rng.random())})
        loaded = ParetoZoom(problem, seed=9)
        loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
        assert loaded.dump().to_bytes() == policy.dump().to_bytes()


@pytest.mark.parametrize("name", ["plane", "labels"])
def test_a_retired_trend_is_made_anew_after_loading(name: str) -> None:
    """Its sums are kept: when half is forgotten, a loaded policy fits the same trend."""
    problem, late = ALL[name], {"last_trend_fit": 60, "last_smooth_fit": 60, "least_share": 0.99}
    drift = {"least_pairs": 60, "drift_errors": 2, "drift_times": 0.5, "drift_known": 4, "most_bits": 4}
    policy, loaded = (ParetoZoom(problem, seed=seed, settings={**late, **drift}) for seed in (1, 2))
    world = Turning(problem, 4, after=400)
    play_at_once(policy, world, 200)
    assert _size(policy, "trend_terms") == 0
    loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    for player in (policy, loaded):
        world = Turning(problem, 4, after=200)
        play_at_once(player, world, 400)
        assert player.facts()["forgotten"] > 0
    assert loaded.dump().to_bytes() == policy.dump().to_bytes()


def play_at_once(policy: ParetoZoom, world: World, rounds: int) -> None:
    """Play with rewards that come at once."""
    for _ in range(rounds):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))


@pytest.mark.parametrize("name", ["plane", "labels"])
def test_snapshots_of_rewards_that_never_differ(name: str) -> None:
    """No noise is seen, also none beside forms; and one objective is never told."""
    policy, world = ParetoZoom(ALL[name], seed=1), World(ALL[name], seed=2)
    for _ in range(60):
        policy.tell(policy.ask(world.context()), {"a": 0.5})
        loaded = ParetoZoom(ALL[name], seed=2)
        loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    assert loaded.dump().to_bytes() == policy.dump().to_bytes()


def put(array: Any, place: Any, value: Any) -> Any:
    """A copy of an array with another value in a place."""
    changed = array.copy()
    changed[place] = value
    return changed


def swapped(array: Any) -> Any:
    """A copy with the first and the last entry in each other's place."""
    return put(put(array, 0, array[-1]), -1, array[0])


Change = Callable[[dict[str, Any]], dict[str, Any]]


def sized(name: str, value: int) -> Change:
    """What gives a snapshot another size."""
    return lambda a: {"sizes": put(a["sizes"], SIZES.index(name), value)}


FLOATS = [part.name for part in m.memory.parts if part.holds == "learned" and part.is_float]
INTS = [part.name for part in m.memory.parts if part.holds == "learned" and not part.is_float]
NOT_FINITE = {
    f"{field} {value}": lambda a, field=field, value=value: {field: put(a[field], (0,) * a[field].ndim, value)}
    for field in FLOATS
    for value in (math.nan, math.inf, -math.inf, 1e300)
    if not (field in ("offset", "past_reward") and math.isnan(value))  # nothing was told of it
}
BAD: dict[str, Change] = {
    **NOT_FINITE,
    **{
        f"no {field}": lambda _, field=field: {field: None}
        for field in ("sizes", "site_key", "depth", "trend", "cells")
    },
    **{f"{field} one less": lambda a, field=field: {field: a[field][..., :-1]} for field in ("sizes", *FLOATS, *INTS)},
    **{f"{field} as floats": lambda a, field=field: {field: a[field].astype(float)} for field in ("sizes", *INTS)},
    **{f"{field} negative": sized(field, -1) for field in SIZES},
    "told more than decided": sized("told", 91),
    "next step in the past": sized("next", 3),
    "next step too late": sized("next", 1000),
    "no levels": sized("levels", 0),
    "levels too many": sized("levels", 25),
    "sites too many": sized("sites", 91),
    "many entries": sized("used", 1 << 39),
    "searched later": sized("searched", 91),
    "all due in the past": sized("due", 1),
    "all due too late": sized("due", 1000),
    "forgets perhaps": sized("forgets", 2),
    "forgotten too often": sized("forgotten", 91),
    "parts of a whole": sized("parts", 2),
    "some terms of a trend": sized("trend_terms", 1),
    "more terms": sized("smooth_terms", 1 << 20),
    "key negative": lambda a: {"site_key": put(a["site_key"], 0, -1)},
    "key too large": lambda a: {"site_key": put(a["site_key"], 0, 1 << 61)},
    "key twice": lambda a: {"site_key": put(a["site_key"], 0, a["site_key"][1])},
    "key as table": lambda a: {"site_key": a["site_key"][:, None]},
    "count negative": lambda a: {"site_count": put(a["site_count"], (0, 0), -1)},
    "count too large": lambda a: {"site_count": put(a["site_count"], (0, 0), 1 << 61)},
    "square negative": lambda a: {"site_square": put(a["site_square"], (0, 0), -1.0)},
    "noise negative": lambda a: {"noise": put(a["noise"], 0, -1.0)},
    "noise zero": lambda a: {"noise": put(a["noise"], 0, 0.0)},
    "roughness negative": lambda a: {"roughness": put(a["roughness"], (-1, 0), -1.0)},
    "compared negative": lambda a: {"compared": put(a["compared"], 0, -1.0)},
    "first reward not known": lambda a: {"offset": put(a["offset"], 0, np.nan)},
    "watched negative": lambda a: {"watched": put(a["watched"], 0, -1.0)},
    "no shares": lambda a: {"share": 0.0 * a["share"]},
    "variance negative": lambda a: {"trend_covariance": put(a["trend_covariance"], (0, 0, 0), -1.0)},
    "trend summed negatively": lambda a: {"trend_gram": put(a["trend_gram"], (0, 0, 0), -1.0)},
    "trend_square negative": lambda a: {"trend_square": put(a["trend_square"], 0, -1.0)},
    "trend fitted later": sized("trend_fitted", 91),
    "smooth_gram negative": lambda a: {"smooth_gram": put(a["smooth_gram"], (0, 0, 0), -1.0)},
    "smooth_square negative": lambda a: {"smooth_square": put(a["smooth_square"], 0, -1.0)},
    "directions found later": sized("found", 91),
    "past_arm unknown": lambda a: {"past_arm": put(a["past_arm"], 0, -1)},
    "form_gram negative": lambda a: {"form_gram": put(a["form_gram"], (0, 0, 0), -1.0)},
    "form_inverse negative": lambda a: {"form_inverse": put(a["form_inverse"], (0, 0, 0), -1.0)},
    "form_inverse of more than expected": lambda a: {"form_inverse": put(a["form_inverse"], (-1, 0, -1), 1e6)},
    "form_common_inverse negative": lambda a: {"form_common_inverse": put(a["form_common_inverse"], (0, -1, -1), -1.0)},
    "form_common_inverse of more than expected": lambda a: {
        "form_common_inverse": put(a["form_common_inverse"], (0, 0, -1), 1e6)
    },
    "form_square negative": lambda a: {"form_square": put(a["form_square"], 0, -1.0)},
    "form_noise zero": lambda a: {"form_noise": put(a["form_noise"], 0, 0.0)},
    "form_size too large": lambda a: {"form_size": put(a["form_size"], (0, 1), 61)},
    "forms fitted later": sized("form_fitted", 91),
    "cell negative": lambda a: {"cells": put(a["cells"], 0, -1.0)},
    "share negative": lambda a: {"share": put(a["share"], (0, 0), -0.1)},
    "share of all and more": lambda a: {"share": put(a["share"], (0, 0), 1.1)},
    "size of terms too large": lambda a: {"trend_size": put(a["trend_size"], 0, 61)},
    "scale negative": lambda a: {"scale": put(a["scale"], (0, 0), -1)},
    "scale too large": lambda a: {"scale": put(a["scale"], (0, 0), 63)},
    "signal too large": lambda a: {"signal": put(a["signal"], 0, 63)},
    "term of no function": lambda a: {"smooth_factor": put(a["smooth_factor"], (-1, -1), 1 << 20)},
    "term twice": lambda a: {"smooth_factor": put(a["smooth_factor"], -1, a["smooth_factor"][1])},
    "terms without a constant": lambda a: {"smooth_factor": a["smooth_factor"][::-1]},
    "first level split": lambda a: {"depth": put(a["depth"], (0, -1), 1)},
    "level coarser": lambda a: {"depth": put(a["depth"], -1, 0)},
    "level deeper than bits": lambda a: {"depth": put(a["depth"], (-1, -1), 23)},
    "level depth negative": lambda a: {"depth": put(a["depth"], (-1, -1), -1)},
    "level with more cells": lambda a: {"arm_cells": put(a["arm_cells"], -1, a["arm_cells"][-1] + 1)},
    "level with no cells": lambda a: {"arm_cells": put(a["arm_cells"], -1, 0)},
    "level with many cells": lambda a: {"arm_cells": put(a["arm_cells"], -1, 1 << 40)},
    "level with another split": lambda a: {"inner": put(a["inner"], 1, 17)},
    "level without its split": lambda a: {"inner": np.full_like(a["inner"], -1)},
    "level with another context split": lambda a: {"outer": put(a["outer"], -1, 17)},
    "whole space split": lambda a: {"outer": put(a["outer"], 0, 0)},
    "offset infinite": lambda a: {"offset": put(a["offset"], 0, math.inf)},
    "site of a block negative": lambda a: {"block_site": put(a["block_site"], 0, -1)},
    "site of a block unknown": lambda a: {"block_site": put(a["block_site"], 0, len(a["site_key"]))},
    "site of another block": lambda a: {"block_site": np.full_like(a["block_site"], a["block_site"][-1])},
    "block_told zero": lambda a: {"block_told": put(a["block_told"], 0, 0)},
    "block_told too many": lambda a: {"block_told": put(a["block_told"], 0, 1 << 40)},
    "block_due in the past": lambda a: {"block_due": put(a["block_due"], 0, 1)},
    "block_due too late": lambda a: {"block_due": put(a["block_due"], 0, 1 << 40)},
    "block_level swapped": lambda a: {"block_level": swapped(a["block_level"])},
    "block_level negative": lambda a: {"block_level": put(a["block_level"], 0, -1)},
    "block_level unknown": lambda a: {"block_level": put(a["block_level"], 0, len(a["depth"]))},
    "all blocks fine": lambda a: {"block_level": np.full_like(a["block_level"], len(a["depth"]) - 1)},
    "no blocks": lambda a: {field: a[field][:0] for field in (*BY_BLOCK, "cells")},
    "cells in single precision": lambda a: {"cells": a["cells"].astype(np.float32)},
}
BY_BLOCK = ["block_level", "block_site", "block_told", "block_due"]


def empty(*sizes: str) -> set[str]:
    """Damage to parts that have some of these sizes."""
    parts = {part.name for part in m.memory.parts if set(sizes) & set(part.dims)}
    return {what for what in BAD if what.split()[0] in parts and not what.endswith("floats")}


OF_DIRECTIONS = empty("wide_functions", "past_room", "axes", "smooth_sums")
EMPTY = {"labels": OF_DIRECTIONS, "features": OF_DIRECTIONS}
EMPTY["plane"] = OF_DIRECTIONS | empty("forms", "form_blocks", "form_terms")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *((name, what) for name in ("plane", "labels", "features") for what in BAD if what not in EMPTY[name]),
        *(("wide", what) for what in sorted(OF_DIRECTIONS)),
    ],
)
def test_damaged_snapshots_are_refused(name: str, what: str) -> None:
    policy = used_once(name)
    whole = policy.dump()
    assert len(whole.arrays["depth"]) > 3
    assert whole.arrays["block_level"][0] == 0 < whole.arrays["block_level"][-1]
    arrays = {k: v for k, v in {**whole.arrays, **BAD[what](whole.arrays)}.items() if v is not None}
    with refuses(policy, "snapshot"):
        policy.load(Snapshot(whole.header, arrays))


@pytest.mark.parametrize("name", ["labels", "features"])
def test_places_of_unknown_arms_are_refused(name: str) -> None:
    policy = used_once(name)
    whole = policy.dump()
    for credit in (-1, len(policy.problem.encoding.arms)):
        opened = [{**whole.header["open"][0], "credit": credit}, *whole.header["open"][1:]]
        with refuses(policy, "snapshot", str(credit)):
            policy.load(Snapshot({**whole.header, "open": opened}, whole.arrays))
    keys = whole.arrays["site_key"]
    unknown = keys[0] | 7 if name == "labels" else keys[0] | 15
    with refuses(policy, "snapshot", "site_key"):
        policy.load(Snapshot(whole.header, {**whole.arrays, "site_key": put(keys, 0, unknown)}))


@pytest.mark.parametrize("name", ["plane", "labels", "features", "mixed arms", "wide"])
@settings(max_examples=40)
@given(data=st.data())
def test_forged_snapshots_are_refused_or_harmless(name: str, data: st.DataObject) -> None:
    """Some entries changed to anything: what is taken for whole still plays arms that exist, with proper densities."""
    policy, world = used(name, 40), World(ALL[name], seed=4)
    whole = policy.dump()
    arrays = dict(whole.arrays)
    for _ in range(data.draw(st.integers(1, 3))):
        filled = [name for name, array in sorted(arrays.items()) if array.size]
        field = data.draw(st.sampled_from([name for name in filled if name not in ("open_reward", "open_told")]))
        place = tuple(data.draw(st.integers(0, size - 1)) for size in arrays[field].shape)
        if arrays[field].dtype == np.int64:
            value: Any = data.draw(st.integers(-3, 30) | st.integers(-(1 << 63), (1 << 63) - 1))
        else:
            value = data.draw(st.floats() | st.floats(0, 2) | st.sampled_from([0.0, 1e124, -1e124, 1e249, 1e-320]))
        arrays[field] = put(arrays[field], place, value)
    try:
        policy.load(Snapshot(whole.header, arrays))
    except Refused:
        return
    for _ in range(40):
        decision = policy.ask(world.context())
        assert 0 < decision.density < math.inf
        policy.tell(decision, world.reward(decision))
    policy.front(world.context())
