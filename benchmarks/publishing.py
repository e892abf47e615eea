"""What a publication costs on a branch that has grown for years.

Run with ``python -m benchmarks.publishing [big] [flat] [growth]`` (all three by default).

``big``     20,000 files and 400 MB: against "clone depth 1, copy, commit, push" in the same run.
``flat``    time and received bytes with 10, 100 and 1,000 published campaigns.
``growth``  500 campaigns of 100 cells: depth-1 clone, packed growth a campaign, ``index.json``.

Prints JSON; exits 1 when a limit of issue 8 is missed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.aggregation import ids, result_of
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.history import History, campaign_path
from runner_e2e.publishing import Destination, prune, publish
from runner_e2e.publishing.bundle import MANIFEST_FILE, make_manifest
from runner_e2e.publishing.lanes import lane_files, render_site
from runner_e2e.reports import junit_xml, summary_markdown
from runner_e2e.site import campaign_page
from tests.e2e.publishing.git_server import TOKEN, git_server
from tests.e2e.publishing.support import BRANCH, Bare, clean_environment, git, run_url
from tests.support.artifacts import digest_of
from tests.support.documents import (
    later,
    make_campaign,
    make_campaign_source,
    make_insights,
    make_plan,
)

BIG_FILES = 20_000
BIG_BYTES = 400_000_000
BIG_RECEIVED = 5_000_000
BIG_SHARE = 1 / 20
FLAT_CAMPAIGNS = (10, 100, 1_000)
FLAT_BYTES = 1_000_000
FLAT_TIMES = 3.0
CAMPAIGNS = 500
CELLS = 100
SAMPLE = 20
RED = 0.03
CLONE_BYTES = 6 * 1024 * 1024
GROWTH_BYTES = 150_000
INDEX_BYTES = 256 * 1024

Files = dict[str, bytes]
FIRST_RUN = 15_000_000_000


def night_of(night: int, cells: int) -> tuple[Campaign, Insights, Plan]:
    """A night's campaign; nothing in it is as the night before."""
    source = make_campaign_source(workflow_run_url=run_url(FIRST_RUN + night))
    names = ids(cells)
    plan = make_plan(names, source=source)
    jitter = random.Random(night)  # noqa: S311 - a figure must come out the same twice
    results = []
    for number, name in enumerate(names):
        result = result_of(night * 10_000 + number, name)
        changes: dict[str, Any] = {
            "started_at": later(night * 1440 + number / 7),
            "finished_at": later(night * 1440 + number / 7 + 3),
            "duration_ms": jitter.randrange(20_000, 400_000),
        }
        if jitter.random() < RED:
            changes |= {"status": "failed", "failure_class": "candidate_failure", "error": "no"}
        results.append(result.model_copy(update=changes))
    campaign = make_campaign(results, plan=plan, campaign_id=f"gha-{FIRST_RUN + night}-1")
    return campaign, make_insights(campaign, plan=plan), plan


def files_of(campaign: Campaign, insights: Insights, plan: Plan) -> Files:
    """The report of a campaign."""
    return {
        "campaign.json": dump(campaign),
        "insights.json": dump(insights),
        "plan.json": dump(plan),
        "summary.md": summary_markdown(campaign, insights, plan).encode(),
        "junit.xml": junit_xml(campaign, insights, plan),
        "index.html": campaign_page(campaign, insights, plan),
    }


def write_report(directory: Path, files: Mapping[str, bytes]) -> Path:
    """Lay a report down."""
    directory.mkdir()
    for path, data in files.items():
        (directory / path).write_bytes(data)
    return directory


def grown(server: Bare, campaigns: int, cells: int, bundles: int) -> None:
    """Put the state after ``campaigns`` nights on the branch, of which ``bundles`` are whole."""
    history = History.empty()
    files: dict[str, bytes | None] = {".nojekyll": b""}
    for night in range(campaigns):
        campaign, insights, plan = night_of(night, cells)
        whole = night >= campaigns - bundles
        # Of a bundle that was pruned only the manifest is left, with digests of what is gone.
        lost = {f"{number}.json": os.urandom(32) for number in range(6)}
        report = files_of(campaign, insights, plan) if whole else lost
        listed = [digest_of(path, data) for path, data in report.items()]
        manifest = make_manifest(campaign.campaign_id, listed)
        folder = campaign_path(campaign.campaign_id)
        history = history.add(campaign, insights, plan, manifest, public_url=folder)
        files[folder + MANIFEST_FILE] = dump(manifest)
        if whole:
            files.update({folder + path: data for path, data in report.items()})
        else:
            history = history.pruned({campaign.campaign_id})
    files.update(lane_files(history, render_site))
    server.write(files)


