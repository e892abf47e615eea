"""Find and read all files of a catalog."""

from __future__ import annotations

from pathlib import Path

from runner_e2e.catalog.rankings import RankingSnapshot, read_ranking
from runner_e2e.catalog.rules import Joined
from runner_e2e.catalog.source import Place, Source
from runner_e2e.catalog.structure import Parts, read_parts
from runner_e2e.errors import DocumentError, Problem, UsageError

MAX_FILES = 100
"""How many files one catalog may have."""


def read_files(path: Path, problems: list[Problem]) -> list[Parts]:
    """The file and all that it includes, each once, in the order of their mention."""
    files: list[Parts] = []
    seen = {path.resolve()}
    queue: list[tuple[Path, Place | None]] = [(path, None)]
    while queue:
        current, mention = queue.pop(0)
        source = _read_source(current, mention, problems)
        if source is None:
            continue
        parts = read_parts(source, included=bool(files), problems=problems)
        files.append(parts)
        for included, place in _mentions(parts, "include"):
            if included.resolve() in seen:
                continue
            if len(seen) == MAX_FILES:
                problems.append(place.problem(f"a catalog may have at most {MAX_FILES} files"))
                return files
            seen.add(included.resolve())
            queue.append((included, place))
    return files


def _mentions(parts: Parts, key: str) -> list[tuple[Path, Place]]:
    names = parts.header.get(key)
    if not isinstance(names, list):
        return []
    place = Place(source=parts.source, path=(key,))
    directory = parts.source.path.parent
    return [
        (directory / name, place / index)
        for index, name in enumerate(names)
        if isinstance(name, str) and name and "\0" not in name
    ]


def _read_source(path: Path, mention: Place | None, problems: list[Problem]) -> Source | None:
    from runner_e2e.catalog.python_source import PythonFault, PythonSource  # noqa: PLC0415 - the YAML reader is heavy and --help needs neither
    from runner_e2e.catalog.yaml_source import YamlFault, YamlSource  # noqa: PLC0415 - as above

    if mention is not None and not path.is_file():
        # Also keeps off a device or a pipe, which would have no end.
        problems.append(mention.problem(f"there is no file {path}"))
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        if mention is None:
            raise UsageError(message) from None
        problems.append(mention.problem(message))
        return None
    if path.suffix == ".py":
        try:
            return PythonSource(path, data)
        except PythonFault as fault:
            problems.append(fault.problem(path))
            return None
    try:
        source = YamlSource(path, data)
    except YamlFault as fault:
        problems.append(fault.problem(path))
        return None
    problems.extend(source.problems)
    return source


def join_files(files: list[Parts], problems: list[Problem]) -> Joined:
    """Put the lists of all files together; add what does not fit together to ``problems``."""
    _check_targets(files, problems)
    rankings = [mention for file in files for mention in _mentions(file, "rankings")]
    snapshots, complete = _read_snapshots(rankings, problems)
    return Joined(
        files=tuple(files),
        profiles=tuple(part for file in files for part in file.profiles),
        environments=tuple(part for file in files for part in file.environments),
        tasks=tuple(part for file in files for part in file.tasks),
        suites=tuple(part for file in files for part in file.suites),
        snapshots=snapshots,
        all_rankings_read=complete,
    )


def _check_targets(files: list[Parts], problems: list[Problem]) -> None:
    target = files[0].header.get("target")
    for file in files[1:]:
        if file.header.get("target", target) != target:
            place = Place(source=file.source, path=("target",))
            problems.append(place.problem(f"{files[0].source.path} has another target"))


def _read_snapshots(
    rankings: list[tuple[Path, Place]], problems: list[Problem]
) -> tuple[dict[str, RankingSnapshot], bool]:
    """The snapshots by id, and whether they are all that are named."""
    snapshots: dict[str, RankingSnapshot] = {}
    origin: dict[str, Path] = {}
    complete = True
    for path, place in rankings:
        try:
            snapshot = read_ranking(path.read_bytes(), str(path))
        except OSError as error:
            problems.append(place.problem(f"cannot read {path}: {error.strerror}"))
            complete = False
        except DocumentError as error:
            problems.append(place.problem(error.message, hint=error.hint))
            complete = False
        else:
            name = snapshot.snapshot_id
            if origin.setdefault(name, path.resolve()) != path.resolve():
                problems.append(
                    place.problem(f"the snapshot {name!r} is in {origin[name]} already")
                )
            snapshots.setdefault(name, snapshot)
    return snapshots, complete


def in_order(problems: list[Problem], files: list[Parts]) -> tuple[Problem, ...]:
    """Each problem once, file by file in the order of reading, then from top to bottom."""
    order = {str(file.source.path): index for index, file in enumerate(files)}
    return tuple(
        sorted(
            dict.fromkeys(problems),
            key=lambda problem: (
                order.get(problem.file, len(order)),
                problem.file,
                problem.line,
                problem.column,
            ),
        )
    )
