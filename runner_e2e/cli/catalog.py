"""``runner-e2e catalog``: look at the catalog without spending anything."""

from __future__ import annotations

import typer

from runner_e2e.cli import options, output

app = typer.Typer(help="Check and show the catalog.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def validate(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG, json: options.Json = False
) -> None:
    """Check the whole catalog and report every problem at once."""
    from runner_e2e.catalog import load_catalog

    loaded = load_catalog(catalog)
    counts = {
        "suites": len(loaded.suites),
        "executions": len(loaded.executions),
        "fingerprint": loaded.fingerprint,
    }
    if json:
        output.answer_json(counts)
        return
    for suite in loaded.suites:
        output.narrate(f"  {suite.id}: {suite.expected_matrix_size} executions")
    output.answer(
        f"{catalog}: {counts['suites']} suites, {counts['executions']} executions, no problems"
    )
