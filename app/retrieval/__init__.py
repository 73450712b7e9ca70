"""Ids and similarities, nothing more: embedders, vector index, lexical index."""
