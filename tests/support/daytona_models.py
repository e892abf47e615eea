"""The official client's generated models as the judge of what we and the fake write."""

from __future__ import annotations

from typing import Any

from daytona_api_client.models.create_sandbox import CreateSandbox
from daytona_api_client.models.list_sandboxes_response import ListSandboxesResponse
from daytona_api_client.models.sandbox import Sandbox
from daytona_toolbox_api_client.models.command import Command
from daytona_toolbox_api_client.models.create_session_request import CreateSessionRequest
from daytona_toolbox_api_client.models.execute_request import ExecuteRequest
from daytona_toolbox_api_client.models.execute_response import ExecuteResponse
from daytona_toolbox_api_client.models.session_execute_request import SessionExecuteRequest
from daytona_toolbox_api_client.models.session_execute_response import SessionExecuteResponse

_MODELS: dict[str, Any] = {
    model.__name__: model
    for model in (
        CreateSandbox,
        Sandbox,
        ListSandboxesResponse,
        ExecuteRequest,
        ExecuteResponse,
        CreateSessionRequest,
        SessionExecuteRequest,
        SessionExecuteResponse,
        Command,
    )
}


def check_documents(documents: list[tuple[str, dict[str, Any]]]) -> None:
    """Each must be what its model says: right types, nothing missing, nothing unknown."""
    for kind, document in documents:
        model = _MODELS[kind].from_dict(document)
        assert model is not None
        assert model.additional_properties == {}, f"{kind} knows no such field"
