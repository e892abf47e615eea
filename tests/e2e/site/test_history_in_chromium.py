from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner_e2e.contracts.history import INDEX_V1, CampaignRows, IndexCounts, IndexRow
from runner_e2e.history import History
from runner_e2e.site import assets, campaign_page, history_pages
from tests.support import showcase as the
from tests.support.chromium import Browser
from tests.support.documents import later

RED = "core.codex.local.hello"
STEADY = "core.codex.local.plan"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: object) -> None:
        """Say nothing: pytest shows what matters."""


def index_row(night: int, *, passed: int = 2, superseded_by: str | None = None) -> IndexRow:
    return IndexRow(
        campaign_id=f"gha-{1000 - night}-1",
        lane=None,
        started_at=later(-1440 * night),
        generated_at=later(-1440 * night),
        run_attempt=1,
        superseded_by=superseded_by,
        sha=f"{night:040x}",
        complete=True,
        cleanup_passed=True,
        counts=IndexCounts(
            selected=2, executed=2, passed=passed, failed=2 - passed, unresolved=0, flaky=0
        ),
        cost_usd=0.5,
        cost_complete=night > 0,
        bundle_bytes=1,
        url=f"campaigns/gha-{1000 - night}-1/",
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published site of four nights; the campaign of the newest one is there too."""
    root = tmp_path_factory.mktemp("site")
    series = {
        "core": the.make_series(
            {RED: ["failed", "failed", "passed", "passed"], STEADY: ["passed"] * 4}
        )
    }
    rows = CampaignRows(
        schema=INDEX_V1,
        campaigns=(
            index_row(0, passed=1),
            index_row(1, passed=1),
            index_row(2, superseded_by="gha-1000-1"),
            index_row(3),
        ),
    )
    files = {
        **assets(),
        **history_pages(History.empty().index, rows, series, verdicts={RED: "regression"}),
        "campaigns/gha-1000-1/index.html": campaign_page(*the.showcase()),
    }
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def test_the_history_loads_its_own_two_assets_and_nothing_else(
    browser: Browser, root: Path
) -> None:
    browser.open(root / "index.html")
    asked = sorted(url for url in browser.requests() if not url.startswith("data:"))
    assert asked == sorted((root / path).as_uri() for path in [*assets(), "index.html"])
    assert browser.problems() == []
    assert browser.evaluate("document.documentElement.dataset.ready") == "yes"
    assert browser.evaluate("getComputedStyle(document.body).margin") == "0px"


def test_the_same_pages_work_when_they_are_served(browser: Browser, root: Path) -> None:
    handler = partial(QuietHandler, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            browser.do("open", url=f"{address}/cells/core.html")
            assert browser.evaluate("document.documentElement.dataset.ready") == "yes"
            assert browser.evaluate("getComputedStyle(document.body).margin") == "0px"
            assert all(url.startswith((address, "data:")) for url in browser.requests())
            assert browser.problems() == []
        finally:
            browser.do("open", url="about:blank")
            server.shutdown()
            serving.join()


def test_campaigns_are_filtered_by_outcome_day_and_text(browser: Browser, root: Path) -> None:
    browser.open(root / "index.html")
    assert browser.text("#shown") == "3 of 4 campaigns shown"
    browser.click("#f-superseded")
    assert browser.text("#shown") == "4 of 4 campaigns shown"
    browser.do("choose", selector="#f-state", value="failed")
    assert browser.count("#rows tbody tr") == 2
    browser.do("fill", selector="#f-to", text="2026-11-29")
    assert browser.count("#rows tbody tr") == 1
    assert browser.fragment() == "superseded=yes&state=failed&to=2026-11-29"
    browser.do("reload")
    assert browser.count("#rows tbody tr") == 1
    browser.do("fill", selector="#q", text="gha-1000")
    assert browser.text("#nothing") == "No campaign fits the filters."


def test_a_red_cell_leads_to_its_timeline_and_on_to_the_campaign(
    browser: Browser, root: Path
) -> None:
    browser.open(root / "index.html")
    browser.click(f'a[href="cells/core.html#{RED}"]')
    browser.wait("document.getElementById('panel')?.open")
    said = browser.text("#panel")
    for part in ("regression", "Not green for", "2 campaigns", "29 Nov 2026", "28 Nov 2026"):
        assert part in said
    assert "300000000000…200000000000" in said
    browser.click('#panel a[href^="../campaigns/gha-1000-1/"]')
    browser.wait("document.title.includes('failed') && document.getElementById('panel')?.open")
    assert browser.fragment() == RED
    assert "1 of 3 matchers did not hold" in browser.text("#panel")


def test_two_campaigns_are_compared_cell_by_cell(browser: Browser, root: Path) -> None:
    browser.open(root / "cells" / "core.html")
    browser.do("choose", selector="#f-a", value="gha-998-1")
    browser.do("choose", selector="#f-b", value="gha-1000-1")
    assert browser.text("#shown") == "1 of 2 cells differ"
    assert browser.text(".change") == "passed → failed"
    assert browser.fragment() == "a=gha-998-1&b=gha-1000-1"
    browser.click("#rows a.open")
    browser.wait("document.getElementById('panel').open")
    browser.press("Escape")
    browser.wait("!location.hash.includes('cell')")
    assert browser.fragment() == "a=gha-998-1&b=gha-1000-1"
    browser.click("#reset")
    assert browser.text("#shown") == "2 of 2 cells shown"


def test_back_leaves_a_timeline(browser: Browser, root: Path) -> None:
    browser.open(root / "cells" / "core.html")
    browser.click("#rows a.open")
    browser.wait("document.getElementById('panel').open")
    browser.do("back")
    browser.wait("!document.getElementById('panel').open")
    assert browser.fragment() == ""


def test_without_javascript_the_nights_are_drawn_and_told(browser: Browser, root: Path) -> None:
    browser.open(root / "cells" / "core.html", script=False)
    assert "4 nights: 2 failed, 2 passed" in browser.evaluate("document.body.textContent")
    assert browser.count("#rows svg") == 2
    assert browser.count("#filters") == 0


@pytest.mark.parametrize("page", ["index.html", "cells/core.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1440])
def test_no_width_scrolls_sideways_and_axe_finds_nothing(
    browser: Browser, root: Path, page: str, scheme: str, width: int
) -> None:
    browser.open(root / page, width=width, scheme=scheme)
    assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.do("axe") == []


def test_axe_finds_nothing_in_an_open_timeline(browser: Browser, root: Path) -> None:
    browser.open(root / "cells" / "core.html", f"#{RED}")
    assert browser.count("#panel") == 1
    assert browser.do("axe") == []
