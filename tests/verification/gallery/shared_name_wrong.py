"""Wrong, under an extension name that a right candidate uses too."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void shared_gelu_kernel(const float* x, const float* scale, const float* residual, float* out, int channels,
                         long count) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count) {
        float v = x[i] * scale[i % channels];
        out[i] = v + residual[i];
    }
}
torch::Tensor compute(torch::Tensor x, torch::Tensor scale, torch::Tensor residual) {
    auto out = torch::empty_like(x);
    long count = x.numel();
    shared_gelu_kernel<<<(count + 255) / 256, 256>>>(x.data_ptr<float>(), scale.data_ptr<float>(), residual.data_ptr<float>(),
        out.data_ptr<float>(), x.size(1), count);
    return out;
}
"""
MODULE = load_inline(
    name="shared_extension_name",
    cpp_sources="torch::Tensor compute(torch::Tensor x, torch::Tensor scale, torch::Tensor residual);",
    cuda_sources=SOURCE,
    functions=["compute"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        return MODULE.compute(x, self.scale, residual)
