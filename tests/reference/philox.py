"""Philox4x64-10 (Salmon, Moraes, Dror, Shaw, SC 2011) on Python's own integers."""

from __future__ import annotations

from collections.abc import Sequence

WORD, LOW = 1 << 64, (1 << 64) - 1
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def block(key: Sequence[int], counter: Sequence[int]) -> list[int]:
    """Ten rounds of the cipher: four words of 64 bits."""
    k0, k1 = (int(k) % WORD for k in key)
    c0, c1, c2, c3 = (int(c) % WORD for c in counter)
    for _ in range(10):
        first, second = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (second >> 64) ^ c1 ^ k0, second & LOW, (first >> 64) ^ c3 ^ k1, first & LOW
        k0, k1 = (k0 + WEYL[0]) & LOW, (k1 + WEYL[1]) & LOW
    return [c0, c1, c2, c3]


def uniforms(key: Sequence[int], counter: Sequence[int]) -> list[float]:
    """The four numbers of numpy's ``Generator(Philox(key=key, counter=counter)).random(4)``.

    Numpy counts up before it draws; the counter is one number of 256 bits, lowest word first.
    """
    number = sum((int(c) % WORD) << (64 * place) for place, c in enumerate(counter)) + 1
    words = block(key, [(number >> (64 * place)) % WORD for place in range(4)])
    return [(word >> 11) / (1 << 53) for word in words]
