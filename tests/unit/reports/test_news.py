"""The first screen of a red nightly: what is new, since which commit, how sure, what it cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner_e2e.cli.published import judged, open_history
from runner_e2e.contracts.judgement import CellVerdict
from runner_e2e.reports import comment_markdown, plain_news, summary_markdown
from runner_e2e.reports.news import since_words, where_noise_is
from tests.support.documents import IDS
from tests.support.nights import Night, make_night, publish_nights, sha_of

REPOSITORY = "https://github.com/acme/agents"


def night_after(root: Path, *before: str) -> tuple[Night, dict[str, CellVerdict]]:
    """The last of the nights, judged by the others."""
    *earlier, last = before
    publish_nights(root, [make_night(n, letters) for n, letters in enumerate(earlier)])
    night = make_night(len(earlier), last)
    return night, judged(open_history(str(root)), *night)


def test_the_first_screen_says_what_is_new_since_when_how_sure_and_what_it_cost(
    tmp_path: Path,
) -> None:
    night, verdicts = night_after(tmp_path, *["GGG"] * 14, "GRG", "BRI")
    lines = summary_markdown(*night, verdicts=verdicts).splitlines()
    screen = "\n".join(lines[:14])
    assert lines[0].startswith("## ❌ 0 of 3 passed")
    assert "**$0.06**" in screen
    assert "**2 broken, 1 unmeasured**" in screen
    first = next(line for line in lines if line.startswith("| **hello**"))
    span = f"{REPOSITORY}/compare/{sha_of(14)}...{sha_of(15)}"
    assert f"🔴 broken | [`{sha_of(14)[:7]}..{sha_of(15)[:7]}`]({span})" in first
    assert "red once, 2 repeats failed too" in first
    assert "before that 14 of 14 green (78 to 100%); noise alone does that 0.1% of" in first
    assert "the last message was not the marker" in first
    second = next(line for line in lines if line.startswith("| **plan**"))
    assert f"compare/{sha_of(13)}...{sha_of(14)}" in second
    assert "red 2 times in a row" in second
    assert lines.index(first) < 12


def test_what_was_known_before_is_not_called_new(tmp_path: Path) -> None:
    night, verdicts = night_after(tmp_path, *["GGG"] * 5, "RGG", "RGG", "RGR")
    text = summary_markdown(*night, verdicts=verdicts)
    assert "**1 new failure that may be noise, 1 known broken**" in text
    new = text.split("### What is new")[1].split("###")[0]
    assert "**question**" in new
    assert "**hello**" not in new
    assert "**hello**" in text.split("### Known before")[1].split("###")[0]


def test_a_night_without_news_says_so(tmp_path: Path) -> None:
    green, verdicts = night_after(tmp_path / "a", "GGG", "GGG")
    text = summary_markdown(*green, verdicts=verdicts)
    assert "Nothing new: every cell passed as before" in text
    assert "What is new" not in text
    known, verdicts = night_after(tmp_path / "b", *["RGG"] * 4)
    assert "**Nothing is newly red: 1 known broken**" in summary_markdown(*known, verdicts=verdicts)


def test_recovered_and_flaky_cells_are_told_with_what_flaky_means(tmp_path: Path) -> None:
    night, verdicts = night_after(tmp_path, *["GGG"] * 3, "RGG", "GrG")
    text = summary_markdown(*night, verdicts=verdicts)
    assert "**Nothing is newly red: 1 flaky, 1 recovered**" in text
    assert f"- recovered: `{IDS[0]}`, red before, 4 of 5 green" in text
    assert "since [`0000000..0000000`]" in text
    assert "Flaky: the cell passed on a later attempt only" in text


def test_without_verdicts_the_summary_is_what_it_was(tmp_path: Path) -> None:
    night, verdicts = night_after(tmp_path, "GGG", "GRG")
    plain = summary_markdown(*night)
    assert "What is new" not in plain
    told = summary_markdown(*night, verdicts=verdicts)
    assert told.replace(told.split("<br>\n")[1].split("### Failed")[0], "") != told
    assert plain.splitlines()[0] == told.splitlines()[0]


def test_a_comment_tells_the_news_too(tmp_path: Path) -> None:
    night, verdicts = night_after(tmp_path, "GGG", "GRG")
    assert "### What is new" in comment_markdown(*night, verdicts=verdicts)


def test_the_same_commit_that_passed_before_is_said_to_be_the_same(tmp_path: Path) -> None:
    _, verdicts = night_after(tmp_path, "GGG", "GRG")
    verdict = verdicts[IDS[1]]
    assert verdict.since is not None
    same = verdict.model_copy(update={"last_other": verdict.since})
    assert "the same commit passed before" in since_words(same, REPOSITORY)
    lost = verdict.model_copy(update={"since": verdict.since.model_copy(update={"sha": None})})
    assert "commits unknown" in since_words(lost, REPOSITORY)
    first = verdict.model_copy(update={"last_other": None})
    assert "the first campaign" in since_words(first, None)


@pytest.mark.parametrize("sha", ["main](javascript:alert(1))", "a|b", "<img src=x>"])
def test_a_commit_that_is_none_cannot_leave_its_cell(tmp_path: Path, sha: str) -> None:
    _, verdicts = night_after(tmp_path, "GGG", "GRG")
    verdict = verdicts[IDS[1]]
    assert verdict.since is not None
    bad = verdict.since.model_copy(update={"sha": sha})
    for update in ({"since": bad}, {"since": bad, "last_other": None}):
        words = since_words(verdict.model_copy(update=update), REPOSITORY)
        assert sha not in words
        assert "compare" not in words
        assert "commit/" not in words


def test_a_terminal_is_told_the_new_ones_first(tmp_path: Path) -> None:
    _, verdicts = night_after(tmp_path, *["GGG"] * 14, "IrB")
    lines = list(plain_news(verdicts))
    assert [line.split()[0] for line in lines] == ["broken", "flaky", "unmeasured"]
    assert lines[0].startswith(f"broken       {IDS[2]}: red once, 2 repeats failed too")


def test_where_the_noise_is_is_told_by_every_part_that_differs(tmp_path: Path) -> None:
    _, verdicts = night_after(tmp_path, *["GrG"] * 9, "GGG")
    assert list(where_noise_is(verdicts)) == [
        (
            "Flaky by case: `plan` 9 of 10 (60 to 98%), `hello` 0 of 10 (0 to 28%), "
            "`question` 0 of 10 (0 to 28%)."
        )
    ]
    _, calm = night_after(tmp_path / "calm", "GGG", "GGG")
    assert list(where_noise_is(calm)) == []
    assert list(where_noise_is({})) == []
