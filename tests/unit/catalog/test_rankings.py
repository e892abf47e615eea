from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.catalog import models_hash, read_ranking
from runner_e2e.errors import DocumentError
from tests.support.catalogs import PROFILE, Tree, catalog_tree, load_tree, problems_in

MODELS: list[Tree] = [
    {"rank": rank, "id": f"lab-{rank}/model", "name": f"M{rank}", "supportedParameters": ["tools"]}
    for rank in range(1, 6)
]


def snapshot(**changes: Any) -> Tree:
    tree = {
        "schema": "paperclip.runner-e2e.openrouter-ranking/v1",
        "ranking": "top-weekly",
        "requiredParameter": "tools",
        "snapshotId": "weekly-1",
        "sourceUrl": "https://openrouter.ai/rankings",
        "capturedAt": "2026-09-07T08:00:00.000Z",
        "models": MODELS,
        **changes,
    }
    return {"contentHash": models_hash(tree["models"]), **tree}


def with_model(index: int, **changes: Any) -> Tree:
    models = [dict(model) for model in MODELS]
    models[index] |= changes
    return snapshot(models=models)


def test_a_sound_snapshot_is_read() -> None:
    ranking = read_ranking(json.dumps(snapshot()).encode(), "weekly.json")
    assert ranking.entry(2).canonical_model_id == "lab-2/model"
    assert ranking.entry(2).snapshot_id == "weekly-1"


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ([], "the document"),
        (snapshot(schema="other/v1"), "schema"),
        (snapshot(ranking="top-daily"), "ranking"),
        (snapshot(requiredParameter="vision"), "requiredParameter"),
        (snapshot(snapshotId="  "), "snapshotId"),
        (snapshot(sourceUrl="https://elsewhere.example/"), "sourceUrl"),
        (snapshot(sourceUrl="https://openrouter.ai.example/"), "sourceUrl"),
        (snapshot(capturedAt="yesterday"), "capturedAt"),
        (snapshot(models=MODELS[:4]), "models"),
        (with_model(1, rank=3), "models[1].rank: must be 2, not 3"),
        (with_model(1, id="nameless"), "models[1].id"),
        (with_model(1, name=" "), "models[1].name"),
        (with_model(1, supportedParameters=["vision"]), "lab-2/model does not support tools"),
        (with_model(1, id="lab-1/model"), "lab-1/model is in the list twice"),
        (snapshot(contentHash="0" * 64), "contentHash: must be"),
    ],
)
def test_a_snapshot_with_a_fault_is_refused(tree: object, reason: str) -> None:
    with pytest.raises(DocumentError, match=r"weekly\.json") as caught:
        read_ranking(json.dumps(tree).encode(), "weekly.json")
    assert reason in caught.value.reason


def ranked_profile(**ranking: Any) -> Tree:
    entry = {
        "snapshotId": "weekly-1",
        "capturedAt": "2026-09-07T08:00:00.000Z",
        "sourceUrl": "https://openrouter.ai/rankings",
        "rank": 2,
        "canonicalModelId": "lab-2/model",
        **ranking,
    }
    source = {"source": "openrouter_rankings_snapshot", "qualificationId": "weekly-1:2"}
    return {**PROFILE, "modelQualification": source, "ranking": entry}


def ranked_catalog(directory: Path, tree: Tree | None = None, **ranking: Any) -> Tree:
    (directory / "weekly.json").write_text(json.dumps(snapshot() if tree is None else tree))
    return catalog_tree(profiles=[ranked_profile(**ranking)], rankings=["weekly.json"])


def test_a_profile_comes_from_its_snapshot(tmp_path: Path) -> None:
    (execution,) = load_tree(tmp_path, ranked_catalog(tmp_path)).executions
    assert execution.profile.ranking is not None
    assert execution.profile.ranking.rank == 2


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        ({"rank": 3}, "ranking.canonicalModelId: the snapshot says 'lab-3/model'"),
        ({"rank": 9}, "ranking.rank: the snapshot has 5 models"),
        ({"snapshotId": "weekly-2"}, "no file under rankings holds the snapshot 'weekly-2'"),
        ({"capturedAt": "2026-09-08T08:00:00.000Z"}, "ranking.capturedAt: the snapshot says"),
    ],
)
def test_a_profile_that_its_snapshot_contradicts_is_refused(
    tmp_path: Path, ranking: Tree, expected: str
) -> None:
    (problem,) = problems_in(tmp_path, ranked_catalog(tmp_path, **ranking))
    assert expected in problem.message


@pytest.mark.parametrize("rankings", [None, [], ["other.json"]])
def test_a_profile_whose_snapshot_is_nowhere_is_not_believed(
    tmp_path: Path, rankings: list[str] | None
) -> None:
    (tmp_path / "other.json").write_text(json.dumps(snapshot(snapshotId="other")))
    tree = {**ranked_catalog(tmp_path), "rankings": rankings}
    if rankings is None:
        del tree["rankings"]
    (problem,) = problems_in(tmp_path, tree)
    assert "ranking.snapshotId: no file under rankings holds the snapshot" in problem.message
    assert problem.hint is not None
    assert "under rankings" in problem.hint


def test_a_snapshot_is_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "again.json").write_text(json.dumps(with_model(4, name="Another")))
    tree = {**ranked_catalog(tmp_path), "rankings": ["weekly.json", "again.json"]}
    (problem,) = problems_in(tmp_path, tree)
    assert problem.message.startswith("rankings[1]: the snapshot 'weekly-1' is in ")
    tree["rankings"] = ["weekly.json", "./weekly.json"]
    assert problems_in(tmp_path, tree) == ()


def test_where_the_model_stood_enters_the_fingerprint(tmp_path: Path) -> None:
    tree = ranked_catalog(tmp_path)
    first = load_tree(tmp_path, tree).fingerprint
    tree["profiles"][0] |= ranked_profile(rank=3, canonicalModelId="lab-3/model")
    assert load_tree(tmp_path, tree).fingerprint != first
    again = ranked_catalog(tmp_path, snapshot(snapshotId="next"), snapshotId="next")
    assert load_tree(tmp_path, again).fingerprint != first


def test_a_bad_or_absent_snapshot_is_a_problem_where_it_is_named(tmp_path: Path) -> None:
    bad = problems_in(tmp_path, ranked_catalog(tmp_path, snapshot(contentHash="0" * 64)))
    assert [problem.message.split(":")[0] for problem in bad] == ["rankings[0]"]
    absent = {**ranked_catalog(tmp_path), "rankings": ["absent.json"]}
    assert "cannot read" in problems_in(tmp_path, absent)[0].message


def test_a_ranking_and_its_qualification_belong_together(tmp_path: Path) -> None:
    profile = ranked_profile()
    del profile["ranking"]
    (problem,) = problems_in(tmp_path, catalog_tree(profiles=[profile]))
    assert "needs 'ranking'" in problem.message
    profile = {**ranked_profile(), "modelQualification": PROFILE["modelQualification"]}
    (problem,) = problems_in(tmp_path, catalog_tree(profiles=[profile]))
    assert "openrouter_rankings_snapshot" in problem.message
