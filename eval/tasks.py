"""Tasks as agents send them, as many as a benchmark needs, no two alike: code, prose, paraphrases and terse notes.

A task is one heavy operation and a tail of two to four others, with sizes of its own. Everything follows from the seed.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from app.records import Problem


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: how a module builds and calls it, its name, a way to say it without the name, its note."""

    build: str
    call: str
    named: str
    described: str
    terse: str


HEADS = (
    Step("nn.Conv2d({a}, {b}, 3, padding=1)", "self.m0(x)", "Conv2d({a}, {b}, kernel 3)",
         "slide learned 3-by-3 filters over an image of {a} channels", "conv2d"),
    Step("nn.Conv3d({a}, {b}, 3)", "self.m0(x)", "Conv3d({a}, {b}, kernel 3)",
         "slide learned cubic filters over a volume of {a} channels", "conv3d"),
    Step("nn.ConvTranspose2d({a}, {b}, 4, stride=2)", "self.m0(x)", "ConvTranspose2d({a}, {b}, stride 2)",
         "upsample a map of {a} channels with learned strided filters", "convT2d"),
    Step("nn.ConvTranspose3d({a}, {b}, 3, stride=2)", "self.m0(x)", "ConvTranspose3d({a}, {b}, stride 2)",
         "spread a volume of {a} channels onto a finer grid with learned filters", "convT3d"),
    Step("nn.Linear({a}, {b})", "self.m0(x)", "Linear({a}, {b})",
         "project every row of {a} entries affinely", "linear"),
)  # fmt: skip
TAILS = (
    Step("", "torch.relu(x)", "ReLU", "drop what is negative", "relu"),
    Step("", "F.gelu(x)", "GELU", "weight each entry by its Gaussian probability", "gelu"),
    Step("", "x * torch.sigmoid(x)", "Swish", "gate every entry by its own logistic value", "swish"),
    Step("", "F.mish(x)", "Mish", "gate by the hyperbolic tangent of the softened magnitude", "mish"),
    Step("", "torch.tanh(x)", "Tanh", "squash between minus one and one", "tanh"),
    Step("", "torch.clamp(x, -{c}, {c})", "Clamp to +-{c}", "bound the entries at {c} on either side", "clamp"),
    Step("", "x * 0.{c}", "multiply by 0.{c}", "shrink everything by a fixed factor", "scale"),
    Step("", "F.hardswish(x)", "HardSwish", "gate by a ramp that saturates", "hswish"),
    Step("nn.GroupNorm(8, {b})", "self.m{i}(x)", "GroupNorm with 8 groups",
         "standardise within eight blocks of channels", "groupnorm"),
    Step("nn.Parameter(torch.randn({b}, 1, 1))", "x + self.m{i}", "add a learned bias of {b}",
         "shift by a learned vector of {b}", "bias"),
    Step("", "torch.logsumexp(x, dim=1, keepdim=True)", "LogSumExp over dim 1",
         "reduce to the log of the summed exponentials", "lse"),
    Step("", "torch.softmax(x, dim=1)", "Softmax over dim 1",
         "turn each column of channels into shares that sum to one", "softmax"),
    Step("", "torch.mean(x, dim=-1, keepdim=True)", "mean over the last dim",
         "average along the last axis", "mean"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wordings:
    """One task in every wording."""

    name: str
    code: str
    prose: str
    paraphrase: str
    terse: str


def tasks(seed: int) -> Iterator[Wordings]:
    """Endless tasks; the same seed gives the same ones."""
    draw = random.Random(seed)
    number = 0
    while True:
        number += 1
        steps = [draw.choice(HEADS), *draw.sample(TAILS, draw.randint(2, 4))]
        sizes = {"a": 8 * draw.randint(2, 128), "b": 8 * draw.randint(2, 128), "c": draw.randint(2, 9)}
        yield _worded(steps, sizes, batch=16 + number)


def problems(count: int, seed: int = 0) -> list[Problem]:
    """Problems for a corpus that has none, named as KernelBench names its own."""
    stream = tasks(seed)
    found = []
    for number in range(1, count + 1):
        name = next(stream).name
        family = "matmul" if name.startswith("Linear") else "conv_transpose" if "Transpose" in name else "conv"
        found.append(Problem(f"syn_{number:03d}", "synthetic", 2, number, name, family))
    return found


def _worded(steps: list[Step], sizes: dict[str, int], batch: int) -> Wordings:
    filled = [
        Step(*(getattr(step, field).format(**sizes, i=place) for field in Step.__slots__))
        for place, step in enumerate(steps)
    ]
    named, described = [step.named for step in filled], [step.described for step in filled]
    return Wordings(
        name="_".join(step.named.split("(")[0].split(" ")[0] for step in filled),
        code=_module(filled, sizes, batch),
        prose=f"I need a faster fused Triton or CUDA kernel for {', then '.join(named)}, on an fp32 input of batch "
        f"{batch}. The output must match eager PyTorch within 1e-4.",
        paraphrase=f"{', '.join(described[:-1]).capitalize()}, and finally {described[-1]}; {batch} samples.",
        terse=" ".join(step.terse for step in filled) + f" fused, bs{batch}",
    )


def _module(steps: list[Step], sizes: dict[str, int], batch: int) -> str:
    built = "\n".join(f"        self.m{place} = {step.build}" for place, step in enumerate(steps) if step.build)
    called = "\n".join(f"        x = {step.call}" for step in steps)
    shape = f"({batch}, {sizes['a']})" if "Linear" in steps[0].build else f"({batch}, {sizes['a']}, 16, 32, 32)"
    if "2d" in steps[0].build:
        shape = f"({batch}, {sizes['a']}, 64, 64)"
    return (
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
        f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{built}\n\n"
        f"    def forward(self, x):\n{called}\n        return x\n\n\n"
        f"def get_inputs():\n    return [torch.rand{shape}]\n\n\ndef get_init_inputs():\n    return []\n"
    )
