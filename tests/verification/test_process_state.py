"""Variables and switches: those that honest modules set are their own business, those that help to cheat are not."""

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from app.verification.process_state import environment, switches  # noqa: E402

HARMLESS = {
    "TRITON_CACHE_DIR": "/tmp/cache", "TORCH_EXTENSIONS_DIR": "/tmp/extensions", "TRITON_PTXAS_PATH": "/usr/bin/ptxas",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTORCH_ALLOC_CONF": "expandable_segments:True",
    "LD_LIBRARY_PATH": "/usr/local/cuda/lib64", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore", "TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_LOGS": "-all", "CUDA_LAUNCH_BLOCKING": "0",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip
WATCHED = {
    "CUDA_LAUNCH_BLOCKING": "1", "CUDA_VISIBLE_DEVICES": "1", "NVIDIA_TF32_OVERRIDE": "1", "LD_PRELOAD": "/tmp/x.so",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "PYTHONPATH": "/tmp",
    "TRITON_INTERPRET": "0", "OMP_PROC_BIND": "true", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*HARMLESS, *WATCHED):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def usual_torch() -> Iterator[None]:
    threads, gradients = torch.get_num_threads(), torch.is_grad_enabled()
    yield
    torch.set_num_threads(threads)
    torch.set_grad_enabled(gradients)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_variable_that_honest_modules_set_is_not_watched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment()
    monkeypatch.setenv(name, HARMLESS[name])
    assert environment() == before


@pytest.mark.parametrize("name", WATCHED)
def test_a_variable_that_changes_clocks_numbers_or_the_loader_is_watched(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = environment()
    monkeypatch.setenv(name, WATCHED[name])
    assert {found.removesuffix(" (C)") for found in set(environment()) - set(before)} == {name}


@pytest.mark.usefixtures("usual_torch")
def test_gradients_that_are_off_are_no_switch_and_the_number_of_threads_is() -> None:
    before = switches()
    torch.set_grad_enabled(False)
    assert switches() == before
    torch.set_num_threads(torch.get_num_threads() + 1)
    assert switches() != before


def test_inference_mode_left_on_is_a_switch() -> None:
    before = switches()
    with torch.inference_mode():
        assert switches() != before
