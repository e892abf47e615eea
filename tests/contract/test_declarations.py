"""Every declaration of the wire contract has its counterpart, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from runner_e2e.contracts import (
    billing,
    campaign,
    catalog,
    history,
    matcher,
    plan,
    result,
    task,
    vocabulary,
)
from tests.contract.declarations import (
    AnyOf,
    Declarations,
    Entries,
    Fields,
    Items,
    Scalar,
    Type,
    Words,
    either,
)
from tests.contract.judge import CONTRACT
from tests.contract.strategies import Core, Shape, is_optional, wire_name

TEXT = CONTRACT.read_text()

COUNTERPARTS: dict[str, Any] = {
    "AgentFixtureBuildInput": catalog.AgentFixtureBuildInput,
    "CredentialName": vocabulary.CredentialName,
    "EnvironmentFixture": catalog.EnvironmentFixture,
    "EnvironmentFixtureBuildInput": catalog.EnvironmentFixtureBuildInput,
    "FailureClass": vocabulary.FailureClass,
    "Matcher": matcher.Matcher,
    "MatrixExecution": catalog.MatrixExecution,
    "MatrixJob": plan.MatrixJob,
    "RunnerE2EAggregateBillingSummary": billing.AggregateBillingSummary,
    "RunnerE2EBillingSummary": billing.BillingSummary,
    "RunnerE2ECampaign": campaign.Campaign,
    "RunnerE2EHistoryCampaign": history.HistoryCampaign,
    "RunnerE2EHistoryExecution": history.HistoryExecution,
    "RunnerE2EHistoryIndex": history.HistoryIndex,
    "RunnerE2EResult": result.Result,
    "RunnerE2ERuntimeUsage": billing.RuntimeUsage,
    "RunnerE2ESuiteSummary": campaign.SuiteSummary,
    "RunnerEnvironmentId": vocabulary.EnvironmentId,
    "RunnerGeneration": vocabulary.Generation,
    "RunnerProfileFixture": catalog.ProfileFixture,
    "RunnerSuiteFixture": catalog.SuiteFixture,
    "RunnerTaskFixture": task.TaskFixture,
    "RunnerTaskFlow": vocabulary.Flow,
    "RunnerTaskWorkMode": vocabulary.WorkMode,
    "SecretReference": catalog.SecretReference,
    "SecretReferenceMap": catalog.SecretReferenceMap,
}

ELSEWHERE = {
    "RunnerE2ECostStatus": "no field has it whole; its parts are checked where they are used",
}

TEMPLATES = {
    "buildAgent": "agent",
    "buildFollowupMessages": "followups",
    "buildMatchers": "matchers",
    "buildPlanMarkers": "planMarkers",
    "buildPrompt": "prompt",
    "buildQuestionAnswer": "questionAnswer",
    "buildRevisionRequest": "revisionRequest",
    "buildTitle": "title",
    "buildVisibleMarker": "marker",
}
"""A function of the contract by the template that we render in its place."""

DECIDED = {
    "EnvironmentFixture.buildEnvironment": "the environments package builds from `daytona`",
    "EnvironmentFixture.daytona": "the size of the sandbox, in place of the builder",
    "RunnerProfileFixture.groups": "left out of a catalog it is empty",
    "RunnerSuiteFixture.gate": "ours",
    "RunnerSuiteFixture.manualOnly": "ours: only runs when it is named",
    "RunnerSuiteFixture.quarantine": "ours",
    "RunnerTaskFixture.flowOptions": "ours, typed by flow",
    "RunnerTaskFixture.groups": "left out of a catalog it is empty",
    "RunnerTaskFixture.matchers[]<environment>.expected": "may be a template until rendered",
    "RunnerTaskFixture.matchers[]<runtime_mode>.expected": "may be a template until rendered",
}
"""Where the catalog differs from the contract on purpose. No document of the wire does."""

# Their parts are compared on their own.
WHOLES = (
    "MatrixExecution.environment",
    "MatrixExecution.profile",
    "MatrixExecution.suite.",
    "MatrixExecution.task",
    "RunnerSuiteFixture.environments",
    "RunnerSuiteFixture.profiles",
    "RunnerSuiteFixture.tasks",
)


def ours(shape: Shape, core: Core) -> Type:
    """Our model in the normal form of the declarations."""
    core = shape.resolve(core)
    match core["type"]:
        case "model-fields":
            found: Type = Fields(
                {
                    wire_name(name, field): (ours(shape, bare(field)), is_optional(field))
                    for name, field in core["fields"].items()
                }
            )
        case "nullable":
            found = either([ours(shape, core["schema"]), Scalar("null")])
        case "tuple":
            found = Items(ours(shape, core["items_schema"][0]))
        case "dict":
            found = Entries(ours(shape, core["values_schema"]))
        case "union":
            found = either([ours(shape, choice) for choice in core["choices"]])
        case "tagged-union":
            found = either([ours(shape, choice) for choice in core["choices"].values()])
        case "literal":
            found = Words(frozenset(core["expected"]))
        case kind:
            names = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}
            found = Scalar(names.get(kind, "unknown"))
    return found


def bare(field: Core) -> Core:
    """The schema of a field without its default."""
    schema: Core = field["schema"]
    inner: Core = schema["schema"] if is_optional(field) else schema
    return inner


Field = tuple[Type, bool]

CREDENTIALS = frozenset(vocabulary.KNOWN_CREDENTIALS)
"""Where the contract has these words, ours is an open set of names on purpose."""


def differences(theirs: Type, mine: Type, path: str) -> Iterator[str]:
    """What differs, by name."""
    match theirs, mine:
        case Fields(fields), Fields(own):
            yield from field_differences(fields, own, path)
        case Fields(fields), Entries(value) if fields.keys() <= CREDENTIALS:
            for name, (inner, _) in fields.items():
                yield from differences(inner, value, f"{path}.{name}")
        case (Items(inner), Items(own_inner)) | (Entries(inner), Entries(own_inner)):
            yield from differences(inner, own_inner, f"{path}[]")
        case AnyOf(members), AnyOf(own_members):
            yield from union_differences(members, own_members, path)
        case Words(words), Scalar("string") if words <= CREDENTIALS:
            pass
        case _ if theirs != mine:
            yield f"{path}: the contract says {theirs}, we say {mine}"
        case _:
            pass


def field_differences(
    fields: Mapping[str, Field], own: Mapping[str, Field], path: str
) -> Iterator[str]:
    named = {TEMPLATES.get(name, name): field for name, field in fields.items()}
    for name in named.keys() - own.keys():
        yield f"{path}.{name}: we have no such field"
    for name in own.keys() - named.keys():
        yield f"{path}.{name}: the contract has no such field"
    for name in named.keys() & own.keys():
        (inner, optional), (own_inner, own_optional) = named[name], own[name]
        if optional != own_optional:
            yield f"{path}.{name}: only {'ours' if own_optional else 'theirs'} is optional"
        yield from differences(inner, own_inner, f"{path}.{name}")


def union_differences(members: tuple[Type, ...], own: tuple[Type, ...], path: str) -> Iterator[str]:
    """Members of unions are paired by their ``kind``, or else by what sort of type they are."""
    theirs_by = {sort_of(member): member for member in members}
    mine_by = {sort_of(member): member for member in own}
    for sort in theirs_by.keys() - mine_by.keys():
        yield f"{path}<{sort}>: we have no such member"
    for sort in mine_by.keys() - theirs_by.keys():
        yield f"{path}<{sort}>: the contract has no such member"
    for sort in theirs_by.keys() & mine_by.keys():
        yield from differences(theirs_by[sort], mine_by[sort], f"{path}<{sort}>")


def sort_of(member: Type) -> str:
    match member:
        case Fields({"kind": (Words(words), False)}):
            return " ".join(words)
        case Scalar(name):
            return name
        case _:
            return type(member).__name__


def all_differences(text: str) -> set[str]:
    declarations = Declarations(text)
    found = {
        f"{name}: a new declaration"
        for name in declarations.names - COUNTERPARTS.keys() - ELSEWHERE.keys()
    }
    for name in declarations.names & COUNTERPARTS.keys():
        shape = Shape(COUNTERPARTS[name])
        mine = ours(shape, shape.core)
        found |= set(differences(declarations.type(name), mine, name))
    return found


def test_every_declaration_has_its_counterpart_field_by_field() -> None:
    found = {
        line.partition(": ")[0]: line
        for line in all_differences(TEXT)
        if not line.startswith(WHOLES)
    }
    assert {path: line for path, line in found.items() if path not in DECIDED} == {}
    assert found.keys() == DECIDED.keys()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("issueId?: string;", "issueId?: string;\ncolour?: string;", "RunnerE2EResult.colour"),
        ("attempt: number;\nstatus", "status", "RunnerE2EResult.attempt"),
        ("error?: string;", "error: string;", "RunnerE2EResult.error"),
        ("error?: string;", "error?: string | null;", "RunnerE2EResult.error"),
        ("turn: number;", "turn: string;", "RunnerE2EResult.turnTimings[].turn"),
        ('| "resumed"', "", "RunnerE2EResult.turnTimings[].leaseAcquisitionOutcome"),
        ('| "cleanup_failure"', '| "cleanup_failure" | "boredom"', "FailureClass"),
        ('kind: "file_exists"; path', 'kind: "file_exists"; name', "Matcher<file_exists>.name"),
        ('| { kind: "file_exists"; path: string }', "", "Matcher<file_exists>"),
        ("memoryGiB?", "memoryGib?", "RunnerE2ERuntimeUsage.memoryGiB"),
        (
            "latestBySuite: Record<string, string>",
            "latestBySuite: Record<string, number>",
            "RunnerE2EHistoryIndex.latestBySuite[]",
        ),
        ("buildTitle(nonce: string): string;", "", "RunnerTaskFixture.title"),
        (
            "export interface SecretReference {",
            "export interface New { a: string }\nexport interface SecretReference {",
            "New",
        ),
    ],
)
def test_a_change_of_the_contract_is_named(old: str, new: str, named: str) -> None:
    changed = TEXT.replace(old, new)
    assert changed != TEXT
    assert any(
        line.startswith(f"{named}: ") for line in all_differences(changed) - all_differences(TEXT)
    )


def test_the_contract_names_our_known_credentials() -> None:
    assert Declarations(TEXT).constants == {"CREDENTIAL_NAMES": vocabulary.KNOWN_CREDENTIALS}
