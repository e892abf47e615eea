"""How long the program takes to say its version and its help: the least of ten runs, in ms.

The limits are those of a tool that scripts call in loops; an interpreter that starts and ends is
measured beside them, since nothing of ours can be faster.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

RUNS = 10
LIMITS_MS = {"--version": 150, "--help": 250}


def least(command: list[str]) -> float:
    """The least wall time of ten runs, in milliseconds."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def main() -> int:
    """Print the figures; 1 when one is over its limit."""
    program = str(Path(sys.executable).with_name("runner-e2e"))
    bare = least([sys.executable, "-c", "pass"])
    print(f"  an empty interpreter  {bare:6.0f} ms")
    over = False
    for option, limit in LIMITS_MS.items():
        took = least([program, option])
        print(f"  {option:<20}  {took:6.0f} ms, at most {limit} ms")
        over |= took > limit
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
