"""An agent that does as it is told, for better or worse."""

import os
import re
import signal
import sys

task = sys.stdin.read()
if "Kill your harness" in task:
    os.kill(os.getppid(), signal.SIGKILL)
if found := re.search(r"Reply with (\S+)", task):
    sys.stdout.write(found[1])
