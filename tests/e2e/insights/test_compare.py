"""``compare`` as it is typed, against reports and a published history in files and over HTTP."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.contracts.base import dump
from tests.support.documents import IDS
from tests.support.nights import make_night, publish_nights, write_night

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Fourteen green nights, then one in which the second cell is red and confirmed."""
    root = tmp_path / "published"
    nights = [make_night(night, "GGG") for night in range(14)]
    publish_nights(root, [*nights, make_night(14, "GBI")])
    return root


@pytest.fixture
def served(published: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            return

    handler = functools.partial(Quiet, directory=str(published))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_what_changed_since_the_latest_green_campaign_is_told_with_how_sure_it_is(
    cli: Cli, published: Path
) -> None:
    code, out, _ = cli("compare", "latest-green", "latest", "--history", published)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == (
        "1 regression and 0 recoveries in 2 cells that both measured: as a whole not "
        "distinguishable from noise (p = 1.00; six to none is the least that would be)"
    )
    assert "gha-1013-1 at 0000000: 3 passed, 0 failed, $0.06, 3 min 00 s of testing" in lines[2]
    assert "gha-1014-1 at 0000000: 1 passed, 1 failed, 1 unmeasured" in lines[3]
    (regression,) = (line for line in lines if line.startswith("regression"))
    assert IDS[1] in regression
    assert "more than noise (q = 0.0029)" in regression
    assert "broken: red once, 2 repeats failed too" in regression
    (unmeasured,) = (line for line in lines if line.startswith("unmeasured"))
    assert "unmeasured: transient infrastructure" in unmeasured


def test_a_history_over_http_says_the_same_as_its_files(
    cli: Cli, published: Path, served: str
) -> None:
    first = cli("compare", "latest-green", "latest", "--history", published)
    assert cli("compare", "latest-green", "latest", "--history", served) == first


@pytest.mark.parametrize(
    ("letters", "fail_on", "expected"),
    [
        ("GBG", "broken", 1),
        ("GRG", "broken", 0),
        ("GRG", "regression", 1),
        ("GGG", "regression", 0),
        ("III", "regression", 1),  # nothing was measured, so nothing was shown
        ("GIG", "broken", 0),
    ],
)
def test_fail_on_tells_a_break_from_a_red_night(
    cli: Cli, tmp_path: Path, letters: str, fail_on: str, expected: int
) -> None:
    base = write_night(tmp_path / "base", make_night(0, "GGG"))
    candidate = write_night(tmp_path / "candidate", make_night(1, letters))
    code, _, _ = cli("compare", base, candidate / "campaign.json", "--fail-on", fail_on)
    assert code == expected
    assert cli("compare", base, candidate)[0] == 0


def test_one_red_night_is_not_distinguishable_from_noise(cli: Cli, tmp_path: Path) -> None:
    root = tmp_path / "published"
    publish_nights(root, [make_night(night, "GGG") for night in range(14)])
    candidate = write_night(tmp_path / "candidate", make_night(20, "RGG"))
    _, out, _ = cli("compare", "latest", candidate, "--history", root, "--json")
    found = json.loads(out)
    (cell, *_) = found["cells"]
    assert cell["change"] == "regression"
    assert cell["p"] == pytest.approx(1 / 15)
    assert cell["q"] == pytest.approx(0.2)
    assert cell["distinguishable"] is False
    assert cell["verdict"]["verdict"] == "new_failure"
    assert cell["verdict"]["since"]["campaignId"] == "gha-1020-1"


def test_another_definition_is_refused_unless_told(cli: Cli, tmp_path: Path) -> None:
    base = write_night(tmp_path / "base", make_night(0, "GGG"))
    campaign, insights, plan = make_night(1, "GRG")
    results = tuple(
        result.model_copy(update={"suite_definition_hash": "f" * 64}) for result in campaign.results
    )
    changed = campaign.model_copy(update={"results": results})
    candidate = write_night(tmp_path / "candidate", (changed, insights, plan))
    code, out, err = cli("compare", base, candidate)
    assert (code, out) == (2, "")
    assert "3 of the cells in both campaigns have another or an unknown definition, in smoke" in err
    assert "--allow-drift" in err
    code, out, _ = cli("compare", base, candidate, "--allow-drift")
    assert code == 0
    assert "Definitions differ (--allow-drift)" in out


def test_a_campaign_that_lies_alone_can_be_compared(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(dump(make_night(0, "GGG")[0]))
    (tmp_path / "b.json").write_bytes(dump(make_night(1, "GRG", cost=None)[0]))
    code, out, _ = cli("compare", tmp_path / "a.json", tmp_path / "b.json", "--format", "markdown")
    assert code == 0
    assert out.startswith("## 1 regression and 0 recoveries in 3 cells")
    assert "| Candidate | `gha-1001-1` | 2 passed, 1 failed, cost unknown" in out
    assert "$0.02 -> ?" in out


def test_campaigns_without_a_cell_in_common_have_a_defined_outcome(
    cli: Cli, tmp_path: Path
) -> None:
    base = write_night(tmp_path / "base", make_night(0, "G", ["smoke.a.local.b"]))
    candidate = write_night(tmp_path / "candidate", make_night(1, "G", ["smoke.a.local.c"]))
    code, out, _ = cli("compare", base, candidate)
    assert code == 0
    assert out.startswith("Nothing can be compared: no cell was measured in both campaigns")
    assert out.count("only in one") == 2


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("latest", "there is no history to look it up in"),
        ("gha-1-1", "there is no history to look it up in"),
    ],
)
def test_what_cannot_be_found_is_said(cli: Cli, tmp_path: Path, base: str, said: str) -> None:
    code, out, err = cli("compare", base, base, "--history", tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert said in err
    assert "no history: nothing was published at" in err


def test_a_campaign_whose_files_were_pruned_is_refused_with_a_reason(
    cli: Cli, published: Path
) -> None:
    for file in (published / "campaigns" / "gha-1000-1").iterdir():
        file.unlink()
    code, _, err = cli("compare", "gha-1000-1", "latest", "--history", published)
    assert code == 2
    assert "the files of gha-1000-1 are not at" in err
    code, _, err = cli("compare", "gha-999-1", "latest", "--history", published)
    assert code == 2
    assert "no campaign gha-999-1 was published at" in err


def test_a_broken_history_is_never_taken_for_none(cli: Cli, published: Path) -> None:
    (published / "history.json").write_text("{")
    code, _, err = cli("compare", "latest", "latest", "--history", published)
    assert code == 2
    assert "history rebuild" in err


def test_a_server_that_does_not_answer_means_no_history(cli: Cli, tmp_path: Path) -> None:
    base = write_night(tmp_path / "base", make_night(0, "GGG"))
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    code, out, err = cli("compare", base, base, "--history", f"http://127.0.0.1:{port}/x")
    assert code == 0
    assert "no history: " in err
    assert out.startswith("No change in 3 cells that both measured")