def timed(action: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def through_http(server: Bare, report: Path) -> tuple[float, int]:
    """Publish through a real git server: seconds, and bytes that came back."""
    server.git("config", "http.receivepack", "true")
    with git_server(server.path.parent) as hosted:
        remote = hosted.address(server.path.name)
        destination = Destination(branch=BRANCH, remote=remote, token=TOKEN)
        seconds = timed(lambda: publish(report, destination))
        return seconds, hosted.sent


def big(scratch: Path) -> tuple[dict[str, float], bool]:
    """A branch of others' files, and the naive way in the same run."""
    server = Bare(scratch / "server.git")
    server.git("config", "core.compression", "0")
    grown(server, 3, 10, 3)
    noise = random.Random(1)  # noqa: S311 - a figure must come out the same twice
    size = BIG_BYTES // BIG_FILES
    for start in range(0, BIG_FILES, 2_000):
        server.write(
            {
                f"archive/{number // 25}/{number}.bin": noise.randbytes(size)
                for number in range(start, start + 2_000)
            }
        )
    report = write_report(scratch / "report", files_of(*night_of(1_000, 10)))
    _, received = through_http(server, report)
    again = write_report(scratch / "again", files_of(*night_of(1_001, 10)))
    destination = Destination(branch=BRANCH, remote=server.url)
    ours = timed(lambda: publish(again, destination))

    def naively() -> None:
        clone = scratch / "clone"
        git(scratch, "clone", "-q", "--depth=1", "--branch", BRANCH, server.url, str(clone))
        shutil.copytree(report, clone / "campaigns" / "naive")
        git(clone, "add", "-A")
        git(clone, "commit", "-q", "-m", "naive")
        git(clone, "push", "-q")

    naive = timed(naively)
    figures = {"seconds": ours, "naive_seconds": naive, "share": ours / naive}
    good = received < BIG_RECEIVED and ours / naive <= BIG_SHARE
    return figures | {"received_bytes": received}, good


def flat(scratch: Path) -> tuple[dict[str, Any], bool]:
    """The same publication on ever longer histories; the best of three, an add at a time."""
    figures: dict[str, Any] = {}
    for campaigns in FLAT_CAMPAIGNS:
        place = scratch / str(campaigns)
        server = Bare(place / "server.git")
        grown(server, campaigns, 4, 30)
        runs = []
        for extra in range(3):
            files = files_of(*night_of(campaigns + extra, 4))
            runs.append(through_http(server, write_report(place / f"report-{extra}", files)))
        figures[str(campaigns)] = {
            "seconds": min(seconds for seconds, _ in runs),
            "received_bytes": min(received for _, received in runs),
        }
    least, most = figures[str(FLAT_CAMPAIGNS[0])], figures[str(FLAT_CAMPAIGNS[-1])]
    good = (
        most["received_bytes"] - least["received_bytes"] < FLAT_BYTES
        and most["seconds"] < least["seconds"] * FLAT_TIMES
    )
    return figures, good


def packed(server: Bare) -> int:
    """Bytes of the repository after a full repack."""
    server.git("repack", "-adfq", "--window=50")
    server.git("prune-packed", "-q")
    return sum(file.stat().st_size for file in (server.path / "objects").rglob("*.pack"))


def growth(scratch: Path) -> tuple[dict[str, float], bool]:
    """500 nights of 100 cells: the last ones are published for real, the others laid down."""
    server = Bare(scratch / "server.git")
    grown(server, CAMPAIGNS - SAMPLE, CELLS, 30)
    before = packed(server)
    destination = Destination(branch=BRANCH, remote=server.url)
    seconds = []
    for night in range(CAMPAIGNS - SAMPLE, CAMPAIGNS):
        report = write_report(scratch / f"report-{night}", files_of(*night_of(night, CELLS)))
        seconds.append(timed(lambda report=report: publish(report, destination)))  # type: ignore[misc]  # the loop's own report
    after = packed(server)
    prune(destination)
    git(scratch, "clone", "-q", "--bare", "--depth=1", "--branch", BRANCH, server.url, "clone")
    clone = sum(file.stat().st_size for file in (scratch / "clone" / "objects").rglob("*.pack"))
    index = len(server.read("index.json"))
    figures = {
        "seconds_a_publication": sorted(seconds)[len(seconds) // 2],
        "packed_growth_bytes": (after - before) / SAMPLE,
        "clone_bytes": clone,
        "index_bytes": index,
        "history_bytes": len(server.read("history.json")),
        "cells_bytes": len(server.read("cells/suite-000.json")),
    }
    good = (
        clone <= CLONE_BYTES and (after - before) / SAMPLE <= GROWTH_BYTES and index <= INDEX_BYTES
    )
    return figures, good


PARTS: Mapping[str, Callable[[Path], tuple[dict[str, Any], bool]]] = {
    "big": big,
    "flat": flat,
    "growth": growth,
}


def parts(names: list[str]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Measure each part in a directory of its own."""
    for name in names:
        with tempfile.TemporaryDirectory(prefix="bench-publishing-") as scratch:
            figures, good = PARTS[name](Path(scratch))
        yield name, figures, good


def main(names: list[str]) -> int:
    """Print the figures; 1 when a limit is missed."""
    os.environ.update(clean_environment())
    missed = False
    for name, figures, good in parts(names or list(PARTS)):
        print(json.dumps({name: figures, "kept": good}), flush=True)
        missed = missed or not good
    version = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True)
    print(json.dumps({"git": version.stdout.strip()}))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
