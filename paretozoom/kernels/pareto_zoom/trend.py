"""The trend of rewards over the whole space, a quadratic of contexts and arms; the levels are for what it misses.

A *term* is a product of three functions of coordinates (see `functions`), of which some may be the constant.
"""

from __future__ import annotations

from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.pareto_zoom.functions import list_arm_values, stand_at_context
from paretozoom.kernels.pareto_zoom.pyramid import CONTEXT_FUNCTIONS, FUNCTIONS, TERMS, Pyramid


@part
def term_at(f: Floats, i: Ints, at: Pyramid, factors: int) -> float:
    """A term where the functions stand; its factors are named from i[factors] on."""
    first, second, third = i[factors], i[factors + 1], i[factors + 2]
    return float(f[at.value + first] * f[at.value + second] * f[at.value + third])


@part
def trend_at(f: Floats, i: Ints, at: Pyramid, o: int) -> float:
    """The trend of an objective where the functions stand."""
    total = 0.0
    for t in range(i[TERMS]):
        total += f[at.trend + o * i[TERMS] + t] * term_at(f, i, at, at.factor + 3 * t)
    return total


@part
def list_functions(f: Floats, i: Ints, at: Pyramid, point: Floats, listed: int) -> None:
    """Write the values of all functions: at the context in `point`, and at the listed candidates."""
    stand_at_context(f, i, at, point)
    list_arm_values(f, i, at, listed)


@part
def add_terms(
    f: Floats, i: Ints, at: Pyramid, listed: int, index: Floats, factors: int, terms: int, sizes: int, share: float
) -> None:
    """Add a share of some terms, of the sizes from f[sizes] on, to the index of the listed candidates."""
    own = i[CONTEXT_FUNCTIONS]
    f[at.value + own : at.value + i[FUNCTIONS]] = 0.0  # what functions of arms, and the constant, are multiplied by
    constant = 0.0
    for t in range(terms):
        first, second, third = i[factors + 3 * t], i[factors + 3 * t + 1], i[factors + 3 * t + 2]
        size = share * f[sizes + t]
        if third < own:
            constant += size * f[at.value + first] * f[at.value + second] * f[at.value + third]
        elif second < own:
            f[at.value + third] += size * f[at.value + first] * f[at.value + second]
        else:
            one = f[at.listed_value + (second - own) * listed :][:listed]
            other = f[at.listed_value + (third - own) * listed :][:listed]
            if first < own:
                size *= f[at.value + first]
                for candidate in range(listed):
                    index[candidate] += size * one[candidate] * other[candidate]
            else:
                label = f[at.listed_value + (first - own) * listed :][:listed]
                for candidate in range(listed):
                    index[candidate] += size * label[candidate] * one[candidate] * other[candidate]
    for candidate in range(listed):
        index[candidate] += constant
    for k in range(own, i[FUNCTIONS]):
        row, size = f[at.listed_value + (k - own) * listed :][:listed], f[at.value + k]
        for candidate in range(listed):
            index[candidate] += size * row[candidate]
