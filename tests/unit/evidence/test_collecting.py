"""What leaves a job as evidence, what does not, and that both are said."""

from __future__ import annotations

import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.evidence import EvidenceManifest
from runner_e2e.evidence import MANIFEST, NOTES, Budget, Collected, Redactor, collect_evidence

SECRET = "correct-Horse/Battery+staple"
REQUIRED = ("result.json", "snapshots/observation.json", "turns/1/stdout.log")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)


class Attempt:
    """A directory of an attempt, and what is collected from it."""

    def __init__(self, root: Path) -> None:
        self.source = root / "attempt"
        self.source.mkdir()
        self.destination = root / "out"
        self.root = root

    def put(self, path: str, content: str | bytes) -> None:
        file = self.source / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def collect(self, **options: Any) -> Collected:
        return collect_evidence(self.source, self.destination, Redactor({"KEY": SECRET}), **options)

    def text(self, path: str) -> str:
        return (self.destination / path).read_text()

    def all_bytes(self) -> bytes:
        return b"".join(
            path.read_bytes() for path in sorted(self.destination.rglob("*")) if path.is_file()
        )


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    attempt = Attempt(tmp_path)
    attempt.put("result.json", '{"status":"passed"}')
    attempt.put("snapshots/observation.json", "{}")
    attempt.put("turns/1/stdout.log", "hello\n")
    return attempt


def test_what_is_allowed_is_kept_and_the_manifest_lists_it(attempt: Attempt) -> None:
    attempt.put("public/final.png", PNG)
    collected = attempt.collect(required=REQUIRED)
    files = ("public/final.png", *sorted(REQUIRED))
    assert collected.manifest.files == files
    assert (collected.manifest.leaks, collected.manifest.missing, collected.notes) == ((), (), ())
    written = (attempt.destination / MANIFEST).read_bytes()
    assert parse(EvidenceManifest, written, MANIFEST) == collected.manifest
    assert (attempt.destination / "public/final.png").read_bytes() == PNG


@pytest.mark.parametrize(
    "path",
    [
        "home/.config/auth.json",
        "database.sqlite",
        "snapshots/picture.svg",
        "turns/1/core",
        "turns/1/agent.py",
        "notes.txt",
        "public/readme.html",
    ],
)
def test_what_is_not_on_the_list_stays(attempt: Attempt, path: str) -> None:
    attempt.put(path, "x")
    assert path not in attempt.collect().manifest.files
    assert not (attempt.destination / path).exists()


def test_a_missing_required_file_is_named(attempt: Attempt) -> None:
    (attempt.source / "turns/1/stdout.log").unlink()
    assert attempt.collect(required=REQUIRED).manifest.missing == ("turns/1/stdout.log",)


def test_text_with_a_secret_is_kept_blacked_out_and_listed(attempt: Attempt) -> None:
    attempt.put("turns/1/stdout.log", f"my key is {SECRET}!\n")
    (leak,) = attempt.collect().manifest.leaks
    assert (leak.file, leak.reason) == ("turns/1/stdout.log", "exact value of KEY, as it is")
    assert attempt.text("turns/1/stdout.log") == "my key is [REDACTED]!\n"


def test_json_is_cleaned_by_key_and_value_and_written_readably(attempt: Attempt) -> None:
    tree = {"message": f"it is {SECRET}", "auth": {"a": 1}, "cost": 0.1, "é": [1, None]}
    attempt.put("snapshots/observation.json", json.dumps(tree))
    assert len(attempt.collect().manifest.leaks) == 1
    text = attempt.text("snapshots/observation.json")
    clean = {"message": "it is [REDACTED]", "auth": "[REDACTED]", "cost": 0.1, "é": [1, None]}
    assert json.loads(text) == clean
    assert text == json.dumps(clean, indent=2, ensure_ascii=False) + "\n"


