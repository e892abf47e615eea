"""A secret slides over every place where the harness cuts what an agent wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.executions import ANSWER, ID, run_agent

SECRET = (
    """the walrus and it's carpenter "were" walking close\\at hand and wept like anything to see """
    "such quantities of sand"
)
"""Shaped like no key, and with all that a quotation escapes."""

WINDOW = 12
PIECES = [SECRET[at : at + WINDOW].encode() for at in range(len(SECRET) - WINDOW)]

MIB = 1024 * 1024
PRINT = "emit(type='status', issue='done'); print(%s)"
CUTS = {
    "the head of a log": (PRINT % "fill({at}) + KEY + fill(2_000_000)", 4 * MIB),
    "the tail of a log": (
        PRINT % "fill(6_000_000) + KEY + fill(1_048_575 - len(KEY) + {inside})",
        MIB,
    ),
    "what a log leaves out": (PRINT % "fill(5_000_000) + KEY + fill({at})", 3 * MIB),
    "a message": ("print(fill({at}) + KEY + fill(100_000))", MIB),
    "a detail": ("say(fill({at}) + KEY)", 600),
    "a fault of a schema": ("say(fill({at}) + KEY)", 170),
    "a file": ("open('f', 'w').write(fill({at}) + KEY); say('no')", 600),
    "a broken event": (
        "open(os.environ['RUNNER_E2E_EVENTS'], 'w').write(fill({at}) + KEY + chr(10))",
        80,
    ),
    "an event of a type that is none": ("emit(type=fill({at}) + KEY)", 270),
}
MATCHERS = [
    {"kind": "message_exact", "expected": "{{ marker }}"},
    {"kind": "file_exact", "path": "f", "expected": "a"},
    {
        "kind": "json_schema",
        "schema": {"properties": {"comments": {"items": {"properties": {"body": {"const": 1}}}}}},
    },
]


@pytest.mark.parametrize("inside", [20, len(SECRET) - 10])
@pytest.mark.parametrize("cut", CUTS)
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(
    cut: str, inside: int, tmp_path: Path
) -> None:
    deed, place = CUTS[cut]
    ran = run_agent(
        tmp_path,
        f"""
KEY = os.environ["KEY"]
def fill(size):
    return "x" * (size - 1) + " "
{deed.format(at=place - inside, inside=inside)}""",
        env={"KEY": {"$secretRef": "OPENAI_API_KEY"}},
        environ={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": SECRET},
        matchers=MATCHERS,
    )

    assert ran.result.failure_class == "secret_leak"
    assert "OPENAI_API_KEY" in str(ran.result.error)
    for path in ran.out.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert [piece for piece in PIECES if piece in data] == []


@pytest.mark.parametrize("value", ["scripted", "smoke.scripted", "attempt-1-run"])
@pytest.mark.parametrize("deed", [ANSWER, "emit(type='usage', inputTokens=1); sys.exit(1)"])
def test_a_credential_whose_value_stands_in_an_id_costs_no_result(
    value: str, deed: str, tmp_path: Path
) -> None:
    ran = run_agent(
        tmp_path,
        deed,
        environ={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": value},
        matchers=[*MATCHERS, {"kind": "environment", "expected": "local"}],
    )

    assert ran.record.state == "finished"
    assert ran.result.execution_id == ID
    assert ran.result.profile_id == "scripted"
    assert ran.result.run_ids == ("attempt-1-run-1",)
    assert ran.result.status == "failed"
