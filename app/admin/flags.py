"""What the evaluator's flags mean to a curator, in a sentence each."""

_WHOLE = {
    "other_streams": "Work ran on other streams than the caller's; it was timed without the hold, so launches count.",
    "threads_left": "Threads of the candidate were still there afterwards.",
    "processes_left": "Processes of the candidate were still there afterwards.",
    "flooded": "The candidate printed more than it may.",
    "garbled": "The candidate's process sent records that nobody asked for.",
    "too_many_processes": "The candidate started more processes than it may.",
    "clock_mismatch": "The judge's own clock contradicts the time that the candidate's process claims.",
    "unjoined_stream": "Work went on after the caller's stream had ended.",
    "below_output_floor": "The outputs were written faster than the memory allows: they were not written.",
    "slowed_baseline": "Eager was slower beside the candidate than alone: the candidate held it up.",
    "excessive_speedup": "More than tenfold. Look at the kernel before you believe it; the score is capped.",
    "launch_bound": "The device waited for the host's launches; another make of host gives another ratio.",
}
_BEGINNING = {
    "call": "The source calls {}.",
    "use": "The source uses {}.",
    "import": "The source imports {}.",
    "patched": "{} was replaced or set in the candidate's process.",
    "switch": "The switch {} was turned.",
    "environment": "The environment variable {} was changed.",
    "while_timed": "Seen between timed rounds: {}.",
}


def meaning(flag: str) -> str:
    """One sentence on a flag; '' for a word that is not known here."""
    kind, colon, rest = flag.partition(":")
    if not colon:
        return _WHOLE.get(flag, "")
    what, at, line = rest.rpartition("@")
    name = f"{what} in line {line}" if at else rest
    return _BEGINNING[kind].format(name) if kind in _BEGINNING else ""