def test_a_secret_that_is_a_json_number_is_withheld(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    attempt.put("result.json", '{"pin": 12345678901234}')
    collected = collect_evidence(
        attempt.source, attempt.destination, Redactor({"PIN": "12345678901234"})
    )
    assert "result.json" not in collected.manifest.files
    assert [leak.file for leak in collected.manifest.leaks] == ["result.json"]
    assert b"12345678901234" not in attempt.all_bytes()


@pytest.mark.parametrize("content", ["{broken", "NaN", "[" * 5_000 + "]" * 5_000, '{"a": 1} x'])
def test_json_that_is_none_is_kept_as_text(attempt: Attempt, content: str) -> None:
    attempt.put("snapshots/x.json", content + SECRET)
    collected = attempt.collect()
    assert attempt.text("snapshots/x.json") == content + "[REDACTED]"
    assert any("is no JSON" in note for note in collected.notes)


@pytest.mark.parametrize("name", ["public/a.png", "snapshots/a.webm", "snapshots/a.zip"])
def test_a_binary_with_a_secret_is_withheld_and_listed(attempt: Attempt, name: str) -> None:
    if name.endswith(".zip"):
        (attempt.source / "snapshots").mkdir(exist_ok=True)
        with zipfile.ZipFile(attempt.source / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("in.txt", SECRET * 3)
    else:
        attempt.put(name, PNG + SECRET.encode("utf-16-le"))
    collected = attempt.collect()
    assert [leak.file for leak in collected.manifest.leaks] == [name]
    assert not (attempt.destination / name).exists()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        "Authorization: Bearer " + "a1B2c3D4e5F6g7H8i9J0",
        "x-api-key: " + "a1b2c3d4e5f6a7b8",
        "https://user:" + "hunter2hunter2@host.example/path",
    ],
)
def test_a_binary_is_withheld_where_a_text_would_lose_a_part(
    attempt: Attempt, content: str, packed: bool
) -> None:
    name = "snapshots/trace.zip" if packed else "public/a.png"
    if packed:
        (attempt.source / "snapshots").mkdir(exist_ok=True)
        with zipfile.ZipFile(attempt.source / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("0.network", content)
    else:
        attempt.put(name, PNG + content.encode())
    attempt.put("turns/1/stderr.log", content)

    collected = attempt.collect()

    assert attempt.text("turns/1/stderr.log") != content
    assert name not in collected.manifest.files
    assert not (attempt.destination / name).exists()
    assert any(note.startswith(f"{name}: withheld, it holds") for note in collected.notes)
    assert collected.manifest.leaks == ()


def test_an_archive_that_nobody_can_look_into_is_withheld_and_listed(attempt: Attempt) -> None:
    attempt.put("snapshots/a.zip", b"PK\x03\x04" + b"x" * 500)
    (leak,) = attempt.collect().manifest.leaks
    assert leak.reason.startswith("archive could not be inspected")
    assert not (attempt.destination / "snapshots/a.zip").exists()


def test_a_secret_in_a_files_name_is_a_leak_and_not_repeated(attempt: Attempt) -> None:
    attempt.put(f"turns/1/{SECRET.replace('/', '')}.log", "x")
    attempt.put("turns/1/AKIA" + "IOSFODNN7EXAMPLE.log", "x")
    (leak,) = attempt.collect().manifest.leaks
    assert leak.reason == "a secret in the file's name"
    assert b"AKIA" + b"IOSFODNN7EXAMPLE" not in attempt.all_bytes()


@pytest.mark.parametrize("name", ["a\nb.log", "a\\b.log", "a\x1b[31m.log"])
def test_a_name_that_cannot_be_written_down_is_left_out_and_said(
    attempt: Attempt, name: str
) -> None:
    attempt.put(f"turns/1/{name}", "x")
    collected = attempt.collect()
    assert any("its name cannot be written down" in note for note in collected.notes)
    assert all(note.isprintable() for note in collected.notes)
    assert len(collected.manifest.files) == 4


def test_a_name_that_is_no_unicode_is_left_out(attempt: Attempt) -> None:
    attempt.put(os.fsdecode(b"turns/1/\xff.log"), "x")
    assert len(attempt.collect().manifest.files) == 4


def test_no_link_is_followed(attempt: Attempt) -> None:
    outside = attempt.root / "outside"
    outside.mkdir()
    (outside / "private.log").write_text("private")
    (attempt.source / "turns/1/link.log").symlink_to(outside / "private.log")
    (attempt.source / "turns/2").symlink_to(outside)
    (attempt.source / "snapshots/loop.json").symlink_to("loop.json")
    (attempt.source / "result.json").unlink()
    (attempt.source / "result.json").symlink_to("/etc/hostname")
    collected = attempt.collect(required=REQUIRED)
    assert collected.manifest.missing == ("result.json",)
    assert b"private" not in attempt.all_bytes()


def test_what_is_no_regular_file_is_left_out_without_waiting(attempt: Attempt) -> None:
    os.mkfifo(attempt.source / "turns/1/pipe.log")
    collected = attempt.collect()
    assert any("no regular file" in note for note in collected.notes)


def test_a_long_text_keeps_both_ends_and_says_so(attempt: Attempt) -> None:
    attempt.put("turns/1/stdout.log", "BEGIN" + "x" * 500_000 + "END")
    collected = attempt.collect(budget=Budget(file_bytes=1_000))
    text = attempt.text("turns/1/stdout.log")
    assert text.startswith("BEGINxxx")
    assert text.endswith("xxxEND")
    assert "[runner-e2e: 499008 of 500008 bytes were cut out here]" in text
    assert len(text) < 1_100
    assert any("shortened from 500008 bytes" in note for note in collected.notes)
    assert "shortened" in attempt.text(NOTES)


@pytest.mark.parametrize("offset", range(-30, 31, 6))
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(attempt: Attempt, offset: int) -> None:
    body = bytearray(b"." * 100_000)
    for edge in (500, len(body) - 500):
        start = edge + offset
        body[start : start + len(SECRET)] = SECRET.encode()
    attempt.put("turns/1/stdout.log", bytes(body))
    attempt.collect(budget=Budget(file_bytes=1_000))
    left = attempt.text("turns/1/stdout.log")
    for size in range(4, len(SECRET)):
        for at in range(len(SECRET) - size + 1):
            assert SECRET[at : at + size] not in left


def test_json_over_the_budget_is_left_out_and_said(attempt: Attempt) -> None:
    attempt.put("snapshots/big.json", json.dumps(["x" * 5_000]))
    collected = attempt.collect(budget=Budget(file_bytes=1_000))
    assert "snapshots/big.json" not in collected.manifest.files
    assert any("snapshots/big.json: left out, 5004 bytes" in note for note in collected.notes)


def test_a_binary_over_the_budget_is_left_out_and_said(attempt: Attempt) -> None:
    attempt.put("public/big.png", PNG * 10)
    collected = attempt.collect(budget=Budget(binary_bytes=100))
    assert "public/big.png" not in collected.manifest.files
    assert any("public/big.png: left out" in note for note in collected.notes)


def test_an_agent_that_fills_the_budget_crowds_out_nothing_that_is_required(
    attempt: Attempt,
) -> None:
    for number in range(30):
        attempt.put(f"artifacts/{number:02}.txt", "x" * 1_000)
    collected = attempt.collect(required=REQUIRED, budget=Budget(total_bytes=5_000))
    assert set(REQUIRED) <= set(collected.manifest.files)
    assert collected.manifest.missing == ()
    kept = [path for path in collected.manifest.files if path.startswith("artifacts/")]
    assert len(kept) == 4
    assert sum("over 5000 bytes" in note for note in collected.notes) == 26


def test_more_files_than_allowed_are_left_out_and_said(attempt: Attempt) -> None:
    for number in range(10):
        attempt.put(f"artifacts/{number}.txt", "x")
    collected = attempt.collect(required=REQUIRED, budget=Budget(files=5))
    assert set(REQUIRED) <= set(collected.manifest.files)
    assert any("more than 5 files" in note for note in collected.notes)


def test_collecting_again_starts_from_nothing(attempt: Attempt) -> None:
    attempt.put("turns/1/old.log", "old")
    attempt.collect()
    (attempt.source / "turns/1/old.log").unlink()
    assert "turns/1/old.log" not in attempt.collect().manifest.files
    assert not (attempt.destination / "turns/1/old.log").exists()


def test_the_same_evidence_gives_the_same_bytes(attempt: Attempt) -> None:
    attempt.put("turns/1/b.log", SECRET)
    attempt.collect()
    first = attempt.all_bytes()
    attempt.collect()
    assert attempt.all_bytes() == first


def test_a_log_of_any_size_is_collected_in_little_memory(attempt: Attempt) -> None:
    log = attempt.source / "turns/1/stdout.log"
    with log.open("wb") as file:
        file.truncate(400_000_000)
    tracemalloc.start()
    try:
        attempt.collect(budget=Budget(file_bytes=1_000_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def test_a_shape_in_a_log_that_is_blacked_out_twice_stays_clean(attempt: Attempt) -> None:
    attempt.put("turns/1/stdout.log", "ghp_" + "a1B2c3D4" * 5 + "\n" + "sk-ant-" + "x1" * 20)
    collected = attempt.collect()
    assert [leak.reason for leak in collected.manifest.leaks] == [
        "secret-shaped: a GitHub token",
        "secret-shaped: an Anthropic key",
    ]
    assert attempt.text("turns/1/stdout.log") == (
        "[REDACTED_SECRET_SHAPE]\n[REDACTED_SECRET_SHAPE]"
    )
