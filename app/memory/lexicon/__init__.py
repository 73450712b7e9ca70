"""The vocabulary of tasks as data: operations, families, regimes, topics and how people phrase them."""

from app.memory.lexicon.loader import load_lexicon
from app.memory.lexicon.values import Lexicon, Operation, PhrasePattern, SymbolPattern

__all__ = ["Lexicon", "Operation", "PhrasePattern", "SymbolPattern", "load_lexicon"]
