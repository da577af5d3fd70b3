"""The plots: one file each, `info(...)` gives a JSON-ready record and `figure(info)` draws it."""

from paretozoom.plots import bins, gallery, partition, plane, regret, reward_maps, style

__all__ = ["bins", "gallery", "partition", "plane", "regret", "reward_maps", "style"]
