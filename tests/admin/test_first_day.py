"""The first day of a fresh playbook: the printed key, a first night by the real evaluator, its report in a browser."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.vocabulary import AuthMode, EmbedderName
from tests.admin.conftest import Served, Watch
from tests.admin.test_browser import sign_in
from tests.service.processes import command, printed, servers

KERNEL, CUDA_KERNEL = "kpb-01014", "kpb-01011"
"""One that the interpreter judges, and one that needs a GPU."""
KEY = re.compile(r"kpb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")


@pytest.mark.timeout(300)
@pytest.mark.skipif(not (find_spec("torch") and find_spec("triton")), reason="torch or triton is not installed")
def test_a_curator_signs_in_with_the_printed_key_and_reads_the_report_of_a_real_night(
    browser: Any, tmp_path: Path
) -> None:
    settings = Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH, auth=AuthMode.KEYS)
    for words in (["migrate"], ["import", "bullets", "--if-empty"]):
        done = command(settings, *words)
        assert done.returncode == 0, done.stderr.decode()
    with servers(settings, 1, (), PLAYBOOK_AUTH="keys") as (url,):
        key = KEY.search(printed(url))
        assert key is not None, printed(url)
        night = command(settings, "nightly", "--cpu", "--work", "--json", "--kernel", KERNEL, "--kernel", CUDA_KERNEL)
        assert night.returncode == 0, night.stderr.decode()[-2000:]
        report = json.loads(night.stdout)
        page = browser.new_context().new_page()
        watch = Watch()
        watch.follow(page, url)
        sign_in(page, Served(url, key[0], settings))
        page.get_by_role("link", name=report["date"]).first.click()
        page.get_by_role("heading", name=f"Night of {report['date']}").wait_for()
        assert KERNEL in page.inner_text("main")
        not_judged = page.locator("section", has=page.get_by_role("heading", name="Not judged"))
        assert f"{CUDA_KERNEL} CUDA C++ cannot run on cpu-interpreter" in " ".join(not_judged.inner_text().split())
        assert json.loads(kept(page, "Its figures (JSON)")) == report
        assert kept(page, "Report to keep").startswith("<!doctype html>")
        page.locator("table").get_by_role("link", name=KERNEL).first.click()
        page.get_by_role("heading", name=KERNEL).wait_for()
        assert page.get_by_text("cpu-interpreter").count() > 0
        assert (watch.complaints, watch.external) == ([], [])
        page.context.close()


def kept(page: Any, name: str) -> str:
    """The content of the file that a link gives."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    return Path(waiting.value.path()).read_text(encoding="utf-8")
