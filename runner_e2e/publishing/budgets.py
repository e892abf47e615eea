"""What a branch may weigh, checked before anything is pushed. Figures: GitHub's limits."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.contracts.history import BundleManifest
from runner_e2e.history import History
from runner_e2e.publishing.errors import TooLarge

MIB = 1024 * 1024
FILE_BYTES = 100 * MIB
"""GitHub refuses a push with a file above this, and warns at half."""

SITE_BYTES = 1_000_000_000
"""GitHub Pages' limit for a site."""

_PRUNE = "`runner-e2e history prune` takes away old bundles and keeps their history"
_FEWER = (
    "aggregate the results again; if it comes out as large, run fewer executions in one campaign"
)
_ANEW = "publish under another --prefix, where a new history begins; what is published stays"


def check_budgets(
    documents: Mapping[str, bytes], manifest: BundleManifest, root: History, warnings: list[str]
) -> None:
    """Weigh what is about to be written, and the site as far as it is ours.

    Raises :class:`TooLarge`; from half of a budget on a line is added to ``warnings``. The site is
    the bundles that ``index.json`` lists and the documents: what others keep on the branch cannot
    be weighed without downloading it.
    """
    for file in sorted(manifest.files, key=lambda file: file.path):
        _weigh(file.path, file.bytes, FILE_BYTES, warnings, _FEWER)
    for path, data in sorted(documents.items()):
        _weigh(path, len(data), FILE_BYTES, warnings, _ANEW)
    bundles = sum(row.bundle_bytes for row in root.rows.campaigns)
    whole = bundles + sum(map(len, documents.values()))
    _weigh("the site", whole, SITE_BYTES, warnings, _PRUNE)


def _weigh(name: str, size: int, budget: int, warnings: list[str], hint: str) -> None:
    if size > budget:
        raise TooLarge(
            f"{name} has {size:,} bytes, more than the {budget:,} that a published one may have",
            hint=hint,
        )
    if size * 2 >= budget:
        warnings.append(f"{name} has {size:,} of at most {budget:,} bytes; {hint}")
