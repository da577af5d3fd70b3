"""Requests that bring rewards."""

from __future__ import annotations

import time
from collections.abc import Callable

from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody

from paretozoom.service.access.guard import needs
from paretozoom.service.declined import at
from paretozoom.service.experiments.draft import Draft, NotOpen
from paretozoom.service.experiments.fates import check_told
from paretozoom.service.http.bodies import NewReward, NewRewards, RewardAnswer
from paretozoom.service.http.shared import ONE, WHY_NOT, Named, checked_batch
from paretozoom.service.writing.keeper import Keeper


@post(ONE + "/rewards", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward")
async def reward(name: Named, data: JSONBody[NewReward], state: State) -> RewardAnswer:
    """The reward of a decision, whole or in parts, now or late; the same again changes nothing."""
    began = time.perf_counter()
    news = await _reward(state.keeper, name, {"": data})
    state.meters.took("reward", began)
    return RewardAnswer(news, 1 - news)


@post(ONE + "/rewards/batch", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward many")
async def reward_many(name: Named, data: JSONBody[NewRewards], state: State) -> RewardAnswer:
    """Rewards of many decisions; if one is refused, none is taken."""
    began = time.perf_counter()
    news = await _reward(state.keeper, name, checked_batch(state.keeper, "rewards", data.rewards))
    state.meters.took("reward batch", began)
    return RewardAnswer(news, len(data.rewards) - news)


async def _reward(keeper: Keeper, name: str, rewards: dict[str, NewReward]) -> int:
    """How many of some rewards, by their places, are news; what is not open is looked up in the log."""
    left = rewards
    while left:
        try:
            return sum(await keeper.submit(name, _tell_all(left)))
        except NotOpen as closed:
            events = [entry.event for entry in await keeper.look_up(name, closed.number)]
            for place, one in left.items():
                if one.decision == closed.number:
                    with at(place):
                        check_told(closed.number, events, one.reward, keeper.find(name))
            left = {place: one for place, one in left.items() if one.decision != closed.number}
    return 0


def _tell_all(rewards: dict[str, NewReward]) -> Callable[[Draft], list[bool]]:
    return lambda draft: draft.all_or_none(_tell, rewards)


def _tell(draft: Draft, data: NewReward) -> bool:
    return draft.reward(data.decision, data.reward)
