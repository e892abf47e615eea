"""Where command turns run, and what keeps them apart from everything else."""

from runner_e2e.environments.local import RESERVED, RESERVED_PREFIX, LocalWorkplace
from runner_e2e.environments.logs import MAX_LOG_BYTES
from runner_e2e.environments.processes import MARKER, end_marked, marked_processes
from runner_e2e.environments.roots import (
    PREFIX,
    AbandonedRoot,
    TemporaryRoot,
    abandoned_roots,
    delete_root,
)

__all__ = [
    "MARKER",
    "MAX_LOG_BYTES",
    "PREFIX",
    "RESERVED",
    "RESERVED_PREFIX",
    "AbandonedRoot",
    "LocalWorkplace",
    "TemporaryRoot",
    "abandoned_roots",
    "delete_root",
    "end_marked",
    "marked_processes",
]
