"""Read everything that might be a result, and say what was seen. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from runner_e2e.campaigns.cells import Budget, CellReader, Piece, Seen, governed
from runner_e2e.campaigns.expectation import Expectation
from runner_e2e.campaigns.observations import UNKNOWN, Collection, Observation, gather
from runner_e2e.campaigns.restore import restore
from runner_e2e.campaigns.trees import (
    Broken,
    DirectoryTree,
    Found,
    Source,
    Tree,
    Unreadable,
    ZipTree,
)
from runner_e2e.contracts.insights import Extra, UnreadableFile
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import Result
from runner_e2e.errors import UsageError
from runner_e2e.memory import without_garbage_search


def collect(
    paths: Sequence[Path | Source], plan: Plan, *, exclude: Sequence[Path] = ()
) -> Collection:
    """Read directories, zip archives and sources.

    Below a directory ``exclude`` is left out: the report that is about to be written must not be
    its own input. Raises :class:`UsageError` for a path that is not there; whatever is wrong with
    something found below it costs that thing alone.
    """
    expectation = Expectation.of(plan)
    budget = Budget()
    with without_garbage_search():
        collections = [
            _collect_tree(item, expectation, budget).cleaned()
            for path in paths
            for item in _artifacts(path, exclude)
        ]
    return Collection().merge(*collections)


def _artifacts(path: Path | Source, exclude: Sequence[Path]) -> Iterable[Tree | Broken]:
    if not isinstance(path, Path):
        yield from path.artifacts()
    elif path.is_dir():
        yield from _directory(path, exclude)
    elif path.exists():
        yield ZipTree(path, path.name)
    else:
        raise UsageError(
            f"{path}: there is no such file or directory",
            hint="name the directory into which the result artifacts were downloaded, or a zip",
        )


def _directory(path: Path, exclude: Sequence[Path]) -> Iterator[Tree]:
    root = path.resolve()
    inside = (out.resolve() for out in exclude)
    tree = DirectoryTree(
        str(root),
        frozenset(str(o.relative_to(root)) for o in inside if o != root and o.is_relative_to(root)),
    )
    yield tree
    for archive in tree.zips:
        yield ZipTree(root / archive, archive)


def _collect_tree(tree: Tree | Broken, expectation: Expectation, budget: Budget) -> Collection:
    if isinstance(tree, Broken):
        return _sorted([_blame(tree.name, tree.state, tree.reason, expectation)])
    try:
        found = list(tree.documents())
    except Unreadable as error:
        file = tree.name.removesuffix("!")
        return _sorted([_blame(file, "corrupt", str(error), expectation)])
    else:
        return _collect_documents(tree, found, expectation, budget)
    finally:
        tree.close()


def _collect_documents(
    tree: Tree, found: Sequence[Found], expectation: Expectation, budget: Budget
) -> Collection:
    reader = CellReader(tree, expectation, budget)
    folders: dict[str, dict[str, Found]] = {}
    seen: list[Seen] = []
    for item in found:
        directory, slash, name = item.path.rpartition("/")
        if name in _READ:
            folders.setdefault(directory + slash, {})[name] = item
        else:
            # A directory that cannot be listed.
            seen.append(_blame(tree.name + item.path, "corrupt", item.problem or "", expectation))
    reports = [directory for directory, names in folders.items() if names.keys() >= _REPORT]
    spoken_for: set[str] = set()
    for directory, names in folders.items():
        if "job-record.json" in names:
            record = reader.piece(JobRecord, names["job-record.json"])
            seen.append(reader.recorded(record, _result(reader, names)))
            if record.document is not None:
                spoken_for.update(governed(directory, record.document.files))
    for names in folders.values():
        loose = names.get("result.json")
        if loose is None or "job-record.json" in names:
            continue
        if loose.path not in spoken_for:
            seen.append(reader.loose(reader.piece(Result, loose)))
    restored = [
        restore(tree, directory, folders[directory], expectation, budget) for directory in reports
    ]
    return _sorted([*seen, *reader.set_aside]).merge(*restored)


_REPORT = frozenset({"campaign.json", "insights.json"})
_READ = _REPORT | {"job-record.json", "result.json"}


def _result(reader: CellReader, names: dict[str, Found]) -> Piece[Result] | None:
    return reader.piece(Result, names["result.json"]) if "result.json" in names else None


def _blame(file: str, state: str, reason: str, expectation: Expectation) -> Seen:
    guess = expectation.blame(file)
    if guess is None:
        return UnreadableFile(file=file, reason=reason)
    return Observation(
        execution_id=guess[0],
        rank=guess[1] or UNKNOWN,
        state="expired" if state == "expired" else "corrupt",
        file=file,
        reason=reason,
    )


def _sorted(seen: Iterable[Seen]) -> Collection:
    observations: list[Observation] = []
    extras: set[Extra] = set()
    unreadable: set[UnreadableFile] = set()
    for item in seen:
        if isinstance(item, Observation):
            observations.append(item)
        elif isinstance(item, Extra):
            extras.add(item)
        else:
            unreadable.add(item)
    return Collection(
        cells=gather(observations), extras=frozenset(extras), unreadable=frozenset(unreadable)
    )
