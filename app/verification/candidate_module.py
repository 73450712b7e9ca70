"""The candidate's source as a module of its own process."""

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from app.verification.interpreter import loop_range

MODULE_NAME = "candidate"


def import_source(source: str, interpreted: bool) -> Any:
    """The candidate's module, from a file in scratch: Triton reads the source of kernels from it.

    The file's name carries the hash of its content, as extension names may be shared but sources are not.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    path = Path(os.environ["TMPDIR"]) / f"{MODULE_NAME}_{digest}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(MODULE_NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    if interpreted:
        vars(module)["range"] = loop_range
    sys.modules[MODULE_NAME] = module
    spec.loader.exec_module(module)
    return module
