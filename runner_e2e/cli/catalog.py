"""``runner-e2e catalog``: look at the catalog without spending anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


@app.command()
def show(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG, json: options.Json = False
) -> None:
    """Show the suites and what they are made of."""
    from runner_e2e.catalog import environment_key, load_catalog
    from runner_e2e.wording import one_line

    loaded = load_catalog(catalog)
    if json:
        suites = [
            {
                "id": suite.id,
                "label": suite.label,
                "description": suite.description,
                "executions": suite.expected_matrix_size,
                "profiles": [profile.id for profile in suite.profiles],
                "environments": [environment_key(one) for one in suite.environments],
                "cases": [task.id for task in suite.tasks],
                "definitionHash": loaded.definition_hashes[suite.id],
            }
            for suite in loaded.suites
        ]
        output.answer_json({"fingerprint": loaded.fingerprint, "suites": suites})
        return
    for suite in loaded.suites:
        label = one_line(suite.label)
        output.answer(f"{suite.id}: {label}, {suite.expected_matrix_size} executions")
        parts = {
            "description": [one_line(suite.description)],
            "profiles": [profile.id for profile in suite.profiles],
            "environments": [environment_key(one) for one in suite.environments],
            "cases": [task.id for task in suite.tasks],
            "definition": [loaded.definition_hashes[suite.id]],
        }
        for name, values in parts.items():
            output.answer(f"  {name:<13} {', '.join(values)}")


@app.command()
def schema(
    json: options.Json = False,  # noqa: ARG001  it is JSON either way
) -> None:
    """Print the JSON Schema of a catalog, for editors."""
    import json as json_module

    from runner_e2e.catalog import catalog_json_schema

    output.answer(json_module.dumps(catalog_json_schema(), indent=2, ensure_ascii=False))


@app.command()
def fingerprint(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG,
    suite: Annotated[str | None, typer.Option(metavar="ID", help="Only this suite.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print everything that went in, as JSON.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Print the definition hash of each suite: what changes when a verdict can."""
    from runner_e2e.catalog import explain_fingerprint, load_catalog

    explained = explain_fingerprint(load_catalog(catalog), suite)
    if explain:
        output.answer_json(explained)
        return
    hashes = {name: entry["hash"] for name, entry in explained.items()}
    if json:
        output.answer_json(hashes)
        return
    for name, value in hashes.items():
        output.answer(f"{value}  {name}")


snapshots = typer.Typer(
    help="Capture what a catalog is made from.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(snapshots, name="snapshot")


@snapshots.command()
def openrouter(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the snapshot goes.")] = Path(
        "rankings/openrouter-top-weekly.json"
    ),
    profiles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write profiles of its models, to be included."),
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="An answer that was saved, not a new one."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Capture the week's most used models that call tools. A wrong answer changes no file."""
    from datetime import UTC, datetime

    from runner_e2e.catalog import (
        fetch_ranking,
        profiles_file,
        read_ranking,
        snapshot_of,
    )
    from runner_e2e.cli.documents import read_bytes
    from runner_e2e.evidence import write_atomically

    data = snapshot_of(fetch_ranking() if answer is None else read_bytes(answer), datetime.now(UTC))
    snapshot = read_ranking(data, str(out))
    write_atomically(out, data)
    if profiles is not None:
        write_atomically(profiles, profiles_file(snapshot, out, profiles))
    models = [model.id for model in snapshot.models]
    if json:
        output.answer_json({"snapshotId": snapshot.snapshot_id, "models": models})
        return
    output.answer(f"{snapshot.snapshot_id}: {', '.join(models)}")
