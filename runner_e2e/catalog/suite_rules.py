"""What must hold of a suite: its names, its size, its exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from runner_e2e.catalog.structure import Part
from runner_e2e.catalog.wording import listed, nearest
from runner_e2e.contracts.catalog import SuiteEntry
from runner_e2e.contracts.scalars import MAX_EXECUTION_ID_BYTES
from runner_e2e.errors import Problem

MAX_CELLS = 65_536
"""How many cells a catalog may have: what the system is designed and measured for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a suite may name. ``supported`` has ``None`` where a profile does not say it soundly."""

    supported: Mapping[str, frozenset[str] | None]
    environments: Sequence[str]
    tasks: Sequence[str]


def suite_problems(part: Part[SuiteEntry], known: Known) -> Iterator[Problem]:
    """Everything that is wrong with one suite, shape apart."""
    suite = part.model
    resolved = part.sound("id", "profiles", "environments", "tasks")
    for field, names, candidates in (
        ("profiles", suite.profiles, known.supported),
        ("environments", suite.environments, known.environments),
        ("tasks", suite.tasks, known.tasks),
    ):
        if part.sound(field):
            found = list(_name_problems(part, field, names, list(candidates)))
            yield from found
            resolved = resolved and not found
    if part.sound("environments"):
        yield from _configuration_problems(part)
    yield from _quarantine_dates(part)
    supported = {name: known.supported.get(name) for name in suite.profiles}
    if not resolved or None in supported.values():
        return
    pairs = [
        (profile, environment.partition("/")[0])
        for profile in suite.profiles
        for environment in suite.environments
        if environment.partition("/")[0] in (supported[profile] or ())
    ]
    yield from _size_problems(part, pairs, known)
    yield from _reference_problems(part, pairs)
    yield from _length_problems(part, pairs)


def _name_problems(
    part: Part[SuiteEntry], field: str, names: Sequence[str], known: Sequence[str]
) -> Iterator[Problem]:
    singular = field.removesuffix("s")
    for index, name in enumerate(names):
        place = part.place / field / index
        if name not in known:
            yield place.problem(f"there is no {singular} {name!r}", hint=nearest(name, known))
        elif name in names[:index]:
            yield place.problem(f"the {singular} {name!r} is named twice")


def _configuration_problems(part: Part[SuiteEntry]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, name in enumerate(part.model.environments):
        identifier = name.partition("/")[0]
        if seen.setdefault(identifier, name) != name:
            yield (part.place / "environments" / index).problem(
                f"a suite has at most one configuration of {identifier}: "
                f"{seen[identifier]!r} is there already"
            )


def _cells(part: Part[SuiteEntry], pairs: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(
        f"{part.model.id}.{profile}.{environment}.{task}"
        for profile, environment in pairs
        for task in part.model.tasks
    )


def _size_problems(
    part: Part[SuiteEntry], pairs: Sequence[tuple[str, str]], known: Known
) -> Iterator[Problem]:
    suite = part.model
    product = len(pairs) * len(suite.tasks)
    if product > MAX_CELLS:
        yield part.place.problem(f"the suite has {product} cells; at most {MAX_CELLS} are planned")
        return
    if not part.sound("expectedMatrixSize", "excludedExecutionIds"):
        return
    listed = set(suite.excluded_execution_ids or ())
    excluded = len(listed & _cells(part, pairs)) if listed else 0
    if product - excluded != suite.expected_matrix_size:
        yield (part.place / "expectedMatrixSize").problem(
            f"the suite has {product - excluded} cells, not {suite.expected_matrix_size}: "
            f"{len(pairs)} supported pairs of profile and environment, {len(suite.tasks)} tasks, "
            f"{excluded} excluded",
            hint=_unsupported(part, known),
        )


def _unsupported(part: Part[SuiteEntry], known: Known) -> str | None:
    """Which profiles do not go with which environments of the suite, as a hint."""
    wanted = {name.partition("/")[0] for name in part.model.environments}
    said = []
    for profile in part.model.profiles:
        supported = known.supported.get(profile) or frozenset()
        if missing := sorted(wanted - supported):
            can = ", ".join(sorted(supported)) or "nothing"
            said.append(f"{profile} supports {can} and not {', '.join(missing)}")
    return listed(said) or None


def _reference_problems(
    part: Part[SuiteEntry], pairs: Sequence[tuple[str, str]]
) -> Iterator[Problem]:
    """Ids that a suite names must be its cells; excluded ones cannot be in quarantine."""
    suite = part.model
    excluded = suite.excluded_execution_ids or ()
    if not (excluded or suite.quarantine) or len(pairs) * len(suite.tasks) > MAX_CELLS:
        return
    cells = _cells(part, pairs)
    for index, name in enumerate(excluded):
        place = part.place / "excludedExecutionIds" / index
        if name not in cells:
            yield place.problem(
                f"the suite has no cell {name!r} to exclude", hint=nearest(name, cells)
            )
        elif name in excluded[:index]:
            yield place.problem(f"the cell {name!r} is excluded twice")
    seen: set[str] = set()
    for index, entry in enumerate(suite.quarantine):
        place = part.place / "quarantine" / index / "executionId"
        if entry.execution_id not in cells or entry.execution_id in excluded:
            yield place.problem(
                f"the suite has no cell {entry.execution_id!r}",
                hint=nearest(entry.execution_id, cells - set(excluded)),
            )
        elif entry.execution_id in seen:
            yield place.problem(f"the cell {entry.execution_id!r} is in quarantine twice")
        seen.add(entry.execution_id)


def _quarantine_dates(part: Part[SuiteEntry]) -> Iterator[Problem]:
    for index, entry in enumerate(part.model.quarantine):
        try:
            date.fromisoformat(entry.expires)
        except ValueError:
            yield (part.place / "quarantine" / index / "expires").problem(
                f"{entry.expires} is not a day of the calendar"
            )


def _length_problems(part: Part[SuiteEntry], pairs: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """The longest id decides; ids are ASCII, so characters are bytes."""
    if not pairs:
        return
    profile, environment = max(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))
    task = max(part.model.tasks, key=len)
    longest = f"{part.model.id}.{profile}.{environment}.{task}"
    if len(longest) > MAX_EXECUTION_ID_BYTES:
        yield part.place.problem(
            f"the execution id {longest} has {len(longest)} bytes; "
            f"at most {MAX_EXECUTION_ID_BYTES} fit in the names made from it"
        )
