"""Honest: the extension registers an operator, which is called through torch.ops."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <torch/library.h>
__global__ void scaled_gelu_kernel(const float* x, const float* scale, const float* residual, float* out,
                                   int channels, long count) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count) {
        float v = x[i] * scale[i % channels];
        out[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f)) + residual[i];
    }
}
torch::Tensor compute(const torch::Tensor& x, const torch::Tensor& scale, const torch::Tensor& residual) {
    auto out = torch::empty_like(x);
    long count = x.numel();
    scaled_gelu_kernel<<<(count + 255) / 256, 256>>>(x.data_ptr<float>(), scale.data_ptr<float>(),
        residual.data_ptr<float>(), out.data_ptr<float>(), scale.numel(), count);
    return out;
}
TORCH_LIBRARY(gallery_gelu, library) { library.def("compute(Tensor x, Tensor scale, Tensor residual) -> Tensor"); }
TORCH_LIBRARY_IMPL(gallery_gelu, CUDA, library) { library.impl("compute", compute); }
"""
load_inline(name="registered_gelu", cpp_sources="", cuda_sources=SOURCE, functions=[])


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        return torch.ops.gallery_gelu.compute(x, self.scale, residual)
