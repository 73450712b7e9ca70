"""What a run depends on: the evaluator's own code and constants, and the machine it ran on."""

import functools
import hashlib
import platform
import subprocess
from pathlib import Path
from typing import Any

from app.verification.protocol import PROTOCOL_VERSION
from app.verification.sandbox import sandbox_kind

_QUERY = {
    "driver": "driver_version",
    "compute_capability": "compute_cap",
    "sm_clock_mhz": "clocks.sm",
    "memory_clock_mhz": "clocks.mem",
    "max_sm_clock_mhz": "clocks.max.sm",
    "temperature_c": "temperature.gpu",
    "power_w": "power.draw",
    "throttle_reasons": "clocks_event_reasons.active",
}


@functools.cache
def evaluator_version() -> str:
    """`1-` and twelve hex digits over the code of this package: equal only when the evaluator is the same."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{PROTOCOL_VERSION}-{digest.hexdigest()[:12]}"


def host_fingerprint() -> dict[str, Any]:
    """Evaluator, sandbox and host, without asking for a GPU or torch."""
    return {
        "evaluator": evaluator_version(),
        "sandbox": sandbox_kind(),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def gpu_state(index: int) -> dict[str, str]:
    """Driver, clocks, temperature and throttle reasons of one GPU; empty where nvidia-smi does not answer."""
    query = ["nvidia-smi", f"--id={index}", f"--query-gpu={','.join(_QUERY.values())}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    values = [value.strip() for value in done.stdout.strip().split(",")]
    return dict(zip(_QUERY, values, strict=True)) if len(values) == len(_QUERY) else {}
