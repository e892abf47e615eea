"""The published protocol: its page, its schema and the two complete agents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from runner_e2e.catalog import load_catalog
from runner_e2e.contracts.result import Source
from runner_e2e.execution import RunRequest
from runner_e2e.targets.command import protocol_schema
from tests.support.executions import run_agent, run_request

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "examples" / "protocol"
PAGE = REPOSITORY / "docs" / "agent-protocol.md"
SCHEMA = REPOSITORY / "docs" / "agent-protocol.schema.json"
CATALOG = load_catalog(EXAMPLES / "runner-e2e.yaml")


@pytest.mark.parametrize("execution_id", [one.id for one in CATALOG.executions])
def test_the_example_agents_pass_every_flow(execution_id: str, tmp_path: Path) -> None:
    (execution,) = (one for one in CATALOG.executions if one.id == execution_id)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    ran = run_request(
        RunRequest(
            execution=execution,
            catalog_directory=CATALOG.directory,
            target=CATALOG.file.target,
            out=tmp_path / "out",
            source=Source(sha=None, ref=None, workflow_run_url=None),
            environ={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
            max_retries=0,
            temporary_directory=temporary,
        )
    )
    assert (ran.result.status, ran.result.error, ran.result.cleanup) == ("passed", None, "passed")


def test_the_complete_agent_has_fewer_than_sixty_lines() -> None:
    assert len((EXAMPLES / "agent.py").read_text().splitlines()) < 60
    assert len((EXAMPLES / "agent.sh").read_text().splitlines()) < 60


@pytest.mark.parametrize("name", ["agent.py", "agent.sh"])
def test_the_page_shows_the_agents_that_are_tested(name: str) -> None:
    assert (EXAMPLES / name).read_text() in PAGE.read_text()


def test_the_published_schema_is_the_one_of_this_version() -> None:
    assert SCHEMA.read_bytes() == protocol_schema()


def definition(name: str) -> Any:
    schema = json.loads(protocol_schema())
    return {"$schema": schema["$schema"], "$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}


def test_what_an_agent_gets_and_writes_fits_the_published_schema(tmp_path: Path) -> None:
    agent = """
emit(type="usage", inputTokens=1, costUsd=0.5)
emit(type="runtime", mode="native", adapterType="process", provider="scripted", model="m")
emit(type="status", issue="in_review")
emit(type="artifact", name="report", path="report.txt", mimeType="text/plain")
emit(type="plan", body="1. a")
emit(type="question", id="q", prompt="p", options=["a", "b"])
emit(type="tool_request", tool="t", arguments={"a": 1})
say(json.dumps(turn))
say(open(os.environ["RUNNER_E2E_EVENTS"]).read())
"""
    ran = run_agent(tmp_path, "pathlib.Path('report.txt').touch()\n" + agent)
    assert ran.result.failure_class == "candidate_failure"
    turn, events = (one["body"] for one in ran.observation()["comments"])
    jsonschema.validate(json.loads(turn), definition("turn"))
    lines = [json.loads(line) for line in events.splitlines()]
    assert len({line["type"] for line in lines}) == 8
    for line in lines:
        jsonschema.validate(line, definition("event"))


@pytest.mark.parametrize(
    "event", [{"type": "wish"}, {"type": "message"}, {"type": "status", "issue": "Done!"}]
)
def test_the_published_schema_refuses_what_the_harness_refuses(event: dict[str, str]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(event, definition("event"))
