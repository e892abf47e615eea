"""Every row of the table of matchers, and where ours differs on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from runner_e2e.catalog.expressions import compile_problems
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.result import MatcherResult
from runner_e2e.matchers import (
    Observed,
    ObservedArtifact,
    WorkspaceFiles,
    cap,
    evaluate,
    normalise,
)

READER: TypeAdapter[Matcher] = TypeAdapter(Matcher)


def matcher(kind: str, **fields: Any) -> Matcher:
    return READER.validate_json(json.dumps({"kind": kind, **fields}))


def judge(observed: Observed, kind: str, **fields: Any) -> MatcherResult:
    (result,) = evaluate([matcher(kind, **fields)], observed, str)
    return result


def passes(observed: Observed, kind: str, **fields: Any) -> bool:
    return judge(observed, kind, **fields).passed


def said(message: str) -> Observed:
    return Observed(message=message, last_run_message=message)


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"kind": "message_exact", "expected": "x"},
    {"kind": "message_contains", "expected": "x"},
    {"kind": "message_occurrences", "expected": "x", "count": 1},
    {"kind": "message_regex", "pattern": "x"},
    {"kind": "message_ordered", "expected": ["x"]},
    {"kind": "issue_status", "expected": "done"},
    {"kind": "run_status", "expected": "succeeded"},
    {"kind": "runtime_mode", "expected": "native"},
    {"kind": "environment", "expected": "local"},
    {"kind": "file_exists", "path": "a"},
    {"kind": "file_exact", "path": "a", "expected": "x"},
    {"kind": "file_contains", "path": "a", "expected": "x"},
    {"kind": "artifact_exists", "name": "a"},
    {"kind": "json_path", "path": "a", "expected": 1},
    {"kind": "json_schema", "schema": {}},
)


def test_there_are_examples_of_all_fifteen() -> None:
    union = get_args(get_args(Matcher)[0])
    assert len(EXAMPLES) == len(union) == 15


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["kind"])
def test_what_the_target_does_not_observe_never_passes(example: dict[str, Any]) -> None:
    (result,) = evaluate([READER.validate_json(json.dumps(example))], Observed(), str)
    assert not result.passed
    assert "not observed by this target" in result.detail


def test_results_keep_the_order_and_carry_the_matcher() -> None:
    matchers = [matcher("message_contains", expected=text) for text in ("b", "a", "c")]
    results = evaluate(matchers, said("a b"), str)
    assert [result.matcher for result in results] == matchers
    assert [result.passed for result in results] == [True, True, False]
    assert results[0].detail == "matched"
    assert '"expected": "c"' in results[2].detail
    assert "a b" in results[2].detail


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\rb"),
        (r"E2E\_OK", "E2E_OK"),
        ("a \t  b", "a b"),
        ("\n  a\n\nb \t", "a\n\nb"),
        ("\ufeff\u00a0a\u3000", "a"),
        ("\x1ca", "\x1ca"),
    ],
)
def test_a_message_is_normalised(raw: str, normal: str) -> None:
    assert normalise(raw) == normal


def test_exact_looks_at_the_last_run_alone_and_the_others_at_everything() -> None:
    observed = Observed(message="first\nlast", last_run_message="last")
    assert passes(observed, "message_exact", expected=" last ")
    assert not passes(observed, "message_exact", expected="first\nlast")
    assert passes(observed, "message_contains", expected="first")


def test_exact_and_contains_normalise_both_sides() -> None:
    assert passes(said(r"E2E\_OK  now"), "message_exact", expected="E2E_OK now")
    assert passes(said("E2E_OK now"), "message_contains", expected=r"E2E\_OK  now")
    assert passes(said("anything"), "message_contains", expected="")
    assert not passes(said("Done"), "message_contains", expected="done")


@pytest.mark.parametrize(
    ("message", "expected", "count"),
    [
        ("aaaa", "aa", 2),
        ("a a a", "a", 3),
        ("abc", "", 0),
        ("abc", "z", 0),
        (r"a\_b a_b", "a_b", 2),
    ],
)
def test_occurrences_do_not_overlap_and_nothing_occurs_never(
    message: str, expected: str, count: int
) -> None:
    assert passes(said(message), "message_occurrences", expected=expected, count=count)
    assert not passes(said(message), "message_occurrences", expected=expected, count=count + 1)


def test_a_regex_searches_the_normalised_message_and_is_not_normalised_itself() -> None:
    assert passes(said("a   b"), "message_regex", pattern="a b")
    assert not passes(said("a   b"), "message_regex", pattern="a   b")
    assert passes(said("xABy"), "message_regex", pattern="ab", flags="i")


def test_unlike_the_reference_a_bad_regex_fails_with_a_reason_instead_of_throwing() -> None:
    result = judge(said("a"), "message_regex", pattern="(")
    assert not result.passed
    assert "not closed" in result.detail


@pytest.mark.parametrize(
    ("message", "expected", "passed"),
    [
        ("a b c", ["a", "b", "c"], True),
        ("a b c", ["b", "a"], False),
        ("aab", ["a", "a", "b"], True),
        ("ab", ["ab", "b"], False),
        ("abc", [], True),
    ],
)
def test_ordered_fragments_follow_one_another(
    message: str, expected: list[str], passed: bool
) -> None:
    assert passes(said(message), "message_ordered", expected=expected) is passed


@pytest.mark.parametrize(
    ("kind", "see", "value", "other"),
    [
        ("issue_status", lambda seen: Observed(issue_status=seen), "done", "in_review"),
        ("runtime_mode", lambda seen: Observed(runtime_mode=seen), "native", "legacy"),
        ("environment", lambda seen: Observed(environment=seen), "daytona", "local"),
    ],
)
def test_states_are_compared_strictly(
    kind: str, see: Callable[[str], Observed], value: str, other: str
) -> None:
    assert passes(see(value), kind, expected=value)
    assert not passes(see(other), kind, expected=value)
    assert not passes(see(f"{value} "), kind, expected=value)


def test_every_run_must_have_the_status_and_there_must_be_one() -> None:
    both = Observed(run_statuses=("succeeded", "succeeded"))
    mixed = Observed(run_statuses=("succeeded", "failed"))
    assert passes(both, "run_status", expected="succeeded")
    assert "succeeded, failed" in judge(mixed, "run_status", expected="succeeded").detail
    assert not passes(Observed(run_statuses=()), "run_status", expected="succeeded")


def test_files_are_compared_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo  \n")
    (tmp_path / "empty").touch()
    (tmp_path / "sub").mkdir()
    observed = Observed(files=WorkspaceFiles(tmp_path))
    assert passes(observed, "file_exact", path="a.txt", expected="one\r\ntwo  \n")
    assert not passes(observed, "file_exact", path="a.txt", expected="one\ntwo")
    assert passes(observed, "file_contains", path="./a.txt", expected="two  ")
    assert passes(observed, "file_exists", path="empty")
    assert passes(observed, "file_exact", path="empty", expected="")
    for missing in ("none", "sub", "a.txt/b"):
        assert not passes(observed, "file_exists", path=missing)
        assert "no such file" in judge(observed, "file_exact", path=missing, expected="").detail


def test_an_artifact_is_known_by_its_name_and_where_given_its_type() -> None:
    observed = Observed(artifacts=(ObservedArtifact(name="r.md", mime_type="text/markdown"),))
    assert passes(observed, "artifact_exists", name="r.md")
    assert passes(observed, "artifact_exists", name="r.md", mimeType="text/markdown")
    assert not passes(observed, "artifact_exists", name="r.md", mimeType="text/plain")
    assert not passes(Observed(artifacts=()), "artifact_exists", name="r.md")


JSON: Any = {
    "issue": {"status": "done", "n": None, "count": 1, "yes": True},
    "runs": [{"status": "ok", "cost": 1.0}, {"status": "ok", "cost": 1}],
    "a.b": {"*": 5, "0": "zero"},
}


@pytest.mark.parametrize(
    ("path", "expected", "passed"),
    [
        ("issue.status", "done", True),
        ("$.issue.status", "done", True),
        (".issue..status.", "done", True),
        ("runs.0.status", "ok", True),
        ("runs[1]['status']", "ok", True),
        ('runs[-1]["cost"]', 1, True),
        ("runs[2]", None, False),
        ("runs[*].status", "ok", True),
        ("runs.*.cost", 1, True),
        ("runs[*].status", "other", False),
        ("runs[*].none", None, False),
        ("['a.b']['*']", 5, True),
        ("['a.b'].0", "zero", True),
        ("runs['0']", {"status": "ok", "cost": 1}, False),
        ("issue.n", None, True),
        ("issue.missing", None, False),
        ("issue.count", 1.0, True),
        ("issue.count", True, False),
        ("issue.yes", 1, False),
        ("issue.yes", True, True),
        ("issue", {"yes": True, "count": 1, "status": "done", "n": None}, True),
        ("issue", {"yes": True}, False),
        ("runs", [{"cost": 1, "status": "ok"}, {"status": "ok", "cost": 1.0}], True),
        ("", JSON, True),
        ("$", JSON, True),
        ("issue.status.deeper", "done", False),
        ("runs.٣", None, False),
        ("runs[", "x", False),
    ],
)
def test_a_json_path_compares_structure_and_missing_is_not_null(
    path: str, expected: Any, passed: bool
) -> None:
    assert passes(Observed(json=JSON), "json_path", path=path, expected=expected) is passed


def test_a_wildcard_asks_every_value_and_at_least_one() -> None:
    mixed = Observed(json={"runs": [{"s": "ok"}, {"s": "bad"}]})
    assert not passes(mixed, "json_path", path="runs[*].s", expected="ok")
    assert not passes(Observed(json={"runs": []}), "json_path", path="runs[*].s", expected="ok")


def test_a_detail_is_at_most_two_kilobytes_and_whole_characters() -> None:
    result = judge(said("é😀" * 100_000), "message_contains", expected="ü" * 50_000)
    assert len(result.detail.encode()) <= 2_048
    assert "…" in result.detail


@given(text=st.text(), limit=st.integers(min_value=32, max_value=64))
def test_a_cut_never_splits_a_character_or_passes_the_limit(text: str, limit: int) -> None:
    short = cap(text, limit)
    assert len(short.encode()) <= limit
    assert short == text or short.endswith("(cut)")


def test_a_message_that_is_no_unicode_is_judged_all_the_same() -> None:
    assert not passes(said("\udce9\ud800"), "message_contains", expected="x")
    assert not passes(Observed(json=["\ud800"]), "json_path", path="0", expected="x")


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(a|aa)+$", "(a|aa)+!", "^(([a-z])+.)+[A-Z]([a-z])+$", r"(\w*\s?)*!$"]
)
def test_a_regex_that_backtracks_for_ever_is_stopped(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner_e2e.matchers.evaluation.SECONDS", 0.2)
    result = judge(said("a" * 5_000 + "~"), "message_regex", pattern=pattern)
    assert not result.passed


def test_a_matcher_that_was_stopped_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner_e2e.matchers.evaluation.SECONDS", 0.1)
    result = judge(said("a" * 5_000 + "~"), "message_regex", pattern="^(a|aa)+$")
    assert "took longer than 0.1 s and was stopped" in result.detail


def test_a_ten_megabyte_message_is_judged() -> None:
    message = "word another\t\tone \r\n" * 500_000 + "E2E_OK"
    observed = said(message)
    assert passes(observed, "message_contains", expected="E2E_OK")
    assert passes(observed, "message_regex", pattern="E2E_OK$")
    assert passes(observed, "message_occurrences", expected="another", count=500_000)
    assert len(judge(observed, "message_exact", expected="x").detail.encode()) <= 2_048


@pytest.mark.parametrize(
    ("example", "reason"),
    [
        ({"kind": "message_regex", "pattern": "("}, "not closed"),
        ({"kind": "message_regex", "pattern": "a", "flags": "q"}, "no regex flag"),
        ({"kind": "json_path", "path": "a[", "expected": 1}, "cannot be read"),
        ({"kind": "json_schema", "schema": {"type": "nothing"}}, "is wrong at"),
        ({"kind": "file_exists", "path": "/etc/passwd"}, "absolute"),
        ({"kind": "file_exact", "path": "a/../../b", "expected": ""}, "leads out"),
        ({"kind": "file_contains", "path": "./", "expected": ""}, "names no file"),
        ({"kind": "file_exists", "path": "a\0b"}, "names no file"),
    ],
)
def test_a_catalog_hears_what_is_wrong_with_a_matcher(example: Any, reason: str) -> None:
    (problem,) = compile_problems(READER.validate_json(json.dumps(example)))
    assert reason in problem


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["kind"])
def test_a_sound_matcher_has_no_problems(example: dict[str, Any]) -> None:
    assert compile_problems(READER.validate_json(json.dumps(example))) == ()
