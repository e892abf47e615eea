"""The evidence of a server: what was set up, what every run printed, what the server printed.

It is kept in memory until it is handed over: an agent runs as the user that owns every directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner_e2e.contracts.base import canonical_json
from runner_e2e.evidence import write_atomically
from runner_e2e.failures import ExecutionError
from runner_e2e.targets.paperclip.client import Answer, Client
from runner_e2e.targets.paperclip.views import LOG, LOG_RECORD

FIXTURES_FILE = "snapshots/fixtures.json"
TEARDOWN_FILE = "snapshots/teardown.json"
SERVER_LOG = "logs/server.log"
MAX_LOG_BYTES = 1024 * 1024
_PAGE_BYTES = 256 * 1024


@dataclass(slots=True)
class Records:
    """Files of the evidence by their path."""

    files: dict[str, bytes] = field(default_factory=dict)

    def keep(self, name: str, value: Any) -> None:
        """Keep a value as JSON."""
        self.files[name] = canonical_json(value)

    def keep_runs(self, client: Client, runs: Sequence[tuple[str, Answer]]) -> None:
        """Keep the log, the events and the description of every run, given by its id."""
        for turn, (run_id, detail) in enumerate(runs, start=1):
            self.keep(f"turns/{turn}/run.json", detail.json)
            try:
                streams = read_log(client, run_id)
                events = client.get(f"/heartbeat-runs/{run_id}/events").json
            except ExecutionError as error:
                self.keep(f"turns/{turn}/unreadable.json", {"reason": error.message})
                continue
            for name in ("stdout", "stderr"):
                self.files[f"turns/{turn}/{name}.log"] = streams.get(name, "").encode(
                    "utf-8", "surrogatepass"
                )
            self.keep(f"turns/{turn}/events.json", events)

    def write(self, target: Path) -> None:
        """Write everything below ``target``, still unredacted."""
        for name, data in self.files.items():
            write_atomically(target / name, data)


def read_log(client: Client, run_id: str) -> dict[str, str]:
    """The text of each stream of a run, at most :data:`MAX_LOG_BYTES` of records."""
    content, offset = "", 0
    while len(content) < MAX_LOG_BYTES:
        page = client.get(
            f"/heartbeat-runs/{run_id}/log", offset=offset, limitBytes=_PAGE_BYTES
        ).read(LOG)
        content += page.content
        if page.next_offset is None or page.next_offset <= offset:
            break
        offset = page.next_offset
    streams: dict[str, str] = {}
    for line in content.splitlines():
        try:
            record = LOG_RECORD.validate_json(line)
        except ValidationError:  # the last one, cut by the cap
            continue
        streams[record.stream] = streams.get(record.stream, "") + record.chunk
    return streams
