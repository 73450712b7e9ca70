"""One lock for reading Python source.

`ast.parse` of Python 3.11 keeps its recursion depth in a place that all threads share: two threads that parse at once
can fail with `SystemError: AST constructor recursion depth mismatch` (repaired in 3.12). Filters of warnings are shared
as well. Parsing holds the interpreter anyway, so the lock costs nothing.
"""

import threading

PARSING = threading.RLock()
"""Held by whoever parses Python source."""
