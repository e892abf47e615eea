"""``runner-e2e sweep``: remove what killed executions left behind."""

from __future__ import annotations

import os

from runner_e2e.cli import options, output
from runner_e2e.errors import ExitCode


def sweep(json: options.Json = False) -> None:
    """Remove workspaces, processes and sandboxes whose runner-e2e is dead. Others are left alone.

    Sandboxes are looked for when DAYTONA_API_KEY is set.
    """
    from runner_e2e.execution import sweep as sweep_machine

    report = sweep_machine(environ=os.environ, on_event=output.narrate)
    if json:
        output.answer_json(
            {
                "removed": list(report.roots),
                "processes": report.processes,
                "sandboxes": list(report.sandboxes),
                "problems": list(report.problems),
            }
        )
    else:
        for problem in report.problems:
            output.narrate(f"problem: {problem}")
        output.answer(
            f"removed {len(report.roots)} workspaces, ended {report.processes} processes, "
            f"deleted {len(report.sandboxes)} sandboxes"
        )
    output.finish(ExitCode.CLEANUP_FAILED if report.problems else ExitCode.OK)
