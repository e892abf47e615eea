"""``examples/agents`` on the real programs, with a scripted model in the place of the accounts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner_e2e.catalog import Catalog, load_catalog
from runner_e2e.contracts.result import Source
from runner_e2e.execution import RunRequest
from tests.support.agent_runs import AGENTS, CLAUDE_CODE, CODEX, KEY, OPENCODE, PATH, Agent
from tests.support.executions import NO_WAIT, Ran, run_request
from tests.support.fake_model import FakeModel, Request, Say, Step, fake_model

EXAMPLE = Path(__file__).parents[3] / "examples/agents/runner-e2e.yaml"
EVENT = (
    '{"type": "question", "id": "colour", "prompt": "Which colour?",'
    ' "options": ["Cobalt", "Amber"]}'
)
_MARKER = re.compile(r"(?:NOTE|WORD|ASK)_[0-9a-f]{12}-\d")


def marker(request: Request) -> str:
    """The word that the case asks for."""
    return str(_MARKER.findall(request.text)[-1])


def write_note(agent: Agent) -> list[Step]:
    """Write whatever the prompt file says the word is."""
    find = 'grep -o "NOTE_[0-9a-f-]*" "$RUNNER_E2E_PROMPT_FILE" | head -n 1'
    return [agent.tool(f"{find} > note.txt"), Say(lambda request: f"wrote {marker(request)}")]


def remember(agent: Agent) -> list[Step]:
    """Only a session that went on holds the word."""
    del agent
    return [Say("ready"), Say(marker)]


def ask_colour(agent: Agent) -> list[Step]:
    """Ask as the prompt says, then answer."""
    ask = agent.tool(f"echo '{EVENT}' >> \"$RUNNER_E2E_EVENTS\"")
    return [ask, Say("asked"), Say(lambda request: f"{marker(request)} Cobalt")]


CASES = {"write-note": write_note, "remember": remember, "ask-colour": ask_colour}


def example(model: FakeModel | None, agent: Agent, directory: Path) -> Catalog:
    """The example, its agents pointed to a model here."""
    text = EXAMPLE.read_text()
    if model is not None:
        address = f'{{preset: {agent.preset}, baseUrl: "{model.url}{agent.path}"}}'
        text = text.replace(f"{{preset: {agent.preset}}}", address)
        assert model.url in text
    path = directory / "runner-e2e.yaml"
    path.write_text(text)
    return load_catalog(path)


def run_case(agent: Agent, case: str, directory: Path, steps: Sequence[Step]) -> Ran:
    with fake_model(*steps) as model:
        catalog = example(model, agent, directory)
        (execution,) = [
            one for one in catalog.executions if one.id == f"agents.{agent.preset}.local.{case}"
        ]
        temporary = directory / "tmp"
        temporary.mkdir()
        return run_request(
            RunRequest(
                execution=execution,
                catalog_directory=catalog.directory,
                target=catalog.file.target,
                out=directory / "out",
                source=Source(sha=None, ref=None, workflow_run_url=None),
                environ={"PATH": PATH, agent.credential: KEY},
                backoff=NO_WAIT,
                temporary_directory=temporary,
                max_retries=0,
            )
        )


# A turn of OpenCode takes as long as all cases of the others.
RUNS = [
    *((agent, case) for agent in (CODEX, CLAUDE_CODE) for case in CASES),
    (OPENCODE, "write-note"),
]


@pytest.mark.parametrize(
    ("agent", "case"), RUNS, ids=[f"{agent.preset}-{case}" for agent, case in RUNS]
)
def test_every_case_of_the_example_passes(tmp_path: Path, agent: Agent, case: str) -> None:
    ran = run_case(agent, case, tmp_path, CASES[case](agent))
    assert ran.verdict == (None, None), ran.result.error


def runner_e2e(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Call the command where no account is."""
    return subprocess.run(
        [sys.executable, "-m", "runner_e2e", *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plan_needs_no_account(tmp_path: Path) -> None:
    done = runner_e2e("plan", "--catalog", str(EXAMPLE), "--all", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "18 planned" in done.stdout


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.preset)
def test_a_run_says_exactly_which_variable_is_missing(tmp_path: Path, agent: Agent) -> None:
    name = f"agents.{agent.preset}.local.write-note"
    done = runner_e2e("run", "--catalog", str(EXAMPLE), "--id", name, cwd=tmp_path)
    assert done.returncode == 5
    assert f"{agent.credential} must be set for profile {agent.preset}" in done.stdout
