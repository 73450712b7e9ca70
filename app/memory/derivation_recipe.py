"""What derived records are made with: when it changes, they are derived anew."""

import hashlib
from functools import cache
from importlib.resources import files

RULES = 3
"""Number of the rules that read an item's opening; raise it when app.memory.derivation or app.memory.task changes."""


@cache
def fingerprint() -> str:
    """Hash (hex) over the rules' number and the vocabulary's data files."""
    digest = hashlib.sha256(str(RULES).encode())
    folder = files("app.memory.lexicon")
    for file in sorted((entry for entry in folder.iterdir() if entry.name.endswith(".json")), key=lambda e: e.name):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
