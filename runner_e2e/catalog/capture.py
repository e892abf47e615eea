"""Capturing a model ranking: OpenRouter's list of this week's most used models that call tools.

What comes back is checked as a snapshot before anything is written, so a changed or refused answer
never takes the place of a good one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from runner_e2e.catalog.rankings import (
    RANKED_MODELS,
    RANKING_V1,
    RankingSnapshot,
    models_hash,
    read_ranking,
)
from runner_e2e.contracts.catalog import CATALOG_V1
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.errors import DocumentError
from runner_e2e.failures import (
    InfrastructureText,
    PermanentInfrastructure,
    TransientInfrastructure,
    class_of_exception,
    classify_http,
)

SOURCE_URL = "https://openrouter.ai/api/v1/models?supported_parameters=tools&sort=top-weekly"
"""Where the list is, and what a snapshot says it came from."""
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_TIMEOUT_S = 30.0


def fetch_ranking(url: str = SOURCE_URL) -> bytes:
    """Ask for the list. No account is needed.

    Raises an execution error with the class and code of whatever went wrong.
    """
    import httpx  # noqa: PLC0415 - no other use of a catalog needs the network

    said = "the model list of OpenRouter could not be fetched"
    hint = "the snapshot that is there was kept; try again later"
    try:
        with httpx.stream("GET", url, timeout=_TIMEOUT_S) as response:
            answer = bytearray()
            for piece in response.iter_bytes():
                answer += piece
                if len(answer) > MAX_ANSWER_BYTES:
                    raise _refused(f"it is longer than {MAX_ANSWER_BYTES} bytes")
            if response.is_success:
                return bytes(answer)
            words = InfrastructureText(answer.decode("utf-8", "replace"))
            failure_class, code = classify_http(response.status_code, words)
            said += f": it answered {response.status_code}"
    except httpx.HTTPError as error:
        failure_class, code = class_of_exception(error)
        said += f": {type(error).__name__}"
    if failure_class == "transient_infrastructure":
        raise TransientInfrastructure(code, said, hint=hint)
    raise PermanentInfrastructure(code, said, hint=hint)


def snapshot_of(answer: bytes, captured_at: datetime) -> bytes:
    """Make a snapshot of an answer. The same answer and time give the same bytes.

    Raises :class:`DocumentError` for an answer that holds no such list.
    """
    try:
        document = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise _refused("it is no JSON") from None
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise _refused("it has no list under data")
    models: list[Mapping[str, object]] = [
        _model(rank, row) for rank, row in enumerate(_with_tools(rows), start=1)
    ]
    if len(models) < RANKED_MODELS:
        raise _refused(f"{len(models)} models in it call tools; {RANKED_MODELS} are needed")
    captured = format_timestamp(captured_at)
    snapshot = {
        "schema": RANKING_V1,
        "ranking": "top-weekly",
        "requiredParameter": "tools",
        "snapshotId": f"openrouter-top-weekly-{captured[:10]}",
        "sourceUrl": SOURCE_URL,
        "capturedAt": captured,
        "models": models,
        "contentHash": models_hash(models),
    }
    data = orjson.dumps(snapshot, option=orjson.OPT_INDENT_2) + b"\n"
    read_ranking(data, SOURCE_URL)
    return data


def _with_tools(rows: list[Any]) -> list[dict[str, Any]]:
    found = [
        row
        for row in rows
        if isinstance(row, dict)
        and isinstance(row.get("supported_parameters"), list)
        and "tools" in row["supported_parameters"]
    ]
    return found[:RANKED_MODELS]


def _model(rank: int, row: Mapping[str, Any]) -> dict[str, object]:
    return {
        "rank": rank,
        "id": row.get("id"),
        "name": row.get("name"),
        "supportedParameters": sorted({str(name) for name in row["supported_parameters"]}),
    }


def _refused(reason: str) -> DocumentError:
    return DocumentError(
        SOURCE_URL, reason, hint="the snapshot that is there was kept; try again later"
    )


def profiles_of(snapshot: RankingSnapshot) -> list[dict[str, Any]]:
    """Profiles for the ranked models, as a catalog writes them: OpenCode over OpenRouter."""
    return [
        {
            "id": f"ranked-{model.rank}",
            "label": model.name,
            "generation": "native",
            "groups": ["native", "breadth"],
            "adapterType": "opencode",
            "provider": "openrouter",
            "model": model.id,
            "modelQualification": {
                "source": "openrouter_rankings_snapshot",
                "qualificationId": f"{snapshot.snapshot_id}:{model.rank}",
            },
            "ranking": snapshot.entry(model.rank).model_dump(mode="json", by_alias=True),
            "credential": "OPENROUTER_API_KEY",
            "supportedEnvironments": ["local", "daytona"],
            "expectedRuntimeMode": "native",
            "expectedRuntimeMetadata": {"adapterType": "opencode", "provider": "openrouter"},
            "agent": {"preset": "opencode"},
        }
        for model in snapshot.models
    ]


def profiles_file(snapshot: RankingSnapshot, snapshot_path: Path, path: Path) -> bytes:
    """A file for ``path`` that a catalog can include: the profiles and where they come from.

    It is JSON, and so YAML as well.
    """
    beside = os.path.relpath(snapshot_path.absolute(), path.absolute().parent)
    document = {
        "schema": CATALOG_V1,
        "rankings": [Path(beside).as_posix()],
        "profiles": profiles_of(snapshot),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"
