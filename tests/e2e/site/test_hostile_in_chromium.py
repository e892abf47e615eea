from __future__ import annotations

from pathlib import Path

from runner_e2e.site import campaign_page
from tests.support import showcase as the
from tests.support.chromium import Browser
from tests.support.hostile import MARKUP, plant


def test_markup_in_every_field_does_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    campaign, insights, plan = the.showcase()
    page = campaign_page(
        plant(campaign, MARKUP)[0],
        plant(insights, MARKUP)[0],
        plant(plan, MARKUP)[0],
        verdicts={the.FAILED: MARKUP},
    )
    file = tmp_path / "index.html"
    file.write_bytes(page)
    browser.open(file)
    for execution_id in (the.FAILED, the.PASSED):
        browser.evaluate(f"location.hash = '{execution_id}'")
        browser.wait(f"document.querySelector('#panel code')?.textContent === '{execution_id}'")
        assert "<img src=x onerror=pwned=1>" in browser.text("#panel")
    assert browser.evaluate("typeof window.pwned") == "undefined"
    assert browser.count("img[src=x], svg[onload]") == 0
    assert browser.do("axe") == []
    assert not [text for text in browser.problems() if "ERR_FILE_NOT_FOUND" not in text]
    beside = tmp_path.as_uri()
    assert all(url.startswith((beside, "data:")) for url in browser.requests())
