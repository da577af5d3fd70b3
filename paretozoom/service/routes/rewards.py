"""Requests that bring rewards."""

from __future__ import annotations

import time
from collections.abc import Callable

from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody

from paretozoom.service.bodies import NewReward, NewRewards, RewardAnswer
from paretozoom.service.draft import Draft, NotOpen, became_of
from paretozoom.service.guard import needs
from paretozoom.service.keeper import Keeper
from paretozoom.service.routes.shared import ONE, WHY_NOT, Named, check_batch


@post(ONE + "/rewards", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward")
async def reward(name: Named, data: JSONBody[NewReward], state: State) -> RewardAnswer:
    """The reward of a decision, whole or in parts, now or late; the same again changes nothing."""
    began = time.perf_counter()
    news = await _reward(state.keeper, name, [data])
    state.meters.took("reward", began)
    return RewardAnswer(news, 1 - news)


@post(ONE + "/rewards/batch", before_request=needs("reward"), responses=WHY_NOT, status_code=200, summary="Reward many")
async def reward_many(name: Named, data: JSONBody[NewRewards], state: State) -> RewardAnswer:
    """Rewards of many decisions; if one is refused, none is taken."""
    began = time.perf_counter()
    check_batch(state.keeper, "rewards", data.rewards)
    news = await _reward(state.keeper, name, data.rewards)
    state.meters.took("reward batch", began)
    return RewardAnswer(news, len(data.rewards) - news)


async def _reward(keeper: Keeper, name: str, rewards: list[NewReward]) -> int:
    """How many of some rewards are news; what is not open is looked up in the log."""
    left = rewards
    while left:
        try:
            return sum(await keeper.submit(name, _tell_all(left)))
        except NotOpen as closed:
            entries = await keeper.look_up(name, closed.number)
            names = keeper.find(name).problem.objective_names
            for one in left:
                if one.decision == closed.number:
                    became_of(closed.number, [entry.event for entry in entries], one.reward, names)
            left = [one for one in left if one.decision != closed.number]
    return 0


def _tell_all(rewards: list[NewReward]) -> Callable[[Draft], list[bool]]:
    return lambda draft: draft.all_or_none(_tell, rewards)


def _tell(draft: Draft, data: NewReward) -> bool:
    return draft.reward(data.decision, data.reward)
