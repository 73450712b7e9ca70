"""Families of problems, read off a problem's name and level, and likeness between names."""

import re

_LEVEL_3: tuple[tuple[str, str], ...] = (
    (r"RNN|LSTM|GRU", "rnn"),
    (r"Attention|Transformer|GPT|Mamba|Swin|ViT", "attention"),
    (r"NetVlad", "matmul"),
)

_LEVELS_1_2: tuple[tuple[str, str], ...] = (
    (r"ConvTranspose|conv_transposed", "conv_transpose"),
    (r"(?i:conv)", "conv"),
    (r"(?i:gemm|matmul|matrix|matrices)", "matmul"),
    (r"(?i:attention)", "attention"),
    (r"(?i:norm)", "norm"),
    (r"(?i:loss|entropy|kldiv)", "loss"),
    (r"(?i:pooling|pool)", "pooling"),
    (r"(?i:softmax)", "softmax"),
    (r"(?i:cum(?:sum|prod)|scan)", "scan"),
    (r"(?i:reduction|arg(?:max|min))", "reduction"),
)


def family_of(name: str, level: int) -> str:
    """Family of a problem by its name: the first matching rule of its level decides.

    Source: the naming scheme of KernelBench's levels 1 to 3. Level 3 falls back to `network`, others to `activation`.
    """
    rules, fallback = (_LEVEL_3, "network") if level >= 3 else (_LEVELS_1_2, "activation")
    return next((family for pattern, family in rules if re.search(pattern, name)), fallback)


def name_tokens(name: str) -> frozenset[str]:
    """The non-empty parts of a problem's name between underscores."""
    return frozenset(part for part in name.split("_") if part)


def name_likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard similarity in [0, 1]; 0 where both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0
