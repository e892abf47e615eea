"""The part of GitHub's official OpenAPI description that we use, and what it says of a message.

``github-openapi.json`` was cut out of the npm package ``@octokit/openapi`` (MIT), whose version it
names. To cut it anew: ``python -m tests.support.github_openapi api.github.com.json``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, FormatChecker

FILE = Path(__file__).with_name("github-openapi.json")

OPERATIONS = frozenset(
    {
        "actions/get-workflow-run",
        "actions/get-workflow-run-attempt",
        "actions/list-workflow-run-artifacts",
        "actions/list-jobs-for-workflow-run",
        "actions/download-artifact",
    }
)

SCALARS: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "boolean": lambda text: {"true": True, "false": False}[text],
}


def cut(description: Mapping[str, Any]) -> dict[str, Any]:
    """Keep our operations and whatever they refer to, without prose."""
    paths: dict[str, Any] = {}
    for path, verbs in description["paths"].items():
        for verb, operation in verbs.items():
            if isinstance(operation, dict) and operation.get("operationId") in OPERATIONS:
                paths.setdefault(path, {})[verb] = _without_prose(operation)
    components: dict[str, Any] = {}
    pending = list(_references(paths))
    while pending:
        _, _, kind, name = pending.pop().split("/")
        if name not in components.setdefault(kind, {}):
            component = description["components"][kind][name]
            kept = component if kind == "examples" else _without_prose(component)
            components[kind][name] = kept
            pending += _references(kept)
    info = {key: description["info"][key] for key in ("title", "version", "license")}
    return {
        "openapi": description["openapi"],
        "info": info,
        "paths": paths,
        "components": {kind: dict(sorted(found.items())) for kind, found in components.items()},
    }


def _without_prose(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_prose(item)
        for key, item in value.items()
        if not (key == "description" and isinstance(item, str))
        and not (key == "example" and not isinstance(item, dict))
        and key not in {"x-github", "externalDocs", "tags", "summary"}
    }


def _references(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation and what its path was filled with."""

    id: str
    parameters: Mapping[str, str]
    body: Mapping[str, Any]


class Description:
    """What GitHub says that it takes and answers."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = _with_null(document)
        self._routes = [
            (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + "$"), verb, operation)
            for path, verbs in self.document["paths"].items()
            for verb, operation in verbs.items()
        ]

    def find(self, verb: str, path: str) -> Operation | None:
        """Find the operation of a request; the path is the one after the base URL."""
        for pattern, known_verb, operation in self._routes:
            if verb.lower() == known_verb and (found := pattern.match(path)):
                return Operation(operation["operationId"], found.groupdict(), operation)
        return None

    def request_problems(self, operation: Operation, query: Mapping[str, str]) -> list[str]:
        """Say what is wrong with the parameters of a request."""
        problems = []
        given = {("path", name): text for name, text in operation.parameters.items()}
        given |= {("query", name): text for name, text in query.items()}
        for entry in operation.body["parameters"]:
            parameter = self._resolved(entry)
            key = parameter["in"], parameter["name"]
            text = given.pop(key, None)
            if text is None:
                if parameter.get("required"):
                    problems.append(f"{operation.id}: no {key[1]}")
                continue
            schema = parameter["schema"]
            try:
                value = SCALARS.get(schema.get("type", ""), str)(text)
            except (KeyError, ValueError):
                value = text
            problems += self._problems(schema, value, f"{operation.id} {key[1]}")
        problems += [f"{operation.id}: unknown parameter {name}" for _, name in given]
        return problems

    def response_problems(
        self, operation: Operation, status: int, headers: Mapping[str, str], body: bytes
    ) -> list[str]:
        """Say what is wrong with an answer whose status the description has."""
        where = f"{operation.id} {status}"
        answer = operation.body["responses"].get(str(status))
        if answer is None:
            return [f"{where}: the description does not have this status"]
        answer = self._resolved(answer)
        problems = [
            f"{where}: no header {name}"
            for name in answer.get("headers", {})
            if name != "Link" and name not in headers
        ]
        content = answer.get("content", {}).get("application/json")
        if content:
            problems += self._problems(content["schema"], json.loads(body), where)
        return problems

    def example(self, name: str) -> Any:
        """Return one of GitHub's own examples, a copy."""
        return json.loads(json.dumps(self.document["components"]["examples"][name]["value"]))

    def _resolved(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in value:
            return value
        _, _, kind, name = value["$ref"].split("/")
        found: Mapping[str, Any] = self.document["components"][kind][name]
        return found

    def _problems(self, schema: Mapping[str, Any], value: Any, where: str) -> list[str]:
        whole = {**schema, "components": self.document["components"]}
        checker = Draft4Validator(whole, format_checker=FormatChecker())
        return [f"{where}: {error.message[:300]}" for error in checker.iter_errors(value)]


def _with_null(value: Any) -> Any:
    """Say ``nullable`` the way that JSON Schema says it."""
    if isinstance(value, list):
        return [_with_null(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _with_null(item) for key, item in value.items() if key != "nullable"}
    if value.get("nullable") is True:
        return {"anyOf": [kept, {"type": "null"}]}
    return kept


@cache
def description() -> Description:
    """Read the committed subset."""
    return Description(json.loads(FILE.read_bytes()))


if __name__ == "__main__":
    whole = json.loads(Path(sys.argv[1]).read_bytes())
    FILE.write_text(json.dumps(cut(whole), indent=1, sort_keys=False) + "\n")
