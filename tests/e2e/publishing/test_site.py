from __future__ import annotations

import re
from pathlib import Path

from runner_e2e.publishing import Destination, publish
from tests.e2e.publishing.support import BRANCH, Bare, make_report


def test_the_dashboard_links_only_to_what_is_on_the_branch(tmp_path: Path, server: Bare) -> None:
    for run in (1, 2):
        publish(make_report(tmp_path, run), Destination(branch=BRANCH, remote=server.url))

    page = server.read("index.html").decode()
    files = set(server.files())
    found = re.findall(r'(?:href|src)="([^"#?]+)', page)
    links = {link.removeprefix("./") for link in found if "://" not in link}
    assert "campaigns/gha-2-1/index.html" in links
    assert links <= files


def test_publishing_twice_gives_the_same_pages(tmp_path: Path) -> None:
    servers = [Bare(tmp_path / name) for name in ("one.git", "two.git")]
    reports = [make_report(tmp_path, run) for run in (1, 2, 3)]
    for server, order in zip(servers, (reports, reports[::-1]), strict=True):
        for report in order:
            publish(report, Destination(branch=BRANCH, remote=server.url))

    trees = [server.git("rev-parse", f"{BRANCH}^{{tree}}") for server in servers]
    assert trees[0] == trees[1]
