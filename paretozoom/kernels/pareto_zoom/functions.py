"""Functions of single coordinates, and products of them: what trends and smooth estimates are made of.

A number has a line and a parabola (Legendre polynomials), for trends, and cosines, for smooth estimates; a periodic one
has sines and cosines, a label whether it is a certain one. All but the cosines of a number have mean square 1 over all
values of their coordinate; those have it over a stretch that is longer than the number's by a margin at both ends, so
that nothing special is expected of the ends. Functions of a coordinate follow each other, those of contexts come first,
and before all of them comes the constant. A *term* is a product of three functions, of which some may be the constant.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, part
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, PERIODIC
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import middle_of

POLYNOMIALS = 2  # of a number: line and parabola; its other functions are cosines of 1, 2, 3 ... times an angle
ROOT2, ROOT3, HALF_ROOT5 = math.sqrt(2.0), math.sqrt(3.0), 0.5 * math.sqrt(5.0)


@inlined
def turn_of(margin: float) -> float:
    """How far the angle of cosines turns over the length of a number."""
    return math.pi / (1.0 + 2.0 * margin)


@part
def write_values(f: Floats, i: Ints, first: int, end: int, place: Floats, shift: int, out: Floats) -> None:
    """Write the functions [first, end) of the coordinates in `place` less a shift."""
    functions, kinds, values = m.functions(f, i), m.kinds(f, i), m.values(f, i)
    before, here, twice = 0.0, 0.0, 0.0
    for k in range(first, end):
        j, which = functions[k, 0], functions[k, 1]
        coordinate, kind = place[j - shift], kinds[j] if j < len(kinds) else LINEAR
        if kind == CATEGORICAL:
            labels = abs(values[j]) if values[j] != 0 else i[m.ARMS]
            out[k - first] = math.sqrt(labels) if int(coordinate) == which else 0.0
        elif kind == PERIODIC:
            angle = 2.0 * math.pi * (which // 2 + 1) * coordinate
            out[k - first] = ROOT2 * (math.cos(angle) if which % 2 == 0 else math.sin(angle))
        elif which < POLYNOMIALS:
            line = ROOT3 * (2.0 * coordinate - 1.0)
            out[k - first] = line if which == 0 else HALF_ROOT5 * (line * line - 1.0)
        else:  # cos((k + 1) a) = 2 cos(a) cos(k a) - cos((k - 1) a)
            if which == POLYNOMIALS:
                margin = settings(f).margin
                before, here = ROOT2, ROOT2 * math.cos(turn_of(margin) * (coordinate + margin))
                twice = ROOT2 * here
            else:
                before, here = here, twice * here - before
            out[k - first] = here


@part
def stand_at_context(f: Floats, i: Ints, point: Floats) -> None:
    """Write the values of the constant and of the functions of contexts; on the way, the simple ones and axes."""
    value, raw, simple, first = m.value(f, i), m.raw(f, i), m.simple(f, i), i[m.RAW_FUNCTIONS]
    value[0] = 1.0
    write_values(f, i, 1, first, point, 0, value[1:])
    for k in range(len(raw)):
        raw[k] = value[simple[k]]
    if i[m.AXES] > 0:
        along = m.along(f, i)
        add_up(m.axis(f, i), raw, along)
        for k in range(len(along)):  # three standard deviations fill a unit on both sides
            along[k] = min(1.0, max(0.0, 0.5 + along[k] / 6.0))
        write_values(f, i, first, i[m.CONTEXT_FUNCTIONS], along, i[m.DIM], value[first:])


@part
def add_up(sums: Floats, raw: Floats, out: Floats) -> None:
    """Write sums, each a row that says how much of which there is."""
    for k in range(len(out)):
        line, total = sums[k], 0.0
        for j in range(len(raw)):
            total += line[j] * raw[j]
        out[k] = total


@part
def stand_at(f: Floats, i: Ints, point: Floats) -> None:
    """Write the values of all functions at a point."""
    own = i[m.CONTEXT_FUNCTIONS]
    stand_at_context(f, i, point)
    write_values(f, i, own, i[m.FUNCTIONS], point, 0, m.value(f, i)[own:])


@part
def stand_at_arms(f: Floats, i: Ints, arms: Floats, rows: int) -> None:
    """Write the values of the functions of arms at the first rows of arms."""
    own, context, table = i[m.CONTEXT_FUNCTIONS], i[m.CONTEXT], m.row_value(f, i)
    functions, kinds, value = m.functions(f, i), m.kinds(f, i), m.value(f, i)[own:]
    for k in range(i[m.ARM_FUNCTIONS]):
        j, which, out = functions[own + k, 0], functions[own + k, 1], table[k]
        if kinds[j] == CATEGORICAL or kinds[j] == PERIODIC:
            for row in range(rows):
                write_values(f, i, own + k, own + k + 1, arms[row], context, value)
                out[row] = value[0]
            continue
        # One function at many rows, not many functions at one row: several are done at once.
        if which == 0:
            for row in range(rows):
                out[row] = ROOT3 * (2.0 * arms[row, j - context] - 1.0)
        elif which == 1:
            line = table[k - 1]
            for row in range(rows):
                out[row] = HALF_ROOT5 * (line[row] * line[row] - 1.0)
        elif which == POLYNOMIALS:
            margin = settings(f).margin
            for row in range(rows):
                out[row] = ROOT2 * math.cos(turn_of(margin) * (arms[row, j - context] + margin))
        elif which == POLYNOMIALS + 1:
            first = table[k - 1]
            for row in range(rows):
                out[row] = ROOT2 * first[row] * first[row] - ROOT2
        else:
            first, before, last = table[k - which + POLYNOMIALS], table[k - 2], table[k - 1]
            for row in range(rows):
                out[row] = ROOT2 * first[row] * last[row] - before[row]


@part
def term_at(value: Floats, factors: Ints, t: int) -> float:
    """A term where the functions stand."""
    return value[factors[t, 0]] * value[factors[t, 1]] * value[factors[t, 2]]


@part
def sum_at(f: Floats, i: Ints, factors: Ints, terms: int, sizes: Floats) -> float:
    """The sum of some terms of such sizes, where the functions stand."""
    value, total = m.value(f, i), 0.0
    for t in range(terms):
        total += sizes[t] * term_at(value, factors, t)
    return total


@part
def sum_at_arms(f: Floats, i: Ints, factors: Ints, terms: int, sizes: Floats, rows: int, out: Floats) -> None:
    """The sums of some terms of such sizes, where the functions stand: at a context and at rows of arms."""
    own, value, table = i[m.CONTEXT_FUNCTIONS], m.value(f, i), m.row_value(f, i)
    value[own:] = 0.0  # what functions of arms are multiplied by
    constant = 0.0
    out[:rows] = 0.0
    for t in range(terms):
        first, second, third = factors[t, 0], factors[t, 1], factors[t, 2]
        if third < own:
            constant += sizes[t] * value[first] * value[second] * value[third]
        elif second < own:
            value[third] += sizes[t] * value[first] * value[second]
        else:
            one, other = table[second - own], table[third - own]
            if first < own:
                size = sizes[t] * value[first]
                for row in range(rows):
                    out[row] += size * one[row] * other[row]
            else:
                label = table[first - own]
                for row in range(rows):
                    out[row] += sizes[t] * label[row] * one[row] * other[row]
    for row in range(rows):
        out[row] += constant
    for k in range(i[m.ARM_FUNCTIONS]):
        line, size = table[k], value[own + k]
        for row in range(rows):
            out[row] += size * line[row]


@part
def tabulate(f: Floats, i: Ints, digits: Ints, site_arms: Ints, factors: Ints, out: Floats) -> None:
    """Write the terms (columns) at the middles of all sites (rows)."""
    point, value = np.empty(i[m.DIM]), m.value(f, i)
    for site in range(len(digits)):
        middle_of(f, i, digits[site], site_arms[site], point)
        stand_at(f, i, point)
        for t in range(out.shape[1]):
            out[site, t] = term_at(value, factors, t)
