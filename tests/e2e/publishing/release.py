"""Publish many reports at one moment, each in a process of its own.

Usage: release.py DESTINATION-JSON OUT REPORT...

The processes are forked from one that has loaded everything, wait at a pipe, and go when it closes.
Each writes ``OUT/<name of report>.json``: what came of it.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from runner_e2e.errors import RunnerE2EError
from runner_e2e.evidence import write_atomically
from runner_e2e.publishing import Destination, publish
from tests.e2e.publishing.support import plain_page


def publish_one(destination: Destination, out: Path, report: Path) -> int:
    try:
        publication = publish(report, destination, render=plain_page)
        answer: dict[str, str | int] = {"status": publication.status, "tries": publication.tries}
    except RunnerE2EError as error:
        answer = {"status": error.kind, "message": error.message}
    except BaseException:  # noqa: BLE001 - a forked child must not run the parent's code
        answer = {"status": "bug", "message": traceback.format_exc()}
    (out / f"{report.name}.json").write_text(json.dumps(answer))
    return 0


def main() -> int:
    destination = Destination(**json.loads(sys.argv[1]))
    out = Path(sys.argv[2])
    reports = [Path(argument) for argument in sys.argv[3:]]
    gate, opener = os.pipe()
    children = []
    for report in reports:
        child = os.fork()
        if child == 0:
            os.close(opener)
            os.read(gate, 1)
            os._exit(publish_one(destination, out, report))
        children.append(child)
        write_atomically(out / f"{report.name}.pid", str(child).encode())
    os.close(gate)
    os.close(opener)
    for child in children:
        os.waitpid(child, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
