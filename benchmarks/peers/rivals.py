"""All rivals, by name."""

from __future__ import annotations

from peers.adapter import Rival
from peers.botorch_gp import BoTorchUCB
from peers.grid_thompson import ThompsonChebyshev, ThompsonFront
from peers.linear import MABWiserLinUCB, RiverLinUCB
from peers.optuna_tpe import OptunaTPE
from peers.pyxab import PyXABTrees
from peers.vowpal import VowpalArms, VowpalCats

RIVALS: dict[str, type[Rival]] = {
    rival.name: rival
    for rival in (
        ThompsonChebyshev,
        ThompsonFront,
        VowpalArms,
        VowpalCats,
        RiverLinUCB,
        PyXABTrees,
        MABWiserLinUCB,
        OptunaTPE,
        BoTorchUCB,
    )
}
