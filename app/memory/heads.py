"""The opening of an item, which says when it applies: the part that is worth embedding."""

import re

LONGEST_HEAD = 480
"""Characters; about 110 tokens, well inside the 256 that MiniLM reads."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[])|\n\n+")


def head(text: str) -> str:
    """The first sentences of a text, as many as fit into LONGEST_HEAD characters; at least one, cut if need be."""
    flat = text.strip()
    taken = ""
    for sentence in _SENTENCE_END.split(flat):
        longer = f"{taken} {sentence}".strip()
        if len(longer) > LONGEST_HEAD:
            break
        taken = longer
    return taken or flat[:LONGEST_HEAD]
