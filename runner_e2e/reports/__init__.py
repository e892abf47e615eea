"""Every place that a campaign is told in, each with its budget and its escape function."""

from runner_e2e.reports.annotate import error_annotations
from runner_e2e.reports.comment import MARKER, comment_markdown
from runner_e2e.reports.comparison import comparison_markdown, comparison_table
from runner_e2e.reports.junit import junit_xml
from runner_e2e.reports.news import Verdicts, plain_news
from runner_e2e.reports.step_summary import append_step_summary, summary_budget
from runner_e2e.reports.summary import summary_markdown

__all__ = [
    "MARKER",
    "Verdicts",
    "append_step_summary",
    "comment_markdown",
    "comparison_markdown",
    "comparison_table",
    "error_annotations",
    "junit_xml",
    "plain_news",
    "summary_budget",
    "summary_markdown",
]
