"""What a campaign's workflows must keep to, checked on the parsed YAML."""

from runner_e2e.github.workflow_policy.check import check_workflows
from runner_e2e.github.workflow_policy.document import Finding
from runner_e2e.github.workflow_policy.reasons import REASONS

__all__ = ["REASONS", "Finding", "check_workflows"]
