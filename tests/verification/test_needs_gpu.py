"""Which exceptions say that a device was missing, and how a child describes what was raised."""

import socket

import pytest

from app.verification.facts import PhaseEnd
from app.verification.needs_gpu import needs_gpu
from app.verification.service import TEXT_LIMIT, serve
from app.verification.wire import Wire

CUDA_ONLY = (
    "Could not run 'own::gelu' with arguments from the 'CPU' backend. This could be because the operator doesn't exist "
    "for this backend. 'own::gelu' is only available for these backends: [{}, Meta, BackendSelect, AutogradCUDA].\n"
)
FRAME = '\n  File "candidate.py", line 22, in forward\n    '
REFUSALS = (
    ("NotImplementedError", CUDA_ONLY.format("CUDA")),
    ("RuntimeError", "CPU tensors are not supported by this kernel"),
    ("RuntimeError", "this kernel does not support CPU tensors"),
    ("ValueError", "Unsupported device: cpu"),
    ("NotImplementedError", "no CPU implementation"),
    ("NotImplementedError", "the CPU path is not implemented"),
    ("RuntimeError", "cannot run on CPU"),
    ("RuntimeError", "x must be a CUDA tensor"),
    ("AssertionError", FRAME + 'assert x.device.type != "cpu"\nAssertionError'),
    ("AssertionError", FRAME + "assert 'cpu' != x.device.type\nAssertionError"),
    ("AssertionError", FRAME + "assert x.device != torch.device('cpu')\nAssertionError"),
    ("AssertionError", FRAME + "assert 'cuda' in str(x.device)\nAssertionError"),
    ("AssertionError", FRAME + "assert not x.is_cpu\nAssertionError"),
    ("AssertionError", "bad device" + FRAME + "assert ( x.is_cuda and y.is_cuda ), 'bad device'\nAssertionError"),
)
MISTAKES = (
    ("NotImplementedError", CUDA_ONLY.format("XPU")),
    ("NotImplementedError", "\"addmm_impl_cpu_\" not implemented for 'Int'"),
    ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    ("RuntimeError", "Tensor on device cpu is not on the expected device meta!"),
    ("ValueError", "not enough values to unpack (expected 2, got 1)"),
    ("TypeError", "forward() missing 1 required positional argument: 'residual'"),
    ("NameError", "name 'CPU' is not supported"),
    ("AssertionError", FRAME + "assert x.shape == y.shape\nAssertionError"),
    ("AssertionError", FRAME + "assert x.device == y.device\nAssertionError"),
    ("AssertionError", "bad shape" + FRAME + "assert (\nAssertionError: bad shape"),
)


@pytest.mark.parametrize(("error_type", "detail"), REFUSALS)
def test_words_against_tensors_of_the_cpu_are_a_missing_device(error_type: str, detail: str) -> None:
    assert needs_gpu(PhaseEnd("correctness", "error", detail, error_type))


@pytest.mark.parametrize(("error_type", "detail"), MISTAKES)
def test_an_ordinary_mistake_is_no_missing_device(error_type: str, detail: str) -> None:
    assert not needs_gpu(PhaseEnd("correctness", "error", detail, error_type))


def described(message: str) -> str:
    """How a child tells of a RuntimeError with this message."""
    here, there = map(Wire, socket.socketpair())

    def innermost() -> None:
        raise RuntimeError(message)

    here.send({"id": "1", "op": "fail"})
    here.sock.shutdown(socket.SHUT_WR)
    serve(there, {"fail": innermost})
    record = here.receive()
    here.sock.close()
    there.sock.close()
    assert record is not None
    return str(record["error"]["text"])


def test_a_long_description_keeps_the_message_and_the_innermost_frames() -> None:
    text = described("the head" + " and so on" * 1000)
    assert len(text) <= TEXT_LIMIT
    assert text.startswith("the head and so on")
    assert "in innermost\n    raise RuntimeError(message)\n" in text


def test_a_short_description_is_whole() -> None:
    text = described("the head")
    assert text.startswith("the head\n")
    assert text.endswith("RuntimeError: the head\n")
