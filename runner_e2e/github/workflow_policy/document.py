"""A workflow as the rules see it: jobs, steps, expressions, and where each of them is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from runner_e2e.catalog.yaml_source import YamlFault, YamlSource
from runner_e2e.errors import UsageError

Where = tuple[str | int, ...]
"""The way from the root of the file to a value."""

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_NUMBERED = re.compile(r"^(?P<action>[^@\s]+)@(?P<ref>\S+)$")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """One breach. ``rule`` is its short name; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Workflow:
    """One workflow file. Parts of another type than they should have count as absent."""

    path: Path
    source: YamlSource

    @classmethod
    def read(cls, path: Path) -> Workflow:
        """Read a file. Raises :class:`UsageError` where it is no workflow."""
        try:
            source = YamlSource(path, path.read_bytes())
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        except YamlFault as fault:
            raise UsageError(str(fault.problem(path))) from None
        if not isinstance(source.value, dict) or not mapping(source.value.get("jobs")):
            raise UsageError(f"{path} is not a workflow: it has no jobs")
        return cls(path, source)

    @property
    def tree(self) -> dict[str, Any]:
        """The whole file."""
        return mapping(self.source.value)

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """By id, in the order of the file."""
        return {
            name: Job(self, name, mapping(tree))
            for name, tree in mapping(self.tree["jobs"]).items()
        }

    @cached_property
    def events(self) -> dict[str, Any]:
        """What starts it, with its options."""
        on = self.tree.get("on")
        if isinstance(on, str):
            return {on: None}
        if isinstance(on, list):
            return dict.fromkeys(map(str, on))
        return mapping(on)

    @property
    def callable(self) -> bool:
        """Whether other workflows may call it."""
        return "workflow_call" in self.events

    def find(self, where: Where, rule: str, message: str) -> Finding:
        """A finding at a value, or at its nearest parent that exists."""
        line, column = self.source.position(where)
        return Finding(file=str(self.path), line=line, column=column, rule=rule, message=message)

    def texts(self) -> Iterator[tuple[Where, str]]:
        """Every text of the file."""
        return texts_of(self.tree)


@dataclass(frozen=True)
class Job:
    """A job: steps of its own, or the call of a workflow."""

    workflow: Workflow
    id: str
    tree: dict[str, Any]

    @property
    def where(self) -> Where:
        """The way to it."""
        return ("jobs", self.id)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """In order."""
        steps = self.tree.get("steps")
        found = steps if isinstance(steps, list) else []
        return tuple(Step(self, index, mapping(tree)) for index, tree in enumerate(found))

    @property
    def uses(self) -> str | None:
        """The workflow that it calls."""
        uses = self.tree.get("uses")
        return uses if isinstance(uses, str) else None

    @property
    def calls(self) -> str | None:
        """The file name of the workflow that it calls, such as ``campaign.yml``."""
        return self.uses.split("@")[0].rsplit("/", 1)[-1] if self.uses else None

    @property
    def condition(self) -> str:
        """Its ``if``."""
        return str(self.tree.get("if", ""))

    @property
    def needs(self) -> tuple[str, ...]:
        """The jobs it waits for."""
        needs = self.tree.get("needs", [])
        return (needs,) if isinstance(needs, str) else tuple(map(str, needs or ()))

    @property
    def matrix(self) -> bool:
        """Whether it is several jobs."""
        return "matrix" in mapping(self.tree.get("strategy"))

    def commands(self) -> set[str]:
        """What it asks the action of runner-e2e for."""
        return {step.command for step in self.steps if step.command}

    @property
    def is_leg(self) -> bool:
        """Whether it runs one execution of a matrix."""
        return self.matrix and "run" in self.commands()

    @property
    def publishes(self) -> bool:
        """Whether it writes to the publishing branch."""
        return bool(self.commands() & {"publish", "prune"}) or self.calls == "publish.yml"

    def find(self, rule: str, message: str, *keys: str | int) -> Finding:
        """A finding at the job or at something in it."""
        return self.workflow.find((*self.where, *keys), rule, message)


@dataclass(frozen=True)
class Step:
    """A step of a job."""

    job: Job
    index: int
    tree: dict[str, Any]

    @property
    def action(self) -> str:
        """The action without its version: ``actions/checkout``; empty for a script."""
        return str(self.tree.get("uses", "")).split("@")[0]

    @property
    def inputs(self) -> dict[str, Any]:
        """What the action is given."""
        return mapping(self.tree.get("with"))

    @property
    def env(self) -> dict[str, Any]:
        """The environment of this step alone."""
        return mapping(self.tree.get("env"))

    @property
    def script(self) -> str | None:
        """The shell script, where it is one."""
        run = self.tree.get("run")
        return run if isinstance(run, str) else None

    @property
    def command(self) -> str | None:
        """What the action of runner-e2e is asked for."""
        ours = self.action.startswith("./") or self.action.endswith("/runner-e2e")
        command = self.inputs.get("command")
        return command if ours and isinstance(command, str) else None

    @property
    def condition(self) -> str:
        """Its ``if``."""
        return str(self.tree.get("if", ""))

    def find(self, rule: str, message: str, *keys: str | int) -> Finding:
        """A finding at the step or at something in it."""
        return self.job.find(rule, message, "steps", self.index, *keys)


def mapping(value: Any) -> dict[str, Any]:
    """``value`` if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def texts_of(value: Any, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Every text below ``value`` with the way to it."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_of(item, (*where, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts_of(item, (*where, index))


def expressions(where: Where, text: str) -> list[str]:
    """The expressions in a text. A condition is one without being marked."""
    found = _EXPRESSION.findall(text)
    if not found and where and where[-1] == "if":
        return [text]
    return found


def sole_expression(text: Any) -> str | None:
    """What is inside, if a text is one expression and nothing else."""
    found = _EXPRESSION.fullmatch(text.strip()) if isinstance(text, str) else None
    return found[1].strip() if found and "${{" not in found[1] else None


def pin_of(uses: str) -> str | None:
    """The version that is asked for, after the ``@``."""
    found = _NUMBERED.match(uses)
    return found["ref"] if found else None
