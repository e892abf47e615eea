"""The governed tool: ours, so that its real calls can be counted."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runner_e2e.failures import CandidateFailure, ExecutionError, TransientInfrastructure
from runner_e2e.flows import ToolInvocation
from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.client import Client, refused_with
from runner_e2e.targets.paperclip.views import CREATED, INVOCATION, CatalogView

TEMPLATE = "runner-e2e.governed"
_CATALOG: TypeAdapter[CatalogView] = TypeAdapter(CatalogView)
_UNPROCESSABLE = 422
_TRUST_WAIT_S = 10.0
_POLL_S = 0.1
MAX_RECORD_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedTool:
    """A tool that an agent may only call after a person allowed it."""

    name: str
    directory: Path
    node: Path
    account: Account

    @property
    def record(self) -> Path:
        """Where the tool notes each call that reached it."""
        return self.directory / "calls.jsonl"

    def connect(self, client: Client, company: str) -> None:
        """Put the tool on the server, ask-first for every agent."""
        program = self.directory / "tool_server.mjs"
        shutil.copyfile(Path(__file__).with_name(program.name), program)
        program.chmod(0o644)
        base = f"/companies/{company}/tools"
        template = {"templateId": TEMPLATE}
        client.post(
            f"{base}/stdio-templates",
            {
                **template,
                "name": "Governed",
                "command": str(self.node),
                "args": [str(program), str(self.record), self.name],
                "tools": [
                    {
                        "name": self.name,
                        "inputSchema": {"type": "object", "additionalProperties": True},
                        "annotations": {"readOnlyHint": False},
                    }
                ],
            },
        )
        application = client.post(
            f"{base}/applications",
            {
                "applicationKey": TEMPLATE,
                "name": "Governed",
                "type": "mcp_stdio",
                "status": "active",
            },
        ).read(CREATED)
        connection = client.post(
            f"{base}/connections",
            {
                "applicationId": application.id,
                "name": "Governed",
                "transport": "local_stdio",
                "authKind": "none",
                "status": "active",
                "enabled": True,
                "config": template,
                "transportConfig": template,
            },
        ).read(CREATED)
        client.post(f"/tool-connections/{connection.id}/catalog/refresh")
        found = client.get(f"/tool-connections/{connection.id}/catalog").read(_CATALOG).catalog
        ids = [entry.id for entry in found if entry.tool_name == self.name]
        client.post(
            f"{base}/apps/{connection.id}/finish",
            {
                "enabledCatalogEntryIds": ids,
                "askFirstCatalogEntryIds": ids,
                "reviewedCatalogEntryIds": [one.id for one in found if one.status == "quarantined"],
                "access": "all_agents",
            },
        )

    def trust(self, client: Client, company: str, action_request: str) -> None:
        """Let the reviewed call happen unasked from now on: exactly these arguments, no others."""
        path = f"/companies/{company}/tools/action-requests/{action_request}/trust-rule"
        give_up = time.monotonic() + _TRUST_WAIT_S
        while True:
            try:
                client.post(path, {"name": f"Always {self.name}", "approvalThreshold": 1})
            except ExecutionError as error:
                # The approval is on its way as long as the server finds the rule premature.
                if refused_with(error) != _UNPROCESSABLE:
                    raise
                if time.monotonic() > give_up:
                    raise TransientInfrastructure(
                        "trust_refused", "Paperclip did not take the approved call as a rule"
                    ) from error
                time.sleep(_POLL_S)
            else:
                return

    def invocations(self) -> tuple[ToolInvocation, ...]:
        """The calls that really reached the tool."""
        try:
            with self.record.open("rb") as file:
                lines = file.read(MAX_RECORD_BYTES).splitlines()
        except FileNotFoundError:
            return ()
        try:
            calls = [INVOCATION.validate_json(line) for line in lines]
        except ValidationError:
            raise CandidateFailure(
                "tool_record_broken", "the record of the governed tool was written by somebody else"
            ) from None
        return tuple(ToolInvocation(tool=one.tool, arguments=one.arguments) for one in calls)
