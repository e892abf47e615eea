"""Broken catalogs, each with one fault, and one with all of the faults at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from runner_e2e.catalog import load_catalog
from runner_e2e.errors import Problem
from tests.support.catalogs import problems_of, put_agent

SOUND = """\
schema: runner-e2e.catalog/v1
target: {kind: command}
credentials: [MY_MODEL_KEY]
profiles:
  - id: alpha
    label: Alpha
    generation: native
    adapterType: process
    provider: scripted
    model: alpha-1
    modelQualification: {source: adapter_constant, qualificationId: "alpha:1"}
    credential: MY_MODEL_KEY
    supportedEnvironments: [local]
    expectedRuntimeMode: native
    expectedRuntimeMetadata: {adapterType: process, provider: scripted}
    agent:
      command: [python, agent.py]
      env:
        MY_MODEL_KEY: {$secretRef: MY_MODEL_KEY}
        SERVICE_NAME: quiet
  - id: beta
    label: Beta
    generation: legacy
    adapterType: process
    provider: scripted
    model: beta-1
    modelQualification: {source: adapter_constant, qualificationId: "beta:1"}
    credential: OPENAI_API_KEY
    supportedEnvironments: [local, daytona]
    expectedRuntimeMode: legacy
    expectedRuntimeMetadata: {adapterType: process, provider: scripted}
    agent: {command: [python, agent.py]}
environments:
  - {id: daytona, configurationKey: warm, label: Warm, daytona: {cpu: 4, reuseLease: true}}
tasks:
  - id: greet
    label: Greet
    workMode: standard
    flow: single_turn
    expectedRunCount: 1
    attemptTimeoutMs: {local: 480000, daytona: 900000}
    expectedTerminalState: {issue: done, run: succeeded}
    title: "Greet {{ marker }}"
    marker: "GREET_{{ nonce }}"
    prompt: Reply with {{ marker }}.
    matchers:
      - {kind: message_exact, expected: "{{ marker }}"}
      - {kind: message_regex, pattern: "^GREET_"}
      - {kind: json_schema, schema: {type: object}}
      - {kind: file_exists, path: notes.txt}
  - id: ask
    label: Ask
    workMode: standard
    flow: question_resume_completion
    expectedRunCount: 2
    attemptTimeoutMs: {local: 720000, daytona: 720000}
    expectedTerminalState: {issue: done, run: succeeded}
    title: "Ask {{ marker }}"
    marker: "ASK_{{ nonce }}"
    prompt: Ask first, then reply with {{ marker }}.
    questionAnswer: {optionLabel: Cobalt, expectedMarker: "{{ marker }}"}
    flowOptions: {question: {id: colour, prompt: Which?, options: [Cobalt, Amber]}}
    matchers:
      - {kind: issue_status, expected: done}
  - id: plan
    label: Plan
    workMode: planning
    flow: plan_approval_completion
    expectedRunCount: 2  # draft, completion
    attemptTimeoutMs: {local: 720000, daytona: 720000}
    expectedTerminalState: {issue: done, run: succeeded}
    title: "Plan {{ marker }}"
    marker: "PLAN_{{ nonce }}"
    prompt: Plan, then reply with {{ marker }}.
    planMarkers: {draft: DRAFT, revised: REVISED}
    flowOptions: {draftSteps: 2}
    matchers: []
suites:
  - id: first
    label: First
    description: The first one.
    profiles: [alpha, beta]
    environments: [local]
    tasks: [greet, ask]
    excludedExecutionIds: [first.beta.local.ask]
    expectedMatrixSize: 3
  - id: second
    label: Second
    description: The second one.
    profiles: [beta]
    environments: [daytona/warm]
    tasks: [plan]
    expectedMatrixSize: 1
    quarantine:
      - {executionId: second.beta.daytona.plan, owner: us, expires: 2030-01-31, reason: known}
