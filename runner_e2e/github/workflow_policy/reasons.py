"""The rules by name, each with the reason why it is there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REASONS: Mapping[str, str] = MappingProxyType(
    {
        # Whose code runs, with which rights, started by whom.
        "pinned": "A tag or a branch can be moved under us; a full commit or digest cannot.",
        "placeholder": "A copied caller calls nobody until OWNER and the zeros are filled in.",
        "permissions": "A job gets the few rights it needs; only a publisher may write.",
        "trigger": "A stranger must not be able to start what sees a secret.",
        "script-expression": "What an expression holds would become code of the script.",
        "checkout-credentials": "A token left in .git/config serves every later step.",
        "checkout-ref": "A branch may move between planning and running; a commit cannot.",
        "trusted-code": "What merges and publishes must not run the code under test.",
        "tool-origin": "Who starts a run must not choose the trusted code.",
        "continue-on-error": "Red must stay red.",
        "timeout": "Without a limit, a job that hangs is paid for during six hours.",
        # Who may cause a secret to be used, and which step gets it.
        "secret-inherit": "A called workflow gets what it asks for by name, not all there is.",
        "secret-index": "For an index or the whole object the runner receives every secret.",
        "secret-scope": "A secret stands in env of the one step that uses it, nowhere else.",
        "secret-step": "Installing and checking out need no credential.",
        "secret-environment": "Environment protection is the boundary behind the actor check.",
        "authorize-first": "A partial re-run skips earlier jobs, so each job checks for itself.",
        "authorize-job": "Who may not spend starts no job that could.",
        "one-credential": "An execution gets the key that its profile names and no other.",
        "cache": "What a stranger's branch left in a cache must not run beside a secret.",
        # One execution a job, every one of them heard of.
        "fail-fast": "One red execution must not cancel all others.",
        "leg-outputs": "Of a matrix only the last job's outputs survive.",
        "matrix-guard": "An empty matrix, or one that was not planned, fails the whole run.",
        "leg-name": "Job history is read by the execution id.",
        "leg-timeout": "The step ends before the job does, so that uploads still happen.",
        "leg-arguments": "A leg proves that it runs what was planned.",
        "leg-download": "A leg downloads nothing: what it needs fits into its arguments.",
        "leg-result": "An execution that nobody hears of was paid for in vain.",
        "sweep-always": "A killed execution leaves processes and sandboxes that go on costing.",
        "upload-always": "A failure is what the uploads are for.",
        "upload-missing": "Nothing to upload must not look like enough.",
        "upload-hidden": "Hidden directories are left out without a word.",
        "artifact-name": "Two jobs, or two run attempts, cannot upload one name.",
        # The jobs around the matrix.
        "aggregate-always": "Whatever is missing after a failure or a cancel is counted.",
        "aggregate-needs": "Merging waits for all that it merges.",
        "all-attempts": "After a re-run of failed jobs the other results are of earlier attempts.",
        "dropped-output": "GitHub drops an output in which a secret's value occurs.",
        "publish-always": "A red campaign is published too.",
        "concurrency": "GitHub keeps one waiting run of a group and drops the others.",
        "schedule": "At busy minutes GitHub drops runs; a fork must not spend at night.",
        # A caller and what it calls.
        "caller-grants": "A run whose caller grants too little does not start at all.",
        "caller-input": "A misspelt input is refused, or silently means the default.",
        "caller-secret": "A misspelt secret is an empty one.",
    }
)
