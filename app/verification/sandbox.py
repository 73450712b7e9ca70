"""The cage of a child: command line, environment and limits. Bubblewrap where it works, else a process group."""

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.verification.cgroup import Cgroup
from app.verification.processes import MARKER
from app.verification.protocol import Limits

BUBBLEWRAP = "bubblewrap"
PROCESS_GROUP = "process-group"
APP_ROOT = Path(__file__).resolve().parents[2]
SCRATCH = "/tmp"

_DRIVER_ADDRESSES = 64 * 2**30
"""Addresses that the CUDA driver reserves for itself, in bytes."""

_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH")
_NAMESPACES = ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
_HIDDEN = ("/home", "/root", "/mnt", "/media", "/srv", "/run", "/var/tmp")


@dataclass(frozen=True)
class Cage:
    """How one child is to be held. `hidden` are folders it must not see; `gpu` is the index of the one visible GPU."""

    limits: Limits
    scratch: Path
    nonce: str
    gpu: int | None = None
    hidden: tuple[Path, ...] = ()
    isolated: bool = True
    arch: str | None = None


@functools.cache
def sandbox_kind() -> str:
    """`bubblewrap` when it is installed and may make namespaces here, else `process-group`."""
    program = shutil.which("bwrap")
    if program is None:
        return PROCESS_GROUP
    probe = [program, *_NAMESPACES, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return PROCESS_GROUP
    return BUBBLEWRAP if done.returncode == 0 else PROCESS_GROUP


def command(cage: Cage, program: list[str], cgroup: Cgroup | None) -> list[str]:
    """The full command: a shell that sets the limits and joins the cgroup, then the cage, then the program."""
    limits = cage.limits
    # CUDA maps device memory into the address space: there the cgroup alone holds host memory down.
    addresses = limits.host_memory + (0 if cage.gpu is None else limits.device_memory + _DRIVER_ADDRESSES)
    steps = [
        "ulimit -c 0",
        f"ulimit -v {addresses // 1024}",
        f"ulimit -f {limits.file_bytes // 512}",
        f"ulimit -p {limits.processes} 2>/dev/null || true",
    ]
    if cgroup is not None:
        steps.append(f"echo $$ > {cgroup.joining_file}")
    steps.append('exec "$@"')
    caged = _bubblewrap(cage) if cage.isolated and sandbox_kind() == BUBBLEWRAP else []
    return ["/bin/sh", "-c", "; ".join(steps), "sh", *caged, *program]


def environment(cage: Cage) -> dict[str, str]:
    """What the child sees of the environment: an allow-list, nothing of the caller's secrets."""
    caged = cage.isolated and sandbox_kind() == BUBBLEWRAP
    scratch = SCRATCH if caged else str(cage.scratch)
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    env |= {
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(APP_ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        "TORCH_EXTENSIONS_DIR": f"{scratch}/extensions",
        "CUDA_CACHE_PATH": f"{scratch}/cuda",
        "MAX_JOBS": "4",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        MARKER: cage.nonce,
    }
    if cage.gpu is None:
        env |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "2"}
        if cage.isolated:
            # Fresh and freed host memory is filled with other bytes, so that memory nobody wrote cannot look right.
            env |= {"MALLOC_PERTURB_": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    else:
        env |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": str(cage.gpu)}
    if cage.arch is not None:
        env["TORCH_CUDA_ARCH_LIST"] = cage.arch
    return env


def _bubblewrap(cage: Cage) -> list[str]:
    """Flags in order: the later mount wins, so folders are hidden first and what Python needs is shown again."""
    room = str(cage.limits.file_bytes)
    flags = [*_NAMESPACES, "--ro-bind", "/", "/", "--dev", "/dev"]
    if cage.gpu is not None:
        for device in sorted(Path("/dev").glob("nvidia*")):
            flags += ["--dev-bind-try", str(device), str(device)]
    flags += ["--size", room, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", room, "--tmpfs", SCRATCH]
    hidden = [folder for folder in (*_HIDDEN, *map(str, cage.hidden)) if Path(folder).is_dir() and folder != "/"]
    for folder in hidden:
        if not Path(folder).is_symlink() and folder != SCRATCH:
            flags += ["--size", "65536", "--tmpfs", folder]
    for path in _needed():
        if any(path.is_relative_to(folder) for folder in (SCRATCH, *hidden)):
            flags += ["--ro-bind", str(path), str(path)]
    flags += ["--proc", "/proc", "--new-session", "--die-with-parent", "--chdir", SCRATCH]
    return [shutil.which("bwrap") or "bwrap", *flags]


def _needed() -> list[Path]:
    """Folders and files that the child's Python reads, wherever they lie."""
    wanted = [sys.prefix, sys.base_prefix, *(path for path in sys.path if "-packages" in path)]
    wanted += [path for name in ("LD_LIBRARY_PATH", "CUDA_HOME") for path in os.environ.get(name, "").split(":")]
    app = APP_ROOT / "app"
    wanted += [str(app / name) for name in ("__init__.py", "vocabulary.py", "errors.py", "verification")]
    return [Path(path) for path in dict.fromkeys(wanted) if path and Path(path).exists()]
