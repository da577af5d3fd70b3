"""What rewards depend on: arms, contexts, and which coordinates of both."""

from __future__ import annotations

from statistics import NormalDist

import msgspec
import numpy as np

from paretozoom.findings.basis import basis_of
from paretozoom.findings.finding import Finding, percent
from paretozoom.findings.fit import explained
from paretozoom.findings.tails import Tails
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints

SAMPLE = 4500  # rounds that are looked at: more would take seconds
FEWEST_ROUNDS = 600
FEWEST_EVENTS = 100  # rewards of another value than the commonest
RISK = 0.05  # that something is said to matter that does not, over all that is said
LITTLE = 0.03  # of the variance: if contexts may explain more, it is not said that they carry nothing
DOUBLING = 0.25  # of rate / (1 - rate), the same of rare rewards: their rate varies by half of itself
BESIDE = 0.25  # of what arms explain, or the coordinate that matters most: so little may be missed beside it
NEXT_TO_NOTHING = 0.1  # of that: a coordinate with less is not said to matter, whatever its error
CUT = 0.005  # of either end: how many rewards are cut off where few make most of the variance
SHOWN = 6  # names


class Causes(msgspec.Struct, frozen=True):
    """What the rewards of an objective depend on: cross-validated shares of their variance, and standard errors.

    `contexts` is what contexts explain beyond arms, `contexts_most` the upper end of what they could, `p` the
    probability of as much by chance. Of each coordinate it has the share of the variance that goes with it, alone and
    together with others: Sobol's total effect.
    """

    objective: str
    rounds: int
    arms: float
    contexts: float
    contexts_error: float
    contexts_most: float
    p: float
    coordinates: dict[str, float]
    errors: dict[str, float]
    little: float  # the share of the variance below which contexts are said to carry nothing
    variance: float  # of rewards, oriented and scaled
    noise: float  # the standard deviation of what nothing explains

    @property
    def missed(self) -> float:
        """The share of the variance that contexts may explain beyond what was found."""
        return self.contexts_most - max(0.0, self.contexts)

    def sure(self, name: str, errors: float) -> bool:
        """Whether a coordinate matters: by so many standard errors, and by more than next to nothing."""
        return self.coordinates[name] > max(self.errors[name] * errors, NEXT_TO_NOTHING * self.little)


def cause_of(
    problem: Problem, tails: Tails, point: Floats, arm: Ints, reward: Floats, *, cut: bool = False
) -> Causes | None:
    """What the rewards of an objective depend on, the ends cut off if they would drown the rest; None if too few.

    >>> from paretozoom import PaperTask, Random, simulate_in_chunks
    >>> task = PaperTask()
    >>> (rounds,) = simulate_in_chunks(Random(task.problem), task, 2000, seed=1)
    >>> columns, reward = rounds.columns, rounds.columns.reward[:, 0]
    >>> tails = Tails.of(task.problem.objectives[0], reward)
    >>> found = cause_of(task.problem, tails, columns.point, columns.arm, reward)
    >>> found.p < 0.01, found.contexts > 5 * found.contexts_error
    (True, True)
    """
    reward = reward[:SAMPLE]
    variance = float(reward.var())
    n = len(reward)
    if n < FEWEST_ROUNDS or n - np.unique(reward, return_counts=True)[1].max() < FEWEST_EVENTS:
        return None
    if cut:
        reward = np.clip(reward, *np.quantile(reward, [CUT, 1 - CUT]))
    basis = basis_of(problem, point[:n], arm[:n])
    found = explained(basis, reward, np.random.default_rng(0))
    shares, errors = (
        dict(zip(basis.names, column.tolist(), strict=True)) for column in (found.share, found.share_error)
    )
    rate = tails.others / tails.rounds
    return Causes(
        tails.objective,
        n,
        found.arms,
        found.contexts,
        found.contexts_error,
        found.contexts_most,
        found.p,
        shares,
        errors,
        min(LITTLE, DOUBLING * rate / (1 - rate)) if tails.is_rare else LITTLE,
        float(reward.var()),
        max(0.0, variance - (found.arms + found.contexts) * float(reward.var())) ** 0.5,
    )


def findings_about(problem: Problem, causes: list[Causes]) -> list[Finding]:
    """What is to be said of all objectives together."""
    return _idle(problem, causes) + _coordinates(problem, causes)


def _idle(problem: Problem, causes: list[Causes]) -> list[Finding]:
    """Contexts carry nothing: of all objectives, or of some."""
    sure = _errors(causes)
    own = [dimension.name for dimension in problem.context]
    idle = [
        cause
        for cause in causes
        if cause.p > RISK / len(causes)
        and cause.contexts_most <= min(cause.little, BESIDE * cause.arms)
        and not any(cause.sure(name, sure) for name in own)
    ]
    if not problem.context:
        return []
    of_all = len(idle) == len(problem.objectives)
    found = []
    for cause in [max(idle, key=lambda cause: cause.contexts_most)] if of_all else idle:
        text = (
            f"contexts carry nothing that {cause.rounds:,} rounds could show: at most "
            f"{percent(cause.contexts_most)} of the variance, where arms explain {percent(max(0.0, cause.arms))}."
        )
        advice = (
            "Look for other contexts, or leave them out: each makes learning slower."
            if of_all
            else "Only other objectives depend on them."
        )
        numbers = {"contexts": cause.contexts, "error": cause.contexts_error, "arms": cause.arms, "p": cause.p}
        about = None if of_all else cause.objective
        found.append(Finding("idle-contexts", about, cause.contexts_most, text, advice, numbers))
    return found


def _coordinates(problem: Problem, causes: list[Causes]) -> list[Finding]:
    """These coordinates matter, the others do not."""
    names = list(causes[0].coordinates) if causes else []
    sure = _errors(causes)
    strongest: dict[str, tuple[float, float, str]] = {}
    for name in names:
        of = [(c.coordinates[name], c.errors[name], c.objective) for c in causes if c.sure(name, sure)]
        if of:
            strongest[name] = max(of)
    if not strongest or len(names) < 2:
        return []
    matter = sorted(strongest, key=lambda name: -strongest[name][0])
    many = len(problem.objectives) > 1
    shown = [f"{name} ({percent(strongest[name][0])}{f' of {strongest[name][2]}' if many else ''})" for name in matter]
    count = f"{len(matter)} matter{'s' if len(matter) == 1 else ''}"
    text = f"of {len(names)} coordinates {count}, by the share of the variance: {_listed(shown)}."
    spare = [dimension.name for dimension in problem.context if dimension.name not in strongest]
    if not spare:
        advice = ""
    elif max(cause.missed for cause in causes) <= BESIDE * strongest[matter[0]][0]:
        advice = f"Nothing is seen of {_listed(spare)}: leave out what you do not know to matter."
    else:
        advice = f"Of {_listed(spare)} these rounds are too few to tell."
    numbers = {name: {"share": share, "error": error} for name, (share, error, _) in strongest.items()}
    return [Finding("coordinates", None, strongest[matter[0]][0], text, advice, numbers)]


def _errors(causes: list[Causes]) -> float:
    """How many standard errors make a coordinate sure, so that the risk is that of all together."""
    return NormalDist().inv_cdf(1 - RISK / max(1, sum(len(cause.coordinates) for cause in causes)))


def _listed(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:SHOWN])} and {more} more"
