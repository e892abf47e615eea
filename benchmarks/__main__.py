"""Run every measurement, one after the other: ``python -m benchmarks [NAME ...]``.

Each is a process of its own, so that none warms up another, and exits with 1 when it misses its
limit. Figures that are compared come from one run on one machine.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    """Run the named measurements, or all; 1 when one missed its limit."""
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
    found = sorted(path.stem for path in HERE.glob("[!_]*.py"))
    unknown = set(names) - set(found)
    if unknown:
        print(f"there is no measurement {', '.join(sorted(unknown))}; there are {', '.join(found)}")
        return 2
    missed = []
    for name in names or found:
        print(f"\n{name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
        if done.returncode != 0:
            missed.append(name)
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nevery limit was kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
