"""What was published before: index, outcomes of every cell, pointers, retention. Pure."""

from runner_e2e.history.documents import (
    HISTORY_FILE,
    INDEX_FILE,
    LATEST_FILE,
    LATEST_GREEN_FILE,
    History,
    ReadFile,
    cells_file,
    lane_directory,
)
from runner_e2e.history.identity import full_ref, lane_of, run_attempt, run_identity
from runner_e2e.history.records import campaign_path, cell_campaign, cell_outcome
from runner_e2e.history.retention import KEPT_BUNDLES, prunable

__all__ = [
    "HISTORY_FILE",
    "INDEX_FILE",
    "KEPT_BUNDLES",
    "LATEST_FILE",
    "LATEST_GREEN_FILE",
    "History",
    "ReadFile",
    "campaign_path",
    "cell_campaign",
    "cell_outcome",
    "cells_file",
    "full_ref",
    "lane_directory",
    "lane_of",
    "prunable",
    "run_attempt",
    "run_identity",
]
