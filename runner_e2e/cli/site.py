"""``runner-e2e site``: the pages of a report, and a server to look at them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from runner_e2e.cli import options, output

app = typer.Typer(
    help="Build a report's page and serve it on this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="What aggregate wrote.", show_default=False)
]


@app.command()
def build(
    report: Directory,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Instead of REPORT/index.html.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the page of a campaign anew from its documents. Nothing is run."""
    from runner_e2e.cli.documents import read_document, read_plan
    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import Insights
    from runner_e2e.evidence.files import write_atomically
    from runner_e2e.site import campaign_page

    page = campaign_page(
        read_document(Campaign, report / "campaign.json"),
        read_document(Insights, report / "insights.json"),
        read_plan(report / "plan.json"),
    )
    target = out or report / "index.html"
    write_atomically(target, page)
    if json:
        output.answer_json({"page": str(target), "bytes": len(page)})
        return
    output.answer(str(target))


@app.command()
def serve(
    directory: Directory,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    json: options.Json = False,
) -> None:
    """Serve a report or a site on http://127.0.0.1 until interrupted."""
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    from runner_e2e.errors import UsageError

    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", hint="name what aggregate wrote")
    handler = partial(SimpleHTTPRequestHandler, directory=str(directory))
    try:
        # Loopback only: a report may hold what is not meant for the neighbours.
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used: {error.strerror}", hint="--port 0 takes a free one"
        ) from None
    with server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        if json:
            output.answer_json({"url": address})
        else:
            output.answer(address)
        output.narrate("Ctrl-C ends it")
        server.serve_forever()
