"""Rebuilds rows from rendered contexts: what one policy shows and another does not tells what an item is."""

from app.memory.recovery.document import recover

__all__ = ["recover"]
