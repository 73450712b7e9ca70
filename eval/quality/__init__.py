"""Retrieval quality on graded queries: data, metrics, baselines and our ranking side by side."""
