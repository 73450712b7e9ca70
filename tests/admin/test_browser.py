"""A curator at work in a real browser, and every page as it looks at both widths, light and dark."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from app.store.database import Database
from tests.admin.conftest import Served, Watch
from tests.admin.figures import NIGHT, leave_runs
from tests.conftest import ROOT
from tests.service.processes import started

SCREENSHOTS = ROOT / "build" / "screenshots"
WIDTHS = {1280: 900, 390: 844}
KERNEL = "kpb-01011"
ALSO_NARROW = ("home", "items", "item", "playground", "kernel")
"""Pages that axe reads at the narrow width as well, where they are laid out in another way."""


@pytest.fixture(scope="module")
def kernels(served: Served) -> list[str]:
    database = Database(served.settings)
    found = leave_runs(database)
    database.dispose()
    return found


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """A browser's page, signed in; it must have complained of nothing and reached out to nobody."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    watch = Watch()
    watch.follow(opened, served.url)
    sign_in(opened, served)
    yield opened
    context.close()
    # A browser notes every answer of 400 and more; a form of a session that is over is answered so.
    assert [said for said in watch.complaints if "status of 401" not in said] == []
    assert watch.external == []


def sign_in(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin")
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{served.url}/admin")


def test_a_curators_day(page: Any, served: Served, kernels: list[str]) -> None:
    find_by_prose(page, served)
    vote_and_take_it_back(page, served)
    approve_what_waits(page, served)
    merge_duplicates(page, served)
    try_the_playground(page, served)
    open_last_nights_report(page, served)


def find_by_prose(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin/items")
    page.get_by_label("Search", exact=True).fill("batch norm after a transposed convolution, then average pooling")
    page.get_by_text("read as").wait_for()
    found = page.locator("#results .rows .id").first
    assert "best first" in page.locator("#results h2").inner_text()
    found.click()
    page.get_by_role("heading", name="History").wait_for()


def vote_and_take_it_back(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin/items/kpb-00013")
    votes = page.locator("aside .votes .up, aside .votes .none").first
    before = int(re.sub(r"\D", "", votes.inner_text()))
    page.locator("#vote-reason").fill("it won in two reviews")
    page.get_by_role("button", name="Add one vote").click()
    page.get_by_text("helpful +1 on kpb-00013").wait_for()
    history = page.locator("#history li").first
    assert "+1 helpful" in history.inner_text() and "it won in two reviews" in history.inner_text()
    assert int(re.sub(r"\D", "", page.locator("aside .votes .up").first.inner_text())) == before + 1
    history.get_by_role("button", name="Take back").click()
    page.get_by_text("The vote was taken back.").wait_for()
    assert "taken back" in page.locator("#history").inner_text()
    assert int(re.sub(r"\D", "", page.locator("aside .votes span").first.inner_text())) == before


def approve_what_waits(page: Any, served: Served) -> None:
    database = Database(served.settings)
    from app.retrieval.hashing import HashingEmbedder
    from app.services.curation import Curator, create
    from app.vocabulary import ItemKind, ItemStatus

    fields = {"status": ItemStatus.PENDING, "provenance": {"proposed_by": "agent-7"}}
    curator = Curator(database, HashingEmbedder(), "agent-7")
    proposed = create(curator, ItemKind.BULLET, "Applies to a softmax: keep each row in registers.", fields).id
    database.dispose()
    page.goto(f"{served.url}/admin/items?status=pending")
    page.get_by_label(f"Pick {proposed}").check()
    page.get_by_role("button", name="Approve…").click()
    page.get_by_role("heading", name="Approve 1 item?").wait_for()
    page.get_by_role("button", name="Approve", exact=True).click()
    page.get_by_text("1 item: approved.").wait_for()
    page.goto(f"{served.url}/admin/items/{proposed}")
    assert page.locator(".chip.active").count() == 1


def merge_duplicates(page: Any, served: Served) -> None:
    for words in (
        "Applies to a row sum: one block for each row.",
        "Applies to a row sum: give each row its own block.",
    ):
        page.goto(f"{served.url}/admin/items/new")
        page.get_by_label("Text", exact=True).fill(words)
        page.get_by_role("button", name="Add").click()
        page.get_by_text("was added.").wait_for()
    second = page.url.rpartition("/")[2]
    first = second[:-5] + f"{int(second[-5:]) - 1:05d}"
    page.goto(f"{served.url}/admin/merge?ids={first}&ids={second}")
    page.get_by_label(f"{first} stays").check()
    page.get_by_label("Reason").fill("they say the same")
    page.get_by_role("button", name="Merge").click()
    page.get_by_text(f"{second} merged into {first}.").wait_for()
    page.goto(f"{served.url}/admin/items/{second}")
    assert f"Merged into {first}" in page.inner_text("main")


def try_the_playground(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin/playground")
    page.get_by_label("Task", exact=True).fill("convT3d bn avgpool")
    page.get_by_label("Policy").select_option("lessons_only")
    page.get_by_label("Compare with").select_option("search")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("heading", name="Ranking").wait_for()
    assert page.locator("#ranking .part").count() > 3
    assert page.locator("#difference .came").count() > 0
    page.get_by_label("helped").first.check()
    page.get_by_role("button", name="Send feedback").click()
    page.get_by_text("Counted:").wait_for()


def open_last_nights_report(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin")
    page.get_by_role("link", name=NIGHT).first.click()
    page.get_by_role("heading", name=f"Night of {NIGHT}").wait_for()
    assert page.locator("figure .chart").count() == 2


def test_a_verification_is_ordered_followed_and_judged(page: Any, served: Served, kernels: list[str]) -> None:
    page.goto(f"{served.url}/admin/kernels/{KERNEL}")
    assert "No GPU worker is running" in page.inner_text("main")
    page.locator("#hardware").select_option("cpu-interpreter")
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("No worker for cpu-interpreter is running.").wait_for()
    page.set_default_timeout(150_000)
    worker = started(served.settings, "worker", "--gpu", "cpu")
    try:
        page.get_by_role("heading", name=re.compile("Verified|Static|Compile|Incorrect|No custom|Infra")).wait_for()
    finally:
        worker.terminate()
        worker.wait(timeout=60)
    assert "Evidence" in page.inner_text("main")
    page.goto(f"{served.url}/admin/kernels/{KERNEL}")
    assert page.get_by_text("cpu-interpreter").count() > 0


def test_what_is_half_written_survives_the_end_of_a_session(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin/items/kpb-00014/edit")
    page.get_by_label("Text", exact=True).fill("Typed for an hour; it must not be lost.")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Your session is over.").wait_for()
    page.get_by_label("Key", exact=True).fill(served.key)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="What you had typed").wait_for()
    page.get_by_role("button", name="Send it now").click()
    page.get_by_text("is at version 2 now").wait_for()
    assert "Typed for an hour" in page.inner_text("main")


def test_the_essentials_work_without_scripts(browser: Any, served: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, served)
    page.goto(f"{served.url}/admin/items?q=softmax")
    page.locator("#results .id").first.click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Reason").fill("no scripts")
    page.get_by_label("Section").fill("without scripts")
    page.get_by_role("button", name="Preview").click()
    assert "without scripts" in page.locator("#preview").inner_text()
    page.get_by_role("button", name="Save").click()
    assert "is at version 2 now" in page.inner_text("main")
    page.get_by_role("button", name="Dark").first.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    context.close()


def test_the_keyboard_reaches_everything_and_shows_where_it_is(page: Any, served: Served) -> None:
    page.goto(f"{served.url}/admin/items/kpb-00013")
    wanted = page.evaluate(
        "() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]"
        ".filter(e => e.getClientRects().length && e.tabIndex >= 0).length"
    )
    reached = set()
    for _ in range(wanted + 10):
        page.keyboard.press("Tab")
        told = page.evaluate(
            "() => { const e = document.activeElement; if (!e || e === document.body) return null;"
            " e.dataset.reached ??= String(document.querySelectorAll('[data-reached]').length);"
            " const s = getComputedStyle(e); return [e.dataset.reached, s.outlineStyle, s.outlineWidth]; }"
        )
        if told is not None:
            assert told[1] != "none" and told[2] != "0px", told
            reached.add(told[0])
    assert len(reached) >= wanted
    page.goto(f"{served.url}/admin/items")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


def addresses(kernels: list[str]) -> dict[str, str]:
    kernel = kernels[0]
    return {
        "home": "/admin",
        "items": "/admin/items",
        "items-ranked": "/admin/items?q=transposed+convolution+and+batch+norm",
        "item": "/admin/items/kpb-00013",
        "edit": "/admin/items/kpb-00013/edit",
        "new": "/admin/items/new",
        "merge": "/admin/merge?ids=kpb-00001&ids=kpb-00002",
        "kernels": "/admin/kernels",
        "kernel": f"/admin/kernels/{kernel}",
        "run": "/admin/runs/run-00000002",
        "nights": "/admin/nights",
        "night": f"/admin/nights/{NIGHT}",
        "findings": "/admin/findings",
        "readers": "/admin/readers",
        "keys": "/admin/keys",
        "exchange": "/admin/exchange",
        "playground": "/admin/playground",
        "refused": "/admin/items/no-such-item",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_clean_and_accessible_at_both_widths(
    browser: Any, served: Served, kernels: list[str], scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    watch = Watch()
    watch.follow(page, served.url)
    page.goto(f"{served.url}/admin/sign-in")
    faults += looked_at(page, "sign-in", scheme, axe)
    sign_in(page, served)
    for name, path in addresses(kernels).items():
        page.goto(served.url + path)
        if name == "playground":
            page.get_by_label("Task", exact=True).fill("convT3d bn avgpool")
            page.get_by_label("Compare with").select_option("verified")
            page.get_by_role("button", name="Try it").click()
            page.get_by_role("heading", name="Ranking").wait_for()
        faults += looked_at(page, name, scheme, axe)
    context.close()
    expected = "the server responded with a status of 404"
    assert [said for said in watch.complaints if expected not in said] == []
    assert watch.external == []
    assert faults == []


def looked_at(page: Any, name: str, scheme: str, axe: Any) -> list[str]:
    """Keeps a picture of the page at each width, and says what axe and a ruler find wrong with it."""
    faults = []
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        suffix = "" if scheme == "light" else "-dark"
        page.screenshot(path=SCREENSHOTS / f"{name}-{width}{suffix}.png", full_page=True)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            faults.append(f"{name} at {width}: wider than the screen")
        if width == 1280 or (scheme == "light" and name in ALSO_NARROW):
            found = axe.run(page).response["violations"]
            serious = [entry for entry in found if entry["impact"] in ("serious", "critical")]
            faults += [f"{name} at {width}, {scheme}: {e['id']}: {e['nodes'][0]['html'][:200]}" for e in serious]
    return faults
