"""What a campaign's workflows must keep to, checked on the parsed YAML."""

from runner_e2e.github.workflow_policy.check import check_workflows, rules
from runner_e2e.github.workflow_policy.document import Finding

__all__ = ["Finding", "check_workflows", "rules"]
