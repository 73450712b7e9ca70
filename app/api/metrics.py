"""What Prometheus is told: requests by route and phase as they happen, and how the playbook stands at each scrape.

Every label is one of a closed set: methods, routes of the program, statuses, stages, kinds, states, verdicts.
"""

from collections.abc import Iterable, Iterator, Mapping

from fastapi import APIRouter, Request, Response
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.api.guard import READS
from app.errors import PlaybookError
from app.services.assembly import Services
from app.services.standing import Standing, standing

# A second series for every one, which nobody reads.
disable_created_metrics()  # type: ignore[no-untyped-call]
router = APIRouter(tags=["health"])

BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds."""


class Metrics:
    """The measurements of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "playbook_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "playbook_request_seconds", "Time of a request.", ("route",), buckets=BUCKETS, registry=self.registry
        )
        self._phases = Histogram(
            "playbook_phase_seconds",
            "Time of a phase of a request: `answer` until the answer begins, and the stages of retrieval.",
            ("route", "phase"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.in_progress = Gauge("playbook_requests_in_progress", "Requests being answered.", registry=self.registry)

    def observe(self, method: str, route: str, status: int, seconds: float, phases: Mapping[str, float]) -> None:
        """Counts one request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        for phase, taken in phases.items():
            self._phases.labels(route, phase).observe(taken)

    def text(self, services: Services) -> bytes:
        """Everything in Prometheus' text format."""
        present = CollectorRegistry()
        present.register(_Standing(services))
        return generate_latest(self.registry) + generate_latest(present)


class _Standing(Collector):
    """How the playbook stands, asked of the database at each scrape."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterable[Metric]:
        """Gauges; `playbook_database_up` is 0 and the others are missing where the database does not answer."""
        try:
            found = standing(self._services.database, self._services.embedder, self._services.catalog)
        except PlaybookError:
            yield GaugeMetricFamily("playbook_database_up", "Whether the database answers.", 0)
            return
        yield GaugeMetricFamily("playbook_database_up", "Whether the database answers.", 1)
        yield from _gauges(found)
        waiting = GaugeMetricFamily("playbook_records_waiting", "Records on their way to the disk.", labels=("kind",))
        for kind in ("recorder", "audit", "key_uses"):
            waiting.add_metric((kind,), getattr(self._services, kind).waiting)
        yield waiting


def _gauges(found: Standing) -> Iterator[Metric]:
    plain = {
        "playbook_corpus_version": ("Corpus version in the database.", found.database_version),
        "playbook_index_drift": ("Corpus versions that this process's snapshot is behind.", found.drift),
        "playbook_items_without_vector": ("Items that wait for their vector.", found.without_vector),
        "playbook_rankable_items": ("Items in the indexes of this process.", found.rankable),
        "playbook_queue_age_seconds": ("How long the oldest ordered run has waited.", found.queue_seconds),
        "playbook_findings_open": ("Findings that nobody decided.", found.findings_open),
    }
    for name, (meaning, value) in plain.items():
        yield GaugeMetricFamily(name, meaning, value)
    by_label = {
        "playbook_items": ("Items by kind and status.", ("kind", "status"), found.items),
        "playbook_votes": ("Sum of the items' counters.", ("signal",), found.votes),
        "playbook_runs": ("Verification runs by state; those not finished are the queue.", ("state",), found.runs),
        "playbook_verdicts": ("Finished verification runs by verdict.", ("verdict",), found.verdicts),
    }
    for name, (meaning, labels, values) in by_label.items():
        family = GaugeMetricFamily(name, meaning, labels=labels)
        for key, value in values.items():
            family.add_metric(key, value)
        yield family


@router.get("/metrics", operation_id="metrics", dependencies=READS, response_class=Response)
def metrics(request: Request) -> Response:
    """Measurements of this process, and how the playbook stands, for Prometheus."""
    measured: Metrics = request.app.state.metrics
    return Response(measured.text(request.app.state.services), media_type="text/plain; version=0.0.4; charset=utf-8")
