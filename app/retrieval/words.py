"""Splits texts of this field into index terms."""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z]+[0-9]*[A-Za-z0-9]*|[0-9]+(?:\.[0-9]+)?[A-Za-z]*")
_HUMP = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*[a-z]*|[0-9]+[a-z]*")
_STOPWORDS = frozenset(
    "a about all also an and any are as at be because been but by can could do does for from had has have how i if in "
    "into is it its itself just may me might more most must my no nor not of on one only or other our out over own "
    "please same should so some such than that the their them then there these they this those through to too up us "
    "use used using very was we were what when where which while who why will with would you your".split()
)


def terms(text: str) -> list[str]:
    """Lower-case terms in the order of the text: whole words, and the parts of names such as `ConvTranspose3d`."""
    return [term for word in _WORD.findall(text) for term in _terms_of(word)]


# The same words come again and again: a corpus of 100,000 items holds some 60,000 different ones.
@lru_cache(maxsize=65536)
def _terms_of(word: str) -> tuple[str, ...]:
    lowered = word.lower()
    if lowered in _STOPWORDS:
        return ()
    parts = _HUMP.findall(word)
    return (lowered, *(part.lower() for part in parts if len(part) > 1)) if len(parts) > 1 else (lowered,)
