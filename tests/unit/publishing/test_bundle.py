from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from runner_e2e.contracts.base import canonical_json, digest, dump_tree
from runner_e2e.errors import DocumentError, UsageError
from runner_e2e.evidence import MAX_PNG_BYTES
from runner_e2e.publishing import build_bundle
from runner_e2e.publishing.errors import PrivateFile
from tests.e2e.publishing.support import make_png, make_report

PICTURES = "evidence/smoke.scripted.local.hello/attempt-1"


def put(report: Path, path: str, data: bytes = b"x") -> Path:
    file = report / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_a_bundle_lists_every_file_by_path_digest_and_size(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, pictures={"b.png": make_png(), "a.png": make_png(2)})

    bundle = build_bundle(report)

    files = bundle.manifest.files
    assert [file.path for file in files] == [
        "campaign.json",
        f"{PICTURES}/a.png",
        f"{PICTURES}/b.png",
        "index.html",
        "insights.json",
        "junit.xml",
        "plan.json",
        "summary.md",
    ]
    assert all((report / file.path).stat().st_size == file.bytes for file in files)
    assert bundle.manifest.bundle_digest == digest([dump_tree(file) for file in files])
    assert bundle.manifest.campaign_id == "gha-1-1"


def test_the_digest_depends_on_nothing_but_the_files(tmp_path: Path) -> None:
    one = build_bundle(make_report(tmp_path / "a", 1)).manifest
    two = build_bundle(make_report(tmp_path / "b", 1)).manifest

    assert canonical_json(dump_tree(one)) == canonical_json(dump_tree(two))


@pytest.mark.parametrize(
    "path",
    [
        "server.log",
        "result.json",
        "evidence/notes.txt",
        f"{PICTURES}/stdout.log",
        f"{PICTURES}/snapshots/observation.json",
        f"{PICTURES}/page.svg",
        f"{PICTURES}/a.PNG",
        f"{PICTURES}/deep/a.png",
        f"{PICTURES}/.hidden.png",
        "evidence/smoke.scripted.local.hello/attempt-0/a.png",
        "evidence/../evidence/a.png",
        ".git/config",
        "assets/site.css",
        "INDEX.HTML",
    ],
)
def test_what_is_not_on_the_list_is_refused_by_name(path: str, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    put(report, path)

    with pytest.raises(PrivateFile, match="nothing of that name is ever published") as caught:
        build_bundle(report)

    assert os.path.normpath(path) in caught.value.message
    assert caught.value.exit_code == 10


def test_a_picture_that_no_result_declares_public_is_refused(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, pictures={"a.png": make_png()})
    put(report, f"{PICTURES}/b.png", make_png())

    with pytest.raises(PrivateFile, match=r"b\.png: no result declares"):
        build_bundle(report)


def test_a_picture_of_an_earlier_attempt_is_refused(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, pictures={"a.png": make_png()})
    put(report, f"{PICTURES.replace('attempt-1', 'attempt-2')}/a.png", make_png())

    with pytest.raises(PrivateFile, match="no result declares"):
        build_bundle(report)


def test_symbolic_links_and_pipes_are_refused(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    secret = put(tmp_path, "secret.txt", b"secret")
    (report / "summary.md").unlink()
    (report / "summary.md").symlink_to(secret)
    (report / "evidence").symlink_to(tmp_path)
    os.mkfifo(report / "junit.pipe")

    with pytest.raises(PrivateFile) as caught:
        build_bundle(report)

    for line in ("summary.md: it is a symbolic", "evidence: it is a sym", "junit.pipe: it is not"):
        assert line in caught.value.message


def test_every_problem_is_told_at_once_up_to_ten(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    for number in range(14):
        put(report, f"{number:02}.log")

    with pytest.raises(PrivateFile) as caught:
        build_bundle(report)

    assert caught.value.message.count(".log: ") == 10
    assert "and 4 more" in caught.value.message


@pytest.mark.parametrize("name", ["summary.md", "campaign.json", "index.html", "junit.xml"])
def test_a_key_in_any_file_stops_the_publication_without_being_printed(
    name: str, tmp_path: Path
) -> None:
    key = "sk-ant-api03-" + "q7Rt2LmX9vB4nK8sW1zY6cD3fG5hJ0pA" * 2
    report = make_report(tmp_path, 1)
    file = report / name
    if name == "campaign.json":
        marker = b'"provider":"scripted"'
        file.write_bytes(file.read_bytes().replace(marker, f'"provider":"{key}"'.encode(), 1))
    else:
        file.write_bytes(file.read_bytes() + key.encode())

    with pytest.raises(PrivateFile, match=f"{name}: it holds something secret-shaped") as caught:
        build_bundle(report)

    assert key not in str(caught.value)


def test_a_directory_that_is_no_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a directory"):
        build_bundle(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"has no campaign\.json and no insights\.json"):
        build_bundle(tmp_path)


def test_a_broken_document_is_named_with_its_place(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    put(report, "insights.json", b'{"schema":"runner-e2e.insights/v1","campaignId":7}')

    with pytest.raises(DocumentError, match=r"insights\.json: campaignId"):
        build_bundle(report)


def damaged() -> dict[str, tuple[bytes, str]]:
    png = make_png(3, 3)
    body = b"IHDR" + bytes(8) + b"\x08\0\0\0\0"
    empty = png[:8] + b"\0\0\0\r" + body + zlib.crc32(body).to_bytes(4) + png[33:]
    return {
        "a JPEG": (b"\xff\xd8\xff\xe0" + png[4:], "not a PNG"),
        "a script": (b"<script>alert(1)</script>", "not a PNG"),
        "nothing": (b"", "not a PNG"),
        "a head alone": (png[:8], "cut off"),
        "no header": (png[:8] + png[33:], "has no header"),
        "a flipped bit": (png[:20] + bytes([png[20] ^ 1]) + png[21:], "damaged"),
        "the first half": (png[: len(png) // 2], "cut off"),
        "an archive behind it": (png + b"PK\x03\x04secret", "appended"),
        "no size": (empty, "empty"),
    }


@pytest.mark.parametrize("name", damaged())
def test_what_is_not_a_png_and_nothing_but_a_png_is_refused(name: str, tmp_path: Path) -> None:
    data, reason = damaged()[name]
    report = make_report(tmp_path, 1, pictures={"a.png": data})

    with pytest.raises(PrivateFile, match=reason):
        build_bundle(report)


def test_a_picture_over_twelve_mib_is_refused(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, pictures={"a.png": make_png()})
    with (report / PICTURES / "a.png").open("r+b") as file:
        file.truncate(MAX_PNG_BYTES + 1)

    with pytest.raises(PrivateFile, match="more than a public picture may have"):
        build_bundle(report)
