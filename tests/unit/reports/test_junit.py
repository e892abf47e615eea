"""``junit.xml`` for every tool that reads JUnit."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from runner_e2e.reports import error_annotations, junit_xml
from tests.support.documents import make_campaign, make_insights, make_plan, make_result

IDS = (
    "core.scripted.local.hello",
    "core.scripted.daytona.hello",
    "warm.scripted.local.hello",
    "warm.scripted.local.plan",
)


def read() -> ET.Element:
    plan = make_plan(IDS)
    results = [
        make_result(IDS[0], attempt=2),
        make_result(IDS[1], status="failed", error="it said\nno"),
        make_result(IDS[2], cleanup="failed"),
        make_result(IDS[3], status="failed", attempt=0, error="skipped: the job was skipped"),
    ]
    campaign = make_campaign(results, plan=plan)
    insights = make_insights(campaign, plan=plan, states={IDS[3]: "skipped"})
    data = junit_xml(campaign, insights, plan)
    return ET.fromstring(data)  # noqa: S314  # that our own output can be read is the test


def test_there_is_a_suite_for_each_suite_and_a_case_for_each_planned_cell() -> None:
    root = read()
    assert [suite.get("name") for suite in root] == ["core", "warm"]
    assert [
        f"{case.get('classname')}.{case.get('name')}" for case in root.iter("testcase")
    ] == list(IDS)


def test_totals_are_the_sums_of_what_is_in_them() -> None:
    root = read()
    for element in (root, *root.findall("testsuite")):
        assert element.get("tests") == str(len(list(element.iter("testcase"))))
        assert element.get("failures") == str(len(list(element.iter("failure"))))
        assert element.get("errors") == str(len(list(element.iter("error"))))
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("1", "2", "0")


def test_what_is_not_green_is_a_failure_of_the_candidate_or_an_error_and_never_skipped() -> None:
    told = [
        (child.tag, child.get("type"), child.get("message"), child.text)
        for case in read().iter("testcase")
        for child in case
        if child.tag != "properties"
    ]
    assert told == [
        ("failure", "candidate_failure", "it said no", "it said\nno"),
        ("error", "cleanup_failure", "the clean-up is failed", "the clean-up is failed"),
        ("error", "skipped", "nothing is known of it", "nothing is known of it"),
    ]


def test_a_case_says_how_it_came_about() -> None:
    case = next(read().iter("testcase"))
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert properties == {
        "state": "passed",
        "attempt": "2",
        "runAttempt": "1",
        "flaky": "true",
        "provider": "scripted",
        "model": "scripted-1",
        "cleanup": "passed",
        "costUsd": "0.020000",
        "costComplete": "true",
    }


def test_annotations_tell_the_worst_first_and_count_the_rest() -> None:
    plan = make_plan([f"smoke.scripted.local.c{number:02}" for number in range(14)])
    results = [make_result(cell, status="failed") for cell in plan.expected]
    leak = plan.expected[9]
    results[9] = make_result(leak, status="failed", failure_class="secret_leak", error="a key")
    campaign = make_campaign(results, plan=plan)
    lines = error_annotations(campaign, make_insights(campaign, plan=plan))
    assert lines[0] == f"::error title={leak}%3A secret_leak::a key"
    assert len(lines) == 10
    assert lines[-1] == (
        "::error title=runner-e2e::0 of 14 passed, 14 failed; 5 more are in the summary"
    )
