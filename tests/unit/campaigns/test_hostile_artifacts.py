"""One bad artifact costs one cell, which is named with the file and the reason."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_e2e.campaigns import Aggregate, Broken, DirectoryTree, Unreadable, collect
from runner_e2e.campaigns import aggregate as merge
from runner_e2e.campaigns.cells import MAX_DOCUMENT_BYTES, Budget
from runner_e2e.campaigns.trees import MAX_ZIP_MEMBERS
from runner_e2e.contracts.base import dump
from runner_e2e.errors import UsageError
from tests.support.artifacts import (
    CAMPAIGN_ID,
    aggregate_paths,
    artifact_name,
    digest_of,
    make_job_record,
    states_of,
    write_event,
    zip_artifact,
)
from tests.support.documents import IDS, make_plan, make_result

PLAN = make_plan(IDS)
VICTIM = IDS[1]
NAME = artifact_name(VICTIM, 1)


def good_ones(root: Path) -> Path:
    for cell in IDS:
        write_event(root, PLAN, cell, 1, "pass")
    return root / NAME


def victim_of(merged: Aggregate) -> tuple[str, str, str]:
    """The state, file and reason of the one cell that is not passed."""
    assert {c: s for c, s in states_of(merged).items() if s != "passed"}.keys() == {VICTIM}
    cell = next(c for c in merged.insights.cells if c.execution_id == VICTIM)
    return cell.state, cell.file or "", cell.reason or ""


def vouch(directory: Path, data: bytes) -> None:
    """Write ``data`` as the result, with a record that vouches for it."""
    record = make_job_record(make_result(VICTIM), plan=PLAN, files=[digest_of("result.json", data)])
    (directory / "result.json").write_bytes(data)
    (directory / "job-record.json").write_bytes(dump(record))


RESULT = dump(make_result(VICTIM))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(RESULT[:-60], "EOF while parsing", id="truncated"),
        pytest.param(b"", "EOF while parsing", id="empty"),
        pytest.param(b"\x00" * 100, "expected value", id="zeros"),
        pytest.param(b"[" * 200_000, "recursion limit exceeded", id="deep"),
        pytest.param(b'{"a":' * 100_000, "recursion limit exceeded", id="deep objects"),
        pytest.param(RESULT.replace(b"60000", b"NaN", 1), "durationMs", id="not a number"),
        pytest.param(RESULT.replace(b"60000", b"1e999", 1), "durationMs", id="infinite"),
        pytest.param(RESULT.replace(b'"passed"', b'"superb"', 1), "status", id="unknown word"),
        pytest.param(RESULT.replace(b"result/v2", b"result/v9"), "schema", id="unknown schema"),
        pytest.param(RESULT.replace(b"smoke", b"sm\xffke"), "invalid", id="not UTF-8"),
        pytest.param(RESULT.replace(b'"attempt":1', b'"attempt":0'), "attempt 0", id="attempt 0"),
        pytest.param(
            RESULT.replace(b'"caseId":"plan"', b'"caseId":"hello"'),
            "calls itself",
            id="another case",
        ),
        pytest.param(b"<html>502 Bad Gateway</html>", "it begins with '<html>", id="html"),
    ],
)
def test_a_bad_result_costs_its_own_cell(tmp_path: Path, data: bytes, reason: str) -> None:
    vouch(good_ones(tmp_path), data)
    state, file, why = victim_of(aggregate_paths(PLAN, tmp_path))
    assert (state, file) == ("corrupt", f"{NAME}/result.json")
    assert reason in why
    assert len(why) <= 500
    assert aggregate_paths(PLAN, tmp_path).insights.extras == ()


def test_a_result_that_its_job_did_not_record_is_corrupt(tmp_path: Path) -> None:
    directory = good_ones(tmp_path)
    (directory / "result.json").write_bytes(dump(make_result(VICTIM, cost=0.01)))
    assert victim_of(aggregate_paths(PLAN, tmp_path)) == (
        "corrupt",
        f"{NAME}/result.json",
        "it is not the file that the job recorded",
    )


def test_a_pass_whose_record_says_failed_is_corrupt(tmp_path: Path) -> None:
    directory = good_ones(tmp_path)
    record = make_job_record(
        make_result(VICTIM, status="failed"), plan=PLAN, files=[digest_of("result.json", RESULT)]
    )
    (directory / "result.json").write_bytes(RESULT)
    (directory / "job-record.json").write_bytes(dump(record))
    state, _, why = victim_of(aggregate_paths(PLAN, tmp_path))
    assert (state, why) == ("corrupt", "it says passed, the job record says failed")


def test_a_huge_result_is_not_read(tmp_path: Path) -> None:
    directory = good_ones(tmp_path)
    with (directory / "result.json").open("r+b") as file:
        file.truncate(MAX_DOCUMENT_BYTES * 1024)
    state, _, why = victim_of(aggregate_paths(PLAN, tmp_path))
    assert state == "corrupt"
    assert "are more than" in why


@pytest.mark.parametrize("name", ["result.json", "job-record.json"])
@pytest.mark.parametrize("kind", ["link", "pipe", "dangling"])
def test_links_and_pipes_are_neither_followed_nor_waited_for(
    tmp_path: Path, name: str, kind: str
) -> None:
    directory = good_ones(tmp_path / "in")
    target = directory / name
    target.unlink()
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "dangling":
        target.symlink_to(tmp_path / "nowhere")
    else:
        elsewhere = tmp_path / "elsewhere.json"
        elsewhere.write_bytes(RESULT)
        target.symlink_to(elsewhere)
    state, file, _ = victim_of(aggregate_paths(PLAN, tmp_path / "in"))
    assert (state, file) == ("corrupt", f"{NAME}/{name}")


def test_a_linked_directory_is_not_entered(tmp_path: Path) -> None:
    good_ones(tmp_path / "elsewhere")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    assert set(states_of(aggregate_paths(PLAN, tmp_path / "in")).values()) == {"missing"}


def test_a_file_that_nobody_can_place_is_named_all_the_same(tmp_path: Path) -> None:
    good_ones(tmp_path)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "result.json").write_bytes(b"{")
    merged = aggregate_paths(PLAN, tmp_path)
    assert set(states_of(merged).values()) == {"passed"}
    assert [u.file for u in merged.insights.unreadable] == ["odd/result.json"]


def test_a_truncated_file_names_itself_by_what_is_left_of_it(tmp_path: Path) -> None:
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "result.json").write_bytes(RESULT[:200])
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged)[VICTIM] == "corrupt"


def good_zips(root: Path) -> Path:
    """The good artifacts as archives. Returns where the victim's lies."""
    directories = root / "directories"
    good_ones(directories)
    (root / "zips").mkdir()
    for cell in IDS:
        name = artifact_name(cell, 1)
        zip_artifact(directories / name, root / "zips" / f"{name}.zip")
    return root / "zips" / f"{NAME}.zip"


