"""TypeScript's own judgement of a document, by the wire contract as it was given to us."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONTRACT = Path(__file__).with_name("types.ts")
COMPILER = Path(__file__).parents[1] / "node/node_modules/typescript/bin/tsc"
FLAGS = (
    *("--strict", "--exactOptionalPropertyTypes", "--noEmit", "--pretty", "false"),
    *("--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"),
)

# TypeScript counts these as line ends even inside a string, and we tell claims apart by line.
LINE_ENDS = {b"\xe2\x80\xa8": rb"\u2028", b"\xe2\x80\xa9": rb"\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """That ``document`` (JSON on one line) is of the contract's type ``type``."""

    type: str
    document: bytes


def refused(claims: Sequence[Claim], directory: Path) -> dict[int, str]:
    """The claims that the compiler refuses, by index, with its first reason. One run for all."""
    shutil.copy(CONTRACT, directory / "types.ts")
    lines = [b'import type * as contract from "./types";']
    for index, claim in enumerate(claims):
        document = claim.document.strip()
        for raw, escaped in LINE_ENDS.items():
            document = document.replace(raw, escaped)
        lines.append(
            f"export const g{index} = ".encode()
            + document
            + f" satisfies contract.{claim.type};".encode()
        )
    (directory / "claims.ts").write_bytes(b"\n".join(lines) + b"\n")
    node = shutil.which("node")
    assert node, "Node was not found; `make test` says what to install"
    run = subprocess.run(
        [node, COMPILER, *FLAGS, "claims.ts"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode in {0, 1, 2}, run.stderr
    reasons: dict[int, str] = {}
    for line in run.stdout.splitlines():
        if line.startswith(" "):  # the compiler goes on explaining the error above
            continue
        found = re.fullmatch(r"claims\.ts\((\d+),\d+\): error (TS\d+: .*)", line)
        assert found, f"the compiler speaks of something else: {line}"
        reasons.setdefault(int(found[1]) - 2, found[2])
    return reasons
