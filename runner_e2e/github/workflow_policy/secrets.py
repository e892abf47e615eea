"""Who may cause a secret to be used, and which step gets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from runner_e2e.github.workflow_policy.document import (
    Finding,
    Job,
    Step,
    Where,
    Workflow,
    expressions,
    mapping,
    sole_expression,
    texts_of,
)
from runner_e2e.resources import resource_directory

_SECRETS = re.compile(r"\bsecrets\b(?:\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*))?")
_CONDITIONAL = re.compile(
    r"(?P<condition>.+?)\s*&&\s*secrets\.(?P<name>\w+)\s*\|\|\s*''", re.DOTALL
)
_OWN = re.compile(r"matrix\.credentialName\s*==\s*'(?P<name>\w+)'")
_NONE_OF = re.compile(
    r"!contains\(fromJSON\('\[(?:\"[A-Z0-9_]+\"(?:, )?)+\]'\), matrix\.credentialName\)"
)
_USES_SECRET = {"run", "sweep"}
_CACHES = re.compile(r"^actions/cache\b|^actions/setup-")


def inherited(workflow: Workflow) -> Iterator[Finding]:
    """Secrets by name."""
    for job in workflow.jobs.values():
        if job.tree.get("secrets") == "inherit":
            yield job.find("secret-inherit", "pass each secret by its name", "secrets")


def indexed(workflow: Workflow) -> Iterator[Finding]:
    """Secrets by a name that stands in the file."""
    for where, text in workflow.texts():
        for expression in expressions(where, text):
            if any(found["name"] is None for found in _SECRETS.finditer(expression)):
                yield workflow.find(where, "secret-index", "name the secret: secrets.NAME")


def scope(workflow: Workflow) -> Iterator[Finding]:
    """In the env of a step that runs or sweeps, or handed on by name."""
    for where, text in workflow.texts():
        if not names_in(where, text):
            continue
        step = _step_at(workflow, where)
        passed = len(where) == 4 and where[2] == "secrets"  # noqa: PLR2004 - jobs.ID.secrets.NAME
        in_step = step is not None and where[4:5] == ("env",)
        if not passed and not in_step:
            yield workflow.find(
                where, "secret-scope", "put the secret into env of the step that uses it"
            )
        elif step is not None and step.command not in _USES_SECRET:
            yield workflow.find(
                where,
                "secret-step",
                "only the steps that run or sweep need a credential; this one gets none",
            )


def _step_at(workflow: Workflow, where: Where) -> Step | None:
    match where:
        case ("jobs", str(job), "steps", int(index), *_):
            return workflow.jobs[job].steps[index]
        case _:
            return None


def authorization(workflow: Workflow) -> Iterator[Finding]:
    """The check of the actor first, behind an environment."""
    for job in workflow.jobs.values():
        if not secrets_of(job) or job.uses:
            continue
        if not (job.steps and is_authorization(job.steps[0], allow_condition=False)):
            yield job.find(
                "authorize-first",
                "its first step must be the check of the actor, to the letter of campaign.yml",
                "steps",
            )
        if "environment" not in job.tree:
            yield job.find("secret-environment", "secrets belong behind a protected environment")


def is_authorization(step: Step, *, allow_condition: bool) -> bool:
    """Whether a step is our check of the actor, unchanged."""
    return (
        step.script == authorization_script()
        and sole_expression(step.env.get("ALLOWED_ACTOR_IDS"))
        == "vars.RUNNER_E2E_ALLOWED_ACTOR_IDS"
        and (allow_condition or not step.condition)
    )


@cache
def authorization_script() -> str:
    """The check of the actor as we ship it."""
    shipped = Workflow.read(resource_directory("workflows") / "campaign.yml")
    return str(shipped.jobs["authorize"].steps[0].script)


def authorized_jobs(workflow: Workflow) -> Iterator[Finding]:
    """One job says who may spend, and all others ask it."""
    rule = "authorize-job"
    planning = [job for job in workflow.jobs.values() if "plan" in job.commands()]
    if not planning:
        return
    gates = [
        job
        for job in workflow.jobs.values()
        if not secrets_of(job)
        and job.steps
        and is_authorization(job.steps[0], allow_condition=True)
        and mapping(job.tree.get("outputs")).get("paid")
        == f"${{{{ steps.{job.steps[0].tree.get('id')}.outcome == 'success' }}}}"
    ]
    if not gates:
        yield planning[0].find(rule, "no job checks the actor and says so in its output paid")
        return
    gate = gates[0].id
    for job in workflow.jobs.values():
        if job.id != gate and gate not in job.needs:
            yield job.find(rule, f"it must need {gate}")
        if secrets_of(job) and f"needs.{gate}.outputs.paid == 'true'" not in job.condition:
            yield job.find(rule, f"its if must ask for needs.{gate}.outputs.paid == 'true'", "if")


def one_credential(workflow: Workflow) -> Iterator[Finding]:
    """Empty unless the execution names it."""
    for job in workflow.jobs.values():
        for step in job.steps if job.is_leg else ():
            for variable, value in step.env.items():
                names = names_in((), str(value))
                if names and not _is_conditional(variable, names, str(value)):
                    yield step.find(
                        "one-credential",
                        f"{variable} must be empty unless the execution needs it: "
                        f"matrix.credentialName == '{variable}' && secrets.{variable} || ''",
                        "env",
                        variable,
                    )


def _is_conditional(variable: str, names: set[str], value: str) -> bool:
    found = _CONDITIONAL.fullmatch(sole_expression(value) or "")
    if not found or names != {found["name"]} or found["name"] != variable:
        return False
    condition = found["condition"]
    if variable.startswith("DAYTONA"):
        return condition == "matrix.needsDaytona"
    own = _OWN.fullmatch(condition)
    if own:
        return own["name"] == variable
    # The credential that a catalog names itself comes when it is none of the known ones.
    return bool(_NONE_OF.fullmatch(condition))


def poisoned_caches(workflow: Workflow) -> Iterator[Finding]:
    """No cache beside a secret."""
    for job in workflow.jobs.values():
        for step in job.steps if secrets_of(job) or job.publishes else ():
            caching = step.action.startswith("actions/cache") or "cache" in step.inputs
            if caching and _CACHES.match(step.action):
                yield step.find("cache", "no cache in a job that sees a secret or publishes")


def names_in(where: Where, text: str) -> set[str]:
    """The secrets that a text names. The token of the job is not one: every job has its own."""
    return {
        str(found["name"])
        for expression in expressions(where, text)
        for found in _SECRETS.finditer(expression)
        if found["name"] != "GITHUB_TOKEN"
    }


def secrets_of(job: Job) -> set[str]:
    """The secrets that a job sees or hands on."""
    named = {name for where, text in texts_of(job.tree) for name in names_in(where, text)}
    return named | ({"inherit"} if job.tree.get("secrets") == "inherit" else set())


RULES = (
    inherited,
    indexed,
    scope,
    authorization,
    authorized_jobs,
    one_credential,
    poisoned_caches,
)
