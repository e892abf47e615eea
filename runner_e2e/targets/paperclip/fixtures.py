"""What a task needs on the server: company, secrets, environment, agent, project; in that order.

Taken down in reverse. The server itself is thrown away afterwards, so a refusal there is noted in
the evidence and fails nothing: this version cannot delete what a cost event refers to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner_e2e.catalog import ADAPTER_PACKAGE
from runner_e2e.failures import ExecutionError, PermanentInfrastructure
from runner_e2e.targets.paperclip.client import Client
from runner_e2e.targets.paperclip.views import CREATED, ENVIRONMENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to set up. ``secrets`` holds the values that ``agent`` refers to by name."""

    name: str
    agent: Mapping[str, Any]
    secrets: Mapping[str, str] = field(repr=False)
    workspace: Path


@dataclass(slots=True, kw_only=True)
class Fixtures:
    """The ids of what was set up, as far as it came."""

    client: Client
    ids: dict[str, str] = field(default_factory=dict)
    secret_ids: dict[str, str] = field(default_factory=dict)
    agent: Any = None
    """The agent as the server keeps it: references in place of secrets."""

    @property
    def company(self) -> str:
        """The company's id."""
        return self.ids["company"]

    def set_up(self, order: Order) -> None:
        """Create everything, or raise at the first refusal; what was created is in ``ids``."""
        self.ids["company"] = self._create("/companies", {"name": order.name})
        company = f"/companies/{self.company}"
        for name, value in order.secrets.items():
            body = {"name": name, "value": value}
            self.secret_ids[name] = self._create(f"{company}/secrets", body)
        self.ids["environment"] = self._local_environment()
        self.ids["agent"] = self._create_agent(order)
        self.ids["project"] = self._create(
            f"{company}/projects",
            {
                "name": order.name,
                "status": "in_progress",
                "workspace": {
                    "name": "workspace",
                    "sourceType": "non_git_path",
                    "cwd": str(order.workspace),
                    "isPrimary": True,
                },
            },
        )

    def create_issue(self, title: str, description: str, work_mode: str) -> str:
        """Create the task, which starts its first run."""
        return self._create(
            f"/companies/{self.company}/issues",
            {
                "title": title,
                "description": description,
                "status": "todo",
                "workMode": work_mode,
                "assigneeAgentId": self.ids["agent"],
                "projectId": self.ids["project"],
            },
        )

    def tear_down(self, issues: Sequence[str]) -> list[dict[str, str]]:
        """Delete in reverse order. Returns what was refused."""
        paths = [("issue", f"/issues/{issue}") for issue in issues]
        paths += [
            (kind, f"/{kind}s/{self.ids[kind]}")
            for kind in ("project", "agent")
            if kind in self.ids
        ]
        paths += [("secret", f"/secrets/{one}") for one in self.secret_ids.values()]
        if "company" in self.ids:
            paths.append(("company", f"/companies/{self.company}"))
        refused: list[dict[str, str]] = []
        for kind, path in paths:
            try:
                self.client.delete(path)
            except ExecutionError as error:
                refused.append({"kind": kind, "reason": error.message})
        return refused

    def _create(self, path: str, body: Mapping[str, Any]) -> str:
        return self.client.post(path, body).read(CREATED).id

    def _local_environment(self) -> str:
        """The one local environment that every instance has; a second one is refused."""
        rows = self.client.get(f"/companies/{self.company}/environments").read(ENVIRONMENTS)
        local = [row.id for row in rows if row.driver == "local"]
        if len(local) != 1:
            raise PermanentInfrastructure(
                "environment_missing", f"the server has {len(local)} local environments, not one"
            )
        return local[0]

    def _create_agent(self, order: Order) -> str:
        payload = dict(order.agent)
        package = payload.pop(ADAPTER_PACKAGE, None)
        if package is not None:
            self.client.post("/adapters/install", {"packageName": package, "isLocalPath": True})
        body = {
            "name": "Runner",
            "role": "engineer",
            **self._with_references(payload),
            "defaultEnvironmentId": self.ids["environment"],
        }
        answer = self.client.post(f"/companies/{self.company}/agents", body)
        self.agent = answer.json
        return answer.read(CREATED).id

    def _with_references(self, value: Any) -> Any:
        """Put the company's secrets in the place of our own ``$secretRef``."""
        if isinstance(value, dict):
            name = value.get("$secretRef")
            if isinstance(name, str):
                return {
                    "type": "secret_ref",
                    "secretId": self.secret_ids[name],
                    "version": "latest",
                }
            return {key: self._with_references(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._with_references(item) for item in value]
        return value
