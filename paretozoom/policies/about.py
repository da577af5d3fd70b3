"""What a policy is, in a line of the table that `paretozoom policies` prints."""

from __future__ import annotations

import msgspec


class About(msgspec.Struct, frozen=True):
    """The columns of the paper's Table 1 and where the algorithm comes from.

    >>> About("draws every arm uniformly").contextual
    False
    """

    line: str
    multi_objective: bool = False
    contextual: bool = False
    similarity: bool = False  # uses how alike contexts and arms are
    adaptive: bool = False  # divides the space where it pays
    guarantee: str = "none proved"
    reference: str = ""
