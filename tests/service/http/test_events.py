"""The log, as requests show it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.remote import Remote, refused


def test_the_log_is_read_from_where_one_left_off(experiment: Remote) -> None:
    for k in range(4):
        experiment.reward(experiment.number(request_id=f"r{k}"))
    answer = experiment.get("/events")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    whole = experiment.events()
    assert [entry["seq"] for entry in whole] == list(range(1, 10))
    assert whole[0]["event"]["type"] == "created"
    assert whole[1]["event"]["request"] == "r0"
    read: list[Any] = []
    while more := experiment.events(after=len(read), limit=4):
        assert len(more) <= 4
        read += more
    assert read == whole


@pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=10001", "after=9007199254740992"])
def test_what_the_log_cannot_be_asked_is_refused(experiment: Remote, query: str) -> None:
    refused(experiment.get(f"/events?{query}"), 400, *query.split("="))
