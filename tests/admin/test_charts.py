"""Charts: labelled axes with units, values where they belong, the same data as CSV."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree

from app.admin.charts import claimed_and_measured, counters_over_time, speedups_over_time, votes_by_day
from app.admin.charts.figure import Figure
from app.admin.charts.intervals import Measured
from app.admin.charts.scale import count_scale, round_scale, time_scale
from app.services.overview import DayOfVotes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def words_of(figure: Figure) -> set[str]:
    """All words of the chart; both widths are well-formed and carry a name for those who do not see them."""
    found: set[str] = set()
    for drawn in (figure.wide, figure.narrow):
        picture = ElementTree.fromstring(str(drawn))
        assert picture.get("role") == "img" and picture.get("aria-label")
        found |= {element.text or "" for element in picture.iter("text")}
    return found


def measured(kernel: str, at: datetime = NOW, **values: float | None) -> Measured:
    figures = {"claimed": 2.0, "speedup": 1.5, "low": 1.4, "high": 1.6, **values}
    return Measured(kernel=kernel, hardware="NVIDIA H200", at=at, verdict="verified", **figures)


def test_votes_by_day_have_both_axes_named_and_every_day_shown() -> None:
    days = [DayOfVotes(date(2026, 11, 24) + timedelta(days=n), helpful=n, harmful=n % 2) for n in range(7)]
    figure = votes_by_day(days)
    assert {"votes per day", "day (UTC)", "Tue 24", "30"} <= words_of(figure)
    rows = list(csv.reader(io.StringIO(figure.csv())))
    assert rows[0] == ["day (UTC)", "helpful votes", "harmful votes"]
    assert rows[7] == ["2026-11-30", "6", "0"]


def test_a_week_without_votes_and_one_vote_alone_can_be_drawn() -> None:
    assert "votes per day" in words_of(votes_by_day([DayOfVotes(date(2026, 11, 24), 0, 0)]))
    assert "votes" in words_of(counters_over_time([(NOW, 1, 0)], NOW))


def test_claims_and_measurements_carry_units_bounds_and_names() -> None:
    figure = claimed_and_measured([measured("ker-00001"), measured("<b>", speedup=None, low=None, high=None)])
    assert {"speedup over eager (×)", "ker-00001 · NVIDIA H200", "1.50×", "<b> · NVIDIA H200"} <= words_of(figure)
    picture = ElementTree.fromstring(str(figure.wide))
    assert len([e for e in picture.iter("circle") if e.get("class") == "measured"]) == 1
    assert len([e for e in picture.iter("line") if e.get("class") == "bounds"]) == 3
    assert "1 below" not in figure.summary or figure.summary.endswith("1 below claim.")


def test_speedups_over_time_are_in_their_order() -> None:
    figure = speedups_over_time([measured("k", NOW - timedelta(days=2)), measured("k", NOW, speedup=1.2)])
    dots = [float(e.get("cx") or 0) for e in ElementTree.fromstring(str(figure.wide)).iter("circle")]
    assert dots == sorted(dots) and len(dots) == 2


def test_scales_begin_and_end_at_round_values() -> None:
    assert list(round_scale(0, 6.2, 0, 100).ticks)[-1] == 8
    assert list(count_scale(0, 3, 0, 100).ticks) == [0, 1, 2, 3]
    assert count_scale(0, 0, 0, 100).high == 1
    times = time_scale(NOW - timedelta(days=30), NOW, 0, 600)
    assert 2 <= len(times.labels) <= 8


def test_a_cell_cannot_be_run_by_a_spreadsheet() -> None:
    figure = claimed_and_measured([measured("=HYPERLINK(1)")])
    assert "'=HYPERLINK(1)" in figure.csv()
