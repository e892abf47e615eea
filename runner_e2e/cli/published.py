"""``--history``: what was published before, from a directory or over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from runner_e2e.cli import output
from runner_e2e.errors import RunnerE2EError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import Insights
    from runner_e2e.contracts.judgement import CellVerdict
    from runner_e2e.contracts.plan import Plan
    from runner_e2e.history import History

MAX_BYTES = 64 * 1024 * 1024
"""The largest document that is read; ours are below 2 MiB."""
TIMEOUT_S = 20.0

Where = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="PATH|URL",
        envvar="RUNNER_E2E_HISTORY",
        help="What was published before: its directory, or where it is served.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A history that could be read, and the way to read more of what lies there."""

    where: str
    history: History
    read: Callable[[str], bytes | None]


class Unreachable(RunnerE2EError):
    """Nobody answered, or with something else than a document."""

    kind = "unreachable"


def open_history(where: str | None) -> Published | None:
    """Read the history at ``where``; ``None``, said on stderr, when there is none to be reached.

    Raises :class:`DocumentError` when there is one and it cannot be read: taking that for no
    history would call everything new.
    """
    if not where:
        return None
    from runner_e2e.history import History

    read = _remote(where) if urlsplit(where).scheme in {"http", "https"} else _local(Path(where))
    try:
        found = History.read(read)
    except Unreachable as error:
        output.narrate(f"no history: {error.message}")
        return None
    if not found.rows.campaigns:
        output.narrate(f"no history: nothing was published at {where} yet")
        return None
    newest = found.row(found.index.latest_campaign_id or "")
    history = replace(found, lane=newest.lane) if newest else found
    return Published(where=where, history=history, read=read)


def judged(
    published: Published | None, campaign: Campaign, insights: Insights, plan: Plan
) -> dict[str, CellVerdict]:
    """The verdict of every cell of ``campaign``, exactly as publishing it would find them."""
    from runner_e2e.contracts.history import BUNDLE_V1, BundleManifest
    from runner_e2e.history import History
    from runner_e2e.insights import all_verdicts

    history = published.history if published else History.empty()
    # Only the outcomes matter here; the files of the bundle are not looked at.
    manifest = BundleManifest(
        schema=BUNDLE_V1, campaign_id=campaign.campaign_id, files=(), bundle_digest="0" * 64
    )
    with_it = history.add(campaign, insights, plan, manifest, public_url="", lane=history.lane)
    return all_verdicts(with_it.series.values(), campaign.campaign_id)


def _local(directory: Path) -> Callable[[str], bytes | None]:
    from runner_e2e.contracts.scalars import is_confined

    def read(path: str) -> bytes | None:
        if not is_confined(path):
            return None
        try:
            return directory.joinpath(*PurePosixPath(path).parts).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unreachable(f"{directory / path} cannot be read: {error.strerror}") from None

    return read


def _remote(base: str) -> Callable[[str], bytes | None]:
    """Read over HTTP. A page that is not there is absent; everything else is an error."""
    import httpx

    from runner_e2e.contracts.scalars import is_confined

    prefix = base.rstrip("/")

    def read(path: str) -> bytes | None:
        if not is_confined(path):
            return None
        url = f"{prefix}/{path}"
        try:
            with httpx.stream("GET", url, timeout=TIMEOUT_S, follow_redirects=True) as response:
                if response.status_code in {404, 410}:
                    return None
                if response.status_code != httpx.codes.OK:
                    raise Unreachable(f"{url} answered {response.status_code}")
                return _whole(response.iter_bytes(), url)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"{url} cannot be reached: {error}") from None

    return read


def _whole(chunks: Iterator[bytes], url: str) -> bytes:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_BYTES:
            raise Unreachable(f"{url} is larger than {MAX_BYTES} bytes")
    return bytes(data)
