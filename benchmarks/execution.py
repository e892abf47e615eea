"""What the harness itself costs: time around a trivial agent, memory around a talkative one.

The overhead is the wall time of an execution without that of the same agent started alone, both
in this run, the least of seven. The limits are issue-given: 400 ms, 150 MB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.executions import make_request, run_request

RUNS = 7
MAX_OVERHEAD_MS = 400
MAX_RESIDENT_MB = 150
TRIVIAL = "print(turn['text'].split()[-1])"
TALKATIVE = "for _ in range(500): sys.stdout.write('x' * 1_048_576)"


def alone() -> float:
    """Milliseconds of an interpreter that does what the trivial agent does."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import json, os, sys"], check=True)
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def executed(directory: Path, agent: str, runs: int) -> float:
    """Milliseconds of a whole execution, from the request to its result and record."""
    times = []
    for number in range(runs):
        request = make_request(directory / str(number), agent)
        begun = time.perf_counter()
        run_request(request)
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def main() -> int:
    """Print the figures; 1 when one is over its limit."""
    with tempfile.TemporaryDirectory() as name:
        overhead = executed(Path(name) / "trivial", TRIVIAL, RUNS) - alone()
        executed(Path(name) / "talkative", TALKATIVE, 1)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  around a trivial execution    {overhead:5.0f} ms, at most {MAX_OVERHEAD_MS} ms")
    print(f"  while an agent prints 500 MB  {resident:5.0f} MB, at most {MAX_RESIDENT_MB} MB")
    return int(overhead > MAX_OVERHEAD_MS or resident > MAX_RESIDENT_MB)


if __name__ == "__main__":
    sys.exit(main())
