from __future__ import annotations

import base64
from pathlib import Path

import pytest

from runner_e2e.site import campaign_page
from tests.support import showcase as the
from tests.support.chromium import Browser

SCREENSHOT_WIDTHS = (360, 820, 1440)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OPEN = "document.getElementById('panel').open"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    campaign, insights, plan = the.showcase()
    series = {"core": the.make_series({the.FAILED: ["failed", "passed", "missing"]})}
    verdicts = {the.FAILED: "regression", the.FLAKY: "flaky"}
    file = tmp_path / "index.html"
    file.write_bytes(campaign_page(campaign, insights, plan, series=series, verdicts=verdicts))
    return file


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.open(page)
    return browser


def tile(execution_id: str) -> str:
    return f'a.t[id="{execution_id}"]'


def test_the_page_asks_for_nothing_but_itself_and_its_own_pictures(
    opened: Browser, page: Path
) -> None:
    beside = page.parent.as_uri()
    asked = [url for url in opened.requests() if not url.startswith("data:")]
    assert all(url.startswith(beside) for url in asked)
    assert not [text for text in opened.problems() if "ERR_FILE_NOT_FOUND" not in text]


def test_the_policy_would_stop_a_script_that_got_in(opened: Browser) -> None:
    stopped = opened.evaluate(
        "(() => { window.got = 0; const s = document.createElement('script');"
        " try { s.textContent = 'window.got = 1'; document.body.append(s); } catch {}"
        " return window.got; })()"
    )
    assert stopped == 0


def test_a_filter_leaves_what_fits_and_says_how_much(opened: Browser) -> None:
    opened.do("choose", selector="#f-state", value="unresolved")
    assert opened.count("a.t") == 2
    assert opened.text("#shown") == "2 of 19 cells shown"
    assert opened.fragment() == "state=unresolved"
    assert opened.count(".problem") == 2
    assert opened.count("#suite-extra") == 0


def test_search_finds_words_of_an_error_in_any_order(opened: Browser) -> None:
    opened.do("fill", selector="#q", text="HOLD matchers")
    assert opened.count("a.t") == 1
    assert opened.count(tile(the.FAILED)) == 1


def test_a_search_without_a_match_says_so(opened: Browser) -> None:
    opened.do("fill", selector="#q", text="no such thing")
    assert opened.count("a.t") == 0
    assert opened.text("#nothing") == "No cell fits the filters."
    opened.click("#reset")
    assert opened.count("a.t") == 17
    assert opened.count("#nothing") == 0


def test_filters_survive_in_the_address(browser: Browser, page: Path) -> None:
    browser.open(page, "#profile=claude&environment=local&verdict=")
    assert browser.count("a.t") == 3
    assert browser.evaluate("document.getElementById('f-profile').value") == "claude"
    browser.do("reload")
    assert browser.count("a.t") == 3


def test_a_verdict_can_be_filtered_for(opened: Browser) -> None:
    opened.do("choose", selector="#f-verdict", value="regression")
    assert opened.count("a.t") == 1
    assert opened.count(tile(the.FAILED)) == 1


def test_a_state_that_only_a_folded_suite_has_unfolds_it(opened: Browser) -> None:
    opened.do("choose", selector="#f-state", value="unselected")
    assert opened.count("a.t") == 2
    assert opened.count(tile(the.UNSELECTED)) == 1


def test_a_cell_opens_with_everything_that_is_known_of_it(opened: Browser) -> None:
    opened.click(tile(the.FAILED))
    opened.wait(OPEN)
    said = opened.text("#panel")
    for part in (
        "Single turn hello",
        "Codex native on Isolated local",
        "1 of 3 matchers did not hold",
        "message_exact",
        "E2E_OK_5f3a9c",
        "the last message is 'I am done.'",
        "regression",
        "3 nights: 1 failed, 1 unresolved, 1 passed",
        "scripted / scripted-1",
    ):
        assert part in said
    assert opened.fragment() == the.FAILED


