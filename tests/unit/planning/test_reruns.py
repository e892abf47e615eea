from __future__ import annotations

import pytest

from runner_e2e.catalog import Catalog
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.errors import NothingSelected, UsageError
from runner_e2e.planning import RerunKind, parse_only, select_rerun
from tests.support.catalogs import grid_tree, load_tree
from tests.support.documents import make_campaign, make_plan, make_result

IDS = tuple(f"smoke.profile-{index}.local.case-0" for index in range(6))
GREEN, FAILED, UNRESOLVED, FLAKY, UNCLEAN, ABSENT = IDS


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return load_tree(tmp_path_factory.mktemp("reruns"), grid_tree(6, 1))


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    """One cell of each kind; the last one's result is not even in the campaign."""
    results = (
        make_result(GREEN),
        make_result(FAILED, status="failed"),
        make_result(
            UNRESOLVED, status="failed", attempt=0, failure_class="permanent_infrastructure"
        ),
        make_result(FLAKY, attempt=2),
        make_result(UNCLEAN, cleanup="failed"),
    )
    return make_campaign(results, plan=make_plan(IDS))


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (("failed",), [FAILED, UNCLEAN]),
        (("unresolved",), [UNRESOLVED, ABSENT]),
        (("flaky",), [FLAKY]),
        (("flaky", "failed"), [FAILED, FLAKY, UNCLEAN]),
        (("failed", "unresolved", "flaky"), [FAILED, UNRESOLVED, FLAKY, UNCLEAN, ABSENT]),
    ],
)
def test_cells_that_ended_so_are_run_again_in_catalog_order(
    catalog: Catalog, campaign: Campaign, only: tuple[RerunKind, ...], expected: list[str]
) -> None:
    assert [item.id for item in select_rerun(catalog, campaign, only=only)] == expected


def test_without_a_word_everything_that_is_not_green_is_run_again(
    catalog: Catalog, campaign: Campaign
) -> None:
    selected = select_rerun(catalog, campaign)
    assert [item.id for item in selected] == [FAILED, UNRESOLVED, UNCLEAN, ABSENT]


def test_nothing_to_run_again_is_nothing_selected(catalog: Catalog) -> None:
    campaign = make_campaign(plan=make_plan(IDS))
    with pytest.raises(NothingSelected, match="has no failed or unresolved executions"):
        select_rerun(catalog, campaign)


def test_a_cell_that_the_catalog_has_lost_is_not_left_out_silently(catalog: Catalog) -> None:
    lost = "smoke.profile-9.local.case-0"
    campaign = make_campaign([make_result(lost, status="failed")])
    with pytest.raises(UsageError, match=f"no longer has {lost}"):
        select_rerun(catalog, campaign)


def test_the_kinds_are_read_with_commas_and_checked() -> None:
    assert parse_only([]) == ("failed", "unresolved")
    assert parse_only(["flaky,failed", "failed"]) == ("failed", "flaky")
    with pytest.raises(UsageError, match="not flakey") as caught:
        parse_only(["flakey"])
    assert caught.value.hint == "did you mean 'flaky'?"
    with pytest.raises(UsageError, match="--only is blank"):
        parse_only([","])
