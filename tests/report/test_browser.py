"""The page in a real browser: Debian's Chromium, which install_browser.sh installs."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from fairmix.posterior.wording import percent
from fairmix.report import render
from tests.report.tables import CLOSING, IMAGE, SCRIPT, SOURCE, TEMPLATE, WOMEN

CHROMIUM = shutil.which("chromium")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
AXE = Path(os.environ.get("FAIRMIX_BROWSER") or CACHE / "fairmix-browser")
AXE = AXE / "node_modules" / "axe-core" / "axe.min.js"
INSTALL = "run tests/report/install_browser.sh as root"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=f"chromium is missing; {INSTALL}"),
    pytest.mark.skipif(
        find_spec("playwright") is None,
        reason="playwright is missing; it is in the group of packages 'test'",
    ),
]
needs_axe = pytest.mark.skipif(not AXE.exists(), reason=f"{AXE} is missing; {INSTALL}")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module", params=["summary_by_matching", "summary_with_all"])
def summary(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def path(summary, tmp_path_factory):
    written = tmp_path_factory.mktemp("report") / "report.html"
    written.write_text(render(summary), encoding="utf-8")
    return written


@pytest.fixture
def show(browser, path):
    """Open the page; what it asks for and what pops up is kept."""
    contexts = []

    def open_page(width=1440, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.popped_up, page.complaints = [], [], []
        context.route(
            "**/*", lambda route: (page.asked.append(route.request.url), route.continue_())
        )
        page.on("dialog", lambda dialog: (page.popped_up.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


def table_of(page, caption):
    """Give the cells of a table, line by line."""
    rows = page.locator("table", has=page.locator("caption", has_text=caption)).first.locator("tr")
    return [
        [" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()]
        for row in rows.all()
    ]


def test_what_one_reads_is_what_the_summary_has(show, summary):
    page = show()
    figures = page.locator(".figures .large").all_inner_texts()
    assert figures[0] == str(summary["n_clusters"]["labels"])
    sure = percent(summary["certainty"]["n_sure"] / summary["table"]["n_rows"])
    assert figures[1].replace("\N{NO-BREAK SPACE}", " ") == sure
    assert figures[2] == f"{summary['fairness']['gap']:.3f}"
    assert figures[3] == summary["chains"]["verdict"]
    attribute = next(a for a in summary["fairness"]["attributes"] if not a["is_crossed"])
    head, *lines = table_of(page, f"({attribute['name']})")
    assert [g["name"] in text for g, text in zip(attribute["groups"], head[1:-1], strict=True)]
    assert len(lines) == len(summary["clusters"])
    for line, cluster, shares in zip(
        lines, summary["clusters"], attribute["shares_by_cluster"], strict=True
    ):
        assert line[0] == f"{cluster['number']} {cluster['name']}"
        assert line[1:-1] == ["too few" if s is None else percent(s) for s in shares]
    cards = page.locator(".card")
    assert cards.count() == len(summary["clusters"])
    for k, cluster in enumerate(summary["clusters"]):
        assert f"{cluster['n_rows']} row" in cards.nth(k).inner_text()


def test_the_page_does_not_scroll_sideways(show):
    page = show()
    for _ in range(2):
        for width in (360, 768, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            wide, room = page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            assert wide <= room, width
        unfold(page)


def test_no_request_leaves_the_page(show, path):
    page = show()
    page.keyboard.press("End")
    page.wait_for_timeout(50)
    assert page.asked == [path.as_uri()]
    assert page.complaints == []


def test_the_page_can_be_read_without_script(show, summary):
    text = show(java_script_enabled=False).locator("main").inner_text()
    assert all(cluster["name"] in text for cluster in summary["clusters"])


def test_hostile_names_stay_text(show, summary):
    page = show()
    page.hover("main")
    page.wait_for_timeout(50)
    assert page.popped_up == []
    assert page.locator("script, img, main b, main i, main u, iframe").count() == 0
    assert page.locator("h1").count() == 1
    text = page.evaluate("document.body.textContent")
    wanted = [IMAGE, WOMEN]
    if summary["source"]["name"]:
        wanted += [SCRIPT, CLOSING, TEMPLATE, SOURCE["command"]]
        assert page.title() == f"Clusters of {SOURCE['name']}"
    assert [name for name in wanted if name not in text] == []


def test_wide_tables_can_be_scrolled_by_keyboard(show):
    page = show(360)
    unfold(page)
    unreachable = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(each => each.tabIndex !== 0 "
        "|| !each.getAttribute('aria-label')).length"
    )
    assert unreachable == 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the answer"


def test_dark_and_light_differ(show):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = (show(color_scheme=scheme).evaluate(colour) for scheme in ("light", "dark"))
    assert light != dark


def test_it_prints_on_white_with_nothing_folded_away(show, tmp_path):
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    folded = page.locator("details table").first
    assert folded.bounding_box()["height"] > 0
    printed = page.pdf(prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    assert b"/MediaBox [0 0 59" in printed  # A4 is 595 points wide


@needs_axe
@pytest.mark.parametrize("look", ["light", "dark", "print", "phone"])
def test_axe_finds_nothing_serious(show, look):
    """The page forbids all scripts, so axe comes in by a context that may pass over that."""
    scheme = "dark" if look == "dark" else "light"
    page = show(360 if look == "phone" else 1440, color_scheme=scheme, bypass_csp=True)
    if look == "print":
        page.emulate_media(media="print")
    unfold(page)
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert found["passes"]
    serious = [
        (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
