"""Two judges, the contract's own compiler and our models, agree on what a document is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from runner_e2e.contracts import billing, campaign, catalog, history, plan, result
from runner_e2e.contracts.base import Document, dump, parse
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.vocabulary import KNOWN_CREDENTIALS, CredentialName
from runner_e2e.errors import DocumentError
from tests.contract.judge import Claim, refused
from tests.contract.mutants import UNKNOWN_FIELD, mutants
from tests.contract.strategies import Shape, Tree, examples

MATCHERS: tuple[type[BaseModel], ...] = get_args(get_args(Matcher)[0])

JSON_TYPES: tuple[tuple[str, type[BaseModel]], ...] = (
    ("AgentFixtureBuildInput", catalog.AgentFixtureBuildInput),
    ("EnvironmentFixtureBuildInput", catalog.EnvironmentFixtureBuildInput),
    ("MatrixJob", plan.MatrixJob),
    ("RunnerE2EAggregateBillingSummary", billing.AggregateBillingSummary),
    ("RunnerE2EBillingSummary", billing.BillingSummary),
    ("RunnerE2ECampaign", campaign.Campaign),
    ("RunnerE2EHistoryCampaign", history.HistoryCampaign),
    ("RunnerE2EHistoryExecution", history.HistoryExecution),
    ("RunnerE2EHistoryIndex", history.HistoryIndex),
    ("RunnerE2EResult", result.Result),
    ("RunnerE2ERuntimeUsage", billing.RuntimeUsage),
    ("RunnerE2ESuiteSummary", campaign.SuiteSummary),
    ("SecretReference", catalog.SecretReference),
    *(("Matcher", matcher) for matcher in MATCHERS),
)
"""Every type of the contract that is plain JSON, and our models of it."""

NAMES = frozenset(kind.__name__ for _, kind in JSON_TYPES)

# Our set of credential names is open on purpose; the contract's is not.
WORDS = {get_args(CredentialName)[1].pattern: KNOWN_CREDENTIALS[:3]}


def read(kind: type[BaseModel], tree: Tree) -> BaseModel:
    data = json.dumps(tree).encode()
    if issubclass(kind, Document):
        return parse(kind, data, "test")
    matcher: BaseModel = TypeAdapter(Matcher).validate_json(data, extra="ignore", by_name=False)
    return matcher


def accepted_by_us(kind: type[BaseModel], tree: Tree) -> bool:
    try:
        read(kind, tree)
    except (DocumentError, ValidationError):
        return False
    return True


def documents(kind: type[BaseModel], count: int, *, full: bool = False) -> Iterator[Tree]:
    yield from examples(Shape(kind, WORDS, full=full).strategy(), count)


def test_the_contract_accepts_whatever_we_write(tmp_path: Path) -> None:
    claims = [
        Claim(type=name, document=dump(read(kind, tree)))
        for name, kind in JSON_TYPES
        for tree in documents(kind, 25)
    ]
    reasons = refused(claims, tmp_path)
    assert not {claims[index]: reason for index, reason in reasons.items()}
    assert len(claims) > 500


def test_both_judges_refuse_the_same_faults(tmp_path: Path) -> None:
    """All but unknown fields, which the contract forbids us to write and we are glad to read."""
    claims: list[Claim] = []
    ours: list[bool] = []
    faults: list[str] = []
    for name, kind in JSON_TYPES:
        shape = Shape(kind, WORDS, full=True)
        (sound,) = examples(shape.strategy(), 1)
        changed = list(mutants(shape, sound, stop_at=NAMES))
        for tree in (sound, *(mutant.tree for mutant in changed)):
            claims.append(Claim(type=name, document=json.dumps(tree).encode()))
            ours.append(accepted_by_us(kind, tree))
        faults += ["none", *(f"{kind.__name__}{item.path}: {item.fault}" for item in changed)]

    theirs = refused(claims, tmp_path)

    accepted_by_contract = [fault for index, fault in enumerate(faults) if index not in theirs]
    assert accepted_by_contract == ["none"] * len(JSON_TYPES)
    accepted = [fault for fault, yes in zip(faults, ours, strict=True) if yes and fault != "none"]
    assert accepted == [fault for fault in faults if fault.endswith(UNKNOWN_FIELD)]
    assert ours.count(False) > 800
