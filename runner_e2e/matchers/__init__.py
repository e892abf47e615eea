"""The fifteen matchers, over what a target observed."""

from runner_e2e.matchers.evaluation import evaluate
from runner_e2e.matchers.observed import FileReader, FileRefused, Observed, ObservedArtifact
from runner_e2e.matchers.text import cap, normalise
from runner_e2e.matchers.workspace import WorkspaceFiles

__all__ = [
    "FileReader",
    "FileRefused",
    "Observed",
    "ObservedArtifact",
    "WorkspaceFiles",
    "cap",
    "evaluate",
    "normalise",
]
