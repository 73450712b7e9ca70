"""Times are UTC, wherever the server believes to be."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from app.settings import Settings
from tests.service.processes import servers


def test_every_time_is_utc_whatever_the_local_time_of_the_server(any_settings: Settings) -> None:
    with servers(any_settings, 1, (), TZ="Asia/Kathmandu", PGTZ="Asia/Kathmandu") as (url,):
        made = httpx.post(f"{url}/v1/bullets", json={"kind": "bullet", "text": "Applies to a sum: keep it short."})
        item = made.json()["id"]
        httpx.post(f"{url}/v1/feedback", json={"reader": "m", "items": [{"id": item, "signal": "helpful"}]})
        told = [made.json(), httpx.get(f"{url}/v1/bullets/{item}/history").json()]
    times = [moment for answer in told for moment in moments(answer)]
    assert len(times) >= 4
    for moment in times:
        assert moment.utcoffset() == timedelta(0)
        assert abs(datetime.now(UTC) - moment) < timedelta(minutes=10)


def moments(value: Any) -> list[datetime]:
    """Every time in an answer."""
    if isinstance(value, dict):
        return [moment for entry in value.values() for moment in moments(entry)]
    if isinstance(value, list):
        return [moment for entry in value for moment in moments(entry)]
    try:
        return [datetime.fromisoformat(value)] if isinstance(value, str) and "T" in value else []
    except ValueError:
        return []
