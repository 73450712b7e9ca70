"""Which GPUs this host has, asked without torch, so that the judge stays small."""

import os
import subprocess

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def gpu_names() -> dict[int, str]:
    """Index -> name of every GPU that may be used here; empty where there is none.

    Indices are nvidia-smi's (by PCI bus). `CUDA_VISIBLE_DEVICES` narrows them where it holds plain indices.
    """
    query = ["nvidia-smi", "--query-gpu=index,name", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for line in done.stdout.splitlines():
        index, _, name = line.partition(",")
        if index.strip().isdigit():
            found[int(index)] = name.strip()
    allowed = os.environ.get(_VISIBLE)
    if allowed is None or not all(part.strip().isdigit() for part in allowed.split(",")):
        return found
    return {index: found[index] for index in map(int, allowed.split(",")) if index in found}
