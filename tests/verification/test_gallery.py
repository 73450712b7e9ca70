"""Every bad kernel gets its verdict, every honest one passes without a flag: the part that needs no GPU."""

import pytest

from app.verification import RunRecord
from tests.verification.conftest import GALLERY, Fixture, read_manifest

ON_CPU = [fixture for fixture in read_manifest() if fixture.where == "both"]
BAD = [fixture for fixture in ON_CPU if not fixture.is_honest]
HONEST = [fixture for fixture in ON_CPU if fixture.is_honest]


def named(fixture: Fixture) -> str:
    return fixture.file.removesuffix(".py")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("fixture", BAD, ids=named)
def test_a_bad_kernel_gets_the_verdict_of_the_manifest(fixture: Fixture, cpu_gallery: dict[str, RunRecord]) -> None:
    record = cpu_gallery[fixture.file]
    assert record.verdict in fixture.verdict, record.detail
    assert record.figures is None
    assert record.score == 0.0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("fixture", HONEST, ids=named)
def test_an_honest_kernel_is_verified_without_a_flag(fixture: Fixture, cpu_gallery: dict[str, RunRecord]) -> None:
    record = cpu_gallery[fixture.file]
    assert record.verdict in fixture.verdict, record.detail
    assert record.flags == []


def test_every_file_of_the_gallery_is_in_the_manifest_and_tells_its_trick() -> None:
    listed = {fixture.file: fixture.about for fixture in read_manifest()}
    assert set(listed) == {path.name for path in GALLERY.glob("*.py")}
    for name, about in listed.items():
        assert (GALLERY / name).read_text(encoding="utf-8").startswith(f'"""{about}"""'), name


def test_the_record_names_the_cpu_and_its_shims_and_claims_no_time(
    cpu_gallery: dict[str, RunRecord],
) -> None:
    record = cpu_gallery["good_libdevice_loop.py"]
    assert record.device == "cpu-interpreter"
    assert "range" in record.evidence["shims"]
    assert record.figures is None
    assert record.evidence["timing"]["candidate_ms"] == []
