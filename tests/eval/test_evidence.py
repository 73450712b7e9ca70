"""What the starter kernels say of themselves is what was measured."""

import json
import re

from tests.conftest import ROOT

MEASURED = ROOT / "eval" / "results" / "verification" / "own-kernels-h200.json"


def test_the_evidence_of_every_starter_kernel_is_the_committed_measurement() -> None:
    part = json.loads(MEASURED.read_text(encoding="utf-8"))
    about, wanted = part["provenance"], {}
    for row in part["rows"]:
        found = row["figures"]
        wanted[row["id"]] = (
            f"{found['speedup']:.2f}x against eager (at least {found['speedup_lo95']:.2f}x) and "
            f"{found['speedup_vs_compile']:.2f}x against torch.compile on one {about['gpu']}, "
            f"torch {about['torch'].partition('+')[0]}, triton {about['triton']}, {about['date'][:10]}"
        )
    said = {}
    for path in (ROOT / "bullets" / "kernels").glob("*.md"):
        line = re.search(r"^evidence: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        said[path.stem] = line[1] if line else ""
    assert said == wanted
