"""Numbers for Prometheus."""

from __future__ import annotations

import collections
import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from paretozoom.service.writing.health import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paretozoom.findings import Look
    from paretozoom.service.writing.live import LiveExperiments
    from paretozoom.service.writing.writer import Writer

BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
MOST_COORDINATES = 20  # of an objective, those with the largest shares
TIMED = {
    "commit": "of a transaction",
    "learning": "of the events of a group, refits included",
    "longest_event": "of the slowest event of a group: a refit, if there was one",
    "loop_lag": "by which the loop was late",
}


class Meters:
    """What a service counts and times; the rest is read from the experiments when it is asked for."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._latency = Histogram(
            "paretozoom_request_seconds",
            "from a request to its answer",
            ["act"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._acts: dict[str, Any] = {}
        self._answers = Counter("paretozoom_answers", "by kind and status", ["kind", "status"], registry=self._registry)
        self._answered: dict[tuple[str, int], Any] = {}
        self._timed = {
            what: Histogram(f"paretozoom_{what}_seconds", text, buckets=BUCKETS, registry=self._registry)
            for what, text in TIMED.items()
        }
        ProcessCollector(registry=self._registry)

    def answered(self, kind: str, status: int) -> None:
        """Count an answer."""
        counter = self._answered.get((kind, status))
        if counter is None:
            counter = self._answered[kind, status] = self._answers.labels(kind, status)
        counter.inc()

    def timed(self, what: str, seconds: float) -> None:
        """Note how long something took, or how late it was."""
        self._timed[what].observe(seconds)

    def took(self, act: str, began: float) -> None:
        """Note how long an act took since a moment of `time.perf_counter`."""
        meter = self._acts.get(act)
        if meter is None:
            meter = self._acts[act] = self._latency.labels(act)
        meter.observe(time.perf_counter() - began)

    def text(self, experiments: LiveExperiments, writer: Writer, only: str | None = None) -> bytes:
        """Everything, or what concerns one experiment, as Prometheus reads it."""
        now = CollectorRegistry()
        now.register(_Collector(experiments, only))
        if only is None:
            now.register(_Store(experiments, writer))
        return generate_latest(self._registry) + generate_latest(now)


class _Store:
    """How the store is, and what waits for it."""

    def __init__(self, experiments: LiveExperiments, writer: Writer) -> None:
        self._experiments = experiments
        self._writer = writer

    def collect(self) -> Iterator[Any]:
        """One family after another."""
        state = GaugeMetricFamily("paretozoom_store_state", "1 for how the store is", labels=["state"])
        for name in WORDS:
            state.add_metric([name], self._experiments.health.state == name)
        yield state
        yield GaugeMetricFamily("paretozoom_waiting", "decisions and rewards not begun", self._writer.waiting)
        yield GaugeMetricFamily("paretozoom_waiting_seconds", "of who waits longest", self._writer.oldest())
        unread = sum(live.experiment is None for live in self._experiments.by_name.values())
        yield GaugeMetricFamily("paretozoom_experiments_unread", "whose state is not known", unread)


class _Collector:
    """What the experiments say of themselves."""

    def __init__(self, experiments: LiveExperiments, only: str | None) -> None:
        self._experiments = experiments
        self._only = only

    def collect(self) -> Iterator[Any]:
        """One family after another."""
        live = [(name, one) for name, one in sorted(self._experiments.by_name.items()) if self._only in (None, name)]
        found = [(name, one.experiment) for name, one in live if one.experiment is not None]
        for what in ("decisions", "rewards", "expiries", "cancellations"):
            family = CounterMetricFamily(f"paretozoom_{what}", f"{what} so far", labels=["experiment"])
            for name, experiment in found:
                family.add_metric([name], getattr(experiment.counts, what))
            yield family
        damaged = GaugeMetricFamily("paretozoom_damaged", "1: cannot be read", labels=["experiment"])
        for name, one in live:
            damaged.add_metric([name], int(one.damage is not None))
        yield damaged
        waiting = GaugeMetricFamily("paretozoom_open_decisions", "that wait for rewards", labels=["experiment"])
        size = GaugeMetricFamily("paretozoom_model_bytes", "held for what was learned", labels=["experiment"])
        mean = GaugeMetricFamily("paretozoom_mean_reward", "of all rewards so far", labels=["experiment", "objective"])
        for name, experiment in found:
            waiting.add_metric([name], len(experiment.open_decisions))
            size.add_metric([name], self._experiments.by_name[name].about_policy().nbytes)
            totals, told = experiment.counts.totals, experiment.counts.told
            for objective in sorted(totals.keys() & told.keys()):
                mean.add_metric([name, objective], totals[objective] / max(1, told[objective]))
        yield from (waiting, size, mean)
        share = GaugeMetricFamily("paretozoom_front_share", "of recent decisions, by belief", labels=["experiment"])
        entropy = GaugeMetricFamily("paretozoom_local_entropy", "of recent decisions on it", labels=["experiment"])
        for name, one in live:
            fairness = one.fairness
            if fairness is not None and fairness.front_share is not None:
                share.add_metric([name], fairness.front_share)
            if fairness is not None and fairness.local_entropy is not None:
                entropy.add_metric([name], fairness.local_entropy)
        yield from (share, entropy)
        yield from _looks({name: one.recent.look for name, one in live if one.recent and one.recent.look})


def _looks(looks: dict[str, Look]) -> Iterator[Any]:
    """What the latest rounds say."""
    by_objective = ["experiment", "objective"]
    shares = {
        "largest_share": "of the variance of rewards, by the largest 1 % of deviations; 0.08 if normal",
        "other_share": "of rewards that are other than the commonest",
    }
    for key, text in shares.items():
        family = GaugeMetricFamily(f"paretozoom_{key}", text, labels=by_objective)
        for name, look in looks.items():
            for objective, numbers in look.numbers().items():
                family.add_metric([name, objective], numbers[key])
        yield family
    explained = GaugeMetricFamily(
        "paretozoom_explained",
        "share of the variance, by arms, and by contexts beyond them",
        labels=[*by_objective, "by"],
    )
    coordinate = GaugeMetricFamily(
        "paretozoom_coordinate_share", "of the variance, that goes with it", labels=[*by_objective, "coordinate"]
    )
    found = GaugeMetricFamily("paretozoom_findings", "by code", labels=["experiment", "code"])
    for name, look in looks.items():
        for cause in look.causes:
            explained.add_metric([name, cause.objective, "arms"], cause.arms)
            explained.add_metric([name, cause.objective, "contexts"], cause.contexts)
            for field in sorted(cause.coordinates, key=cause.coordinates.__getitem__, reverse=True)[:MOST_COORDINATES]:
                coordinate.add_metric([name, cause.objective, field], cause.coordinates[field])
        for code, count in collections.Counter(finding.code for finding in look.findings).items():
            found.add_metric([name, code], count)
    yield from (explained, coordinate, found)