def test_archives_read_like_directories(tmp_path: Path) -> None:
    archive = good_zips(tmp_path)
    assert set(states_of(aggregate_paths(PLAN, archive.parent)).values()) == {"passed"}
    alone = states_of(aggregate_paths(PLAN, archive))
    assert alone == {IDS[0]: "missing", VICTIM: "passed", IDS[2]: "missing"}


def member(name: str, *, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


EVIL = {
    "parent": member("../evil.txt"),
    "inner parent": member("a/../../evil.txt"),
    "absolute": member("/etc/cron.d/evil"),
    "backslash": member("..\\evil.txt"),
    "drive": member("C:/evil.txt"),
    "link": member("attempt-1/link", mode=stat.S_IFLNK | 0o777),
    "duplicate": member("result.json"),
    "case-folded duplicate": member("RESULT.json"),
    "empty part": member("a//b"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL.keys())
def test_an_archive_with_an_unsafe_name_is_believed_in_nothing(
    tmp_path: Path, evil: zipfile.ZipInfo
) -> None:
    archive = good_zips(tmp_path)
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(evil, b"evil")
    state, file, why = victim_of(aggregate_paths(PLAN, archive.parent))
    assert state == "corrupt"
    assert file.startswith(f"{NAME}.zip!")
    assert "the archive holds the" in why
    assert not list(tmp_path.rglob("evil*"))


def test_a_name_with_a_nul_is_seen_as_it_is_stored(tmp_path: Path) -> None:
    archive = good_zips(tmp_path)
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("notes.txt#.png", b"")
    archive.write_bytes(archive.read_bytes().replace(b"notes.txt#", b"notes.txt\x00"))
    state, _, why = victim_of(aggregate_paths(PLAN, archive.parent))
    assert (state, "unsafe name" in why) == ("corrupt", True)


def bomb(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("result.json", b"0" * (MAX_DOCUMENT_BYTES + 1))


def lying_bomb(archive: Path) -> None:
    """A member that inflates to a thousand times what it declares."""
    bomb(archive)
    data = archive.read_bytes()
    size = struct.pack("<I", MAX_DOCUMENT_BYTES + 1)
    archive.write_bytes(data.replace(size, struct.pack("<I", 1024)))


def not_a_zip(archive: Path) -> None:
    archive.write_bytes(b"<html>410 Gone</html>")


def cut_short(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-30])


def flipped(archive: Path) -> None:
    """Damaged in the middle of the compressed bytes of the last member, the result."""
    data = bytearray(archive.read_bytes())
    begin = data.rindex(b"PK\x03\x04") + 60
    for offset in range(begin, begin + 60):
        data[offset] ^= 0xFF
    archive.write_bytes(bytes(data))


def encrypted(archive: Path) -> None:
    """Every member is marked as encrypted."""
    data = archive.read_bytes()
    for head in (b"PK\x01\x02\x14\x03\x14\x00", b"PK\x03\x04\x14\x00"):
        assert head + b"\x00\x00" in data
        data = data.replace(head + b"\x00\x00", head + b"\x01\x00")
    archive.write_bytes(data)


def bzip2(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("result.json", RESULT)


def endless_directory(archive: Path) -> None:
    """A table of contents that claims to be a gigabyte long, in a file that has it."""
    size = 1 << 30
    with archive.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, 0, 0))


def pipe(archive: Path) -> None:
    archive.unlink()
    os.mkfifo(archive)


@pytest.mark.parametrize(
    "damage",
    [bomb, lying_bomb, not_a_zip, cut_short, flipped, encrypted, bzip2, endless_directory, pipe],
)
def test_a_bad_archive_costs_its_own_cell(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    archive = good_zips(tmp_path)
    damage(archive)
    state, file, why = victim_of(aggregate_paths(PLAN, archive.parent))
    assert state == "corrupt"
    assert file.startswith(f"{NAME}.zip")
    assert why


def test_a_bomb_among_the_evidence_is_never_inflated(tmp_path: Path) -> None:
    archive = good_zips(tmp_path)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("attempt-1/huge.log", b"0" * (64 * 1024 * 1024))
    assert set(states_of(aggregate_paths(PLAN, archive.parent)).values()) == {"passed"}


def test_one_artifact_extracted_flat_reads_the_same(tmp_path: Path) -> None:
    directory = write_event(tmp_path, PLAN, VICTIM, 1, "retried")
    nested, flat = aggregate_paths(PLAN, tmp_path), aggregate_paths(PLAN, directory)
    assert nested.campaign == flat.campaign
    assert states_of(flat)[VICTIM] == "passed"


class GitHubLike:
    """A source in which one artifact has expired."""

    def artifacts(self) -> list[Broken]:
        reason = "GitHub answered 410"
        return [Broken(name=NAME, state="expired", reason=reason)]


def test_an_expired_artifact_is_named(tmp_path: Path) -> None:
    good_ones(tmp_path)
    (tmp_path / NAME / "result.json").unlink()
    (tmp_path / NAME / "job-record.json").unlink()
    merged = merge(PLAN, collect([tmp_path, GitHubLike()], PLAN), campaign_id=CAMPAIGN_ID)
    assert victim_of(merged) == ("expired", NAME, "GitHub answered 410")


def test_a_path_that_is_not_there_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        collect([tmp_path / "absent"], PLAN)


def test_a_gigabyte_of_zeros_deflates_to_less_than_the_cap() -> None:
    """Why the inflated size is what is capped."""
    squeezed = zlib.compress(b"\0" * MAX_DOCUMENT_BYTES * 2)
    assert len(squeezed) < MAX_DOCUMENT_BYTES / 100


def test_a_table_of_contents_is_not_read_before_its_length_is_known(tmp_path: Path) -> None:
    archive = good_zips(tmp_path)
    endless_directory(archive)
    _, _, why = victim_of(aggregate_paths(PLAN, archive.parent))
    assert why == "it is not a zip archive: its table of contents is too long"


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path) -> None:
    archive = good_zips(tmp_path)
    with zipfile.ZipFile(archive, "a") as packed:
        for number in range(MAX_ZIP_MEMBERS):
            packed.writestr(f"n/{number}", b"")
    _, _, why = victim_of(aggregate_paths(PLAN, archive.parent))
    assert why == "the archive has 65,538 members"


def test_all_documents_together_have_a_budget(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 60)
    tree, budget = DirectoryTree(str(tmp_path)), Budget(left=100)
    assert len(budget.read(tree, "one")) == 60
    with pytest.raises(Unreadable, match="60 bytes are more than the 40"):
        budget.read(tree, "one")
    (tmp_path / "one").write_bytes(b"x" * 40)
    assert len(budget.read(tree, "one")) == 40
    with pytest.raises(Unreadable, match="used up what may be read"):
        budget.read(tree, "one")