"""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """``old`` is replaced by ``new``; the problem is on the line that holds ``at``."""

    name: str
    old: str
    new: str
    at: str
    says: str

    def problem_in(self, problems: tuple[Problem, ...], text: str) -> Problem:
        """The one problem that reports this fault."""
        line = text[: text.index(self.at)].count("\n") + 1
        (found,) = (
            problem for problem in problems if problem.line == line and self.says in str(problem)
        )
        return found


FAULTS = (
    Fault(
        name="an unknown field",
        old="    label: Alpha\n",
        new="    label: Alpha\n    modle: alpha-2\n",
        at="modle: alpha-2",
        says="profiles[0].modle: this field is unknown (did you mean 'model'?)",
    ),
    Fault(
        name="a word outside of its set",
        old="flow: question_resume_completion",
        new="flow: question_resume_complete",
        at="flow: question_resume_complete",
        says="(did you mean 'question_resume_completion'?)",
    ),
    Fault(
        name="a wrong type",
        old="    attemptTimeoutMs: {local: 480000, daytona: 900000}",
        new="    attemptTimeoutMs: {local: eight, daytona: 900000}",
        at="    attemptTimeoutMs: {local: eight, daytona: 900000}",
        says="tasks[0].attemptTimeoutMs.local: must be a valid integer; not 'eight'",
    ),
    Fault(
        name="an id with capitals",
        old="  - id: second\n",
        new="  - id: Second\n",
        at="  - id: Second\n",
        says="suites[1].id: must be lower-case letters, digits, - and _",
    ),
    Fault(
        name="a required field left out",
        old="  - id: beta\n    label: Beta\n",
        new="  - id: beta\n",
        at="- id: beta\n",
        says="profiles[1]: 'label' is missing",
    ),
    Fault(
        name="a duplicate key",
        old="    model: alpha-1\n",
        new="    model: alpha-1\n    model: alpha-3\n",
        at="model: alpha-3",
        says="the key 'model' occurs twice",
    ),
    Fault(
        name="an unknown credential",
        old="credential: MY_MODEL_KEY",
        new="credential: MY_MODELL_KEY",
        at="credential: MY_MODELL_KEY",
        says="'MY_MODELL_KEY' is not a known credential (did you mean 'MY_MODEL_KEY'?)",
    ),
    Fault(
        name="a raw secret under a secret's name",
        old="SERVICE_NAME: quiet",
        new="SERVICE_API_KEY: hunter2hunter2",
        at="SERVICE_API_KEY: hunter2hunter2",
        says="profiles[0].agent.env.SERVICE_API_KEY: a raw secret may not stand in a catalog",
    ),
    Fault(
        name="a secret reference to nothing",
        old="{$secretRef: MY_MODEL_KEY}",
        new="{$secretRef: MY_MODAL_KEY}",
        at="{$secretRef: MY_MODAL_KEY}",
        says="'MY_MODAL_KEY' is not a known credential (did you mean 'MY_MODEL_KEY'?)",
    ),
    Fault(
        name="an unknown template variable",
        old='title: "Greet {{ marker }}"',
        new='title: "Greet {{ makrer }}"',
        at='title: "Greet {{ makrer }}"',
        says="the template names 'makrer', which is not a variable here (did you mean 'marker'?)",
    ),
    Fault(
        name="a template that does not parse",
        old="prompt: Reply with {{ marker }}.",
        new="prompt: Reply with {{ marker.",
        at="prompt: Reply with {{ marker.",
        says="tasks[0].prompt: the template cannot be read",
    ),
    Fault(
        name="a marker that names itself",
        old='marker: "ASK_{{ nonce }}"',
        new='marker: "ASK_{{ marker }}"',
        at='marker: "ASK_{{ marker }}"',
        says="tasks[1].marker: the template names 'marker'",
    ),
    Fault(
        name="a regular expression that does not compile",
        old='pattern: "^GREET_"',
        new='pattern: "^GREET_("',
        at='pattern: "^GREET_("',
        says="tasks[0].matchers[1].pattern:",
    ),
    Fault(
        name="a JSON Schema that is none",
        old="schema: {type: object}",
        new="schema: {type: objekt}",
        at="schema: {type: objekt}",
        says="tasks[0].matchers[2].schema:",
    ),
    Fault(
        name="a file outside of the workspace",
        old="path: notes.txt",
        new="path: ../notes.txt",
        at="path: ../notes.txt",
        says="tasks[0].matchers[3].path:",
    ),
    Fault(
        name="an unknown kind of matcher",
        old="{kind: issue_status, expected: done}",
        new="{kind: issue_state, expected: done}",
        at="{kind: issue_state, expected: done}",
        says="tasks[1].matchers[0].kind: must be",
    ),
    Fault(
        name="a key that the flow needs",
        old="    planMarkers: {draft: DRAFT, revised: REVISED}\n",
        new="",
        says="the flow plan_approval_completion needs 'planMarkers'",
        at="- id: plan\n",
    ),
    Fault(
        name="a run count that the flow cannot have",
        old="expectedRunCount: 2  # draft, completion",
        new="expectedRunCount: 3  # draft, completion",
        at="expectedRunCount: 3  # draft, completion",
        says="the flow plan_approval_completion has exactly 2 runs, not 3",
    ),
    Fault(
        name="an excluded id that does not exist",
        old="excludedExecutionIds: [first.beta.local.ask]",
        new="excludedExecutionIds: [first.beta.local.ask, first.beta.local.greeet]",
        at="excludedExecutionIds: [first.beta.local.ask, first.beta.local.greeet]",
        says="(did you mean 'first.beta.local.greet'?)",
    ),
    Fault(
        name="a suite of another size",
        old="expectedMatrixSize: 3",
        new="expectedMatrixSize: 4",
        at="expectedMatrixSize: 4",
        says="the suite has 3 cells, not 4",
    ),
    Fault(
        name="a day that is none",
        old="expires: 2030-01-31",
        new="expires: 2030-02-31",
        at="expires: 2030-02-31",
        says="2030-02-31 is not a day of the calendar",
    ),
)


def broken(directory: Path, *faults: Fault) -> tuple[str, tuple[Problem, ...]]:
    """The text with these faults, and what loading it objects to."""
    text = SOUND
    for fault in faults:
        assert text.count(fault.old) == 1, fault.name
        text = text.replace(fault.old, fault.new)
    path = directory / "runner-e2e.yaml"
    path.write_text(text)
    put_agent(directory)
    return text, problems_of(lambda: load_catalog(path))


def test_the_sound_catalog_has_no_problem(tmp_path: Path) -> None:
    _, problems = broken(tmp_path)
    assert problems == ()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_one_fault_is_one_problem_at_its_line(tmp_path: Path, fault: Fault) -> None:
    text, problems = broken(tmp_path, fault)
    assert problems == (fault.problem_in(problems, text),)


def test_all_faults_at_once_are_all_reported_at_their_lines(tmp_path: Path) -> None:
    text, problems = broken(tmp_path, *FAULTS)
    assert len(FAULTS) >= 20
    assert set(problems) == {fault.problem_in(problems, text) for fault in FAULTS}
    assert list(problems) == sorted(problems, key=lambda problem: (problem.line, problem.column))
