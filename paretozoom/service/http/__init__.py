"""The HTTP interface: each function is one kind of request."""

from __future__ import annotations

from paretozoom.service.http.decisions import decide, decide_many, look_up_decision, move_decision
from paretozoom.service.http.experiments import (
    create_experiment,
    describe_experiment,
    list_experiments,
    move_experiment,
)
from paretozoom.service.http.health import live, metrics, ready
from paretozoom.service.http.learned import export_snapshot, import_snapshot, read_events, show_front
from paretozoom.service.http.rewards import reward, reward_many

ROUTES = [
    create_experiment,
    list_experiments,
    describe_experiment,
    move_experiment,
    decide,
    decide_many,
    look_up_decision,
    move_decision,
    reward,
    reward_many,
    show_front,
    read_events,
    export_snapshot,
    import_snapshot,
    live,
    ready,
    metrics,
]
