"""Options that several commands share, so that a name means the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_CATALOG = Path("runner-e2e.yaml")

CatalogPath = Annotated[
    Path, typer.Option("--catalog", "-c", metavar="FILE", help="The catalog.", show_default=True)
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]

_REPEATABLE = "Repeatable, and a comma separates several."

Suites = Annotated[
    list[str] | None, typer.Option("--suite", metavar="ID", help=f"Suites. {_REPEATABLE}")
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="Only cells in every one of these groups."),
]
Profiles = Annotated[
    list[str] | None, typer.Option("--profile", metavar="ID", help=f"Profiles. {_REPEATABLE}")
]
Environments = Annotated[
    list[str] | None,
    typer.Option("--environment", metavar="ID", help=f"Environments. {_REPEATABLE}"),
]
Cases = Annotated[
    list[str] | None, typer.Option("--case", metavar="ID", help=f"Cases. {_REPEATABLE}")
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="ID", help=f"Whole execution ids. {_REPEATABLE}"),
]
All = Annotated[bool, typer.Option("--all", help="Everything in the catalog.")]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Selecting nothing is fine (exit 0, no jobs).")
]
MaxRetries = Annotated[
    int,
    typer.Option("--max-retries", min=0, max=5, metavar="N", help="Retries of one execution."),
]
MaxParallel = Annotated[
    int, typer.Option("--max-parallel", min=1, metavar="N", help="Executions at the same time.")
]
Confirm = Annotated[
    int,
    typer.Option(
        min=0, max=5, metavar="N", help="Repeat a failure of the candidate up to N times."
    ),
]
ConfirmBudget = Annotated[
    float | None,
    typer.Option(min=0, metavar="USD", help="What the repeats of one execution may cost."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, metavar="USD", help="Refuse a plan that is expected to cost more."),
]
