"""What can be read off a kernel's source without running it."""

import ast

from app.memory.identity import content_hash
from app.memory.parsing import PARSING
from app.records import KernelCode
from app.vocabulary import KernelLanguage

ENTRY_POINT = "ModelNew"
"""Class that a kernel defines by the contract of its problems; another one is taken only where this is missing."""


def kernel_code(source: str) -> KernelCode:
    """The code with its language (CUDA where it builds an inline extension) and entry point."""
    language = KernelLanguage.CUDA if "load_inline" in source or "__global__" in source else KernelLanguage.TRITON
    return KernelCode(source, language, _entry_point(source), content_hash(source))


def _entry_point(source: str) -> str:
    try:
        with PARSING:
            tree = ast.parse(source)
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ENTRY_POINT
    return classes[-1] if classes and ENTRY_POINT not in classes else ENTRY_POINT
