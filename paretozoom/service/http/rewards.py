"""Requests that bring rewards."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

import msgspec
from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody

from paretozoom.records import Refused
from paretozoom.service.access.guard import needs
from paretozoom.service.declined import Declined, at
from paretozoom.service.experiments.epochs import number_in
from paretozoom.service.experiments.outcomes import check_repeated
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.pending_decisions import NotOpen
from paretozoom.service.http.bodies import Id, RequestId, Reward
from paretozoom.service.http.shared import ONE, WHY_NOT, AnyRequest, Named, checked_batch, has_left, spend
from paretozoom.service.watching.requests import note
from paretozoom.service.writing.live import LiveExperiments


class NewReward(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The reward of a decision, or a part of it; the decision by its id, or by the `request_id` it was made for."""

    reward: Reward
    decision: Id | None = None
    request_id: RequestId | None = None


class NewRewards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rewards of many decisions; if one is refused, none is taken."""

    rewards: list[NewReward]


class RewardAnswer(msgspec.Struct, frozen=True):
    """What became of rewards: how many were new, and how many were known already."""

    accepted: int
    repeated: int


@post(ONE + "/rewards", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward")
async def reward(name: Named, data: JSONBody[NewReward], request: AnyRequest, state: State) -> RewardAnswer:
    """The reward of a decision, whole or in parts, now or late; the same again changes nothing."""
    began = time.perf_counter()
    news = await _reward(state, request, name, {"": data})
    state.meters.took("reward", began)
    note(request.scope, decision=data.decision)
    return RewardAnswer(news, 1 - news)


@post(ONE + "/rewards/batch", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward many")
async def reward_many(name: Named, data: JSONBody[NewRewards], request: AnyRequest, state: State) -> RewardAnswer:
    """Rewards of many decisions; if one is refused, none is taken."""
    began = time.perf_counter()
    news = await _reward(state, request, name, checked_batch(state.experiments.limits.batch, "rewards", data.rewards))
    state.meters.took("reward batch", began)
    return RewardAnswer(news, len(data.rewards) - news)


async def _reward(state: State, request: AnyRequest, name: str, rewards: dict[str, NewReward]) -> int:
    """How many of some rewards, by their places, are news; what is not open is looked up in the log."""
    spend(request, len(rewards))
    left = await _with_ids(state.experiments, name, rewards)
    while left:
        try:
            return sum(await state.writer.submit(name, _tell_all(left), size=len(left), left=has_left(request)))
        except NotOpen as closed:
            events = [entry.event for entry in await state.experiments.entries_about(name, closed.number)]
            for place, one in left.items():
                if _number(one) == closed.number:
                    with at(place):
                        check_repeated(closed.number, events, one.reward, state.experiments.find(name))
            left = {place: one for place, one in left.items() if _number(one) != closed.number}
    return 0


def _tell_all(rewards: dict[str, NewReward]) -> Callable[[Pending], Generator[None, None, list[bool]]]:
    return lambda pending: pending.all_or_none(_tell, rewards)


def _tell(pending: Pending, data: NewReward) -> bool:
    return pending.reward(pending.experiment.number_of(str(data.decision)), data.reward)


def _number(data: NewReward) -> int:
    return number_in(str(data.decision))


async def _with_ids(experiments: LiveExperiments, name: str, rewards: dict[str, NewReward]) -> dict[str, NewReward]:
    """The rewards with the id of each decision, which the log knows by the request it was made for."""
    for place, one in rewards.items():
        if (one.decision is None) == (one.request_id is None):
            with at(place):
                raise Refused("decision: give either the decision's id or the request_id it was made for")
    requests = {one.request_id for one in rewards.values() if one.request_id is not None}
    if not requests:
        return rewards
    ids = await experiments.ids_for(name, requests)
    for place, one in rewards.items():
        if one.request_id is not None and one.request_id not in ids:
            with at(place):
                raise Declined(404, f"request_id: {one.request_id!r}: no decision was made for it")
    return {
        place: one if one.request_id is None else msgspec.structs.replace(one, decision=ids[one.request_id])
        for place, one in rewards.items()
    }
