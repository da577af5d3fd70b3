"""Philox4x64-10 (Salmon, Moraes, Dror, Shaw, SC 2011) on Python's own integers."""

from __future__ import annotations

from collections.abc import Sequence

WORD = 1 << 64
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def block(key: Sequence[int], counter: Sequence[int]) -> list[int]:
    """Ten rounds of the cipher: four words of 64 bits."""
    k0, k1 = (int(k) % WORD for k in key)
    c0, c1, c2, c3 = (int(c) % WORD for c in counter)
    for _ in range(10):
        high0, low0 = divmod(MULTIPLIERS[0] * c0, WORD)
        high1, low1 = divmod(MULTIPLIERS[1] * c2, WORD)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + WEYL[0]) % WORD, (k1 + WEYL[1]) % WORD
    return [c0, c1, c2, c3]


def uniforms(key: Sequence[int], counter: Sequence[int]) -> list[float]:
    """The four numbers of numpy's ``Generator(Philox(key=key, counter=counter)).random(4)``.

    Numpy counts up before it draws; the counter is one number of 256 bits, lowest word first.
    """
    number = sum((int(c) % WORD) << (64 * place) for place, c in enumerate(counter)) + 1
    words = block(key, [(number >> (64 * place)) % WORD for place in range(4)])
    return [(word >> 11) / (1 << 53) for word in words]
