from __future__ import annotations

import pytest

from runner_e2e.errors import ExitCode
from runner_e2e.publishing.outcomes import Outcome, classify, error_of

SAID: list[tuple[Outcome, str]] = [
    ("race", "! [rejected]        abc -> e2e (fetch first)"),
    ("race", "!\tabc:refs/heads/e2e\t[rejected] (non-fast-forward)"),
    ("race", "!\tabc:refs/heads/e2e\t[rejected] (stale info)"),
    ("race", "! [remote rejected] abc -> e2e (failed to update ref)"),
    (
        "race",
        (
            "remote: error: cannot lock ref 'refs/heads/e2e': is at "
            "1111111111111111111111111111111111111111 but expected "
            "2222222222222222222222222222222222222222\n ! [remote rejected] a -> e2e (failed to "
            "update ref)"
        ),
    ),
    (
        "race",
        (
            "! [remote rejected] a -> e2e (cannot lock ref 'refs/heads/e2e': is at "
            "1111111111111111111111111111111111111111 but expected "
            "2222222222222222222222222222222222222222)"
        ),
    ),
    ("race", "error: cannot lock ref 'refs/heads/e2e': reference already exists"),
    ("race", "! [remote rejected] a -> e2e (incorrect old value provided)"),
    (
        "policy",
        (
            "remote: error: GH006: Protected branch update failed for refs/heads/e2e.\n"
            " ! [remote rejected] a -> e2e (protected branch hook declined)"
        ),
    ),
    (
        "policy",
        (
            "remote: error: GH013: Repository rule violations found for refs/heads/e2e.\n"
            " ! [remote rejected] a -> e2e (push declined due to repository rule violations)"
        ),
    ),
    ("policy", "! [remote rejected] a -> e2e (pre-receive hook declined)"),
    (
        "policy",
        (
            "remote: error: denying non-fast-forward refs/heads/e2e (you should pull first)\n"
            "!\ta:refs/heads/e2e\t[remote rejected] (non-fast-forward)"
        ),
    ),
    ("policy", "! [remote rejected] a -> main (branch is currently checked out)"),
    ("policy", "! [remote rejected] a -> e2e (shallow update not allowed)"),
    (
        "permission",
        (
            "remote: Permission to acme/agents.git denied to github-actions[bot].\nfatal: unable "
            "to access 'https://github.com/acme/agents/': The requested URL returned error: 403"
        ),
    ),
    ("permission", "error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403"),
    ("permission", "fatal: Authentication failed for 'https://github.com/acme/agents/'"),
    (
        "permission",
        "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    ),
    (
        "permission",
        (
            "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote "
            "repository."
        ),
    ),
    ("permission", "remote: Write access to repository not granted."),
    ("permission", "Host key verification failed.\nfatal: Could not read from remote repository."),
    (
        "too_large",
        (
            "remote: error: GH001: Large files detected.\n"
            " ! [remote rejected] a -> e2e (pre-receive hook declined)"
        ),
    ),
    ("too_large", "remote: error: File a is 120.00 MB; this exceeds GitHub's file size limit of"),
    ("too_large", "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413"),
    ("disk_full", "error: unable to write file: No space left on device"),
    (
        "disk_full",
        (
            "remote: fatal: write error: No space left on device\n! [remote rejected] a -> e2e "
            "(unpacker error)"
        ),
    ),
    ("disk_full", "fatal: write error: Disk quota exceeded"),
    (
        "not_found",
        (
            "fatal: '/srv/x.git' does not appear to be a git repository\nfatal: Could not read "
            "from remote repository."
        ),
    ),
    (
        "not_found",
        "remote: Repository not found.\nfatal: repository 'https://github.com/a/b/' not found",
    ),
    ("network", "fatal: unable to access 'https://x/': Could not resolve host: x"),
    ("network", "fatal: unable to access 'https://x/': The requested URL returned error: 503"),
    ("network", "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502"),
    ("network", "fatal: unable to access 'https://x/': Recv failure: Connection reset by peer"),
    ("network", "fatal: early EOF"),
    ("network", "fatal: the remote end hung up unexpectedly"),
    ("network", "ssh: connect to host x port 22: Connection refused"),
    ("network", "fatal: unable to access 'https://x/': Operation too slow. Less than 1000 bytes"),
    ("unknown", "fatal: something that nobody has seen before"),
    ("unknown", ""),
]


@pytest.mark.parametrize(("outcome", "words"), SAID)
def test_what_git_says_has_one_meaning(outcome: Outcome, words: str) -> None:
    assert classify(words) == outcome


@pytest.mark.parametrize(("outcome", "words"), SAID)
def test_only_a_race_and_the_network_are_tried_again(outcome: Outcome, words: str) -> None:
    error = error_of(outcome, "cannot push to refs/heads/e2e", words)

    assert error.retryable == (outcome in {"race", "network"})
    assert error.exit_code is ExitCode.PUBLISHING
    assert error.hint
    assert error.message.startswith("cannot push to refs/heads/e2e: ")


def test_gits_own_words_are_shown_without_its_advice_and_not_endlessly() -> None:
    words = "hint: do a pull\n" + "\n".join(f"remote: line {n}" for n in range(40))

    message = error_of("policy", "cannot push", words).message

    assert "hint:" not in message
    assert "remote: line 11" in message
    assert "28 more lines" in message
