"""Honest: a compiled function takes its tensors in a list and writes into the last of them."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void scaled_gelu_kernel(const float* x, const float* scale, const float* residual, float* out,
                                   int channels, long count) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count) {
        float v = x[i] * scale[i % channels];
        out[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f)) + residual[i];
    }
}
void compute(std::vector<torch::Tensor> all) {
    long count = all[0].numel();
    scaled_gelu_kernel<<<(count + 255) / 256, 256>>>(all[0].data_ptr<float>(), all[1].data_ptr<float>(),
        all[2].data_ptr<float>(), all[3].data_ptr<float>(), all[1].numel(), count);
}
"""
MODULE = load_inline(
    name="listed_gelu",
    cpp_sources="void compute(std::vector<torch::Tensor> all);",
    cuda_sources=SOURCE,
    functions=["compute"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        out = torch.empty_like(x)
        MODULE.compute([x, self.scale, residual, out])
        return out
