"""The evidence of a server: what was set up, what every run printed, what the server printed.

It is kept in memory until it is handed over: an agent runs as the user that owns every directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner_e2e.contracts.base import canonical_json
from runner_e2e.evidence import Ledger, write_atomically
from runner_e2e.failures import ExecutionError
from runner_e2e.targets.paperclip.client import Answer, Client
from runner_e2e.targets.paperclip.views import LOG, LOG_RECORD

FIXTURES_FILE = "snapshots/fixtures.json"
TEARDOWN_FILE = "snapshots/teardown.json"
SERVER_LOG = "logs/server.log"
MAX_LOG_BYTES = 4 * 1024 * 1024
"""Of each stream of a run, and of what the server printed."""
_PAGE_BYTES = 256 * 1024


@dataclass(slots=True, kw_only=True)
class Records:
    """Files of the evidence by their path. What is cut was cleaned before, see :class:`Ledger`."""

    ledger: Ledger
    files: dict[str, bytes] = field(default_factory=dict)

    def keep(self, name: str, value: Any) -> None:
        """Keep a value as JSON."""
        self.files[name] = canonical_json(value)

    def keep_end(self, name: str, chunks: Iterable[bytes]) -> None:
        """Keep the end of a stream."""
        stream = self.ledger.redactor.stream()
        kept = bytearray()
        for chunk in chunks:
            kept += stream.feed(chunk)
            del kept[:-MAX_LOG_BYTES]
        kept += stream.close()
        self.files[name] = bytes(kept[-MAX_LOG_BYTES:])
        self.ledger.note(name, stream.findings)

    def keep_runs(self, client: Client, runs: Sequence[tuple[str, Answer]]) -> None:
        """Keep the log, the events and the description of every run, given by its id."""
        for turn, (run_id, detail) in enumerate(runs, start=1):
            self.keep(f"turns/{turn}/run.json", detail.json)
            try:
                log = read_log(client, run_id)
                events = client.get(f"/heartbeat-runs/{run_id}/events").json
            except ExecutionError as error:
                self.keep(f"turns/{turn}/unreadable.json", {"reason": error.message})
                continue
            self.keep(f"turns/{turn}/events.json", events)
            for name in ("stdout", "stderr"):
                self._keep_beginning(f"turns/{turn}/{name}.log", log, name)

    def _keep_beginning(self, path: str, log: RunLog, name: str) -> None:
        stream = self.ledger.redactor.stream()
        kept = stream.feed(log.streams.get(name, "").encode("utf-8", "surrogatepass"))
        self.files[path] = kept + stream.close(broken_off=not log.complete)
        self.ledger.note(path, stream.findings)

    def write(self, target: Path) -> None:
        """Write everything below ``target``, still unredacted."""
        for name, data in self.files.items():
            write_atomically(target / name, data)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """What a run printed, by stream. Not ``complete`` where there was too much of it."""

    streams: dict[str, str]
    complete: bool


def read_log(client: Client, run_id: str) -> RunLog:
    """Read at most :data:`MAX_LOG_BYTES` of records."""
    content, offset, complete = "", 0, False
    while len(content) < MAX_LOG_BYTES and not complete:
        page = client.get(
            f"/heartbeat-runs/{run_id}/log", offset=offset, limitBytes=_PAGE_BYTES
        ).read(LOG)
        content += page.content
        complete = page.next_offset is None or page.next_offset <= offset
        offset = page.next_offset or offset
    streams: dict[str, str] = {}
    for line in content.splitlines():
        try:
            record = LOG_RECORD.validate_json(line)
        except ValidationError:  # the last one, cut by the cap
            continue
        streams[record.stream] = streams.get(record.stream, "") + record.chunk
    return RunLog(streams=streams, complete=complete)
