"""What a task gives policies: contexts and rewards that depend on the seed and the round alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from paretozoom.environments.shapes.noise import Noise, noise_of, sub_gaussian_scale, units_of
from paretozoom.kernels.core.looping import laws_of
from paretozoom.kernels.tasks import truth, world
from paretozoom.problem import Problem, random_points
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Decision, checked_seed


class Luck:
    """An environment with known means.

    Contexts are uniform, noise is the same everywhere and means stand still unless a kernel of its own says otherwise.

    >>> from paretozoom.environments import PaperTask
    >>> task = PaperTask()
    >>> task.reset(3)
    >>> context = task.observe()
    >>> task.reset(3)
    >>> task.observe() == context
    True
    """

    mean_kernel: ClassVar[Callable[..., None]]  # (world, point, out): writes the means, scaled
    # (world, values, draws, point): makes a context of uniform draws, as many as `context_draws`
    context_kernel: ClassVar[Callable[..., None]] = world.uniform_context
    context_draws: ClassVar[int | None] = None  # None: as many as coordinates
    # (world, point, spreads): writes the standard deviations of the noise, at most the `spread` given
    spread_kernel: ClassVar[Callable[..., None]] = world.same_spread
    # (world, number, now): writes what the means and spreads are read from in the round of that number
    move_kernel: ClassVar[Callable[..., None]] = world.stand_still

    def __init__(
        self,
        problem: Problem,
        *,
        world: Floats | None = None,
        noise: Noise | Sequence[Noise] = "bernoulli",
        spread: float | Sequence[float] = 0.0,
    ) -> None:
        self.noise_kinds, self.spreads = noise_of(problem, noise, spread)
        self.problem = problem
        self.world = np.zeros(0) if world is None else np.array(world, float, order="C")
        self.noise = noise
        self.spread = float(self.spreads.max())
        self.units = units_of(problem)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Begin again, with the luck of a seed."""
        self.key: Ints = np.random.SeedSequence(checked_seed(seed)).generate_state(2, np.uint64).view(np.int64)
        self.observed = 0

    def observe(self) -> dict[str, Any]:
        """The context of the next round."""
        point = np.empty(self.problem.dim)
        draws = self.empty_draws()
        key0, key1 = self.key
        world.draw_numbers(key0, key1, self.observed, draws)
        type(self).context_kernel(self.world, self.problem.encoding.values, draws, point)
        self.observed += 1
        return self.problem.decode_context(point)

    def empty_draws(self) -> Floats:
        """Room for the uniform numbers that a context is made of."""
        own = type(self).context_draws
        return np.empty(self.problem.encoding.context if own is None else own)

    def respond(self, decision: Decision) -> dict[str, float]:
        """The reward of a decision; its luck depends on the decision's number, not on the order of calls."""
        kind = type(self)
        point = np.empty(self.problem.dim)
        self.problem.encode_context(decision.context, point)
        self.problem.encode_arm(decision.arm, point)
        mean, reward = np.empty(len(self.problem.objectives)), np.empty(len(self.problem.objectives))
        now, spreads = self.world.copy(), self.spreads.copy()
        kind.move_kernel(self.world, decision.number, now)
        kind.mean_kernel(now, point, mean)
        kind.spread_kernel(now, point, spreads)
        key0, key1 = self.key
        world.draw_reward(key0, key1, decision.number, self.noise_kinds, spreads, mean, reward)
        world.settle(self.units, reward)
        return self.problem.decode_reward(reward)

    @property
    def noise_scale(self) -> float:
        """The sub-Gaussian scale of the scaled rewards: the spread, 1/2 for Bernoulli, infinite for Student's t."""
        return sub_gaussian_scale(self.noise_kinds, self.spreads)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Points (n, dim) with contexts as the task draws them and uniformly random arms."""
        points = random_points(self.problem.encoding, n, rng)
        if not self.has_uniform_contexts:
            self.make_contexts(rng.random((n, len(self.empty_draws()))), points)
        return points

    @property
    def has_uniform_contexts(self) -> bool:
        """Whether every context is as likely as every other."""
        return type(self).context_kernel is world.uniform_context

    def make_contexts(self, draws: Floats, points: Floats) -> None:
        """Write the contexts that the task makes of uniform draws to the heads of points."""
        draws = np.require(draws, float, ["C", "W"])
        truth.make_contexts(laws_of(type(self)), self.world, self.problem.encoding.values, draws, points)