def test_back_closes_a_cell_and_keeps_the_filter(opened: Browser) -> None:
    opened.do("choose", selector="#f-profile", value="codex")
    opened.click(tile(the.FAILED))
    opened.wait(OPEN)
    opened.do("back")
    opened.wait(f"!{OPEN}")
    assert opened.fragment() == "profile=codex"
    assert opened.count("#suite-core a.t") == 6


def test_a_permalink_opens_its_cell(browser: Browser, page: Path) -> None:
    browser.open(page, f"#{the.PASSED}")
    assert "Claude Code on Isolated local" in browser.text("#panel")
    assert "RUN-7" in browser.text("#panel")
    assert browser.count("#panel img") == 1


def test_a_permalink_to_nowhere_opens_nothing(browser: Browser, page: Path) -> None:
    browser.open(page, "#cell=core.nobody.local.hello&state=%00%zz&__proto__=1")
    assert browser.count("#panel") == 0
    assert not [text for text in browser.problems() if "ERR_FILE_NOT_FOUND" not in text]


def test_the_keyboard_alone_reaches_everything(opened: Browser) -> None:
    opened.press("/")
    assert opened.evaluate("document.activeElement.id") == "q"
    opened.press("Escape")
    opened.evaluate(f"document.querySelector('{tile(the.FAILED)}').focus()")
    opened.press("ArrowRight")
    assert opened.evaluate("document.activeElement.id") == "core.codex.local.plan"
    opened.press("ArrowDown")
    assert opened.evaluate("document.activeElement.id") == the.MISSING
    opened.press("Enter")
    opened.wait(OPEN)
    assert "missing" in opened.text("#panel")
    opened.press("j")
    assert opened.fragment() == "core.claude.local.question"
    opened.press("k")
    opened.press("Escape")
    assert opened.count("#panel") == 0
    assert opened.evaluate("document.activeElement.id") == the.MISSING


def test_one_tab_stop_leads_through_a_matrix(opened: Browser) -> None:
    assert opened.count('a.t[tabindex="0"]') == 1
    opened.evaluate(f"document.querySelector('{tile(the.FAILED)}').focus()")
    opened.press("ArrowDown")
    assert opened.count('a.t[tabindex="0"]') == 1


def test_a_public_picture_is_seen_from_a_file(browser: Browser, page: Path) -> None:
    picture = page.parent / "evidence" / the.PASSED / "attempt-1" / "final-state.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(PIXEL)
    browser.open(page)
    assert browser.evaluate("document.querySelector('.gallery img').naturalWidth") == 1
    assert browser.problems() == []


def test_without_javascript_every_state_and_every_cause_is_readable(
    browser: Browser, page: Path
) -> None:
    browser.open(page, script=False)
    said = browser.text("body")
    for part in (
        "2 failed, 1 clean-up failed and 2 unresolved of 17",
        "1 of 3 matchers did not hold",
        "missing",
        "$0.02",
    ):
        assert part in said
    assert browser.count("a.t") == 17
    assert browser.count("#filters") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SCREENSHOT_WIDTHS)
def test_no_width_scrolls_sideways_and_axe_finds_nothing(
    browser: Browser, page: Path, tmp_path: Path, scheme: str, width: int
) -> None:
    browser.open(page, width=width, scheme=scheme)
    assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.do("axe") == []
    browser.click('a[data-cell="core.codex.local.hello"]')
    browser.wait(OPEN)
    assert browser.do("axe") == []
    browser.do("screenshot", file=str(tmp_path / "page.png"))
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_axe_would_notice_a_picture_without_words(opened: Browser) -> None:
    opened.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [found for found in opened.do("axe") if found.startswith("image-alt")]


def test_dark_mode_is_dark(browser: Browser, page: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, scheme="light")
    light = browser.evaluate(background)
    browser.open(page, scheme="dark")
    assert light == "rgb(246, 247, 249)"
    assert browser.evaluate(background) == "rgb(15, 18, 23)"


def test_print_shows_the_words_and_leaves_the_controls_out(browser: Browser, page: Path) -> None:
    # A landscape page of A4 or letter paper is about this wide.
    browser.open(page, width=1000)
    browser.do("media", media="print")
    assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.count("#filters") == 0
    assert browser.count(".problem") > 0
    assert browser.count("a.t") == 17
