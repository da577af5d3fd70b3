"""The trend of rewards over the whole space, a quadratic of contexts and arms; the levels are for what it misses.

A *function* takes one coordinate: a number itself and its square, sine and cosine of a periodic one, whether it is a
certain label. A *term* is a product of three of them, of which some may be the constant. Those of contexts come first.
"""

from __future__ import annotations

import math

from paretozoom.kernels.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pyramid import CONTEXT_FUNCTIONS, FUNCTIONS, TERMS, Pyramid


@inlined
def value_of(kind: int, labels: int, which: int, coordinate: float) -> float:
    """A function of a coordinate, of mean square 1 over all its values."""
    if kind == CATEGORICAL:
        return math.sqrt(labels) if int(coordinate) == which else 0.0
    if kind == PERIODIC:
        angle = 2.0 * math.pi * coordinate
        return math.sqrt(2.0) * (math.cos(angle) if which == 0 else math.sin(angle))
    away = 2.0 * coordinate - 1.0
    return math.sqrt(3.0) * away if which == 0 else math.sqrt(5.0) * (1.5 * away * away - 0.5)


@part
def function_at(i: Ints, at: Pyramid, k: int, coordinate: float) -> float:
    """Function k (not the constant) of its coordinate."""
    j, which = i[at.function + 2 * k], i[at.function + 2 * k + 1]
    labels = abs(i[at.values + j]) if i[at.values + j] != 0 else at.arms
    return value_of(i[at.kinds + j], labels, which, coordinate)


@kernel
def write_arm_values(f: Floats, i: Ints, at: Pyramid) -> None:
    """Write the values of the functions of finite arms."""
    own, coordinates = i[CONTEXT_FUNCTIONS], at.dim - at.context
    for k in range(own, i[FUNCTIONS]):
        j = i[at.function + 2 * k] - at.context
        for arm in range(at.arms):
            value = function_at(i, at, k, f[at.feature + arm * coordinates + j])
            f[at.arm_value + (k - own) * at.arms + arm] = value


@part
def stand_at_context(f: Floats, i: Ints, at: Pyramid, point: Floats) -> None:
    """Write the values of the functions of contexts at the context in `point`."""
    f[at.value] = 1.0
    for k in range(1, i[CONTEXT_FUNCTIONS]):
        f[at.value + k] = function_at(i, at, k, point[i[at.function + 2 * k]])


@part
def stand_at_base(f: Floats, i: Ints, at: Pyramid, digits: Ints, arm: int) -> None:
    """Write the values of all functions in the middle of the cell that some digits, or a finite arm, stand for."""
    f[at.value] = 1.0
    for k in range(1, i[FUNCTIONS]):
        j = i[at.function + 2 * k]
        if k >= i[CONTEXT_FUNCTIONS] and arm >= 0:
            f[at.value + k] = f[at.arm_value + (k - i[CONTEXT_FUNCTIONS]) * at.arms + arm]
        elif i[at.kinds + j] == CATEGORICAL:
            f[at.value + k] = function_at(i, at, k, float(digits[j]))
        else:
            f[at.value + k] = function_at(i, at, k, (digits[j] + 0.5) / (1 << i[at.bits + j]))


@part
def term_at(f: Floats, i: Ints, at: Pyramid, t: int) -> float:
    """A term where the functions stand."""
    first, second, third = i[at.factor + 3 * t], i[at.factor + 3 * t + 1], i[at.factor + 3 * t + 2]
    return float(f[at.value + first] * f[at.value + second] * f[at.value + third])


@part
def trend_at(f: Floats, i: Ints, at: Pyramid, o: int) -> float:
    """The trend of an objective where the functions stand."""
    total = 0.0
    for t in range(i[TERMS]):
        total += f[at.trend + o * i[TERMS] + t] * term_at(f, i, at, t)
    return total


@part
def _list_arm_values(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Write the values of the functions of arms (rows) at the listed candidates."""
    own, coordinates = i[CONTEXT_FUNCTIONS], at.dim - at.context
    for k in range(own, i[FUNCTIONS]):
        row = f[at.listed_value + (k - own) * listed :][:listed]
        if at.arms > 0:
            values = f[at.arm_value + (k - own) * at.arms :][: at.arms]
            for candidate in range(listed):
                row[candidate] = values[i[at.listed + candidate]]
        else:
            place = at.arm + i[at.function + 2 * k] - at.context
            for candidate in range(listed):
                row[candidate] = function_at(i, at, k, f[place + candidate * coordinates])


@part
def add_trend(f: Floats, i: Ints, at: Pyramid, point: Floats, listed: int) -> None:
    """Add the trend at the context in `point` to the indices of the listed candidates."""
    own, terms = i[CONTEXT_FUNCTIONS], i[TERMS]
    stand_at_context(f, i, at, point)
    _list_arm_values(f, i, at, listed)
    for o in range(at.learned):
        index = f[at.indices + o * listed :][:listed]
        f[at.value + own : at.value + i[FUNCTIONS]] = 0.0  # what functions of arms, and the constant, are multiplied by
        constant = 0.0
        for t in range(terms):
            first, second, third = i[at.factor + 3 * t], i[at.factor + 3 * t + 1], i[at.factor + 3 * t + 2]
            size = f[at.trend + o * terms + t]
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
