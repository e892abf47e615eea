"""The shape of a catalog: every part against its model, and as much as possible of a broken one.

A part with a fault is not given up: what is wrong in it is reported and replaced by a harmless
value, so that the rules still look at all the rest and one run reports everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import ValidationError

from runner_e2e.catalog.source import Place, Source
from runner_e2e.catalog.wording import problems_of
from runner_e2e.contracts.base import CatalogModel
from runner_e2e.contracts.catalog import (
    CatalogFile,
    CatalogLists,
    EnvironmentEntry,
    IncludedFile,
    ProfileFixture,
    SuiteEntry,
)
from runner_e2e.contracts.task import TaskFixture
from runner_e2e.errors import Problem

M = TypeVar("M", bound=CatalogModel)

_STAND_IN_MATCHER = {"kind": "issue_status", "expected": "done"}

_STAND_INS: Mapping[type[CatalogModel], Mapping[str, Any]] = {
    ProfileFixture: {
        "id": "unknown",
        "label": "",
        "generation": "native",
        "adapterType": "",
        "provider": "",
        "model": "",
        "modelQualification": {"source": "adapter_constant", "qualificationId": ""},
        "credential": "OPENAI_API_KEY",
        "supportedEnvironments": ["local"],
        "expectedRuntimeMode": "native",
        "expectedRuntimeMetadata": {"adapterType": "", "provider": ""},
        "agent": {},
    },
    EnvironmentEntry: {"id": "local", "label": ""},
    TaskFixture: {
        "id": "unknown",
        "label": "",
        "workMode": "standard",
        "flow": "single_turn",
        "expectedRunCount": 1,
        "attemptTimeoutMs": {"local": 1, "daytona": 1},
        "expectedTerminalState": {"issue": "done", "run": "succeeded"},
        "title": "",
        "marker": "",
        "prompt": "",
        "matchers": [],
    },
    SuiteEntry: {
        "id": "unknown",
        "label": "",
        "description": "",
        "profiles": ["unknown"],
        "environments": ["local"],
        "tasks": ["unknown"],
        "expectedMatrixSize": 0,
    },
}
"""What takes the place of a required field that is missing or wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Generic[M]):
    """One profile, environment, case or suite.

    ``unsound`` names the fields (as written) whose value is a stand-in: a rule that reads one of
    them has nothing to say.
    """

    place: Place
    raw: Mapping[str, Any]
    model: M
    unsound: frozenset[str]

    def sound(self, *fields: str) -> bool:
        """Whether all of ``fields`` are what the person wrote."""
        return self.unsound.isdisjoint(fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that one file holds."""

    source: Source
    header: Mapping[str, Any]
    profiles: tuple[Part[ProfileFixture], ...]
    environments: tuple[Part[EnvironmentEntry], ...]
    tasks: tuple[Part[TaskFixture], ...]
    suites: tuple[Part[SuiteEntry], ...]


_LISTS: Mapping[str, type[CatalogModel]] = {
    "profiles": ProfileFixture,
    "environments": EnvironmentEntry,
    "tasks": TaskFixture,
    "suites": SuiteEntry,
}


def read_parts(source: Source, *, included: bool, problems: list[Problem]) -> Parts:
    """Validate the shape of one file; add what is wrong with it to ``problems``."""
    root = Place(source=source, path=())
    value = source.value
    if not isinstance(value, dict):
        problems.append(root.problem("a catalog is a mapping of schema, target, profiles, ..."))
        value = {}
    else:
        _check_header(value, root, IncludedFile if included else CatalogFile, problems)
    lists: dict[str, tuple[Any, ...]] = {}
    for name, model in _LISTS.items():
        items = value.get(name)
        lists[name] = _read_list(items, model, root / name, problems) if items is not None else ()
    header = {key: item for key, item in value.items() if key not in _LISTS}
    return Parts(source=source, header=header, **lists)


def _check_header(
    value: Mapping[str, Any], root: Place, model: type[CatalogLists], problems: list[Problem]
) -> None:
    header = {
        key: [] if key in _LISTS and item is not None else item for key, item in value.items()
    }
    error = _error(model, header)
    if error is not None:
        details = error.errors(include_url=False)
        problems.extend(problems_of(details, model, header, root))


def _read_list(
    items: Any, model: type[M], place: Place, problems: list[Problem]
) -> tuple[Part[M], ...]:
    if not isinstance(items, list):
        problems.append(place.problem("must be a list"))
        return ()
    parts = (_read_part(item, model, place / index, problems) for index, item in enumerate(items))
    return tuple(part for part in parts if part is not None)


def _read_part(raw: Any, model: type[M], place: Place, problems: list[Problem]) -> Part[M] | None:
    if not isinstance(raw, dict):
        problems.append(place.problem("must be a mapping"))
        return None
    try:
        return Part(place=place, raw=raw, model=validate(model, raw), unsound=frozenset())
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems.extend(problems_of(details, model, raw, place))
        mended, unsound = _mend(raw, _STAND_INS[model], details)
    return Part(place=place, raw=raw, model=validate(model, mended), unsound=unsound)


def _mend(
    raw: Mapping[str, Any], stand_ins: Mapping[str, Any], details: Sequence[Any]
) -> tuple[dict[str, Any], frozenset[str]]:
    """Take out what is wrong; put a stand-in where something is needed."""
    mended = dict(raw)
    unsound: set[str] = set()
    for detail in details:
        field, *rest = detail["loc"]
        if field == "matchers" and rest and isinstance(mended.get("matchers"), list):
            matchers = list(mended["matchers"])
            matchers[rest[0]] = _STAND_IN_MATCHER
            mended["matchers"] = matchers
            continue
        if field in stand_ins:
            mended[field] = stand_ins[field]
        else:
            mended.pop(field, None)
        unsound.add(field)
    return mended, frozenset(unsound)


def validate(model: type[M], value: Any) -> M:
    """Check JSON-compatible objects as strictly as JSON itself, by the names that JSON uses."""
    return model.model_validate_json(orjson.dumps(value), by_name=False)


def _error(model: type[CatalogModel], value: Any) -> ValidationError | None:
    try:
        validate(model, value)
    except ValidationError as error:
        return error
    return None
