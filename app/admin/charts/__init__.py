"""Charts that people can read: labelled axes with units, as SVG, with their data as CSV."""

from app.admin.charts.columns import votes_by_day
from app.admin.charts.figure import Figure
from app.admin.charts.intervals import claimed_and_measured, speedups_over_time
from app.admin.charts.steps import counters_over_time

__all__ = ["Figure", "claimed_and_measured", "counters_over_time", "speedups_over_time", "votes_by_day"]
